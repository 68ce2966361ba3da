public import FetchVocabulary
internal import Synchronization

/// Keeps the uses of entries, for all processes that use a store. It is not part of the store: losing it only changes
/// which entries are evicted first.
public protocol UseLog: Sendable {
  /// Adds uses. Keeps what several processes add at the same time.
  func add(_ records: [UseRecord]) throws(CacheError)

  /// The uses as they are now.
  func snapshot() throws(CacheError) -> any UseSnapshot
}

/// The uses of entries at some time.
public protocol UseSnapshot: Sendable {
  /// The use of the entry whose key has the digest `digest`; `nil` if nothing is known.
  func use(of digest: UInt64) -> EntryUse?
}

/// Uses in memory, by the digests of keys.
public struct UseTable: UseSnapshot {
  /// The uses, by digest.
  public private(set) var uses: [UInt64: EntryUse] = [:]

  /// Creates an empty table.
  public init() {}

  /// The use of the entry whose key has the digest `digest`; `nil` if nothing is known.
  public func use(of digest: UInt64) -> EntryUse? { uses[digest] }

  /// Adds a use to those of its entry.
  public mutating func add(_ record: UseRecord) {
    guard let place = uses.index(forKey: record.digest) else { return uses[record.digest] = record.use }
    uses.values[place] = uses.values[place] + record.use
  }

  /// All uses, as records.
  public var records: [UseRecord] { uses.map { UseRecord(digest: $0.key, use: $0.value) } }

  /// Forgets the entries that have been unused longest, and keeps about `count`.
  mutating func keepLatest(_ count: Int) {
    let times = uses.values.map(\.lastUsedAt).sorted()
    guard times.count > count else { return }
    uses = uses.filter { $0.value.lastUsedAt >= times[times.count - count] }
  }
}

/// Keeps uses in memory, for stores that live no longer than the process.
public final class MemoryUseLog: UseLog {
  private let capacity: Int
  private let table = Mutex(UseTable())

  /// Creates a log. Once it has more than twice `capacity` (1 or more) uses, it forgets the oldest.
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

  /// The uses as they are now.
  public func snapshot() throws(CacheError) -> any UseSnapshot { table.withLock { $0 } }
}
