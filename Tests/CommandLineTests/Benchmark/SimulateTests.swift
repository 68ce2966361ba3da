import Foundation
import Testing

/// `simulate`, with small traces.
@Suite struct SimulateTests {
  /// A loop over ten keys, fifty times.
  private static let loop = (0..<500).map { "key\($0 % 10) 1000\n" }.joined()

  private func ratios(_ run: Run) throws -> [String: Double] {
    let results = try run.document()["results"]?.elements ?? []
    return Dictionary(
      uniqueKeysWithValues: results.compactMap { result in
        guard let policy = result["policy"]?.text, let ratio = result["hitRatio"]?.number else { return nil }
        return ("\(policy) \(result["size"]?.text ?? "")", ratio)
      })
  }

  @Test func aLoopLargerThanTheCacheIsTheWorstForTheLeastRecentlyUsed() async throws {
    let scratch = try Scratch()
    try scratch.write(Self.loop, to: "trace")
    let run = try await scratch.cachectl(
      "simulate", scratch.path("trace"), "--sizes", "90%,100%", "--policies", "least-recently-used", "--output", "json")
    expectSuccess(run)
    let document = try run.document()
    #expect(document["lookUps"] == 500 && document["keys"] == 10 && document["bytes"] == 10_000)
    // The first ten look-ups miss whatever the cache holds.
    #expect(try ratios(run) == ["least-recently-used 90%": 0, "least-recently-used 100%": 0.98])
  }

  @Test func everyPolicyIsShown() async throws {
    let scratch = try Scratch()
    try scratch.write(Self.loop, to: "trace")
    let run = try await scratch.cachectl("simulate", scratch.path("trace"), "--sizes", "50%")
    expectSuccess(run)
    for policy in [
      "least-recently-used", "least-frequently-used", "least-recently-stored", "s3-fifo", "size-adjusted", "none",
    ] {
      #expect(run.text.contains(policy), "\(run.text)")
    }
    #expect(run.text.contains("50%"))
  }

  /// A hundred posters weigh three times as much as a thousand pages.
  @Test func manyPagesFitWhereAFewPostersWere() async throws {
    let scratch = try Scratch()
    var number: UInt64 = 1
    let lookUps = (0..<20_000).map { _ in
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let part = Double(number >> 33) / Double(1 << 31)
      // The lower its number, the more often a key is looked up.
      let key = Int(1_100 * part * part)
      return key.isMultiple(of: 11) ? "poster\(key) 150000" : "page\(key) 5000"
    }
    try scratch.write(lookUps.joined(separator: "\n"), to: "trace")
    let run = try await scratch.cachectl(
      "simulate", scratch.path("trace"), "--sizes", "10%", "--policies", "least-recently-used,size-adjusted",
      "--output", "json")
    let found = try ratios(run)
    let (without, with) = (found["least-recently-used 10%"] ?? 1, found["size-adjusted 10%"] ?? 0)
    #expect(with > without + 0.2, "\(found)")
  }

  @Test func sizesMayBeBytes() async throws {
    let scratch = try Scratch()
    try scratch.write("a 100\nb 300\na 100\nb 300\n", to: "trace")
    let run = try await scratch.cachectl(
      "simulate", scratch.path("trace"), "--sizes", "100,400", "--policies", "least-recently-used", "--output", "json")
    #expect(try ratios(run) == ["least-recently-used 100": 0.25, "least-recently-used 400": 0.5])
  }

  @Test func aSizeGivenTwiceIsShownOnce() async throws {
    let scratch = try Scratch()
    try scratch.write(Self.loop, to: "trace")
    let run = try await scratch.cachectl("simulate", scratch.path("trace"), "--sizes", "50%,50%,90%")
    expectSuccess(run)
    #expect(run.text.split(separator: "\n").first { $0.contains("50%") }?.count { $0 == "%" } == 2, "\(run.text)")
  }

  @Test func theRecordOfTheCacheIsReplayed() async throws {
    let scratch = try Scratch()
    for _ in 0..<3 { expectSuccess(try await scratch.cachectl("fetch", "cities")) }
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat"))
    let run = try await scratch.cachectl(
      "simulate", "--sizes", "100%", "--policies", "least-recently-used", "--output", "json")
    expectSuccess(run)
    let document = try run.document()
    #expect(document["keys"]?.number ?? 0 >= 2 && document["lookUps"]?.number ?? 0 >= 4, "\(run.text)")
  }

  @Test(arguments: [
    (["no-such-file"], 74, "no-such-file"), (["--sizes", "0%"], 64, "sizes"), (["--sizes", "x"], 64, "sizes"),
    (["zipfian-0.9", "--policies", "lru"], 64, "no policy 'lru'"), ([], 66, "no entries"),
  ])
  func mistakesAreErrors(arguments: [String], status: Int32, words: String) async throws {
    let scratch = try Scratch()
    expectFailure(try await scratch.cachectl(["simulate"] + arguments), status: status, mentioning: [words])
  }
}

/// The help names what is there: made of it at each start, it would cost time.
@Suite struct SimulateHelpTests {
  @Test func theHelpNamesTheTracesAndTheSizes() async throws {
    let run = try await Scratch().cachectl("help", "simulate")
    let text = run.text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
    for trace in ["zipfian-0.7", "zipfian-0.9", "zipfian-1.1", "scan", "loop", "working-set"] {
      #expect(text.contains(trace))
    }
    #expect(text.contains("1%,2%,5%,10%,20%,50%,90%"))
  }
}
