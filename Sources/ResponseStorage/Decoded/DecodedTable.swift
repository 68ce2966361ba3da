internal import StorageSPI

/// Entries by the digests of their keys, within limits, in the order in which they were used last.
///
/// Of two keys that share a digest, which is next to impossible, the later one takes the place of the other. Where the
/// table is full, an entry gets in only when it comes for the second time: a walk over many entries that are read once
/// leaves in their places those that are read again and again, and does not pay for keeping what it does not use.
struct DecodedTable {
  private struct Node {
    var digest: UInt64
    var entry: DecodedEntry?
    var changeCount: UInt64?
    var newer: Int
    var older: Int
  }

  private static let none = -1
  /// Of how many digests that were turned away it is remembered; a later one takes the place of an earlier one with
  /// which it agrees in its last bits. A power of two.
  static let turnedAwayCount = 4_096

  private let limits: DecodedLimits
  private var places: [UInt64: Int] = [:]
  /// A list, from the newest to the oldest, and nodes that are free.
  private var nodes: [Node] = []
  private var free: [Int] = []
  private var (newest, oldest) = (none, none)
  private var turnedAway: [UInt64] = []
  private(set) var payloadBytes = 0

  init(_ limits: DecodedLimits) { self.limits = limits }

  /// How many entries are kept.
  var count: Int { places.count }

  /// The entry under `key`, whose digest is `digest`, and the number of changes with which it was kept; from now on it is
  /// the one that was used last.
  mutating func use(_ key: CacheKey, _ digest: UInt64) -> (entry: DecodedEntry, changeCount: UInt64?)? {
    guard let place = places[digest], let entry = nodes[place].entry, entry.key == key else { return nil }
    if place != newest {
      unlink(place)
      link(place)
    }
    return (entry, nodes[place].changeCount)
  }

  /// Keeps `entry` in place of what was kept under its key, as the one that was used last.
  mutating func keep(_ entry: DecodedEntry, changeCount: UInt64?) {
    let wasKept = remove(entry.digest)
    guard entry.payloadBytes <= limits.maxBytes, limits.maxEntries > 0 else { return }
    guard wasKept || hasRoom(for: entry) || isKnown(entry.digest) else { return }
    while !hasRoom(for: entry) { remove(nodes[oldest].digest) }
    let place = insert(
      Node(digest: entry.digest, entry: entry, changeCount: changeCount, newer: Self.none, older: Self.none))
    places[entry.digest] = place
    link(place)
    payloadBytes += entry.payloadBytes
  }

  /// Removes what is kept under the key with the digest `digest`, and says whether there was something.
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

  /// Whether an entry with the digest `digest` was turned away before, which from now on it was.
  private mutating func isKnown(_ digest: UInt64) -> Bool {
    // No memory is taken for it before the table is full. A digest of zero is known from the beginning: no harm is done.
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

  /// Makes the node the newest of the list, of which it is no part.
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
