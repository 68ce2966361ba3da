internal import StorageSPI

/// How large values are, in bytes, or how long scans are, in entries.
public enum SizeDistribution: Sendable, Hashable {
  /// One class of a histogram of sizes.
  public struct Class: Sendable, Hashable {
    /// The size.
    public let size: Int
    /// How often it occurs, in proportion to the others; positive.
    public let weight: Double

    /// A class with the given fields.
    public init(size: Int, weight: Double) {
      self.size = size
      self.weight = weight
    }
  }

  /// Always the same size.
  case constant(Int)
  /// Every size of the range equally often.
  case uniform(ClosedRange<Int>)
  /// Small sizes often and large ones rarely: the size number `k` of the range in proportion to `1 / (k + 1)^0.99`.
  case zipfian(ClosedRange<Int>)
  /// The given sizes, as often as their weights say; there is at least one.
  case histogram([Class])

  /// The least size.
  public var minimum: Int {
    switch self {
    case .constant(let size): size
    case .uniform(let range), .zipfian(let range): range.lowerBound
    case .histogram(let classes): classes.map(\.size).min() ?? 0
    }
  }

  /// The greatest size.
  public var maximum: Int {
    switch self {
    case .constant(let size): size
    case .uniform(let range), .zipfian(let range): range.upperBound
    case .histogram(let classes): classes.map(\.size).max() ?? 0
    }
  }
}

/// Finds the size that belongs to a number: the same for the same number, distributed over all numbers as was asked.
struct SizeChooser: Sendable {
  private let distribution: SizeDistribution
  private let zipfian: ZipfianDistribution?
  /// The share of the classes up to each one.
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

  /// The size that belongs to `number`, which is any of 64 bits and well mixed.
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
