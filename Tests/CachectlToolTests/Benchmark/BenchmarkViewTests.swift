import CacheBase
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

  @Test func eachLatencyIsASeparateColumn() {
    let text = OutputRenderer(.csv, on: .file).text(view)
    let lines = text.split(separator: "\r\n")
    #expect(lines.count == 1 + view.report.results.count)
    #expect(lines[0].contains(",p50Microseconds,p90Microseconds,p99Microseconds,p999Microseconds,maxMicroseconds,"))
    #expect(lines.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == view.columns.count })
  }

  @Test func theHeaderIsThereWithoutMeasurements() {
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

  /// The best engine has a full bar, and so has a control that is faster.
  @Test func barsAreScaledToTheEngines() {
    let rows = [("memory", 9e6), ("lmdb", 2e6), ("sqlite", 1e6)].map { BenchmarkSample.row($0.0, "read", rate: $0.1) }
    let view = BenchmarkSample.outcome(rows, controls: ["memory"])
    let lines = view.table(on: .terminal(width: nil, hasColor: false), hasHeader: false).split(separator: "\n")
    #expect(lines.map { line in line.count { $0 == "█" } } == [12, 12, 6], "\(lines)")
    let page = BenchmarkReportPage(view).html
    #expect(page.components(separatedBy: "width:100.0%").count == 3 && page.contains("width:50.0%"))
  }

  /// The lines of a control can leave the scale; the legend has its numbers.
  @Test(arguments: [(true, ["10", "100"], true), (false, ["1", "10", "100"], false)])
  func chartsAreScaledToTheEngines(isControl: Bool, ticks: [String], isNamed: Bool) {
    let points = { (values: [Double]) in values.enumerated().map { (x: Double($0), y: $1, label: "p\($0)") } }
    let chart = LineChart(
      title: "t", ticks: [],
      series: [
        .init(name: "memory", number: 0, isControl: isControl, points: points([1, 2])),
        .init(name: "lmdb", number: 1, isControl: false, points: points([20, 90])),
      ], text: { "\(Int($0.rounded()))" }
    ).html
    for tick in ["1", "10", "100"] { #expect(chart.contains(">\(tick)</text>") == ticks.contains(tick), "\(tick)") }
    #expect(chart.contains("memory, the control: 1 to 2, beyond the scale") == isNamed)
  }

  @Test func barsAreDrawnOnATerminal() {
    let lines = view.table(on: .terminal(width: nil, hasColor: false), hasHeader: false).split(separator: "\n")
    #expect(lines[0].contains("████████████ "))
    #expect(lines[1].contains("███████▌ "))
  }

  @Test(
    arguments: [.wrong("an entry was lost"), .failed("an entry was lost"), .skipped("an entry was lost")]
      as [BenchmarkResult.Outcome])
  func skippedMeasurementsSayWhyAndCountForNoSpeed(outcome: BenchmarkResult.Outcome) {
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

  /// The rounds of the sample are within 4 % of the rate.
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
  func lessImportantColumnsAreOmitted(width: Int, titles: [String]) {
    let text = view.table(on: .terminal(width: width, hasColor: false), hasHeader: true)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.count <= width }, "\(text)")
    for title in titles { #expect(lines[0].contains(title), "\(text)") }
    #expect(!text.contains("…"), "\(text)")
  }

  @Test(arguments: [
    (93.14, "93.1 /s"), (999.4, "999 /s"), (999.6, "1.00 k/s"), (228_000, "228 k/s"), (2_850_000, "2.85 M/s"),
  ])
  func rates(rate: Double, text: String) { #expect(BenchmarkText.rate(rate) == text) }

  @Test(arguments: [(0.35, "350 ns"), (12.34, "12.3 µs"), (1_240, "1.24 ms"), (2_500_000, "2.50 s")]) func times(
    microseconds: Double, text: String
  ) { #expect(BenchmarkText.time(microseconds) == text) }

  private func results(_ json: JSONValue) -> [JSONValue] {
    guard case .array(let results)? = json["results"] else { return [] }
    return results
  }
}

@Suite struct BenchmarkComparisonViewTests {
  private let view: BenchmarkOutcome = {
    let saved = BenchmarkSample.report(
      [
        BenchmarkSample.row("sqlite", "read", rate: 4e5), BenchmarkSample.row("lmdb", "read", rate: 2e6),
        BenchmarkSample.row("plist", "read", rate: 1e4),
      ], threads: 2)
    let now = BenchmarkSample.report([
      BenchmarkSample.row("sqlite", "read", rate: 2e5), BenchmarkSample.row("lmdb", "read", rate: 2e6),
    ])
    return BenchmarkOutcome(report: now, saved: ("before.json", saved))
  }()

  @Test func theTableHasAVerdictForEachRow() {
    let text = view.table(on: .terminal(width: 80, hasColor: false), hasHeader: true)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[3].hasPrefix("Too narrow to show: ") && lines[3].hasSuffix("Memory"), "\(text)")
    #expect(lines[4] == "Compared to before.json")
    #expect(lines[6].contains("worse") && lines[6].contains("-50 %") && lines[6].contains("400 k/s"), "\(text)")
    #expect(lines[7].contains("cannot tell") && lines[7].contains("-8/+8 %"), "\(text)")
    #expect(lines[8].contains("missing"), "\(text)")
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(text)")
    #expect(view.status?.text == "1 result is worse than in before.json, beyond the noise")
    #expect(view.warnings.map(\.message) == ["the results in before.json were measured differently: threads"])
  }

  @Test func theDocumentHasIt() {
    let json = view.json["comparison"]
    #expect(json?["worse"] == true && json?["file"] == "before.json")
    guard case .array(let rows)? = json?["rows"] else {
      Issue.record("no rows")
      return
    }
    #expect(rows.map { $0["verdict"] } == ["worse", "cannot tell", "missing"])
    #expect(rows[0]["change"] == .double(-0.5) && rows[2]["change"] == .null)
  }

  @Test func everyRecordHasAVerdict() {
    #expect(view.records.map { $0["verdict"] } == ["worse", "cannot tell", "missing"])
    let lines = OutputRenderer(.csv, on: .file).text(view).split(separator: "\r\n")
    #expect(lines.count == 4 && lines[0].hasSuffix(",verdict,savedOperationsPerSecond,change,noise"))
  }

  @Test func thePageHasIt() {
    let page = BenchmarkReportPage(view).html
    #expect(page.contains("Compared to before.json</h2>") && page.contains("measured differently: threads"))
    #expect(page.contains("<tr class=\"worse\">") && page.contains("<td>-50 %</td><td>-8/+8 %</td>"))
  }

  @Test func nothingWorseIsSaid() {
    let row = BenchmarkSample.row("lmdb", "read", rate: 2e6)
    let empty = BenchmarkOutcome(report: BenchmarkSample.report([]), saved: ("x.json", BenchmarkSample.report([])))
    #expect(empty.status?.text == "nothing is worse than in x.json" && empty.warnings.isEmpty)
    let same = BenchmarkOutcome(report: BenchmarkSample.report([row]), saved: ("x.json", BenchmarkSample.report([row])))
    #expect(same.status?.text == "nothing is worse than in x.json; of 1 result it cannot tell" && same.warnings.isEmpty)
  }

  @Test func whyItCannotTellIsAWarning() throws {
    var row = BenchmarkSample.row("lmdb", "read", rate: 2e6)
    var figures = try #require(row.measurement)
    figures.rounds = Array(figures.rounds.prefix(4))
    row.outcome = .measured(figures)
    let report = BenchmarkSample.report([row])
    let outcome = BenchmarkOutcome(report: report, saved: ("x.json", report))
    #expect(
      outcome.warnings.map(\.code) == ["noiseUnknown"]
        && BenchmarkReportPage(outcome).html.contains("some results cannot be judged"))
  }
}

@Suite struct BenchmarkReportPageTests {
  private let page = BenchmarkReportPage(BenchmarkSample.outcome).html

  @Test func itIsWellFormedAndNeedsNothingElse() throws {
    // Without the document type and the elements that HTML leaves open, it is XML as well.
    var text = page.replacingOccurrences(of: "<!DOCTYPE html>", with: "")
    text = text.replacing(#/<(meta|link) [^>]*>/#, with: "")
    #expect(try tags(text).isEmpty)
    #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"))
  }

  @Test func everyFigureHasItsMarks() {
    let bars = page.components(separatedBy: "class=\"bar series").count - 1
    #expect(bars == BenchmarkSample.outcome.report.results.count)
    // Five percentiles for each result, three sizes for each of two backends, and a sample in each legend.
    let marks = page.components(separatedBy: "class=\"mark series").count - 1
    #expect(marks == 9 * 5 + 2 * 3 + 9 + 2)
  }

  @Test func costAgainstSizeIsDrawnIfThereAreSeveralSizes() {
    #expect(page.contains("read: time of an operation by the number of entries"))
    #expect(!page.contains("ycsb-b run: time of an operation by the number of entries"))
  }

  /// A bar has the color of the lines of its backend, and no color of a series is one of a verdict.
  @Test func aColourMeansOneThing() throws {
    for (number, backend) in ["memory", "lmdb", "sqlite"].enumerated() {
      let bars = page.components(separatedBy: "<span class=\"name\">\(backend)</span>").dropFirst()
      #expect(
        bars.allSatisfy { $0.hasPrefix("<span class=\"track\"><span class=\"bar series\(number)\"") }, "\(backend)")
      #expect(page.contains("class=\"mark series\(number)\""))
    }
    for scheme in BenchmarkReportStyle.css.components(separatedBy: "color-scheme").prefix(3) {
      let colours = scheme.matches(of: #/--(s[0-5]|better|wrong): (#[0-9a-f]{6})/#).map { String($0.2) }
      #expect(Set(colours).count == colours.count && colours.count % 8 == 0, "\(colours)")
    }
  }

  @Test func theTimeOfABatchIsNotTheTimeOfAnOperation() {
    let rows = [
      BenchmarkSample.row("lmdb", "fill", rate: 100_000, batch: 1_000), BenchmarkSample.row("lmdb", "read", rate: 1),
    ]
    let page = BenchmarkReportPage(BenchmarkSample.outcome(rows)).html
    #expect(page.contains("fill run, 1,000 entries: time of a batch of 1,000 operations"))
    #expect(page.contains("read run, 1,000 entries: time of an operation"))
    #expect(page.contains("<th>Batch</th>") && page.contains("times are of one call"))
  }

  @Test func textsAreEscaped() {
    let row = BenchmarkSample.row("a<b>&\"c", "read", rate: 1)
    let page = BenchmarkReportPage(BenchmarkSample.outcome([row])).html
    #expect(page.contains("a&lt;b&gt;&amp;&quot;c") && !page.contains("a<b>"))
  }

  @Test(arguments: [
    ([1.0, 10], [1.0, 10]), ([0.5, 300], [0.1, 1, 10, 100, 1000]), ([], [1, 10]), ([5, 5], [1, 10]),
  ])
  func scalesHaveWholeDecades(values: [Double], ticks: [Double]) {
    let scale = LogScale(around: values)
    #expect(zip(scale.ticks, ticks).allSatisfy { abs($0 / $1 - 1) < 1e-9 } && scale.ticks.count == ticks.count)
    #expect(values.allSatisfy { (0...1).contains(scale.position($0)) })
  }

  /// The names of the elements that are open at the end, or closed in another order.
  private func tags(_ text: String) throws -> [String] {
    var open: [String] = []
    for match in text.matches(of: #/<(/?)([a-z0-9]+)(?:\s[^<>]*)?>/#) {
      let name = String(match.2)
      if match.1.isEmpty {
        open.append(name)
      } else if open.last == name {
        open.removeLast()
      } else {
        return open + ["/" + name]
      }
    }
    return open
  }
}

/// Results of three backends under two workloads, one of them at three sizes.
enum BenchmarkSample {
  static func row(
    _ backend: String, _ workload: String, phase: String = "run", entries: Int = 1_000, rate: Double, batch: Int = 1
  ) -> BenchmarkResult {
    let time = 1e9 / rate
    let rounds = [1, 0.96, 1.04, 1, 1].map { speed in
      BenchmarkMeasurement.Round(
        operations: Int(rate), seconds: 1 / speed, processorSeconds: 0.9, peakMemoryBytes: 23 << 20,
        storageBytes: entries * 300, referenceSeconds: 0.005)
    }
    // As many calls as the rounds made, in a few buckets: the percentiles are 0.9, 1.2, 3, 12 and 400 times `time`.
    let calls = Int(rate) * rounds.count / batch
    let shares = [(0.9, 0.5), (1.2, 0.4), (3, 0.09), (12, 0.009)]
    var buckets = shares.flatMap { [LatencyHistogram.bucket(of: UInt64(time * $0.0)), Int(Double(calls) * $0.1)] }
    let others = stride(from: 1, to: buckets.count, by: 2).reduce(0) { $0 + buckets[$1] }
    buckets += [LatencyHistogram.bucket(of: UInt64(time * 400)), calls - others]
    let latencies = LatencyHistogram(buckets: buckets, maximum: Int(time * 400)) ?? LatencyHistogram()
    return BenchmarkResult(
      row: .init(backend: backend, workload: workload, phase: phase, entries: entries),
      outcome: .measured(BenchmarkMeasurement(rounds: rounds, latencies: latencies)))
  }

  static func row(_ backend: String, _ outcome: BenchmarkResult.Outcome) -> BenchmarkResult {
    BenchmarkResult(row: .init(backend: backend, workload: "read", phase: "read", entries: 1_000), outcome: outcome)
  }

  static func report(_ results: [BenchmarkResult], isComplete: Bool = true, threads: Int = 1) -> BenchmarkReport {
    let environment: JSONValue = [
      "processor": "Example CPU", "memoryBytes": .integer(8 << 30), "engines": ["sqlite": "3.40.1"],
      "durability": "normal", "rounds": 5, "threads": .integer(threads), "seed": "42", "policy": .null,
    ]
    return BenchmarkReport(environment: environment, results: results, isComplete: isComplete)
  }

  static func outcome(_ results: [BenchmarkResult], controls: [String] = []) -> BenchmarkOutcome {
    BenchmarkOutcome(report: report(results), controls: controls)
  }

  static let outcome = outcome([
    row("memory", "ycsb-b", rate: 3_100_000), row("lmdb", "ycsb-b", rate: 1_910_000),
    row("sqlite", "ycsb-b", rate: 228_000), row("memory", "read", phase: "read", entries: 1_000, rate: 4_000_000),
    row("memory", "read", phase: "read", entries: 10_000, rate: 3_500_000),
    row("memory", "read", phase: "read", entries: 100_000, rate: 2_900_000),
    row("sqlite", "read", phase: "read", entries: 1_000, rate: 310_000),
    row("sqlite", "read", phase: "read", entries: 10_000, rate: 260_000),
    row("sqlite", "read", phase: "read", entries: 100_000, rate: 210_000),
  ])
}
