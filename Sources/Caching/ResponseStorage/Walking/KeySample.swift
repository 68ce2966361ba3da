public import StorageSPI

/// A sample of any number of keys: how many there are, and the first of them.
public struct KeySample: Sendable, Hashable {
  /// How many keys to keep.
  private static let size = 10

  /// The number of keys.
  public private(set) var count = 0
  /// The first ten keys.
  public private(set) var first: [CacheKey] = []

  /// Creates an empty sample.
  public init() {}

  package mutating func add(_ key: CacheKey) {
    count += 1
    if first.count < Self.size { first.append(key) }
  }
}

extension KeySample {
  /// The keys of both samples.
  static func + (left: KeySample, right: KeySample) -> KeySample {
    var sum = KeySample()
    sum.count = left.count + right.count
    sum.first = Array((left.first + right.first).sorted().prefix(size))
    return sum
  }
}
