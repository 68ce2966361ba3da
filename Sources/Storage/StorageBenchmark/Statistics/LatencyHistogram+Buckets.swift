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

  /// The buckets that are not empty, in ascending order: the smallest and the largest value of each, in nanoseconds,
  /// and its count. Use them to draw curves.
  public var buckets: [(values: ClosedRange<UInt64>, count: UInt64)] {
    counts.indices.filter { counts[$0] > 0 }.map {
      (Self.leastValue(in: $0)...Self.greatestValue(in: $0), counts[$0])
    }
  }
}
