import Testing

@testable import CachePresentation

@Suite struct BenchmarkComparisonViewTests {
  private let comparison = BenchmarkComparisonView(
    file: "before.json", differences: ["threads"],
    rows: [
      .init(
        BenchmarkSample.row("sqlite", "read", rate: 2e5), .worse, saved: 4e5, change: -0.5, noise: 0.05),
      .init(BenchmarkSample.row("lmdb", "read", rate: 2e6), .same, saved: 2e6, change: 0.0, noise: 0.12),
      .init(BenchmarkSample.row("plist", .missing, "not run"), .missing, saved: 1e4, change: nil, noise: nil),
    ])

  private var view: BenchmarkView {
    BenchmarkView(
      environment: [],
      rows: [BenchmarkSample.row("sqlite", "read", rate: 2e5), BenchmarkSample.row("lmdb", "read", rate: 2e6)],
      comparison: comparison)
  }

  @Test func theTableHasAVerdictForEachRow() {
    let text = view.table(on: .terminal(width: 80, hasColor: false), hasHeader: true)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[3] == "Compared to before.json")
    #expect(lines[5].contains("worse") && lines[5].contains("-50 %") && lines[5].contains("400 k/s"), "\(text)")
    #expect(lines[6].contains("same") && lines[6].contains("-11/+12 %"), "\(text)")
    #expect(lines[7].contains("missing"), "\(text)")
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
    #expect(rows.map { $0["verdict"] } == ["worse", "same", "missing"])
    #expect(rows[0]["change"] == .double(-0.5) && rows[2]["change"] == .null)
  }

  @Test func everyRecordHasAVerdict() {
    #expect(view.records.map { $0["verdict"] } == ["worse", "same", "missing"])
    let lines = OutputRenderer(.csv, on: .file).text(view).split(separator: "\r\n")
    #expect(lines.count == 4 && lines[0].hasSuffix(",verdict,savedOperationsPerSecond,change,noise"))
  }

  @Test func thePageHasIt() {
    let page = BenchmarkReportPage(view).html
    #expect(page.contains("Compared to before.json</h2>") && page.contains("measured differently: threads"))
    #expect(page.contains("<tr class=\"worse\">") && page.contains("<td>-50 %</td><td>-5/+5 %</td>"))
  }

  @Test func nothingWorseIsSaid() {
    let view = BenchmarkComparisonView(file: "x.json", differences: [], rows: [])
    #expect(view.summary.text == "nothing is worse than in x.json" && view.warnings.isEmpty)
  }

  @Test func whatCannotBeToldIsCounted() {
    let row = BenchmarkComparisonView.Row(
      BenchmarkSample.row("lmdb", "read", rate: 2e6), .cannotTell, saved: 1e6, change: 1, noise: nil)
    let view = BenchmarkComparisonView(file: "x.json", differences: [], gaps: ["too few rounds"], rows: [row, row])
    #expect(view.summary.text == "nothing is worse than in x.json; of 2 results it cannot tell")
    #expect(view.warnings.map(\.message) == ["some results cannot be judged: too few rounds"])
    #expect(view.table(on: .terminal(width: 80, hasColor: false)).contains("cannot tell"))
  }
}
