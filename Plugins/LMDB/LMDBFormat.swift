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

/// An entry in place, in the memory map or in a buffer: it decodes on demand, and checks every access against its
/// bounds. It is valid only as long as its bytes, which is for the duration of a transaction.
///
/// One LMDB value is a header and the payload. All numbers are little-endian:
///
///     offset  size
///          0     1  version of this layout: 1
///          1     1  content type: a code, or 0 = the text follows
///          2     2  zero
///          4     4  size of the header, which is the offset of the payload
///          8     8  storedAt     \
///         16     8  freshUntil    > milliseconds since 1970-01-01T00:00:00Z
///         24     8  retainUntil  /
///         32     8  payloadChecksum
///         40     8  checksum
///         48     4  size of the attributes
///         52        if the content type has no code, the size of its text (4 bytes) and the text; then the attributes as
///                   `EntryMetadata` encodes them; then, up to the payload, the full key of an entry that is stored under a
///                   shortened one
struct LMDBEntry {
  static let version: UInt8 = 1
  static let fixedSize = 52

  /// The content types that are stored as one byte, code 1 first. Reading one makes no `String`. A code is never reused for
  /// another type, because stores contain it.
  static let contentTypes = [
    "application/json", "image/jpeg", "image/png", "image/webp", "text/plain", "application/octet-stream", "text/html",
    "application/json; charset=utf-8", "application/json;charset=utf-8", "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
  ]

  private let bytes: UnsafeRawBufferPointer
  private let headerSize: Int

  /// The entry encoded in `bytes`; `nil` if the fixed part of the header is damaged. Another version is damage, too: the
  /// store says of which version it is.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.fixedSize, bytes[0] == Self.version, bytes[2] | bytes[3] == 0 else { return nil }
    headerSize = Int(bytes.number(at: 4, as: UInt32.self))
    guard (Self.fixedSize...bytes.count).contains(headerSize) else { return nil }
    self.bytes = bytes
  }

  /// The payload, in place.
  var payload: UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(rebasing: bytes[headerSize...]).assumingMemoryBound(to: UInt8.self)
  }

  /// The size of the payload, in bytes.
  var payloadSize: Int { bytes.count - headerSize }

  /// The checksum, which is cheaper to read than all the metadata.
  var checksum: UInt64 { bytes.number(at: 40, as: UInt64.self) }

  /// When the entry expires; `nil` if that is damaged.
  var retainUntil: Timestamp? { time(at: 24) }

  /// All the metadata; `nil` if it is damaged. With a known content type and no attributes it allocates nothing.
  func metadata() -> EntryMetadata? {
    let code = Int(bytes[1])
    guard code <= Self.contentTypes.count, let storedAt = time(at: 8), let freshUntil = time(at: 16),
      let retainUntil = time(at: 24)
    else { return nil }
    var place = Self.fixedSize
    guard let contentType = code == 0 ? contentType(at: &place) : Self.contentTypes[code - 1] else { return nil }
    let metadata = EntryMetadata(
      storedAt: storedAt, freshUntil: freshUntil, retainUntil: retainUntil, contentType: contentType,
      payloadChecksum: bytes.number(at: 32, as: UInt64.self), checksum: checksum)
    return attributesSize == 0 ? metadata : withAttributes(metadata, at: place)
  }

  @inline(never)
  private func withAttributes(_ metadata: EntryMetadata, at place: Int) -> EntryMetadata? {
    var (metadata, place) = (metadata, place)
    guard let attributes = take(attributesSize, at: &place), metadata.setAttributes(encoded: attributes) else {
      return nil
    }
    return metadata
  }

  /// The bytes of the full key, none if the entry is stored under its own; `nil` if the header is damaged.
  func fullKey() -> UnsafeRawBufferPointer? {
    var place = Self.fixedSize
    if bytes[1] == 0, contentType(at: &place) == nil { return nil }
    guard take(attributesSize, at: &place) != nil else { return nil }
    return take(headerSize - place, at: &place)
  }

  private var attributesSize: Int { Int(bytes.number(at: 48, as: UInt32.self)) }

  private func time(at offset: Int) -> Timestamp? {
    let number = bytes.number(at: offset, as: Int64.self)
    let time = Timestamp(milliseconds: number)
    return time.milliseconds == number ? time : nil
  }

  /// The content type's text, and moves `place` behind it; `nil` if it is cut off or not UTF-8.
  private func contentType(at place: inout Int) -> String? {
    guard let size = take(4, at: &place)?.number(at: 0, as: UInt32.self), let text = take(Int(size), at: &place) else {
      return nil
    }
    return String(validating: text, as: UTF8.self)
  }

  /// The next `count` bytes of the header, and moves `place` behind them; `nil` if they are cut off.
  private func take(_ count: Int, at place: inout Int) -> UnsafeRawBufferPointer? {
    guard count <= headerSize - place else { return nil }
    defer { place += count }
    return UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
  }

  /// The header of an entry.
  ///
  /// - Parameter fullKey: the key's text, if the entry is stored under a shortened key.
  static func header(_ metadata: EntryMetadata, fullKey: String = "") -> [UInt8] {
    let code = contentTypes.firstIndex(of: metadata.contentType).map { UInt8($0) + 1 } ?? 0
    var header: [UInt8] = []
    header.reserveCapacity(fixedSize + 76)
    header.append(contentsOf: [version, code, 0, 0, 0, 0, 0, 0])
    header.append(metadata.storedAt.milliseconds)
    header.append(metadata.freshUntil.milliseconds)
    header.append(metadata.retainUntil.milliseconds)
    header.append(metadata.payloadChecksum)
    header.append(metadata.checksum)
    header.append(UInt32(metadata.encodedAttributes.count))
    if code == 0 {
      header.append(UInt32(metadata.contentType.utf8.count))
      header.append(contentsOf: metadata.contentType.utf8)
    }
    header.append(contentsOf: metadata.encodedAttributes)
    header.append(contentsOf: fullKey.utf8)
    let size = UInt32(header.count)
    header.withUnsafeMutableBytes { $0.store(size, at: 4) }
    return header
  }
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

extension UnsafeRawBufferPointer {
  /// The little-endian number at `offset`, which must be within the bytes.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number at `offset`, little-endian.
  func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
