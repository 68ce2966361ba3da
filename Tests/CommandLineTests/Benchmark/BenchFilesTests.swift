import Foundation
import Testing

/// The files that a benchmark saves, compares with, and writes for browsers.
@Suite(.timeLimit(.minutes(30))) struct BenchFilesTests {
  private func save(_ scratch: Scratch, to name: String) async throws {
    expectSuccess(try await scratch.bench("ycsb-c", rounds: 5, "--save", scratch.path(name)))
  }

  /// Makes each saved throughput `factor` times as high.
  private func scale(_ scratch: Scratch, _ name: String, by factor: Double) throws {
    let text = String(decoding: try scratch.read(name), as: UTF8.self)
    let scaled = text.replacing(/"seconds":([0-9.e+-]+)/) { "\"seconds\":\((Double($0.1) ?? 0) / factor)" }
    try scratch.write(scaled, to: name)
  }

  @Test(arguments: [(1e-9, 0, "better"), (1e9, 1, "worse")] as [(Double, Int32, String)])
  func aSavedRunIsComparedWith(factor: Double, status: Int32, verdict: String) async throws {
    let scratch = try Scratch()
    try await save(scratch, to: "before.json")
    try scale(scratch, "before.json", by: factor)
    let file = scratch.path("before.json")
    let run = try await scratch.bench("ycsb-c", rounds: 5, "--compare", file, "--output", "json")
    #expect(run.status == status, "\(run.errors)")
    let comparison = try #require(try run.document()["comparison"])
    #expect(comparison["worse"] == .boolean(status == 1))
    let rows = comparison["rows"]?.elements ?? []
    #expect(rows.count == 8 && rows.allSatisfy { $0["verdict"]?.text == verdict }, "\(run.text)")
    let table = try await scratch.bench("ycsb-c", rounds: 5, "--compare", file)
    #expect(table.status == status)
    #expect(table.text.contains("Compared to") && table.text.contains(verdict), "\(table.text)")
    #expect(table.errors.contains(status == 1 ? "8 results are worse than in" : "nothing is worse than in"))
  }

  @Test func oneRoundIsNeitherBetterNorWorse() async throws {
    let scratch = try Scratch()
    try await save(scratch, to: "before.json")
    let run = try await scratch.bench(
      "ycsb-c", rounds: 1, "--compare", scratch.path("before.json"), "--output", "json")
    expectSuccess(run)
    let rows = try run.document()["comparison"]?["rows"]?.elements ?? []
    #expect(rows.count == 8 && rows.allSatisfy { $0["verdict"] == "cannot tell" }, "\(run.text)")
    #expect(run.errors.contains("some results cannot be judged: "), "\(run.errors)")
  }

  @Test func otherOptionsAndRowsAreNamed() async throws {
    let scratch = try Scratch()
    try await save(scratch, to: "before.json")
    let run = try await scratch.cachectl(
      "bench", "--workload", "read", "--entries", "20", "--operations", "20", "--rounds", "1", "--threads", "2",
      "--value-size", "10", "--compare", scratch.path("before.json"), "--output", "ndjson")
    expectSuccess(run)
    #expect(run.errors.contains("measured differently: threads"), "\(run.errors)")
    #expect(run.errors.contains("value size"), "\(run.errors)")
    let verdicts = try run.documents().compactMap { $0["verdict"]?.text }
    #expect(verdicts == Array(repeating: "added", count: 4) + Array(repeating: "missing", count: 8), "\(run.text)")
  }

  @Test func theReportIsAPageThatABrowserShows() async throws {
    let scratch = try Scratch()
    let page = scratch.path("bench.html")
    let run = try await scratch.cachectl(
      "bench", "--workload", "ycsb-b", "--workload", "open", "--entries", "10,100", "--operations", "50", "--rounds",
      "2", "--report", page)
    expectSuccess(run)
    let browser = try await scratch.chromium(["--dump-dom", "--enable-logging=stderr", "--v=0", "file://\(page)"])
    #expect(browser.status == 0, "\(browser.errors)")
    #expect(!browser.errors.contains("CONSOLE"), "\(browser.errors)")
    // The engines that are measured: four of them in two phases of ycsb-b, three in open, at two sizes.
    let figures = browser.text.components(separatedBy: "<figure").dropFirst()
    let bars = figures.filter { $0.contains("class=\"bars\"") }
    let lines = figures.filter { $0.contains("class=\"lines\"") }
    #expect(bars.count == 6 && lines.count == 6 + 3)
    #expect(bars.map { $0.marks("bar series") } == [4, 4, 4, 4, 3, 3])
    // Five percentiles or two sizes for each engine, and a sample in the legend.
    #expect(lines.map { $0.marks("mark series") } == [24, 24, 24, 24, 18, 18, 12, 12, 9])
    try await keepScreenshots(of: page, scratch)
  }

  /// As wide as a desk's screen and as a phone's, for people to look at.
  private func keepScreenshots(of page: String, _ scratch: Scratch) async throws {
    for (name, size) in [("wide", "1280,2400"), ("phone", "390,2400")] {
      let image = scratch.path("\(name).png")
      let run = try await scratch.chromium(["--screenshot=\(image)", "--window-size=\(size)", "file://\(page)"])
      let bytes = try scratch.read("\(name).png")
      #expect(run.status == 0 && bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) && bytes.count > 20_000)
      try Artefacts.keep(bytes, as: "bench-report-\(name).png")
    }
  }
}

extension Scratch {
  /// Runs a browser without a window, whose profile is here. It makes a socket in the folder for temporary files, and
  /// the path of a socket is short.
  fileprivate func chromium(_ arguments: [String]) async throws -> Run {
    let common = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--user-data-dir=\(path("browser"))",
    ]
    return try await run("/usr/bin/env", ["chromium"] + common + arguments, environment: ["TMPDIR": "/tmp"])
  }
}

extension String {
  /// How many elements are of a class that begins so.
  fileprivate func marks(_ name: String) -> Int { components(separatedBy: "class=\"\(name)").count - 1 }
}

/// Files that tests leave for people to look at, in the directory that `CACHECTL_ARTIFACTS` names, by default
/// `.build/artifacts`.
private enum Artefacts {
  private static let folder =
    ProcessInfo.processInfo.environment["CACHECTL_ARTIFACTS"].map { URL(fileURLWithPath: $0) }
    ?? URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../.build/artifacts").standardized

  static func keep(_ bytes: Data, as name: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try bytes.write(to: folder.appendingPathComponent(name), options: .atomic)
  }
}
