public import CacheDomain
internal import Synchronization

/// Keeps how entries were used, over all processes that use a store. It is no part of the store: what is lost of it
/// changes which entries go first, and nothing else.
public protocol UseLog: Sendable {
  /// Adds uses to those that are kept. What several processes add at once is all there afterwards.
  func add(_ records: [UseRecord]) throws(CacheError)

  /// What is kept, as it is now.
  func snapshot() throws(CacheError) -> any UseSnapshot
}

/// How entries were used at some moment.
public protocol UseSnapshot: Sendable {
  /// The use of the entry whose key has the digest `digest`; `nil` where nothing is known of it.
  func use(of digest: UInt64) -> EntryUse?
}

/// Uses in memory, by the digests of keys.
public struct UseTable: UseSnapshot {
  /// The uses.
  public private(set) var uses: [UInt64: EntryUse] = [:]

  /// The table of nothing.
  public init() {}

  /// The use of the entry whose key has the digest `digest`.
  public func use(of digest: UInt64) -> EntryUse? { uses[digest] }

  /// Adds a use to what is known of an entry.
  public mutating func add(_ record: UseRecord) {
    guard let place = uses.index(forKey: record.digest) else { return uses[record.digest] = record.use }
    uses.values[place] = uses.values[place] + record.use
  }

  /// Everything in it.
  public var records: [UseRecord] { uses.map { UseRecord(digest: $0.key, use: $0.value) } }

  /// Forgets what was used the longest ago, so that about `count` are left.
  mutating func keepLatest(_ count: Int) {
    let times = uses.values.map(\.lastUsedAt).sorted()
    guard times.count > count else { return }
    uses = uses.filter { $0.value.lastUsedAt >= times[times.count - count] }
  }
}

/// Keeps uses for as long as the process lives, for stores that do not live longer either.
public final class MemoryUseLog: UseLog {
  private let capacity: Int
  private let table = Mutex(UseTable())

  /// A log that forgets what was used the longest ago where it has more than twice `capacity` uses (1 or more).
  public init(capacity: Int = 1 << 17) {
    self.capacity = capacity
  }

  /// Adds uses.
  public func add(_ records: [UseRecord]) throws(CacheError) {
    table.withLock { table in
      for record in records { table.add(record) }
      if table.uses.count > 2 * capacity { table.keepLatest(capacity) }
    }
  }

  /// What is kept.
  public func snapshot() throws(CacheError) -> any UseSnapshot { table.withLock { $0 } }
}
