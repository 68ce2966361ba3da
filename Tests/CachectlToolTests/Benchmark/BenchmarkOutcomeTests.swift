import CachePresentation
import Foundation
import Testing

@testable import CachectlTool
@testable import EngineBenchmark

@Suite struct BenchmarkOutcomeTests {
  private let view = BenchmarkSample.outcome

  @Test func documentHasEnvironmentAndNestedLatencies() throws {
    let first = try #require(results(view.json).first)
    #expect(view.json["environment"]?["durability"] == "normal")
    #expect(first["backend"] == "memory")
    #expect(first["operationsPerSecond"] == .double(3_100_000))
    #expect(first["latencyMicroseconds"]?["max"] == .double(129.032))
    #expect(first["outcome"] == "measured" && first["reason"] == .null)
  }

  @Test func eachLatencyIsAColumnOfItsOwn() {
    let text = OutputRenderer(.csv, on: .file).text(view)
    let lines = text.split(separator: "\r\n")
    #expect(lines.count == 1 + view.report.results.count)
    #expect(lines[0].contains(",p50Microseconds,p90Microseconds,p99Microseconds,p999Microseconds,maxMicroseconds,"))
    #expect(lines.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == view.columns.count })
  }

  @Test func whereNothingWasMeasuredTheHeaderIsThere() {
    let view = BenchmarkOutcome(report: BenchmarkSample.report([], isComplete: false))
    #expect(OutputRenderer(.csv, on: .file).text(view).hasPrefix("backend,workload,phase,entries,outcome,"))
    #expect(OutputRenderer(.table, on: .file).text(view).isEmpty && view.status?.text.contains("interrupted") == true)
  }

  @Test func theBestOfEachGroupIsMarkedAndTheOthersHaveTheRatioToIt() {
    let lines = view.table(on: .file, hasHeader: true).split(separator: "\n").map(String.init)
    #expect(lines.count == 1 + view.report.results.count)
    #expect(lines[1].contains("ycsb-b run") && lines[1].contains("3.10 M/s") && lines[1].contains("* "))
    #expect(lines[2].contains("0.62") && !lines[2].contains("*") && !lines[2].contains("ycsb"))
    #expect(lines[3].contains("0.07"))
    #expect(!lines.joined().contains("█"))
  }

  /// The best engine has a whole bar, and so has a control that is faster.
  @Test func barsAreScaledToTheEngines() {
    let rows = [("memory", 9e6), ("lmdb", 2e6), ("sqlite", 1e6)].map { BenchmarkSample.row($0.0, "read", rate: $0.1) }
    let view = BenchmarkSample.outcome(rows, controls: ["memory"])
    let lines = view.table(on: .terminal(width: nil, hasColor: false), hasHeader: false).split(separator: "\n")
    #expect(lines.map { line in line.count { $0 == "█" } } == [12, 12, 6], "\(lines)")
    let page = BenchmarkReportPage(view).html
    #expect(page.components(separatedBy: "width:100.0%").count == 3 && page.contains("width:50.0%"))
  }

  @Test func barsAreDrawnOnATerminal() {
    let lines = view.table(on: .terminal(width: nil, hasColor: false), hasHeader: false).split(separator: "\n")
    #expect(lines[0].contains("████████████ "))
    #expect(lines[1].contains("███████▌ "))
  }

  @Test(
    arguments: [.wrong("an entry was lost"), .failed("an entry was lost"), .skipped("an entry was lost")]
      as [BenchmarkResult.Outcome])
  func whatWasNotMeasuredSaysWhyAndCountsForNoSpeed(outcome: BenchmarkResult.Outcome) {
    let rows = [
      BenchmarkSample.row("memory", outcome), BenchmarkSample.row("sqlite", "read", phase: "read", rate: 2e5),
    ]
    let view = BenchmarkSample.outcome(rows)
    let lines = view.table(on: .file, hasHeader: false).split(separator: "\n").map(String.init)
    #expect(lines[0].contains("memory") && lines[0].contains(outcome.name))
    #expect(lines[1].contains("200 k/s") && lines[1].contains("* "))
    #expect(lines[2] == "\(outcome.name): read by memory: an entry was lost")
    #expect(view.status?.text.contains("1 result is wrong or failed") == (outcome.name != "skipped"))
    #expect(results(view.json)[0]["operationsPerSecond"] == .null)
    #expect(results(view.json)[0]["latencyMicroseconds"] == .null)
    #expect(BenchmarkReportPage(view).html.contains("an entry was lost"))
  }

  /// The rounds of the sample lie 4 % around the rate.
  @Test(
    arguments: [(1_000, 900, "a"), (1_000, 930, ""), (1_000, 1_000, ""), (900, 1_000, "b")]
      as [(Double, Double, String)])
  func theBestIsMarkedOnlyBeyondTheNoise(first: Double, second: Double, marked: String) {
    let view = BenchmarkSample.outcome(
      [
        BenchmarkSample.row("control", "read", rate: 9e6), BenchmarkSample.row("a", "read", rate: first),
        BenchmarkSample.row("b", "read", rate: second), BenchmarkSample.row("slow", "read", rate: 1),
      ], controls: ["control"])
    let lines = view.table(on: .file, hasHeader: false).split(separator: "\n").filter { $0.contains("*") }
    #expect(lines.count == marked.count && lines.allSatisfy { $0.contains(" \(marked) ") }, "\(lines)")
    let page = BenchmarkReportPage(view).html
    #expect(page.contains(", the best ") == !marked.isEmpty && page.contains("class=\"best\"") == !marked.isEmpty)
  }

  @Test func oneRoundMarksNothing() {
    let rows = [BenchmarkSample.row("a", "read", rate: 9), BenchmarkSample.row("b", "read", rate: 1)].map { result in
      guard var figures = result.measurement else { return result }
      figures.rounds = Array(figures.rounds.prefix(1))
      return BenchmarkResult(row: result.row, outcome: .measured(figures))
    }
    #expect(!BenchmarkSample.outcome(rows).table(on: .file, hasHeader: false).contains("*"))
  }

  @Test func aControlIsNotTheBest() {
    let control = BenchmarkSample.row("memory", "read", rate: 4e6)
    let rows = [
      control, BenchmarkSample.row("lmdb", "read", rate: 2e6), BenchmarkSample.row("sqlite", "read", rate: 1e6),
    ]
    let lines = BenchmarkSample.outcome(rows, controls: ["memory"]).table(on: .file, hasHeader: false)
      .split(separator: "\n")
    #expect(lines[0].contains("2.00") && !lines[0].contains("*"))
    #expect(lines[1].contains("* ") && lines[2].contains("0.50"))
    let alone = BenchmarkSample.outcome([control], controls: ["memory"]).table(on: .file, hasHeader: false)
    #expect(alone.contains("* "))
  }

  @Test func theTimesOfBatchesAreCalledSo() {
    let rows = [
      BenchmarkSample.row("lmdb", "fill", rate: 9_000, batch: 1_000), BenchmarkSample.row("lmdb", "read", rate: 1),
    ]
    let view = BenchmarkSample.outcome(rows)
    let lines = view.table(on: .file, hasHeader: true).split(separator: "\n")
    #expect(lines[0].contains("Batch") && lines[1].contains(" 1,000  "))
    #expect(lines.last?.hasPrefix("Batch: how many operations a call of the engine does") == true)
    #expect(results(view.json).map { $0["operationsPerCall"] } == [1_000, 1])
    #expect(!self.view.table(on: .file, hasHeader: true).contains("Batch"))
  }

  @Test(arguments: [
    (160, ["Memory", "p99.9", "Disk", "p50", "Spread"]), (110, ["Disk", "p50", "Spread"]),
    (80, ["Ratio", "Spread", "p99"]),
  ])
  func whatIsOfLesserWeightGivesWay(width: Int, titles: [String]) {
    let text = view.table(on: .terminal(width: width, hasColor: false), hasHeader: true)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.count <= width }, "\(text)")
    for title in titles { #expect(lines[0].contains(title), "\(text)") }
    #expect(!text.contains("…"), "\(text)")
  }

  @Test(arguments: [
    (93.14, "93.1 /s"), (999.4, "999 /s"), (999.6, "1.00 k/s"), (228_000, "228 k/s"), (2_850_000, "2.85 M/s"),
  ])
  func rates(rate: Double, text: String) {
    #expect(BenchmarkText.rate(rate) == text)
  }

  @Test(arguments: [(0.35, "350 ns"), (12.34, "12.3 µs"), (1_240, "1.24 ms"), (2_500_000, "2.50 s")])
  func times(microseconds: Double, text: String) {
    #expect(BenchmarkText.time(microseconds) == text)
  }

  private func results(_ json: JSONValue) -> [JSONValue] {
    guard case .array(let results)? = json["results"] else { return [] }
    return results
  }
}
