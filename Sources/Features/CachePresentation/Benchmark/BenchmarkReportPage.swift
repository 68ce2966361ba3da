internal import Glibc

/// The results as one self-contained HTML page: no network, no script, light or dark by the reader's choice, readable
/// on a phone and on paper.
public struct BenchmarkReportPage: Sendable {
  private let view: BenchmarkView
  private let groups: [BenchmarkGroup]
  private let backends: [String]

  /// The page for the results of `view`.
  public init(_ view: BenchmarkView) {
    self.view = view
    groups = BenchmarkGroup.groups(of: view.rows)
    backends = view.rows.reduce(into: []) { names, row in
      if !names.contains(row.backend) { names.append(row.backend) }
    }
  }

  /// The text of the page, in UTF-8.
  public var html: String {
    let head =
      HTMLText.element("title", text: "cachectl bench") + "<meta charset=\"utf-8\">"
      + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      + "<link rel=\"icon\" href=\"data:,\">" + HTMLText.element("style", [], BenchmarkReportStyle.css)
    let body = HTMLText.element("header", [], heading) + HTMLText.element("main", [], sections)
    return "<!DOCTYPE html>\n<html lang=\"en\"><head>\(head)</head><body>\(body)</body></html>\n"
  }

  private var heading: String {
    let facts = BenchmarkFacts.texts(of: view.environment).map { fact in
      HTMLText.element("dt", text: fact.name) + HTMLText.element("dd", text: fact.text)
    }
    let remark = view.status.map { HTMLText.element("p", [("class", "remark")], text: $0.text) } ?? ""
    return HTMLText.element("h1", text: "Backends against each other") + remark
      + HTMLText.element("dl", [], facts.joined())
  }

  private var sections: String {
    [
      section("Throughput", groups.map { ThroughputBars(group: $0, number: number).html }),
      section("Latency by percentile", groups.compactMap(percentiles)),
      section("Cost against size", titles.compactMap(costs)),
      HTMLText.element("section", [], HTMLText.element("h2", text: "All figures") + figures),
      view.comparison.map { HTMLText.element("section", [], $0.html) } ?? "",
    ].joined()
  }

  private func section(_ title: String, _ charts: [String]) -> String {
    guard !charts.isEmpty else { return "" }
    let content = HTMLText.element("div", [("class", "charts")], charts.joined())
    return HTMLText.element("section", [], HTMLText.element("h2", text: title) + content)
  }

  /// The titles of the workloads and phases, each once.
  private var titles: [String] {
    groups.reduce(into: []) { titles, group in if !titles.contains(group.title) { titles.append(group.title) } }
  }

  private func percentiles(_ group: BenchmarkGroup) -> String? {
    let right = group.rows.compactMap { row in row.figures.map { (backend: row.backend, latency: $0.latency) } }
    guard !right.isEmpty else { return nil }
    let names: [(Double, String)] = [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99.9"), (100, "max")]
    let series = right.map { row in
      LineChart.Series(
        name: row.backend, number: number(of: row.backend),
        points: zip(row.latency.points, names).map { (Self.place($0.percentile), $0.microseconds, $1.1) })
    }
    return LineChart(
      title: "\(group.title), \(NumberText.count(group.entries, "entry", "entries")): time of \(group.measuredCall)",
      ticks: names.map { (Self.place($0.0), $0.1) }, series: series, text: BenchmarkText.time
    ).html
  }

  private func number(of backend: String) -> Int { backends.firstIndex(of: backend) ?? 0 }

  /// The position of a percentile on its axis: each further nine takes the same space.
  private static func place(_ percentile: Double) -> Double {
    let nines = percentile >= 100 ? 3.7 : -log10(1 - percentile / 100)
    return (nines - 0.3) / 3.4
  }

  /// The chart of the time per operation by number of entries; `nil` unless several numbers were measured.
  private func costs(_ title: String) -> String? {
    let sizes = groups.filter { $0.title == title }.sorted { $0.entries < $1.entries }
    guard sizes.count > 1, let first = sizes.first, let last = sizes.last else { return nil }
    let range = (log10(Double(max(first.entries, 1))), log10(Double(max(last.entries, 2))))
    let place = { (entries: Int) in (log10(Double(max(entries, 1))) - range.0) / max(range.1 - range.0, 1e-9) }
    let measured = backends.filter { backend in
      sizes.contains { $0.rows.contains { $0.backend == backend && $0.speed > 0 } }
    }
    let series = measured.map { backend in
      LineChart.Series(
        name: backend, number: number(of: backend),
        points: sizes.compactMap { size in
          size.rows.first { $0.backend == backend && $0.speed > 0 }.map {
            (place(size.entries), 1e6 / $0.speed, NumberText.count(size.entries, "entry", "entries"))
          }
        })
    }
    return LineChart(
      title: "\(title): time of an operation by the number of entries",
      ticks: sizes.map { (place($0.entries), NumberText.text($0.entries)) }, series: series, text: BenchmarkText.time
    ).html
  }

  private var figures: String {
    let names = [
      "Workload", "Entries", "Backend", "Throughput", "Ratio", "Spread", "Batch", "p50", "p90", "p99", "p99.9", "max",
      "Disk",
      "Memory", "Processor",
    ]
    let header = HTMLText.element("tr", [], names.map { HTMLText.element("th", text: $0) }.joined())
    let rows = groups.flatMap { group in group.rows.map { line($0, of: group, columns: names.count) } }
    let table = HTMLText.element(
      "table", [], HTMLText.element("thead", [], header) + HTMLText.element("tbody", [], rows.joined()))
    let remark = HTMLText.element("p", [("class", "remark")], text: BenchmarkText.batchRemark)
    return HTMLText.element("div", [("class", "figures")], table) + remark
  }

  private func line(_ row: BenchmarkRow, of group: BenchmarkGroup, columns: Int) -> String {
    let name = [row.title, NumberText.text(row.entries), row.backend].map { HTMLText.element("td", text: $0) }.joined()
    guard let figures = row.figures else {
      let reason = "\(row.outcome.rawValue): \(row.reason ?? "")"
      let span = ("colspan", "\(columns - 3)")
      return HTMLText.element("tr", [], name + HTMLText.element("td", [span, ("class", "reason")], text: reason))
    }
    let cells = self.cells(figures, best: group.best).map { HTMLText.element("td", text: $0) }.joined()
    return HTMLText.element("tr", group.isBest(row) ? [("class", "best")] : [], name + cells)
  }

  private func cells(_ figures: BenchmarkFigures, best: Double) -> [String] {
    let throughput = figures.throughput
    return [
      BenchmarkText.rate(throughput.median), BenchmarkText.ratio(throughput.median, to: best),
      BenchmarkText.spread(throughput), BenchmarkText.batch(figures.operationsPerCall) ?? "-",
    ] + figures.latency.points.map { BenchmarkText.time($0.microseconds) } + [
      ByteCountText.text(figures.storageBytes), figures.peakMemoryBytes.map(ByteCountText.text) ?? "-",
      BenchmarkText.time(figures.processorSeconds * 1e6),
    ]
  }
}
