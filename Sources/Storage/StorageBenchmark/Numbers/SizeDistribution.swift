internal import StorageSPI

/// The distribution of sizes of values, in bytes, or of lengths of scans, in entries.
public enum SizeDistribution: Sendable, Hashable {
  /// One class of a histogram of sizes.
  public struct Class: Sendable, Hashable {
    /// The size.
    public let size: Int
    /// Its weight relative to the other classes; positive.
    public let weight: Double
  }

  /// Always the same size.
  case constant(Int)
  /// Every size of the range equally often.
  case uniform(ClosedRange<Int>)
  /// Small sizes often and large ones rarely: the weight of size number `k` of the range is `1 / (k + 1)^0.99`.
  case zipfian(ClosedRange<Int>)
  /// Sizes with their weights; at least one.
  case histogram([Class])

  /// The range from the smallest size to the largest.
  public var range: ClosedRange<Int> {
    switch self {
    case .constant(let size): return size...size
    case .uniform(let range), .zipfian(let range): return range
    case .histogram(let classes):
      let sizes = classes.map(\.size).sorted()
      return (sizes.first ?? 0)...(sizes.last ?? 0)
    }
  }
}

/// Maps numbers to sizes: the same number always to the same size, with the requested distribution over all numbers.
struct SizeChooser: Sendable {
  private let distribution: SizeDistribution
  private var zipfian: ZipfianDistribution?
  /// The cumulative shares of the classes.
  private var shares: [Double] = []

  init(_ distribution: SizeDistribution) {
    self.distribution = distribution
    if case .zipfian(let range) = distribution { zipfian = ZipfianDistribution(count: UInt64(range.count)) }
    if case .histogram(let classes) = distribution { shares = Self.shares(classes) }
  }

  /// The size for `number`, any well-mixed 64 bits.
  @inline(__always)
  func size(_ number: UInt64) -> Int {
    if case .constant(let size) = distribution { return size }
    return drawnSize(number)
  }

  private func drawnSize(_ number: UInt64) -> Int {
    var random = SeededGenerator(seed: number)
    switch distribution {
    case .constant(let size): return size
    case .uniform(let range): return range.lowerBound + Int(random.below(UInt64(range.count)))
    case .zipfian(let range): return range.lowerBound + Int(zipfian?.next(&random) ?? 0)
    case .histogram(let classes):
      let share = random.unit()
      return classes[shares.firstIndex { share < $0 } ?? classes.count - 1].size
    }
  }

  private static func shares(_ classes: [SizeDistribution.Class]) -> [Double] {
    let total = classes.reduce(0) { $0 + $1.weight }
    var sum = 0.0
    return classes.map { one in
      sum += one.weight
      return sum / total
    }
  }
}
