internal import StorageSPI

/// An entry that may have to go. Those that go first come first.
struct EvictionCandidate: Sendable, Comparable {
  let key: CacheKey
  let payloadBytes: Int
  /// The version of the entry, on which its removal depends.
  let checksum: UInt64
  let isExpired: Bool
  /// What decides over the order, the most important first. Fixed in number: nothing is allocated for each.
  private let rank: (Int64, Int64, Int64)

  /// The candidate that `policy` makes of `entry` at the time `now`; `nil` where it must stay.
  init?(_ entry: EntrySummary, use: EntryUse, policy: EvictionPolicy, now: Timestamp) {
    let stored = Self.rank(entry.metadata.storedAt, now)
    isExpired = entry.metadata.state(at: now) == .expired
    if isExpired {
      rank = (entry.metadata.retainUntil.milliseconds, stored, 0)
    } else {
      let used = max(Self.rank(use.lastUsedAt, now), stored)
      switch policy {
      case .leastRecentlyUsed: rank = (used, stored, 0)
      case .leastFrequentlyUsed: rank = (use.count, used, stored)
      case .leastRecentlyStored: rank = (stored, 0, 0)
      case .none: return nil
      }
    }
    key = entry.key
    payloadBytes = entry.payloadBytes
    checksum = entry.metadata.checksum
  }

  /// The place of a time in the order. A time ahead of the clock is before all others, so that what a clock left behind
  /// that has since been set back does not keep its place until the clock gets there.
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
  /// Counts the candidate too.
  static func += (count: inout Self, candidate: EvictionCandidate) {
    count.entries += 1
    count.payloadBytes += candidate.payloadBytes
  }

  static func -= (count: inout Self, candidate: EvictionCandidate) {
    count.entries -= 1
    count.payloadBytes -= candidate.payloadBytes
  }

  /// Whether it is as much as `other`, in entries and in bytes.
  func covers(_ other: Self) -> Bool { entries >= other.entries && payloadBytes >= other.payloadBytes }

  /// What is left after `other`, neither number below zero.
  func excess(over other: Self) -> Self {
    Self(entries: max(0, entries - other.entries), payloadBytes: max(0, payloadBytes - other.payloadBytes))
  }
}
