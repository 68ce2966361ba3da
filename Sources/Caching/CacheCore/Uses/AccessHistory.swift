internal import CChecksum
public import EngineAPI

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
  /// A time that is more than a day ahead of that of later uses was recorded before the clock was set back, and gives way
  /// to it. By less than that processes differ that keep their uses in memory for a while.
  public static func + (known: AccessHistory, later: AccessHistory) -> AccessHistory {
    let isAhead = known.lastUsedAt > later.lastUsedAt.advanced(by: .seconds(86_400))
    return AccessHistory(
      lastUsedAt: later.count > 0 && isAhead ? later.lastUsedAt : max(known.lastUsedAt, later.lastUsedAt),
      count: known.count.saturatingSum(later.count))
  }
}

/// An entry's history as it is stored. It has a digest instead of the key, so that all records have the same size.
struct AccessRecord: Sendable, Hashable {
  /// The size of a record in bytes.
  static let size = 32
  private static let payloadSize = 24
  /// Makes sure that zeros are not a valid record.
  private static let seed: UInt64 = 0x7573_6573

  /// XXH3 (64 bits) of the key. A collision of two keys in a store is next to impossible, and would only make one of
  /// the entries stay longer than it should.
  let digest: UInt64
  let history: AccessHistory

  init(digest: UInt64, history: AccessHistory) {
    self.digest = digest
    self.history = history
  }

  static func digest(of key: CacheKey) -> UInt64 {
    var text = key.text
    return text.withUTF8 { cchecksum_xxh3($0.baseAddress, $0.count, 0) }
  }

  /// Reads the record in the first `size` bytes of `bytes`; `nil` if they are not as they were written.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size, Self.number(in: bytes, at: 24) == Self.check(bytes) else { return nil }
    let time = Int64(bitPattern: Self.number(in: bytes, at: 8))
    let count = Int64(bitPattern: Self.number(in: bytes, at: 16))
    self.init(
      digest: Self.number(in: bytes, at: 0),
      history: AccessHistory(lastUsedAt: Timestamp(milliseconds: time), count: max(0, count)))
  }

  /// Appends the record: digest, time in milliseconds, count, and a checksum of these, each as eight little-endian
  /// bytes.
  func append(to bytes: inout [UInt8]) {
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
  static func number(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

/// How many look-ups hit or missed, and how many entries were evicted.
public struct OperationCounts: Sendable, Hashable {
  /// Look-ups that found an entry, fresh or stale.
  public var hits = 0
  /// Look-ups that found no entry.
  public var misses = 0
  /// Unexpired entries that were evicted to keep the cache within its limits.
  public var evictions = 0

  /// Creates counts; none may be negative.
  public init(hits: Int = 0, misses: Int = 0, evictions: Int = 0) {
    self.hits = hits
    self.misses = misses
    self.evictions = evictions
  }

  /// The sum of two counts, limited to the largest number.
  public static func + (left: OperationCounts, right: OperationCounts) -> OperationCounts {
    OperationCounts(
      hits: left.hits.saturatingSum(right.hits), misses: left.misses.saturatingSum(right.misses),
      evictions: left.evictions.saturatingSum(right.evictions))
  }
}

extension FixedWidthInteger {
  /// The sum with a number that is not negative, limited to the largest number.
  func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
