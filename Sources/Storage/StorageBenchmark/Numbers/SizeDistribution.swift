internal import StorageSPI

/// The distribution of sizes of values, in bytes, or of lengths of scans, in entries.
public enum SizeDistribution: Sendable, Hashable {
  /// One class of a histogram of sizes.
  public struct Class: Sendable, Hashable {
    /// The size.
    public let size: Int
    /// Its weight relative to the other classes; positive.
    public let weight: Double

    /// A class of size `size`.
    public init(size: Int, weight: Double) {
      self.size = size
      self.weight = weight
    }
  }

  /// Always the same size.
  case constant(Int)
  /// Every size of the range equally often.
  case uniform(ClosedRange<Int>)
  /// Small sizes often and large ones rarely: the weight of size number `k` of the range is `1 / (k + 1)^0.99`.
  case zipfian(ClosedRange<Int>)
  /// Sizes with their weights; at least one.
  case histogram([Class])

  /// The smallest size.
  public var minimum: Int {
    switch self {
    case .constant(let size): size
    case .uniform(let range), .zipfian(let range): range.lowerBound
    case .histogram(let classes): classes.map(\.size).min() ?? 0
    }
  }

  /// The largest size.
  public var maximum: Int {
    switch self {
    case .constant(let size): size
    case .uniform(let range), .zipfian(let range): range.upperBound
    case .histogram(let classes): classes.map(\.size).max() ?? 0
    }
  }
}

/// Maps numbers to sizes: the same number always to the same size, with the requested distribution over all numbers.
struct SizeChooser: Sendable {
  private let distribution: SizeDistribution
  private let zipfian: ZipfianDistribution?
  /// The cumulative shares of the classes.
  private let shares: [Double]

  init(_ distribution: SizeDistribution) {
    self.distribution = distribution
    if case .zipfian(let range) = distribution {
      zipfian = ZipfianDistribution(count: UInt64(range.count))
    } else {
      zipfian = nil
    }
    shares = if case .histogram(let classes) = distribution { Self.shares(classes) } else { [] }
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
