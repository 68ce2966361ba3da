import Foundation
import Testing

/// `simulate`; `TraceSimulationTests` says what it counts.
@Suite struct SimulateTests {
  @Test func theRecordOfTheCacheIsReplayed() async throws {
    let scratch = try Scratch()
    for _ in 0..<3 { expectSuccess(try await scratch.cachectl("fetch", "cities")) }
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat"))
    let run = try await scratch.cachectl(
      "simulate", "--sizes", "100%", "--policies", "least-recently-used", "--output", "json")
    expectSuccess(run)
    let document = try run.document()
    #expect(document["keys"]?.number ?? 0 >= 2 && document["lookUps"]?.number ?? 0 >= 4, "\(run.text)")
    let table = try await scratch.cachectl("simulate", "--sizes", "50%,50%,90%")
    expectSuccess(table)
    for policy in [
      "lru", "lfu", "fifo", "s3-fifo", "size", "none",
    ] {
      #expect(table.text.contains(policy), "\(table.text)")
    }
    // A size that is given twice is shown once.
    #expect(table.text.split(separator: "\n").first { $0.contains("50%") }?.count { $0 == "%" } == 2, "\(table.text)")
  }

  @Test(arguments: [
    (["lop"], 64, "no trace 'lop'"), (["--sizes", "0%"], 64, "sizes"), (["--sizes", "x"], 64, "sizes"),
    (["zipfian-0.9", "--policies", "clock"], 64, "no policy 'clock'"), ([], 66, "no entries"),
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
