package import StorageSPI

/// The facts about a decoded entry, without its value.
///
/// It is `@unchecked Sendable` because the compiler cannot check classes with subclasses: all properties of this class
/// and of its only subclass are constant and Sendable.
package class DecodedEntry: @unchecked Sendable {
  let key: CacheKey
  /// The digest of the key, see `AccessRecord`.
  let digest: UInt64
  /// The metadata without the record of the transforms.
  package let metadata: EntryMetadata
  /// The steps that the entry was written with; `nil` if none.
  let transforms: String?
  let payloadBytes: Int
  let codec: String

  init(
    key: CacheKey, digest: UInt64, metadata: EntryMetadata, transforms: String? = nil, payloadBytes: Int, codec: String
  ) {
    self.key = key
    self.digest = digest
    self.metadata = metadata
    self.transforms = transforms
    self.payloadBytes = payloadBytes
    self.codec = codec
  }

  /// Whether an entry with the metadata `stored`, whose checksums have been checked, has the payload that this one was
  /// decoded from, and all else that decides about its value.
  func hasPayload(of stored: EntryMetadata) -> Bool {
    metadata.payloadChecksum == stored.payloadChecksum && metadata.contentType == stored.contentType
      && transforms == stored.transforms
  }
}

/// A value, with the facts about the entry that it was decoded from.
package final class Decoded<Value: Sendable>: DecodedEntry, @unchecked Sendable {
  package let value: Value

  init(
    _ value: Value, key: CacheKey, digest: UInt64, metadata: EntryMetadata, transforms: String?, payloadBytes: Int,
    codec: String
  ) {
    self.value = value
    super.init(
      key: key, digest: digest, metadata: metadata, transforms: transforms, payloadBytes: payloadBytes, codec: codec)
  }
}

/// Decoded entries by the digests of their keys, within limits, in order of their last use.
///
/// If two keys share a digest, which is next to impossible, the later one replaces the other. Once the table is full,
/// an entry gets in only when it comes for the second time. So a walk over many entries that are read once does not
/// displace entries that are read again and again, and does not pay for keeping what it will not use.
struct DecodedTable {
  private struct Node {
    var digest: UInt64
    var entry: DecodedEntry?
    var changeCount: UInt64?
    var newer: Int
    var older: Int
  }

  private static let none = -1
  /// How many rejected digests to remember. A later digest replaces an earlier one with the same last bits. A power of
  /// two.
  static let turnedAwayCount = 4_096

  let limits: DecodedLimits
  private var places: [UInt64: Int] = [:]
  /// A linked list from the newest node to the oldest, and free nodes.
  private var nodes: [Node] = []
  private var free: [Int] = []
  private var (newest, oldest) = (none, none)
  private var turnedAway: [UInt64] = []
  private(set) var payloadBytes = 0

  init(_ limits: DecodedLimits) { self.limits = limits }

  /// The number of entries kept.
  var count: Int { places.count }

  /// The entry under `key`, whose digest is `digest`, and the change count at which it was kept. Makes it the most
  /// recently used one.
  mutating func use(_ key: CacheKey, _ digest: UInt64) -> (entry: DecodedEntry, changeCount: UInt64?)? {
    guard let place = places[digest], let entry = nodes[place].entry, entry.key == key else { return nil }
    if place != newest {
      unlink(place)
      link(place)
    }
    return (entry, nodes[place].changeCount)
  }

  /// Keeps `entry` as the most recently used one, and replaces any entry under its key.
  mutating func keep(_ entry: DecodedEntry, changeCount: UInt64?) {
    let wasKept = remove(entry.digest)
    guard entry.payloadBytes <= limits.maxBytes, limits.maxEntries > 0 else { return }
    guard wasKept || hasRoom(for: entry) || noteRejection(of: entry.digest) else { return }
    while !hasRoom(for: entry) { remove(nodes[oldest].digest) }
    let place = insert(
      Node(digest: entry.digest, entry: entry, changeCount: changeCount, newer: Self.none, older: Self.none))
    places[entry.digest] = place
    link(place)
    payloadBytes += entry.payloadBytes
  }

  /// Removes the entry under the key with the digest `digest`, and returns whether there was one.
  @discardableResult
  mutating func remove(_ digest: UInt64) -> Bool {
    guard let place = places.removeValue(forKey: digest) else { return false }
    unlink(place)
    payloadBytes -= nodes[place].entry?.payloadBytes ?? 0
    nodes[place].entry = nil
    free.append(place)
    return true
  }

  private func hasRoom(for entry: DecodedEntry) -> Bool {
    count < limits.maxEntries && payloadBytes <= limits.maxBytes - entry.payloadBytes
  }

  /// Remembers that an entry with the digest `digest` was rejected, and returns whether one was before.
  private mutating func noteRejection(of digest: UInt64) -> Bool {
    // Allocates nothing before the table is full. Digest zero counts as rejected from the start, which does no harm.
    if turnedAway.isEmpty { turnedAway = Array(repeating: 0, count: Self.turnedAwayCount) }
    let place = Int(truncatingIfNeeded: digest) & (Self.turnedAwayCount - 1)
    if turnedAway[place] == digest { return true }
    turnedAway[place] = digest
    return false
  }

  private mutating func insert(_ node: Node) -> Int {
    guard let place = free.popLast() else {
      nodes.append(node)
      return nodes.count - 1
    }
    nodes[place] = node
    return place
  }

  /// Makes a node, which is not in the list yet, the newest one.
  private mutating func link(_ place: Int) {
    (nodes[place].newer, nodes[place].older) = (Self.none, newest)
    if newest == Self.none { oldest = place } else { nodes[newest].newer = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (newer, older) = (nodes[place].newer, nodes[place].older)
    if newer == Self.none { newest = older } else { nodes[newer].older = older }
    if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
  }
}
