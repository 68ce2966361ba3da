/// How many operations a second each backend made, as bars that are written with their numbers.
struct ThroughputBars: Sendable {
  let group: BenchmarkGroup

  /// The figure.
  var html: String {
    let title = "\(group.title), \(NumberText.count(group.entries, "entry", "entries")): operations a second"
    return HTMLText.element(
      "figure", [("class", "bars")],
      HTMLText.element("figcaption", text: title) + HTMLText.element("ul", [], group.rows.map(bar).joined()))
  }

  private func bar(_ row: BenchmarkRow) -> String {
    let name = HTMLText.element("span", [("class", "name")], text: row.backend)
    if let mistake = row.mistake {
      return HTMLText.element("li", [], name + HTMLText.element("span", [("class", "mistake")], text: mistake))
    }
    let speed = row.throughput.median
    let isBest = speed == group.best
    let share = group.best > 0 ? speed / group.best * 100 : 0
    let length = HTMLText.element(
      "span", [("class", isBest ? "mark bar best" : "mark bar"), ("style", "width:\(HTMLText.number(share))%")], "")
    let value =
      "\(BenchmarkText.rate(speed))\(isBest ? ", the best" : ", \(BenchmarkText.ratio(speed, to: group.best)) of it") "
      + "(\(BenchmarkText.spread(row.throughput)))"
    return HTMLText.element(
      "li", [],
      name + HTMLText.element("span", [("class", "track")], length)
        + HTMLText.element("span", [("class", "value")], text: value))
  }
}
