internal import EngineAPI

/// The key under which LMDB stores an entry. LMDB takes keys of at most 511 bytes.
///
/// A key of up to 447 bytes is stored unchanged. A longer one is stored as its first 447 bytes and the SHA-256 digest of all
/// of it in hexadecimal, which are 511 bytes; the entry's header holds its full text. No two keys with the same digest are
/// known, and the core's checksum of an entry covers its key: so no other entry can be taken for the one wanted.
///
/// Order: all long keys that share their first 447 bytes are next to each other. The one key that consists of just these
/// bytes comes before them, both in true order and as stored. No other short key comes between, because it would have to
/// begin with the same 447 bytes. So the true order differs from the stored one only within such a group, which a scan
/// collects and sorts.
enum LMDBKey {
  /// The longest key that is stored unchanged, and the number of bytes kept from a longer one.
  static let prefixSize = 447
  /// The size of every shortened key: the largest that LMDB's usual build accepts.
  static let shortenedSize = 511

  /// Calls `body` with the stored form of `key`.
  @inline(__always)
  static func withStored<Output>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if key.count <= prefixSize { return try body(key) }
    let stored = shortened(key)
    return try stored.span.withUnsafeBytes { stored throws(CacheError) in try body(stored) }
  }

  /// The stored form of a long key. Cost: a few microseconds for each 64 bytes.
  @inline(never)
  private static func shortened(_ key: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = SHA256()
    digest.update(Array(key))
    return Array(key.prefix(prefixSize)) + digest.hexText.utf8
  }

  static func isShortened(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count == shortenedSize }
}

/// The record of how much the store holds: one value in the main database, under a key of one zero byte, which LMDB's tools
/// skip.
///
/// All numbers are little-endian: transaction (8 bytes); then for each namespace its name padded with zeros (32), its entries
/// (8), the bytes of their payloads (8), and a lower bound of the earliest `retainUntil` (8).
///
/// The transaction is the one that wrote the record; each transaction that changes entries writes it. If the
/// store's last transaction is a different one, a program that does not count wrote to the store: the entries are then
/// counted again.
struct LMDBCountRecord: Equatable {
  static let key: [UInt8] = [0]

  private static let fixedSize = 8
  private static let partSize = 56

  /// The transaction that wrote the record; 0, which is not a valid number, if the count is known to be wrong.
  var transaction: Int
  var count: StoreCount

  /// The size of the record, in bytes.
  var size: Int { Self.fixedSize + count.namespaces.count * Self.partSize }

  /// Writes the record to `room`, which has exactly its size.
  func write(to room: UnsafeMutableRawBufferPointer) {
    room.initializeMemory(as: UInt8.self, repeating: 0)
    room.store(transaction, at: 0)
    var start = Self.fixedSize
    for (name, part) in count.namespaces {
      UnsafeMutableRawBufferPointer(rebasing: room[start...]).copyBytes(from: name.utf8)
      room.store(part.entries, at: start + 32)
      room.store(part.payloadBytes, at: start + 40)
      room.store(part.earliestExpiry.milliseconds, at: start + 48)
      start += Self.partSize
    }
  }
}

extension LMDBCountRecord {
  /// Parses the record in `bytes`; `nil` if it is damaged.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count % Self.partSize == Self.fixedSize else { return nil }
    self.init(transaction: bytes.number(at: 0, as: Int.self), count: StoreCount())
    for start in stride(from: Self.fixedSize, to: bytes.count, by: Self.partSize) {
      let name = String(decoding: bytes[start..<start + 32].prefix { $0 != 0 }, as: UTF8.self)
      guard CacheKey.isNamespace(name) else { return nil }
      count[name] = EntryCount(
        entries: bytes.number(at: start + 32, as: Int.self), payloadBytes: bytes.number(at: start + 40, as: Int.self),
        earliestExpiry: Timestamp(milliseconds: bytes.number(at: start + 48, as: Int64.self)))
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number at `offset`, little-endian.
  func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
