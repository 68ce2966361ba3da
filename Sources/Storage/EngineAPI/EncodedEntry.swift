extension EntryMetadata {
  /// All fields as bytes, for engines that store bytes. The layout is described at `EncodedEntry`. Its first byte is a version:
  /// a later version of this package reads the bytes or refuses them. Cost: one allocation; they are 52 bytes, the attributes,
  /// and a content type that is not a common one.
  ///
  /// An engine can store them separately and read them by `init(encoded:)`, or append the payload and read both by
  /// `EncodedEntry`.
  ///
  /// - Parameter key: the entry's key, if the engine needs it in the header because it stores the entry under another one,
  ///   such as a digest.
  public func encoded(key: String = "") -> [UInt8] {
    let code = EncodedEntry.contentTypes.firstIndex(of: contentType).map { UInt8($0) + 1 } ?? 0
    var header: [UInt8] = []
    header.reserveCapacity(
      EncodedEntry.fixedSize + 4 + contentType.utf8.count + encodedAttributes.count + key.utf8.count)
    header.append(contentsOf: [EncodedEntry.version, code, 0, 0, 0, 0, 0, 0])
    header.append(littleEndian: storedAt.milliseconds)
    header.append(littleEndian: freshUntil.milliseconds)
    header.append(littleEndian: retainUntil.milliseconds)
    header.append(littleEndian: payloadChecksum)
    header.append(littleEndian: checksum)
    header.append(littleEndian: UInt32(encodedAttributes.count))
    if code == 0 {
      header.append(littleEndian: UInt32(contentType.utf8.count))
      header.append(contentsOf: contentType.utf8)
    }
    header.append(contentsOf: encodedAttributes)
    header.append(contentsOf: key.utf8)
    let size = UInt32(header.count)
    header.withUnsafeMutableBytes { $0.storeBytes(of: size.littleEndian, toByteOffset: 4, as: UInt32.self) }
    return header
  }

  /// Reads what `encoded()` has returned; `nil` unless `bytes` are all of that, and nothing else.
  ///
  /// A changed byte can give other times, texts or checksums. The core's `checksum` finds that.
  public init?(encoded bytes: RawSpan) {
    let metadata = bytes.withUnsafeBytes { bytes -> EntryMetadata? in
      guard let entry = EncodedEntry(bytes), entry.payloadSize == 0, entry.key()?.isEmpty == true else { return nil }
      return entry.metadata()
    }
    guard let metadata else { return nil }
    self = metadata
  }
}

/// An entry as bytes: a header with its metadata (`EntryMetadata.encoded(key:)`), then its payload.
///
/// It stays in place, in a memory map or in a buffer: it decodes on demand, and checks every access against its bounds. It is
/// valid only as long as its bytes.
///
/// All numbers are little-endian:
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
///                   `EntryMetadata.encodedAttributes`; then, up to the payload, the key if there is one
public struct EncodedEntry {
  static let version: UInt8 = 1
  @usableFromInline static let fixedSize = 52
  private static let latest = UInt64(Timestamp.distantFuture.milliseconds)

  /// The content types that are stored as one byte, code 1 first. Reading one makes no `String`. A code is never reused for
  /// another type, because stores contain it.
  static let contentTypes = [
    "application/json", "image/jpeg", "image/png", "image/webp", "text/plain", "application/octet-stream", "text/html",
    "application/json; charset=utf-8", "application/json;charset=utf-8", "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
  ]

  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let headerSize: Int

  /// The entry encoded in `bytes`; `nil` if the fixed part of the header is damaged, or of another version.
  @inlinable
  public init?(_ bytes: UnsafeRawBufferPointer) {
    // One number for the version, the content type and the zeros: only the second byte can differ.
    guard bytes.count >= Self.fixedSize, bytes.number(at: 0, as: UInt32.self) & 0xFFFF_00FF == 1 else { return nil }
    headerSize = Int(bytes.number(at: 4, as: UInt32.self))
    guard headerSize >= Self.fixedSize, headerSize <= bytes.count else { return nil }
    self.bytes = bytes
  }

  /// The payload, in place.
  @inlinable
  public var payload: UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(rebasing: bytes[headerSize...]).assumingMemoryBound(to: UInt8.self)
  }

  /// The size of the payload, in bytes.
  @inlinable
  public var payloadSize: Int { bytes.count - headerSize }

  /// The checksum, which is cheaper to read than all the metadata.
  @inlinable
  public var checksum: UInt64 { bytes.number(at: 40, as: UInt64.self) }

  /// When the entry expires; `nil` if that is damaged.
  public var retainUntil: Timestamp? {
    time(at: 24) <= Self.latest ? Timestamp(milliseconds: Int64(time(at: 24))) : nil
  }

  /// All the metadata; `nil` if it is damaged. With a known content type and no attributes it allocates nothing.
  public func metadata() -> EntryMetadata? {
    let code = Int(bytes[1])
    let (storedAt, freshUntil, retainUntil) = (time(at: 8), time(at: 16), time(at: 24))
    // One branch for all three, because every read comes through here.
    guard code <= Self.contentTypes.count, max(storedAt, freshUntil, retainUntil) <= Self.latest else { return nil }
    var place = Self.fixedSize
    guard let contentType = code == 0 ? contentType(at: &place) : Self.contentTypes[code - 1] else { return nil }
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: Int64(storedAt)), freshUntil: Timestamp(milliseconds: Int64(freshUntil)),
      retainUntil: Timestamp(milliseconds: Int64(retainUntil)), contentType: contentType,
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

  /// The bytes of the key that the header has, empty if it has none; `nil` if the header is damaged.
  public func key() -> UnsafeRawBufferPointer? {
    var place = Self.fixedSize
    if bytes[1] == 0, contentType(at: &place) == nil { return nil }
    guard take(attributesSize, at: &place) != nil else { return nil }
    return take(headerSize - place, at: &place)
  }

  private var attributesSize: Int { Int(bytes.number(at: 48, as: UInt32.self)) }

  /// Milliseconds; a negative number is damage, and larger than `latest` here.
  private func time(at offset: Int) -> UInt64 { bytes.number(at: offset, as: UInt64.self) }

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
}

extension UnsafeRawBufferPointer {
  /// The little-endian number at `offset`, which must be within the bytes.
  @inlinable
  package func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension [UInt8] {
  /// Appends a number, the lowest byte first.
  @inlinable
  package mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
