public import FetchVocabulary
internal import Synchronization

/// Keeps how entries were used, for all processes that use a store. It is not part of the store: losing it only changes
/// which entries are evicted first.
public protocol AccessLog: Sendable {
  /// Adds records. Keeps what several processes add at the same time.
  func add(_ records: [AccessRecord]) throws(CacheError)

  /// The histories as they are now.
  func snapshot() throws(CacheError) -> any AccessSnapshot
}

/// The uses of entries at some time.
public protocol AccessSnapshot: Sendable {
  /// The use of the entry whose key has the digest `digest`; `nil` if nothing is known.
  func history(of digest: UInt64) -> AccessHistory?
}

/// Histories in memory, by the digests of keys.
public struct AccessTable: AccessSnapshot {
  /// The uses, by digest.
  public private(set) var histories: [UInt64: AccessHistory] = [:]

  /// Creates an empty table.
  public init() {}

  /// The use of the entry whose key has the digest `digest`; `nil` if nothing is known.
  public func history(of digest: UInt64) -> AccessHistory? { histories[digest] }

  /// Adds a use to those of its entry.
  public mutating func add(_ record: AccessRecord) {
    guard let place = histories.index(forKey: record.digest) else { return histories[record.digest] = record.history }
    histories.values[place] = histories.values[place] + record.history
  }

  /// All uses, as records.
  public var records: [AccessRecord] { histories.map { AccessRecord(digest: $0.key, history: $0.value) } }

  /// Forgets the entries that have been unused longest, and keeps about `count`.
  mutating func keepLatest(_ count: Int) {
    let times = histories.values.map(\.lastUsedAt).sorted()
    guard times.count > count else { return }
    histories = histories.filter { $0.value.lastUsedAt >= times[times.count - count] }
  }
}

/// Keeps uses in memory, for stores that live no longer than the process.
public final class MemoryAccessLog: AccessLog {
  private let capacity: Int
  private let table = Mutex(AccessTable())

  /// Creates a log. Once it has more than twice `capacity` (1 or more) uses, it forgets the oldest.
  public init(capacity: Int = 1 << 17) {
    self.capacity = capacity
  }

  /// Adds records.
  public func add(_ records: [AccessRecord]) throws(CacheError) {
    table.withLock { table in
      for record in records { table.add(record) }
      if table.histories.count > 2 * capacity { table.keepLatest(capacity) }
    }
  }

  /// The histories as they are now.
  public func snapshot() throws(CacheError) -> any AccessSnapshot { table.withLock { $0 } }
}
