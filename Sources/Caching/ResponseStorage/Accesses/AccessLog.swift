public import FetchVocabulary
internal import Synchronization

/// Keeps how entries were used, for all processes that use a store. It is not part of the store: losing it only changes
/// which entries are evicted first.
public protocol AccessLog: Sendable {
  /// Adds records. Keeps what several processes add at the same time.
  func add(_ records: [AccessRecord]) throws(CacheError)

  /// The histories of the entries whose keys have these digests, in that order; a use with count zero if nothing is
  /// known. The cost must not grow with the number of entries in the log: an eviction waits for it.
  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory]
}

/// Histories in memory, by the digests of keys.
public struct AccessTable: Sendable {
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
}

/// Keeps uses in memory, for stores that live no longer than the process.
///
/// There are two tables. Uses go to the first, with what the second knows of their entries. When the first is full it
/// becomes the second, and what was only in the second is forgotten: the entries unused for longest, at no cost.
public final class MemoryAccessLog: AccessLog {
  /// The number of records to add under one lock, so that no eviction waits long.
  private static let pageSize = 256

  private let capacity: Int
  private let tables = Mutex((first: AccessTable(), second: AccessTable()))

  /// Creates a log that knows the last `capacity` (1 or more) entries that were used, and up to as many before them.
  public init(capacity: Int = 1 << 17) {
    self.capacity = capacity
  }

  /// Adds records.
  public func add(_ records: [AccessRecord]) throws(CacheError) {
    for start in stride(from: 0, to: records.count, by: Self.pageSize) {
      tables.withLock { tables in
        for record in records[start..<min(start + Self.pageSize, records.count)] { add(record, to: &tables) }
      }
    }
  }

  private func add(_ record: AccessRecord, to tables: inout (first: AccessTable, second: AccessTable)) {
    if tables.first.history(of: record.digest) == nil {
      if tables.first.histories.count >= capacity { tables = (AccessTable(), tables.first) }
      if let history = tables.second.history(of: record.digest) {
        tables.first.add(AccessRecord(digest: record.digest, history: history))
      }
    }
    tables.first.add(record)
  }

  /// The histories of the entries whose keys have these digests.
  public func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    tables.withLock { tables in
      digests.map { tables.first.history(of: $0) ?? tables.second.history(of: $0) ?? AccessHistory() }
    }
  }
}
