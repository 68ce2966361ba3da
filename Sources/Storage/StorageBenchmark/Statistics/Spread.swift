/// The middle of the figures of several rounds, and their spread.
public struct Spread: Sendable, Hashable {
  /// The middle figure; the mean of the two in the middle if their number is even.
  public let median: Double
  /// The smallest figure.
  public let minimum: Double
  /// The largest figure.
  public let maximum: Double
  /// The median of the distances from the median (MAD), which a single bad round does not change.
  public let deviation: Double

  /// The spread of `figures`; `nil` if there are none.
  public init?(_ figures: [Double]) {
    guard let least = figures.min(), let greatest = figures.max() else { return nil }
    let middle = Self.median(figures.sorted())
    (median, minimum, maximum) = (middle, least, greatest)
    deviation = Self.median(figures.map { abs($0 - middle) }.sorted())
  }

  /// The deviation as a share of the median, scaled so that for normally distributed figures it is their standard
  /// deviation (1.4826, the reciprocal of the normal distribution's upper quartile); 0 if the median is 0.
  public var relativeDeviation: Double { median == 0 ? 0 : 1.4826 * deviation / median }

  private static func median(_ sorted: [Double]) -> Double {
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
