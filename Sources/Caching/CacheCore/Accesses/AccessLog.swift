internal import CChecksum
public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// How an entry was used.
public struct AccessHistory: Sendable, Hashable {
  /// The time of the last use; 1970-01-01T00:00:00Z if there was none.
  public var lastUsedAt: Timestamp
  /// The number of uses.
  public var count: Int64

  /// Creates a use; `count` must not be negative. By default, no use.
  public init(lastUsedAt: Timestamp = Timestamp(milliseconds: 0), count: Int64 = 0) {
    self.lastUsedAt = lastUsedAt
    self.count = count
  }

  /// Adds later uses to known ones: the later time, and the sum of the counts, limited to the largest number.
  ///
  /// A time that lies more than a day ahead of that of later uses was recorded before the clock was set back, and gives
  /// way to it. By less than that processes differ that keep their uses in memory for a while.
  public static func + (known: AccessHistory, later: AccessHistory) -> AccessHistory {
    let isAhead = known.lastUsedAt > later.lastUsedAt.advanced(by: .seconds(86_400))
    return AccessHistory(
      lastUsedAt: later.count > 0 && isAhead ? later.lastUsedAt : max(known.lastUsedAt, later.lastUsedAt),
      count: known.count.saturatingSum(later.count))
  }
}

/// An entry's history as it is stored. It has a digest instead of the key, so that all records have the same size.
public struct AccessRecord: Sendable, Hashable {
  /// The size of a record in bytes.
  public static let size = 32
  private static let payloadSize = 24
  /// Makes sure that zeros are not a valid record.
  private static let seed: UInt64 = 0x7573_6573

  /// XXH3 (64 bits) of the key. A collision of two keys in a store is next to impossible, and would only make one of
  /// the entries stay longer than it should.
  public let digest: UInt64
  /// How the entry was used.
  public let history: AccessHistory

  /// Creates a record.
  public init(digest: UInt64, history: AccessHistory) {
    self.digest = digest
    self.history = history
  }

  /// The digest of `key`.
  public static func digest(of key: CacheKey) -> UInt64 {
    var text = key.text
    return text.withUTF8 { cchecksum_xxh3($0.baseAddress, $0.count, 0) }
  }

  /// Reads the record in the first `size` bytes of `bytes`; `nil` if they are not as they were written.
  public init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size, Self.number(in: bytes, at: 24) == Self.check(bytes) else { return nil }
    let time = Int64(bitPattern: Self.number(in: bytes, at: 8))
    let count = Int64(bitPattern: Self.number(in: bytes, at: 16))
    self.init(
      digest: Self.number(in: bytes, at: 0),
      history: AccessHistory(lastUsedAt: Timestamp(milliseconds: time), count: max(0, count)))
  }

  /// Appends the record: digest, time in milliseconds, count, and a checksum of these, each as eight little-endian
  /// bytes.
  public func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    let fields = [digest, UInt64(bitPattern: history.lastUsedAt.milliseconds), UInt64(bitPattern: history.count)]
    for field in fields { Swift.withUnsafeBytes(of: field.littleEndian) { bytes.append(contentsOf: $0) } }
    let check = bytes.withUnsafeBytes { Self.check(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    Swift.withUnsafeBytes(of: check.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func check(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    cchecksum_xxh3(bytes.baseAddress, payloadSize, seed)
  }

  /// The eight bytes at `offset`, as a little-endian number.
  public static func number(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

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
