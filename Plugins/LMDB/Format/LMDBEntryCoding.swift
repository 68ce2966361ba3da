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
