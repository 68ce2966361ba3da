internal import StorageSPI

/// Which entries are evicted first if a store has no room for a new one. Under every policy expired entries go first; a
/// tie goes by the order of the keys.
public enum EvictionPolicy: String, Sendable, CaseIterable {
  /// The entry whose last use is longest ago goes first, then the one stored longest ago. Storing an entry counts as a
  /// use.
  case leastRecentlyUsed = "least-recently-used"
  /// The entry read the fewest times goes first; ties are broken as with `leastRecentlyUsed`.
  case leastFrequentlyUsed = "least-frequently-used"
  /// The entry stored longest ago goes first.
  case leastRecentlyStored = "least-recently-stored"
  /// Only expired entries go. If that does not make enough room, the new entry is refused.
  case none

  /// Whether the order depends on how entries are used.
  var dependsOnUse: Bool { self == .leastRecentlyUsed || self == .leastFrequentlyUsed }
}

/// An entry that may be evicted. A candidate that goes earlier is smaller.
struct EvictionCandidate: Sendable, Comparable {
  let key: CacheKey
  let payloadBytes: Int
  /// The entry's version: it is removed only if it still has this one.
  let checksum: UInt64
  let isExpired: Bool
  /// Decides the order, most important first. A tuple, so that no candidate allocates memory.
  private let rank: (Int64, Int64, Int64)

  /// Ranks `entry` by `policy` at the time `now`; `nil` if the entry must stay.
  init?(_ entry: EntrySummary, history: AccessHistory, policy: EvictionPolicy, now: Timestamp) {
    let stored = Self.rank(entry.metadata.storedAt, now)
    isExpired = entry.metadata.state(at: now) == .expired
    if isExpired {
      rank = (entry.metadata.retainUntil.milliseconds, stored, 0)
    } else {
      let used = max(Self.rank(history.lastUsedAt, now), stored)
      switch policy {
      case .leastRecentlyUsed: rank = (used, stored, 0)
      case .leastFrequentlyUsed: rank = (history.count, used, stored)
      case .leastRecentlyStored: rank = (stored, 0, 0)
      case .none: return nil
      }
    }
    key = entry.key
    payloadBytes = entry.payloadBytes
    checksum = entry.metadata.checksum
  }

  /// The rank of a time. Times ahead of the clock come first. Otherwise entries stored before the clock was set back
  /// would keep their places until the clock catches up.
  private static func rank(_ time: Timestamp, _ now: Timestamp) -> Int64 {
    time.isAhead(of: now) ? time.milliseconds - Timestamp.distantFuture.milliseconds - 1 : time.milliseconds
  }

  static func < (left: Self, right: Self) -> Bool {
    if left.isExpired != right.isExpired { return left.isExpired }
    if left.rank != right.rank { return left.rank < right.rank }
    return left.key < right.key
  }

  static func == (left: Self, right: Self) -> Bool {
    left.isExpired == right.isExpired && left.rank == right.rank && left.key == right.key
  }
}

extension EntryTally.Count {
  /// Adds a candidate to the count.
  static func += (count: inout Self, candidate: EvictionCandidate) {
    count.entries += 1
    count.payloadBytes += candidate.payloadBytes
  }

  static func -= (count: inout Self, candidate: EvictionCandidate) {
    count.entries -= 1
    count.payloadBytes -= candidate.payloadBytes
  }

  /// Whether this is at least as much as `other`, in entries and in bytes.
  func covers(_ other: Self) -> Bool { entries >= other.entries && payloadBytes >= other.payloadBytes }

  /// How much this exceeds `other`; neither number is negative.
  func excess(over other: Self) -> Self {
    Self(entries: max(0, entries - other.entries), payloadBytes: max(0, payloadBytes - other.payloadBytes))
  }
}
