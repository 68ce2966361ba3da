internal import StorageSPI

/// What of a store could not be read: entries that are known by their keys, and places where it is not known which
/// entries there were.
public struct StoreDamage: Sendable, Hashable {
  /// How many places are kept.
  private static let keptPlaces = 10

  /// The entries.
  public private(set) var entries = KeySample()
  /// What is known of the first ten places, each in one line. Where a store is damaged and nothing is lost, it says how.
  public private(set) var places: [String] = []
  /// The number of places.
  public private(set) var placeCount = 0

  /// No damage.
  public init() {}

  /// What a repair would lose of a store that is damaged for `reason`: the entries and places of `lost`.
  init(_ lost: [IntegrityIssue], of reason: StorageError) {
    for key in lost.compactMap(\.key).sorted() { entries.add(key) }
    let messages = lost.filter { $0.key == nil }.map(\.message)
    (placeCount, places) = (messages.count, Array(messages.prefix(Self.keptPlaces)))
    if lost.isEmpty { places = [reason.message] }
  }

  /// What `walk` has come across so far.
  init(_ walk: StoreWalk) {
    entries = walk.unreadableEntries
    (placeCount, places) = (walk.gaps.count, walk.gaps.prefix(Self.keptPlaces).map(\.message))
  }

  /// Whether nothing is damaged.
  public var isEmpty: Bool { entries.count == 0 && places.isEmpty }

  mutating func add(_ key: CacheKey) { entries.add(key) }

  /// The damage of both.
  static func + (left: StoreDamage, right: StoreDamage) -> StoreDamage {
    var sum = left
    sum.entries = left.entries + right.entries
    sum.placeCount += right.placeCount
    sum.places = Array((left.places + right.places).prefix(keptPlaces))
    return sum
  }
}
