internal import StorageSPI

/// Entries by the digests of their keys, within limits, in the order in which they were used last.
///
/// It is a hash table with chains whose nodes are also a list, all in arrays. A `Dictionary` would do for the table; but
/// the first of its kind costs a process a search for a conformance, which is more than all else that a hit takes.
struct DecodedTable {
  private struct Node {
    var digest: UInt64
    var entry: DecodedEntry?
    var changeCount: UInt64?
    /// The next node of the chain, or of those that are free.
    var next: Int
    var newer: Int
    var older: Int
  }

  private static let none = -1

  private let limits: DecodedLimits
  private var nodes: [Node] = []
  /// The first node of each chain; a power of two of them.
  private var chains: [Int] = []
  private var (free, newest, oldest) = (none, none, none)
  private(set) var count = 0
  private(set) var payloadBytes = 0

  init(_ limits: DecodedLimits) { self.limits = limits }

  /// The entry under `key`, whose digest is `digest`, and the number of changes with which it was kept; from now on it is
  /// the one that was used last.
  mutating func use(_ key: CacheKey, _ digest: UInt64) -> (entry: DecodedEntry, changeCount: UInt64?)? {
    guard let place = place(of: key, digest), let entry = nodes[place].entry else { return nil }
    if place != newest {
      unlink(place)
      link(place)
    }
    return (entry, nodes[place].changeCount)
  }

  /// Keeps `entry` in place of what was kept under its key, as the one that was used last.
  mutating func keep(_ entry: DecodedEntry, _ digest: UInt64, changeCount: UInt64?) {
    remove(entry.key, digest)
    guard entry.payloadBytes <= limits.maxBytes, limits.maxEntries > 0 else { return }
    while count >= limits.maxEntries || payloadBytes > limits.maxBytes - entry.payloadBytes { removeOldest() }
    if chains.isEmpty { chains = Array(repeating: Self.none, count: Self.chainCount(limits.maxEntries)) }
    let chain = self.chain(of: digest)
    let place = insert(
      Node(
        digest: digest, entry: entry, changeCount: changeCount, next: chains[chain], newer: Self.none,
        older: Self.none))
    chains[chain] = place
    link(place)
    (count, payloadBytes) = (count + 1, payloadBytes + entry.payloadBytes)
  }

  /// Removes what is kept under `key`, if there is something.
  mutating func remove(_ key: CacheKey, _ digest: UInt64) {
    if let place = place(of: key, digest) { remove(place) }
  }

  private mutating func removeOldest() {
    if oldest != Self.none { remove(oldest) }
  }

  private mutating func remove(_ place: Int) {
    leaveChain(place)
    unlink(place)
    (count, payloadBytes) = (count - 1, payloadBytes - (nodes[place].entry?.payloadBytes ?? 0))
    (nodes[place].entry, nodes[place].next) = (nil, free)
    free = place
  }

  private func place(of key: CacheKey, _ digest: UInt64) -> Int? {
    if chains.isEmpty { return nil }
    var place = chains[chain(of: digest)]
    while place != Self.none {
      if nodes[place].digest == digest, nodes[place].entry?.key == key { return place }
      place = nodes[place].next
    }
    return nil
  }

  private func chain(of digest: UInt64) -> Int { Int(truncatingIfNeeded: digest) & (chains.count - 1) }

  /// A power of two, so that a chain has one node or two; no more than 65,536.
  private static func chainCount(_ entries: Int) -> Int {
    var count = 1
    while count < min(entries, 1 << 16) { count *= 2 }
    return count
  }

  private mutating func insert(_ node: Node) -> Int {
    guard free != Self.none else {
      nodes.append(node)
      return nodes.count - 1
    }
    let place = free
    free = nodes[place].next
    nodes[place] = node
    return place
  }

  private mutating func leaveChain(_ place: Int) {
    let chain = self.chain(of: nodes[place].digest)
    if chains[chain] == place {
      chains[chain] = nodes[place].next
      return
    }
    var before = chains[chain]
    while nodes[before].next != place { before = nodes[before].next }
    nodes[before].next = nodes[place].next
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
