/// The operations per second of each backend, as bars labelled with their numbers.
struct ThroughputBars {
  let group: BenchmarkGroup
  /// The colour number of a backend: the same in all figures of a page, see `LineChart.Series`.
  let number: (String) -> Int

  /// The figure.
  var html: String {
    let title = "\(group.title), \(NumberText.count(group.entries, "entry", "entries")): operations a second"
    return HTMLText.element(
      "figure", [("class", "bars")],
      HTMLText.element("figcaption", text: title) + HTMLText.element("ul", [], group.rows.map(bar).joined()))
  }

  private func bar(_ row: BenchmarkRow) -> String {
    let name = HTMLText.element("span", [("class", "name")], text: row.backend)
    guard let figures = row.figures else {
      let reason = "\(row.outcome.rawValue): \(row.reason ?? "")"
      let kind = row.outcome.isFailure ? "mistake" : "skipped"
      return HTMLText.element("li", [], name + HTMLText.element("span", [("class", kind)], text: reason))
    }
    let (speed, isBest) = (row.speed, group.isBest(row))
    let share = group.highest > 0 ? speed / group.highest * 100 : 0
    let ratio = "\(BenchmarkText.ratio(speed, to: group.best)) of the best"
    let length = HTMLText.element(
      "span", [("class", "bar series\(number(row.backend) % 6)"), ("style", "width:\(HTMLText.number(share))%")], "")
    let value =
      "\(HTMLText.unbroken(BenchmarkText.rate(speed))), \(isBest ? "the best" : row.isControl ? "the control: \(ratio)" : ratio) "
      + "(\(HTMLText.unbroken(BenchmarkText.spread(figures.throughput))))"
    return HTMLText.element(
      "li", isBest ? [("class", "best")] : [],
      name + HTMLText.element("span", [("class", "track")], length)
        + HTMLText.element("span", [("class", "value")], text: value))
  }
}
