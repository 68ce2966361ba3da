internal import CacheBase
internal import CachePresentation
internal import EngineBenchmark

/// The results as one self-contained HTML page: no network, no script, light or dark by the reader's choice, readable
/// on a phone and on paper.
struct BenchmarkReportPage: Sendable {
  private let outcome: BenchmarkOutcome
  private let groups: [BenchmarkGroup]
  private let backends: [String]

  init(_ outcome: BenchmarkOutcome) {
    self.outcome = outcome
    groups = outcome.groups
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
    let facts = facts.map { HTMLText.element("dt", text: $0.name) + HTMLText.element("dd", text: $0.text) }
    let remark = outcome.status.map { HTMLText.element("p", [("class", "remark")], text: $0.text) } ?? ""
    return HTMLText.element("h1", text: "Backends against each other") + remark
      + HTMLText.element("dl", [], facts.joined())
  }

  /// The known members of the environment, as texts for people.
  private var facts: [(name: String, text: String)] {
    guard case .object(let members) = outcome.report.environment else { return [] }
    let labels = [
      "memoryBytes": "main memory", "fileSystem": "file system", "withoutDurability": "without durability",
      "warmUpRounds": "warm-up rounds", "valueSize": "value size",
    ]
    return members.map { member in
      let text =
        switch (member.name, member.value) {
        case ("memoryBytes", .integer(let bytes)): ByteCountText.text(bytes)
        case ("engines", .object(let engines)):
          engines.map { "\($0.name) \(CSVText.field($0.value))" }.joined(separator: ", ")
        default: CSVText.field(member.value)
        }
      return (labels[member.name] ?? member.name, text)
    }.filter { !$0.text.isEmpty }
  }

  private var sections: String {
    [
      section("Throughput", groups.map(bars)),
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

  /// The number of a backend's color, dashes and marks: the same in all figures.
  private func number(of backend: String) -> Int { backends.firstIndex(of: backend) ?? 0 }

  /// The operations per second of each backend, as bars labelled with their numbers.
  private func bars(_ group: BenchmarkGroup) -> String {
    HTMLText.element(
      "figure", [("class", "bars")],
      HTMLText.element("figcaption", text: "\(group.heading): operations a second")
        + HTMLText.element("ul", [], group.rows.map { bar($0, of: group) }.joined()))
  }

  private func bar(_ result: BenchmarkResult, of group: BenchmarkGroup) -> String {
    let name = HTMLText.element("span", [("class", "name")], text: result.row.backend)
    guard let cost = result.measurement else {
      let kind = result.isFailure ? "mistake" : "skipped"
      return HTMLText.element("li", [], name + HTMLText.element("span", [("class", kind)], text: result.gap))
    }
    let isBest = group.isBest(result)
    let color = "bar series\(number(of: result.row.backend) % 6)"
    let width = "width:\(HTMLText.number(group.share(result) * 100))%"
    let length = HTMLText.element("span", [("class", color), ("style", width)], "")
    let ratio = "\(BenchmarkText.ratio(result.speed, to: group.best)) of the highest"
    let rank = isBest ? "the best" : group.isControl(result) ? "the control: \(ratio)" : ratio
    let value =
      "\(HTMLText.unbroken(BenchmarkText.rate(result.speed))), \(rank) "
      + "(\(HTMLText.unbroken(BenchmarkText.spread(cost.throughput))))"
    return HTMLText.element(
      "li", isBest ? [("class", "best")] : [],
      name + HTMLText.element("span", [("class", "track")], length)
        + HTMLText.element("span", [("class", "value")], text: value))
  }

  private static let percentiles: [(name: String, percentage: Double)] = [
    ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
  ]

  /// The chart of the latencies; `nil` if nothing was measured.
  private func percentiles(_ group: BenchmarkGroup) -> String? {
    let series = group.rows.compactMap { result in
      result.measurement.map { cost in
        LineChart.Series(
          name: result.row.backend, number: number(of: result.row.backend), isControl: group.isControl(result),
          points: Self.percentiles.map { name, percentage in
            (Self.place(percentage), Double(cost.latencies.percentile(percentage)) / 1_000, name)
          })
      }
    }
    guard !series.isEmpty else { return nil }
    return LineChart(
      title: "\(group.heading): time of \(group.measuredCall)",
      ticks: Self.percentiles.map { (Self.place($0.percentage), $0.name) }, series: series,
      text: BenchmarkText.time
    ).html
  }

  /// The position of a percentile on its axis: each further nine takes the same space.
  private static func place(_ percentile: Double) -> Double {
    let nines = percentile >= 100 ? 3.7 : -log10(1 - percentile / 100)
    return (nines - 0.3) / 3.4
  }

  /// The chart of the time per operation by number of entries; `nil` unless several numbers were measured.
  private func costs(_ title: String) -> String? {
    let sizes = groups.filter { $0.title == title }.sorted { $0.entries < $1.entries }
    guard sizes.count > 1, let first = sizes.first, let last = sizes.last else { return nil }
    let range = (log10(Double(first.entries)), log10(Double(max(last.entries, 2))))
    let place = { (entries: Int) in (log10(Double(entries)) - range.0) / max(range.1 - range.0, 1e-9) }
    let series = backends.map { backend in
      LineChart.Series(
        name: backend, number: number(of: backend), isControl: first.isControl(backend),
        points: sizes.compactMap { size in
          size.rows.first { $0.row.backend == backend && $0.speed > 0 }.map {
            (place(size.entries), 1e6 / $0.speed, NumberText.count(size.entries, "entry", "entries"))
          }
        })
    }
    return LineChart(
      title: "\(title): time of an operation by the number of entries",
      ticks: sizes.map { (place($0.entries), NumberText.text($0.entries)) },
      series: series.filter { !$0.points.isEmpty },
      text: BenchmarkText.time
    ).html
  }

  private var figures: String {
    let columns = BenchmarkColumn.columns(for: groups)
    let rows = groups.flatMap { group in group.rows.map { line($0, of: group, columns) } }
    let remark = HTMLText.element("p", [("class", "remark")], text: BenchmarkText.batchRemark)
    return HTMLText.table(["Workload", "Entries", "Backend"] + columns.map(\.title), rows) + remark
  }

  private func line(_ result: BenchmarkResult, of group: BenchmarkGroup, _ columns: [BenchmarkColumn]) -> String {
    let name = [result.row.title, NumberText.text(result.row.entries), result.row.backend]
    guard let cost = result.measurement else {
      let span = ("colspan", "\(columns.count)")
      let cell = HTMLText.element("td", [span, ("class", "reason")], text: result.gap)
      return HTMLText.element("tr", [], name.map { HTMLText.element("td", text: $0) }.joined() + cell)
    }
    let cells = columns.map { $0.text(cost, result.speed, group.best) ?? "-" }
    return HTMLText.row(name + cells, group.isBest(result) ? [("class", "best")] : [])
  }
}

extension BenchmarkResult {
  /// Why there are no figures.
  fileprivate var gap: String { "\(outcome.name): \(outcome.reason ?? "")" }
}

/// The style of the report page.
///
/// A color has one meaning: each backend has one of six in all figures, green is faster than before, and red is slower
/// or failed. The best of a group is in bold. The six have a contrast of at least 3 to 1 against both backgrounds (WCAG
/// 2.2, 1.4.11). On paper all are black, and dashes and marks tell the lines apart.
enum BenchmarkReportStyle {
  static let css = """
    :root { color-scheme: light dark; --text: #1b1f24; --dim: #57606a; --rule: #d5dae0; --page: #ffffff; \
    --card: #f6f8fa; --better: #1a6f3c; --wrong: #c00020; --s0: #2458b8; --s1: #a85a00; --s2: #7d2f9b; \
    --s3: #0c7385; --s4: #6b6f00; --s5: #b0277a; }
    @media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --dim: #9aa4af; --rule: #3a424c; --page: #14181d; \
    --card: #1d2229; --better: #4fb477; --wrong: #ff7a70; --s0: #7fa8ff; --s1: #f0a04f; --s2: #cf8ff0; \
    --s3: #4cc0d4; --s4: #d3d04a; --s5: #ff8fc8; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 78rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text); \
    font: 16px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
    .remark { color: var(--dim); margin: 0 0 1rem; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; font-size: .9rem; }
    dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
    figure { margin: 0; padding: 1rem; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; \
    break-inside: avoid; }
    figcaption { font-weight: 600; margin-bottom: .5rem; }
    .bars ul, .legend { list-style: none; margin: 0; padding: 0; }
    .bars li { display: grid; grid-template-columns: 7rem 1fr; column-gap: .75rem; align-items: center; \
    margin-bottom: .4rem; }
    .name { overflow-wrap: anywhere; } .track { height: 1.1rem; }
    .bar { display: block; height: 100%; min-width: 2px; background: var(--series); border-radius: 0 .2rem .2rem 0; }
    .value { grid-column: 2; font-size: .85rem; color: var(--dim); font-variant-numeric: tabular-nums; }
    .mistake { color: var(--wrong); overflow-wrap: anywhere; }
    .skipped { color: var(--dim); overflow-wrap: anywhere; }
    figure.lines > svg { display: block; width: 100%; height: auto; }
    svg text { font: 13px system-ui, sans-serif; fill: var(--dim); }
    .grid { stroke: var(--rule); stroke-width: 1; }
    .line { fill: none; stroke-width: 2; }
    .series0 { --series: var(--s0); } .series1 { --series: var(--s1); } .series2 { --series: var(--s2); } \
    .series3 { --series: var(--s3); } .series4 { --series: var(--s4); } .series5 { --series: var(--s5); }
    .line, .mark { stroke: var(--series); fill: var(--series); }
    polyline.line { fill: none; }
    .line.series1 { stroke-dasharray: 8 4; } .line.series2 { stroke-dasharray: 2 4; } \
    .line.series3 { stroke-dasharray: 10 4 2 4; } .line.series4 { stroke-dasharray: 4 2; } \
    .line.series5 { stroke-dasharray: 1 3; }
    .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .9rem; }
    .legend svg { width: 28px; height: 16px; vertical-align: middle; margin-right: .35rem; }
    .figures { overflow-x: auto; }
    table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
    th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
    th:first-child, td:first-child, th:nth-child(3), td:nth-child(3) { text-align: left; }
    .better td:nth-child(4) { color: var(--better); } .worse td:nth-child(4) { color: var(--wrong); font-weight: 600; }
    .best td, .best .name, .best .value { font-weight: 600; } td.reason { text-align: left; color: var(--dim); }
    @media (max-width: 40rem) { svg text { font-size: 20px; } .bars li { grid-template-columns: 5.5rem 1fr; } \
    dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
    @media print { :root { --text: #000; --dim: #000; --rule: #999; --page: #fff; --card: #fff; \
    --better: #000; --wrong: #000; --s0: #000; --s1: #000; --s2: #000; --s3: #000; --s4: #000; --s5: #000; } \
    body { max-width: none; padding: 0; font-size: 11px; } .bar { background: #bbb; border: 1px solid #000; \
    print-color-adjust: exact; } .figures { overflow: visible; } }
    """
}
