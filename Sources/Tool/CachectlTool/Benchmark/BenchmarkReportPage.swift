internal import CachePresentation
internal import Platform
internal import StorageBenchmark

/// The results as one self-contained HTML page: no network, no script, light or dark by the reader's choice, readable
/// on a phone and on paper.
struct BenchmarkReportPage: Sendable {
  private let outcome: BenchmarkOutcome
  private let groups: [BenchmarkGroup]
  private let backends: [String]

  /// The page for `outcome`.
  init(_ outcome: BenchmarkOutcome) {
    (self.outcome, groups) = (outcome, outcome.groups)
    backends = outcome.report.results.reduce(into: []) { names, result in
      if !names.contains(result.row.backend) { names.append(result.row.backend) }
    }
  }

  /// The text of the page, in UTF-8.
  var html: String {
    let head =
      HTMLText.element("title", text: "cachectl bench") + "<meta charset=\"utf-8\">"
      + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      + "<link rel=\"icon\" href=\"data:,\">" + HTMLText.element("style", [], BenchmarkReportStyle.css)
    let body = HTMLText.element("header", [], heading) + HTMLText.element("main", [], sections)
    return "<!DOCTYPE html>\n<html lang=\"en\"><head>\(head)</head><body>\(body)</body></html>\n"
  }

  private var heading: String {
    let facts = outcome.report.environment.texts.map { fact in
      HTMLText.element("dt", text: fact.name) + HTMLText.element("dd", text: fact.text)
    }
    let remark = outcome.status.map { HTMLText.element("p", [("class", "remark")], text: $0.text) } ?? ""
    return HTMLText.element("h1", text: "Backends against each other") + remark
      + HTMLText.element("dl", [], facts.joined())
  }

  private var sections: String {
    [
      section("Throughput", groups.map { ThroughputBars(group: $0, number: number).html }),
      section("Latency by percentile", groups.compactMap(percentiles)),
      section("Cost against size", titles.compactMap(costs)),
      HTMLText.element("section", [], HTMLText.element("h2", text: "All figures") + figures),
      outcome.comparison.map { HTMLText.element("section", [], $0.html(file: outcome.savedFile)) } ?? "",
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
    let names: [(Double, String)] = [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99.9"), (100, "max")]
    let series = group.rows.compactMap { result in
      result.measurement.map { cost in
        LineChart.Series(
          name: result.row.backend, number: number(of: result.row.backend),
          points: zip(names, cost.latency.percentiles).map { (Self.place($0.0), Double($1) / 1_000, $0.1) })
      }
    }
    guard !series.isEmpty else { return nil }
    return LineChart(
      title: "\(group.heading): time of \(group.measuredCall)",
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
      sizes.contains { $0.rows.contains { $0.row.backend == backend && $0.speed > 0 } }
    }
    let series = measured.map { backend in
      LineChart.Series(
        name: backend, number: number(of: backend),
        points: sizes.compactMap { size in
          size.rows.first { $0.row.backend == backend && $0.speed > 0 }.map {
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
    let rows = groups.flatMap { group in group.rows.map { line($0, of: group, columns: names.count) } }
    let remark = HTMLText.element("p", [("class", "remark")], text: BenchmarkText.batchRemark)
    return HTMLText.table(names, rows) + remark
  }

  private func line(_ result: BenchmarkResult, of group: BenchmarkGroup, columns: Int) -> String {
    let name = [result.row.title, NumberText.text(result.row.entries), result.row.backend]
    guard let cost = result.measurement else {
      let reason = "\(result.outcome.name): \(result.outcome.reason ?? "")"
      let span = ("colspan", "\(columns - 3)")
      let cell = HTMLText.element("td", [span, ("class", "reason")], text: reason)
      return HTMLText.element("tr", [], name.map { HTMLText.element("td", text: $0) }.joined() + cell)
    }
    let cells =
      [
        BenchmarkText.rate(result.speed), BenchmarkText.ratio(result.speed, to: group.best),
        BenchmarkText.spread(cost.throughput), BenchmarkText.batch(cost.operationsPerCall) ?? "-",
      ] + cost.latency.percentiles.map(BenchmarkText.latency) + [
        ByteCountText.text(cost.storageBytes), cost.peakMemoryBytes.map(ByteCountText.text) ?? "-",
        BenchmarkText.time(cost.processorSeconds * 1e6),
      ]
    return HTMLText.row(name + cells, group.isBest(result) ? [("class", "best")] : [])
  }
}

extension LatencySummary {
  /// The percentiles 50, 90, 99, 99.9 and 100, in nanoseconds.
  fileprivate var percentiles: [UInt64] { [p50, p90, p99, p999, max] }
}

/// The operations per second of each backend, as bars labelled with their numbers.
struct ThroughputBars {
  let group: BenchmarkGroup
  /// The colour number of a backend: the same in all figures of a page, see `LineChart.Series`.
  let number: (String) -> Int

  /// The figure.
  var html: String {
    return HTMLText.element(
      "figure", [("class", "bars")],
      HTMLText.element("figcaption", text: "\(group.heading): operations a second")
        + HTMLText.element("ul", [], group.rows.map(bar).joined()))
  }

  private func bar(_ result: BenchmarkResult) -> String {
    let name = HTMLText.element("span", [("class", "name")], text: result.row.backend)
    guard let cost = result.measurement else {
      let reason = "\(result.outcome.name): \(result.outcome.reason ?? "")"
      let kind = result.isFailure ? "mistake" : "skipped"
      return HTMLText.element("li", [], name + HTMLText.element("span", [("class", kind)], text: reason))
    }
    let (speed, isBest) = (result.speed, group.isBest(result))
    let share = group.highest > 0 ? speed / group.highest * 100 : 0
    let ratio = "\(BenchmarkText.ratio(speed, to: group.best)) of the highest"
    let length = HTMLText.element(
      "span",
      [("class", "bar series\(number(result.row.backend) % 6)"), ("style", "width:\(HTMLText.number(share))%")], "")
    let value =
      "\(HTMLText.unbroken(BenchmarkText.rate(speed))), \(isBest ? "the best" : group.isControl(result) ? "the control: \(ratio)" : ratio) "
      + "(\(HTMLText.unbroken(BenchmarkText.spread(cost.throughput))))"
    return HTMLText.element(
      "li", isBest ? [("class", "best")] : [],
      name + HTMLText.element("span", [("class", "track")], length)
        + HTMLText.element("span", [("class", "value")], text: value))
  }
}
