import CachePresentation
import Foundation
import Testing

@testable import CachectlTool
@testable import EngineBenchmark

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
