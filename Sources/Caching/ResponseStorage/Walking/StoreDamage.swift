public import StorageSPI

/// What could not be read of a store: entries known by their keys, and places where it is unknown which entries there were.
public struct StoreDamage: Sendable, Hashable {
  /// How many places to keep.
  private static let keptPlaces = 10

  /// The unreadable entries.
  public private(set) var entries = KeySample()
  /// The first ten places, each described in one line. If a store is damaged but nothing is lost, this describes the
  /// damage.
  public private(set) var places: [String] = []
  /// The number of places.
  public private(set) var placeCount = 0

  /// Creates an empty report: no damage.
  public init() {}

  /// What a repair would lose of a store that is damaged for `reason`: the entries and places in `lost`.
  init(_ lost: [IntegrityIssue], of reason: CacheError) {
    for key in lost.compactMap(\.key).sorted() { entries.add(key) }
    let messages = lost.filter { $0.key == nil }.map(\.message)
    (placeCount, places) = (messages.count, Array(messages.prefix(Self.keptPlaces)))
    if lost.isEmpty { places = [reason.message] }
  }

  /// What `walk` has met so far.
  init(_ walk: StoreWalk) {
    entries = walk.unreadableEntries
    (placeCount, places) = (walk.gaps.count, walk.gaps.prefix(Self.keptPlaces).map(\.message))
  }

  /// Whether everything could be read.
  public var isEmpty: Bool { entries.count == 0 && places.isEmpty }

  package mutating func add(_ key: CacheKey) { entries.add(key) }

  /// The damage of both.
  static func + (left: StoreDamage, right: StoreDamage) -> StoreDamage {
    var sum = left
    sum.entries = left.entries + right.entries
    sum.placeCount += right.placeCount
    sum.places = Array((left.places + right.places).prefix(keptPlaces))
    return sum
  }
}

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
