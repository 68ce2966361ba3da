internal import StorageSPI

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
    guard version == LMDBEntryCoding.version else {
      throw version > LMDBEntryCoding.version ? .laterVersion(UInt32(version)) : .damaged("its version is 0")
    }
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
