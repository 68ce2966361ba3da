public import EngineAPI

/// How much a store can hold, and what it evicts to stay within that.
public struct StoreLimits: Sendable, Hashable {
  /// The largest number of entries, 1 or more. The leases of requests do not count.
  public let maxEntries: Int
  /// The largest total size of all payloads, in bytes, 1 or more.
  public let maxBytes: Int
  /// Which entries are evicted first.
  public let eviction: EvictionPolicy

  /// Creates limits for a store, with the limits of `standard` for omitted arguments.
  public init(maxEntries: Int = 100_000, maxBytes: Int = 1 << 30, eviction: EvictionPolicy = .lru) {
    self.maxEntries = maxEntries
    self.maxBytes = maxBytes
    self.eviction = eviction
  }

  /// 100,000 entries and 1 GiB, with the least recently used evicted first.
  public static let standard = StoreLimits()

  /// The bounds that the engine checks.
  public var bounds: StoreBounds {
    StoreBounds(maxEntries: maxEntries, maxPayloadBytes: maxBytes, exemptNamespace: Lease.namespace)
  }
}

/// Errors of a store that has limits.
extension StoreLimits {
  /// - Throws: `CacheError` with the code `invalidOption` if the limits leave no room for an entry.
  package func requireRoom() throws(CacheError) {
    guard maxEntries > 0, maxBytes > 0 else {
      throw CacheError(
        .invalidOption, "nothing can be stored: maxEntries is \(maxEntries), and maxBytes \(maxBytes)",
        hint: "give limits of 1 or more, or nil for no limits")
    }
  }

  /// An entry is too large even for an empty store.
  func tooLarge(_ key: CacheKey, bytes: Int) -> CacheError {
    CacheError(
      .tooLarge,
      "entry \(key) has \(bytes) bytes, more than maxBytes (\(maxBytes)) allows for all entries together",
      hint: "raise maxBytes")
  }

  /// The store is full, and the policy evicts too few entries.
  func noRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .overBounds,
      "there is no room for entry \(key): maxEntries is \(maxEntries), maxBytes \(maxBytes), "
        + "and eviction is \(eviction.name)",
      hint: "remove entries, raise these limits, or choose another eviction")
  }

  /// Other writers kept taking the room, or changing the victims.
  func neverRoom(for key: CacheKey) -> CacheError {
    CacheError(
      .busy, "entry \(key) cannot be stored: other writers fill the store as fast as room is made in it",
      hint: "try again")
  }
}

/// Decides which entries a store without room for a new one evicts first. Under every policy it evicts expired entries
/// first. The order of the keys breaks a tie.
///
/// A policy ranks one candidate at a time, by its own data and those of the other candidates. It needs no engine:
///
///     extension EvictionPolicy {
///       static let largestFirst = EvictionPolicy("largest-first", "the entry with the most bytes") { candidate, _ in
///         EvictionRank(-Int64(candidate.payloadBytes))
///       }
///     }
///
/// A large store is not ranked as a whole: some entries from all parts of it are, and those with the lowest ranks go.
public struct EvictionPolicy: Sendable, Hashable, CustomStringConvertible {
  /// The name in the configuration, short and in kebab case.
  public let name: String
  /// The entries that are evicted first, in one line without a final full stop.
  public let summary: String
  /// Whether ranks depend on how entries were used. If not, `EvictionCandidate` says that none was.
  public let dependsOnUse: Bool
  let rank: @Sendable (EvictionCandidate, EvictionSample) -> EvictionRank?

  /// Creates a policy.
  ///
  /// - Parameter rank: the rank of an entry that has not expired; `nil` if it must stay. It is called while a write
  ///   waits, a few times for each eviction, and must be short.
  public init(
    _ name: String, _ summary: String, dependsOnUse: Bool = false,
    rank: @escaping @Sendable (EvictionCandidate, EvictionSample) -> EvictionRank?
  ) {
    self.name = name
    self.summary = summary
    self.dependsOnUse = dependsOnUse
    self.rank = rank
  }

  /// Policies are equal if their names are.
  public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// The name.
  public var description: String { name }
}

extension EvictionPolicy {
  /// The policies of this library; the first is the default.
  public static let standard: [EvictionPolicy] = [
    .lru, .lfu, .fifo, .s3FIFO, .size,
    .none,
  ]

  /// Evicts the entry whose last use is longest ago, then the one stored longest ago. Storing an entry counts as a use.
  public static let lru = EvictionPolicy(
    "lru", "the entry whose last use is longest ago", dependsOnUse: true
  ) { candidate, _ in EvictionRank(candidate.lastUsedAt, candidate.storedAt) }

  /// Evicts the entry read the fewest times; ties are broken as with `lru`.
  public static let lfu = EvictionPolicy(
    "lfu", "the entry read the fewest times", dependsOnUse: true
  ) { candidate, _ in EvictionRank(candidate.useCount, candidate.lastUsedAt, candidate.storedAt) }

  /// Evicts the entry stored longest ago.
  public static let fifo = EvictionPolicy(
    "fifo", "the entry stored longest ago"
  ) { candidate, _ in EvictionRank(candidate.storedAt) }

  /// Evicts only expired entries. If that does not make enough room, the new entry is refused.
  public static let none = EvictionPolicy("none", "only expired entries; otherwise the new entry is refused") { _, _ in
    nil
  }

  /// Evicts entries that were never read, the one stored longest ago first, unless it is among the newest fifth. Then
  /// `lru` decides. So a scan does not evict entries in use.
  ///
  /// After S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: FIFO queues are all you need for cache eviction, SOSP 2023), by the
  /// data that a store has about its entries: those never read are the small queue, and the uses that outlive their
  /// entries are the ghost queue. Two things differ: the small queue has a fifth of the entries, not a tenth, because
  /// it then follows a changing working set as well as `lru` does; and the main queue is in the order of use.
  public static let s3FIFO = EvictionPolicy(
    "s3-fifo", "the entry stored longest ago of those never read, then by last use", dependsOnUse: true
  ) { candidate, sample in
    if candidate.useCount > 0 { return EvictionRank(1, candidate.lastUsedAt, candidate.storedAt) }
    return EvictionRank(candidate.storedAt < sample.newestFifthStoredAt ? 0 : 2, candidate.storedAt)
  }

  /// Evicts the entry whose payload, in bytes, times the time since its last use is largest. So an image must be used
  /// more often than a small page to stay, and far more entries fit in the bytes of a store whose entries differ in
  /// size. With entries of one size it is the same as `lru`.
  ///
  /// After size-adjusted LRU (Aggarwal, Wolf, Yu: Caching on the World Wide Web, IEEE Transactions on Knowledge and Data
  /// Engineering 11(1), 1999).
  public static let size = EvictionPolicy(
    "size", "the entry with the most bytes times the time since its last use", dependsOnUse: true
  ) { candidate, sample in
    let age = max(0, sample.now - candidate.lastUsedAt) + 1
    let (cost, isTooLarge) = age.multipliedReportingOverflow(by: Int64(max(1, candidate.payloadBytes)))
    return EvictionRank(isTooLarge ? .min : -cost, candidate.lastUsedAt, candidate.storedAt)
  }
}

/// The place of a candidate: the lowest rank is evicted first. The first number that differs decides.
public struct EvictionRank: Sendable, Comparable {
  // Separate numbers, so that no candidate allocates memory.
  private let first, second, third: Int64

  /// A rank of up to three numbers, the most important first.
  public init(_ first: Int64, _ second: Int64 = 0, _ third: Int64 = 0) {
    self.first = first
    self.second = second
    self.third = third
  }

  /// Orders by the numbers.
  public static func < (left: Self, right: Self) -> Bool {
    (left.first, left.second, left.third) < (right.first, right.second, right.third)
  }
}

/// An entry that can be evicted, as a policy sees it.
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

/// A policy's view of the store: the candidates of one eviction, which come from all parts of a large store, or are all
/// entries of a small one.
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
