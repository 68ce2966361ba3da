/// Pairs of measurements, each pair taken one right after the other, so that what else the machine does in the meantime
/// meets both alike.
struct Comparison {
  private var floor: [Double] = []
  private var project: [Double] = []

  /// Adds a pair.
  mutating func add(floor: Double, project: Double) {
    self.floor.append(floor)
    self.project.append(project)
  }

  /// The row of a table: what, the floor's median and range, the project's, and the median of the pairs' ratios.
  func row(label: String, unit: String) -> String {
    let ratio = Self.median(zip(floor, project).map { $1 / $0 })
    return "| \(label) | \(Self.summary(floor, unit)) | \(Self.summary(project, unit)) | **\(Self.text(ratio))** |"
  }

  private static func summary(_ values: [Double], _ unit: String) -> String {
    "\(text(median(values))) \(unit) (\(text(values.min() ?? 0)) to \(text(values.max() ?? 0)))"
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// Two decimals below 100, none above.
  private static func text(_ value: Double) -> String {
    guard value < 100 else { return String(Int(value.rounded())) }
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
  }
}
