public import EngineAPI

/// An entry that may be evicted, as a policy sees it.
///
/// Times are in milliseconds since 1970-01-01T00:00:00Z. A time ahead of the clock is negative, and so comes before all
/// others: otherwise entries stored before the clock was set back would keep their places until the clock catches up.
public struct EvictionCandidate: Sendable {
  /// The entry's key.
  public let key: CacheKey
  /// The size of its payload, in bytes.
  public let payloadBytes: Int
  /// When the entry was stored or last confirmed.
  public let storedAt: Int64
  /// When the entry was last read, or stored if that is later.
  public let lastUsedAt: Int64
  /// How often the entry was read. It counts reads of earlier entries under the same key too.
  public let useCount: Int64
  /// When the entry expires.
  public let retainUntil: Int64
  /// The entry's version: it is evicted only if it still has this one.
  package let checksum: UInt64
  /// When the entry expires, if it has expired.
  let expiredAt: Int64?

  /// The entry that `entry` describes, as it is at the time `now`.
  package init(_ entry: ScannedEntry, history: AccessHistory = AccessHistory(), now: Timestamp) {
    key = entry.key
    payloadBytes = entry.payloadBytes
    checksum = entry.metadata.checksum
    storedAt = Self.time(entry.metadata.storedAt, now)
    lastUsedAt = max(Self.time(history.lastUsedAt, now), storedAt)
    useCount = history.count
    retainUntil = entry.metadata.retainUntil.milliseconds
    expiredAt = entry.metadata.state(at: now) == .expired ? retainUntil : nil
  }

  private static func time(_ time: Timestamp, _ now: Timestamp) -> Int64 {
    time.isAhead(of: now) ? time.milliseconds - Timestamp.distantFuture.milliseconds - 1 : time.milliseconds
  }
}

/// What a policy knows of the store: the candidates of one eviction, which come from all parts of a large store, or are
/// all entries of a small one.
public struct EvictionSample: Sendable {
  /// The time from which on the newest fifth of the candidates were stored, in milliseconds.
  public let newestFifthStoredAt: Int64
  /// The time of the eviction, in milliseconds.
  public let now: Int64

  /// The sample of `candidates` at the time `now`.
  package init(_ candidates: [EvictionCandidate], now: Timestamp) {
    self.now = now.milliseconds
    let times = candidates.lazy.map(\.storedAt).sorted()
    newestFifthStoredAt = times.isEmpty ? 0 : times[times.count - max(1, times.count / 5)]
  }
}

/// A candidate with its rank. What goes earlier is smaller.
package struct Victim: Sendable, Comparable {
  package let key: CacheKey
  package let payloadBytes: Int
  package let checksum: UInt64
  package let isExpired: Bool
  private let rank: EvictionRank

  /// Ranks `candidate` by `policy`; `nil` if the entry must stay.
  package init?(_ candidate: EvictionCandidate, among sample: EvictionSample, _ policy: EvictionPolicy) {
    if let expiredAt = candidate.expiredAt {
      rank = EvictionRank(expiredAt, candidate.storedAt)
    } else {
      guard let rank = policy.rank(candidate, sample) else { return nil }
      self.rank = rank
    }
    isExpired = candidate.expiredAt != nil
    key = candidate.key
    payloadBytes = candidate.payloadBytes
    checksum = candidate.checksum
  }

  package static func < (left: Self, right: Self) -> Bool {
    if left.isExpired != right.isExpired { return left.isExpired }
    if left.rank != right.rank { return left.rank < right.rank }
    return left.key < right.key
  }
}

extension EntryCount {
  /// Adds a victim to the count.
  static func += (count: inout Self, victim: Victim) {
    count.entries += 1
    count.payloadBytes += victim.payloadBytes
  }

  /// Whether this is at least as much as `other`, in entries and in bytes.
  func covers(_ other: Self) -> Bool { entries >= other.entries && payloadBytes >= other.payloadBytes }
}
