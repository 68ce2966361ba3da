internal import StorageSPI

/// Encodes an entry as one LMDB value: a header, then the payload.
///
/// All numbers are little-endian:
///
///     offset  size
///          0     1  version of this layout: 1
///          1     1  flags: 1 = attributes follow, 2 = the full key follows
///          2     1  content type: a code, or 0 = the text follows
///          3     1  zero
///          4     4  size of the header, which is the offset of the payload
///          8     8  storedAt     \
///         16     8  freshUntil    > milliseconds since 1970-01-01T00:00:00Z
///         24     8  retainUntil  /
///         32     8  checksum
///         40        the content type's text, then the number of attributes (4 bytes) and for each its name and value
///                   in the order of names, then the full key; each text is its size (4 bytes) and its bytes
///
/// Known content types are codes, so that reading one makes no `String`. The full key is present if the value is stored
/// under a shortened one.
enum LMDBEntryCoding {
  static let version: UInt8 = 1
  static let fixedSize = 40
  static let attributesFlag: UInt8 = 1
  static let fullKeyFlag: UInt8 = 2
}

/// An entry's header, ready to be written. With a known content type, a short key and no attributes it allocates
/// nothing.
struct LMDBEntryHeader {
  private let metadata: EntryMetadata
  private let code: UInt8
  private let flags: UInt8
  private let variable: [UInt8]

  /// Encodes `metadata`.
  ///
  /// - Parameter fullKey: the key's text, if the entry is stored under a shortened key.
  init(_ metadata: EntryMetadata, fullKey: String? = nil) {
    self.metadata = metadata
    code = LMDBContentType.code(of: metadata.contentType)
    flags =
      (metadata.attributes.isEmpty ? 0 : LMDBEntryCoding.attributesFlag)
      | (fullKey == nil ? 0 : LMDBEntryCoding.fullKeyFlag)
    var variable: [UInt8] = []
    if code == 0 { Self.append(metadata.contentType, to: &variable) }
    Self.append(metadata.attributes, to: &variable)
    if let fullKey { Self.append(fullKey, to: &variable) }
    self.variable = variable
  }

  /// The size of the header, in bytes.
  var size: Int { LMDBEntryCoding.fixedSize + variable.count }

  /// The header's bytes.
  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { room, count in
      write(to: UnsafeMutableRawBufferPointer(room))
      count = size
    }
  }

  /// Writes the header to the start of `room`.
  func write(to room: UnsafeMutableRawBufferPointer) {
    let kinds = UInt32(LMDBEntryCoding.version) | UInt32(flags) << 8 | UInt32(code) << 16
    room.storeBytes(of: kinds.littleEndian, as: UInt32.self)
    room.storeBytes(of: UInt32(size).littleEndian, toByteOffset: 4, as: UInt32.self)
    room.storeBytes(of: metadata.storedAt.milliseconds.littleEndian, toByteOffset: 8, as: Int64.self)
    room.storeBytes(of: metadata.freshUntil.milliseconds.littleEndian, toByteOffset: 16, as: Int64.self)
    room.storeBytes(of: metadata.retainUntil.milliseconds.littleEndian, toByteOffset: 24, as: Int64.self)
    room.storeBytes(of: metadata.checksum.littleEndian, toByteOffset: 32, as: UInt64.self)
    UnsafeMutableRawBufferPointer(rebasing: room[LMDBEntryCoding.fixedSize...]).copyBytes(from: variable)
  }

  private static func append(_ attributes: [String: String], to header: inout [UInt8]) {
    guard !attributes.isEmpty else { return }
    append(UInt32(attributes.count), to: &header)
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      append(name, to: &header)
      append(value, to: &header)
    }
  }

  private static func append(_ text: String, to header: inout [UInt8]) {
    append(UInt32(text.utf8.count), to: &header)
    header.append(contentsOf: text.utf8)
  }

  private static func append(_ number: some FixedWidthInteger, to header: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { header.append(contentsOf: $0) }
  }
}

/// The content types that are stored as one byte. A code is never reused for another type, because stores contain it.
enum LMDBContentType {
  static func code(of text: String) -> UInt8 {
    for code in 1...lastCode where self.text(of: code) == text { return code }
    return 0
  }

  static let lastCode: UInt8 = 11

  /// The content type with the code `code`. All are literals, which cost no allocation and no reference count.
  static func text(of code: UInt8) -> String? {
    switch code {
    case 1: "application/json"
    case 2: "image/jpeg"
    case 3: "image/png"
    case 4: "image/webp"
    case 5: "text/plain"
    case 6: "application/octet-stream"
    case 7: "text/html"
    case 8: "application/json; charset=utf-8"
    case 9: "application/json;charset=utf-8"
    case 10: "text/plain; charset=utf-8"
    case 11: "text/html; charset=utf-8"
    default: nil
    }
  }
}

/// An entry in place, in the memory map or in a buffer: it decodes on demand, and checks every access against its
/// bounds.
///
/// It is valid only as long as its bytes, which is for the duration of a transaction.
struct LMDBEntry {
  private let bytes: UnsafeRawBufferPointer
  private let headerSize: Int

  /// The entry encoded in `bytes`. Checks the fixed part of the header.
  init(_ bytes: UnsafeRawBufferPointer) throws(LMDBFault) {
    guard let version = bytes.first else { throw .damaged("it has no header") }
    // The store says of which version it is: another number here is damage.
    guard version == LMDBEntryCoding.version else { throw .damaged("its version is \(version)") }
    guard bytes.count >= LMDBEntryCoding.fixedSize else { throw .damaged("its header is cut off") }
    let size = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    guard (LMDBEntryCoding.fixedSize...bytes.count).contains(size) else { throw .damaged("its header is cut off") }
    let knownFlags = LMDBEntryCoding.attributesFlag | LMDBEntryCoding.fullKeyFlag
    guard bytes[1] & ~knownFlags == 0, bytes[3] == 0 else { throw .damaged("its flags are unknown") }
    self.bytes = bytes
    self.headerSize = size
  }

  /// The payload, in place.
  var payload: UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(rebasing: bytes[headerSize...]).assumingMemoryBound(to: UInt8.self)
  }

  /// The size of the payload, in bytes.
  var payloadSize: Int { bytes.count - headerSize }

  /// The checksum, which is cheaper to read than all the metadata.
  var checksum: UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)) }

  /// When the entry becomes stale.
  func freshUntil() throws(LMDBFault) -> Timestamp { try time(at: 16) }

  /// When the entry expires.
  func retainUntil() throws(LMDBFault) -> Timestamp { try time(at: 24) }

  /// All the metadata. With a known content type and no attributes it allocates nothing.
  func metadata() throws(LMDBFault) -> EntryMetadata {
    var reader = variablePart
    return EntryMetadata(
      storedAt: try time(at: 8), freshUntil: try time(at: 16), retainUntil: try time(at: 24),
      contentType: try contentType(&reader), attributes: try attributes(&reader), checksum: checksum)
  }

  /// Decodes the whole header, and checks that it contains nothing else.
  ///
  /// - Returns: the bytes of the full key, if the entry is stored under a shortened key.
  func fullKey() throws(LMDBFault) -> UnsafeRawBufferPointer? {
    guard bytes[1] & LMDBEntryCoding.fullKeyFlag != 0 else { return nil }
    var reader = variablePart
    if bytes[2] == 0 { _ = try reader.bytes() }
    if hasAttributes { for _ in 0..<(try reader.number()) * 2 { _ = try reader.bytes() } }
    let key = try reader.bytes()
    guard reader.isAtEnd else { throw .damaged("its header is longer than what is in it") }
    return key
  }

  private var hasAttributes: Bool { bytes[1] & LMDBEntryCoding.attributesFlag != 0 }

  private var variablePart: LMDBHeaderReader {
    LMDBHeaderReader(UnsafeRawBufferPointer(rebasing: bytes[LMDBEntryCoding.fixedSize..<headerSize]))
  }

  private func time(at offset: Int) throws(LMDBFault) -> Timestamp {
    let number = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
    let time = Timestamp(milliseconds: number)
    guard time.milliseconds == number else { throw .damaged("a time in it is out of range") }
    return time
  }

  private func contentType(_ reader: inout LMDBHeaderReader) throws(LMDBFault) -> String {
    if bytes[2] == 0 { return try reader.text() }
    guard let text = LMDBContentType.text(of: bytes[2]) else { throw .damaged("its content type is unknown") }
    return text
  }

  /// The attributes, which only the full key may follow.
  private func attributes(_ reader: inout LMDBHeaderReader) throws(LMDBFault) -> [String: String] {
    var attributes: [String: String] = [:]
    if hasAttributes {
      var last: String?
      for _ in 0..<(try reader.number()) {
        let (name, value) = (try reader.text(), try reader.text())
        if let last, last >= name { throw .damaged("its attributes are not in order") }
        (last, attributes[name]) = (name, value)
      }
    }
    if bytes[1] & LMDBEntryCoding.fullKeyFlag != 0 { _ = try reader.bytes() }
    guard reader.isAtEnd else { throw .damaged("its header is longer than what is in it") }
    return attributes
  }
}

/// Reads the variable part of a header from front to back, never past its end.
struct LMDBHeaderReader {
  private let buffer: UnsafeRawBufferPointer
  private var offset = 0

  init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

  var isAtEnd: Bool { offset == buffer.count }

  mutating func number() throws(LMDBFault) -> Int {
    guard buffer.count - offset >= 4 else { throw .damaged("its header is cut off") }
    defer { offset += 4 }
    return Int(UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  mutating func bytes() throws(LMDBFault) -> UnsafeRawBufferPointer {
    let count = try number()
    guard count <= buffer.count - offset else { throw .damaged("a text in its header is cut off") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + count])
  }

  mutating func text() throws(LMDBFault) -> String {
    let bytes = try bytes().assumingMemoryBound(to: UInt8.self)
    // `String(validating:as:)` takes twice as long for a short text.
    do { return String(copying: try UTF8Span(validating: bytes.span)) } catch {
      throw .damaged("a text in its header is not UTF-8")
    }
  }
}
