/// Pairs of measurements, each pair taken one right after the other, so that what else the machine does in the meantime
/// meets both alike.
struct Comparison {
  /// In nanoseconds or bytes, and as many of one as of the other.
  let floor, project: [Double]

  /// The row of a table: what, the floor's median and range, the project's, the median and range of the speeds of the
  /// project in proportion to the floor's, the target, and whether it is reached.
  func row(label: String, _ metric: Metric, _ target: Target) -> String {
    let ratios = zip(floor, project).map { $0 / $1 }
    let verdict = target.verdict(ratio: Self.median(ratios), value: Self.median(project))
    let cells = [
      label, Self.summary(floor, metric.text), Self.summary(project, metric.text),
      Self.summary(ratios) { Decimal.text($0) }, target.text, verdict,
    ]
    return "| \(cells.joined(separator: " | ")) |"
  }

  private static func summary(_ values: [Double], _ text: (Double) -> String) -> String {
    let (one, other) = (text(values.min() ?? 0), text(values.max() ?? 0))
    return "**\(text(median(values)))** (\(one) to \(other))"
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
