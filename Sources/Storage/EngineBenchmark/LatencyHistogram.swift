/// The latencies of operations, in nanoseconds, counted in buckets whose width grows with the value.
///
/// The buckets are log-linear, as in Gil Tene's HdrHistogram: each value below 256 has its own bucket, and every
/// further power of two is divided into 128 buckets of equal width. So a bucket is at most 1/128 as wide as its
/// smallest value. A percentile, which is the largest value of its bucket, exceeds the true one by less than 1/128 (0.8
/// %) and never falls short of it. Count and maximum are exact.
///
/// Values up to `maximumValue` (73 minutes) are distinguished; longer ones count as that long. Recording takes a handful
/// of instructions and never allocates: all 36 KiB of buckets exist from the start.
public struct LatencyHistogram: Sendable, Hashable {
  /// The largest value that is recorded as such, in nanoseconds: 2^42 - 1, about 73 minutes.
  public static let maximumValue: UInt64 = 1 << 42 - 1

  /// A percentile exceeds the true one by less than this share of it.
  public static let relativeError = 1.0 / 128

  private var counts = [UInt64](repeating: 0, count: Self.bucketCount)

  /// The number of values. A batch is one call with one latency, however many entries it has.
  public private(set) var count: UInt64 = 0

  /// The exact largest value; 0 if there is none.
  public private(set) var maximum: UInt64 = 0

  /// A histogram without values.
  public init() {}

  /// Counts one value. Cost: a few nanoseconds, no allocation.
  public mutating func record(_ nanoseconds: UInt64) {
    counts[Self.bucket(of: nanoseconds)] += 1
    count += 1
    if nanoseconds > maximum { maximum = nanoseconds }
  }

  /// Adds the values of `other`.
  public mutating func merge(_ other: LatencyHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// The smallest value that at least `percentage` per cent of all values do not exceed (the nearest-rank definition),
  /// accurate to `relativeError`; 0 if there are no values. Cost: a pass over the buckets.
  ///
  /// - Parameter percentage: from 0 (the minimum) to 100 (the maximum); clamped to that range.
  public func percentile(_ percentage: Double) -> UInt64 {
    let rank = max(1, UInt64((Double(count) * max(percentage, 0) / 100).rounded(.up)))
    var passed: UInt64 = 0
    for index in counts.indices where percentage < 100 {
      passed += counts[index]
      if passed >= rank { return min(Self.greatestValue(in: index), maximum) }
    }
    return maximum
  }

  /// The index of each bucket that is not empty, each followed by its count.
  var buckets: [Int] { counts.indices.flatMap { counts[$0] > 0 ? [$0, Int(clamping: counts[$0])] : [] } }

  /// The histogram with these `buckets`; `nil` if they are inconsistent.
  init?(buckets: [Int], maximum: Int) {
    guard buckets.count.isMultiple(of: 2) else { return nil }
    for place in stride(from: 0, to: buckets.count, by: 2) {
      let (index, number) = (buckets[place], UInt64(buckets[place + 1]))
      guard counts.indices.contains(index), counts[index] == 0 else { return nil }
      let (total, overflow) = count.addingReportingOverflow(number)
      guard !overflow else { return nil }
      counts[index] = number
      count = total
    }
    self.maximum = UInt64(maximum)
  }
}

/// The mapping of values to buckets.
extension LatencyHistogram {
  /// The binary logarithm of the number of buckets in each power of two.
  private static let precision = 7

  /// The number of values with their own bucket: twice the buckets of a power of two.
  private static let linearCount: UInt64 = 2 << 7

  static var bucketCount: Int { bucket(of: maximumValue) + 1 }

  /// The bucket that counts `value`.
  @inline(__always)
  static func bucket(of value: UInt64) -> Int {
    guard value >= linearCount else { return Int(value) }
    let value = min(value, maximumValue)
    let shift = 63 - value.leadingZeroBitCount - precision
    return shift << precision + Int(value >> UInt64(shift))
  }

  /// The smallest value that the bucket at `index` counts.
  static func leastValue(in index: Int) -> UInt64 {
    guard index >= Int(linearCount) else { return UInt64(index) }
    let shift = index >> precision - 1
    return UInt64(index - shift << precision) << UInt64(shift)
  }

  /// The largest value that the bucket at `index` counts.
  static func greatestValue(in index: Int) -> UInt64 { leastValue(in: index + 1) - 1 }
}

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
  /// figures these are the smallest and the largest: 93.75 %. Two such intervals of one distribution do not overlap in
  /// 0.8 % of all cases.
  public let interval: ClosedRange<Double>?

  /// The spread of `figures`; `nil` if there are none.
  public init?(_ figures: [Double]) {
    let sorted = figures.sorted()
    guard let least = sorted.first, let greatest = sorted.last else { return nil }
    let middle = sorted.count / 2
    median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    minimum = least
    maximum = greatest
    interval = Self.interval(sorted)
  }

  private static func interval(_ sorted: [Double]) -> ClosedRange<Double>? {
    var rank = 0
    var missed = 0.0
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
