/// The middle of the figures of several rounds, and their spread.
public struct Spread: Sendable, Hashable {
  /// The middle figure; the mean of the two in the middle if their number is even.
  public let median: Double
  /// The smallest figure.
  public let minimum: Double
  /// The largest figure.
  public let maximum: Double

  /// The interval that contains the median of all rounds that could have been measured with a probability of at least
  /// 93 %, whatever their distribution; `nil` for fewer than five figures, which have no such interval.
  ///
  /// Its ends are two of the figures (Hahn and Meeker, "Statistical Intervals", 1991, 5.2): the k-th smallest and the
  /// k-th largest of n figures miss the median as often as n throws of a coin show one side fewer than k times. Of five
  /// figures these are the smallest and the largest: 93.75 %. Two such intervals of one distribution lie apart in 0.8 %
  /// of all cases.
  public let interval: ClosedRange<Double>?

  /// The spread of `figures`; `nil` if there are none.
  public init?(_ figures: [Double]) {
    let sorted = figures.sorted()
    guard let least = sorted.first, let greatest = sorted.last else { return nil }
    let middle = sorted.count / 2
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    (minimum, maximum, interval) = (least, greatest, Self.interval(sorted))
  }

  private static func interval(_ sorted: [Double]) -> ClosedRange<Double>? {
    var (rank, missed) = (0, 0.0)
    var probability = Double(sign: .plus, exponent: -sorted.count, significand: 1)
    while true {
      missed += 2 * probability
      guard missed <= 0.07 else { break }
      rank += 1
      probability *= Double(sorted.count - rank + 1) / Double(rank)
    }
    return rank == 0 ? nil : sorted[rank - 1]...sorted[sorted.count - rank]
  }
}
