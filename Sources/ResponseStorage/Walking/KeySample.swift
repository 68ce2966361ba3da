public import StorageSPI

/// Keys that there may be any number of: how many, and the first of them.
public struct KeySample: Sendable, Hashable {
  /// How many keys are kept.
  private static let size = 10

  /// How many keys there are.
  public private(set) var count = 0
  /// The first ten of them.
  public private(set) var first: [CacheKey] = []

  /// No keys.
  public init() {}

  mutating func add(_ key: CacheKey) {
    count += 1
    if first.count < Self.size { first.append(key) }
  }
}

extension KeySample {
  /// The keys of both.
  static func + (left: KeySample, right: KeySample) -> KeySample {
    var sum = KeySample()
    sum.count = left.count + right.count
    sum.first = Array((left.first + right.first).sorted().prefix(size))
    return sum
  }
}
