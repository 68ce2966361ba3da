/// Which entries are evicted first if a store has no room for a new one. Under every policy expired entries go first; a
/// tie goes by the order of the keys.
///
/// A policy ranks one candidate at a time, by what is known of it and of the candidates beside it. It needs no engine:
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
  /// What goes first, in one line without a final full stop.
  public let summary: String
  /// Whether ranks depend on how entries were used. If not, `EvictionCandidate` says that none was.
  public let dependsOnUse: Bool
  let rank: @Sendable (EvictionCandidate, EvictionSample) -> EvictionRank?

  /// Creates a policy.
  ///
  /// - Parameter rank: the rank of an entry that has not expired; `nil` if it must stay. It is called while a write
  ///   waits, a few times for each entry that goes, and must be short.
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

  /// The entry whose last use is longest ago goes first, then the one stored longest ago. Storing an entry counts as a
  /// use.
  public static let lru = EvictionPolicy(
    "lru", "the entry whose last use is longest ago", dependsOnUse: true
  ) { candidate, _ in EvictionRank(candidate.lastUsedAt, candidate.storedAt) }

  /// The entry read the fewest times goes first; ties are broken as with `lru`.
  public static let lfu = EvictionPolicy(
    "lfu", "the entry read the fewest times", dependsOnUse: true
  ) { candidate, _ in EvictionRank(candidate.useCount, candidate.lastUsedAt, candidate.storedAt) }

  /// The entry stored longest ago goes first.
  public static let fifo = EvictionPolicy(
    "fifo", "the entry stored longest ago"
  ) { candidate, _ in EvictionRank(candidate.storedAt) }

  /// Only expired entries go. If that does not make enough room, the new entry is refused.
  public static let none = EvictionPolicy("none", "only what has expired; else the new entry is refused") { _, _ in nil
  }

  /// An entry that was never read goes first, the one stored longest ago before others, unless it is among the newest
  /// fifth. Then `lru` decides. So a scan does not push out what is in use.
  ///
  /// After S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: FIFO queues are all you need for cache eviction, SOSP 2023), by what a
  /// store knows of its entries: what was never read is the small queue, and the uses that outlive their entries are the
  /// ghost queue. Two things differ: the small queue has a fifth of the entries, not a tenth, because it then follows a
  /// changing working set as well as `lru` does; and the main queue is in the order of use.
  public static let s3FIFO = EvictionPolicy(
    "s3-fifo", "the entry stored longest ago of those never read, then by last use", dependsOnUse: true
  ) { candidate, sample in
    if candidate.useCount > 0 { return EvictionRank(1, candidate.lastUsedAt, candidate.storedAt) }
    return EvictionRank(candidate.storedAt < sample.newestFifthStoredAt ? 0 : 2, candidate.storedAt)
  }

  /// The entry whose payload, in bytes, times the time since its last use is largest goes first. So an image has to be
  /// used more often than a small page to stay, and far more entries fit in the bytes of a store whose entries differ in
  /// size. Entries of one size go as with `lru`.
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

/// The place of a candidate: the lowest rank goes first. The first number that differs decides.
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
