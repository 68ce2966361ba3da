extension BenchmarkComparisonView {
  /// The section of the page: a heading, the differences between the runs, and a table with a verdict for each row.
  var html: String {
    let names = ["Workload", "Entries", "Backend", "Verdict", "Change", "Noise", "Saved", "Now"]
    let header = HTMLText.element("tr", [], names.map { HTMLText.element("th", text: $0) }.joined())
    let table = HTMLText.element(
      "table", [],
      HTMLText.element("thead", [], header) + HTMLText.element("tbody", [], rows.map(line).joined()))
    let remark = warnings.map { HTMLText.element("p", [("class", "remark")], text: $0.message) }.joined()
    return HTMLText.element("h2", text: "Compared to \(file)") + remark
      + HTMLText.element("div", [("class", "figures")], table)
  }

  private func line(_ row: Row) -> String {
    let cells = [
      row.row.title, NumberText.text(row.row.entries), row.row.backend, row.verdict.rawValue,
      row.change.map(BenchmarkText.change) ?? "-", row.noise.map(BenchmarkText.noise) ?? "-",
      row.saved.map(BenchmarkText.rate) ?? "-",
      row.row.figures.map { BenchmarkText.rate($0.throughput.median) } ?? row.row.outcome.rawValue,
    ]
    return HTMLText.element(
      "tr", [("class", row.verdict.rawValue)], cells.map { HTMLText.element("td", text: $0) }.joined())
  }
}
