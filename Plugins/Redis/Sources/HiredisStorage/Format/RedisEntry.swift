internal import StorageSPI

/// An entry as one string on the server: the payload first, so that a native tool shows it, then what is known of it.
///
///     payload · content type · attributes as JSON · the length of that (4 bytes)
///     · storedAt (6) · freshUntil (6) · retainUntil (6) · checksum (8) · payloadChecksum (8)
///     · length of the content type (3) · kind (1)
///
/// Numbers begin with the most significant byte; times are milliseconds since 1970 in UTC. The kind is 2, and 3 if
/// there are attributes; without them their JSON and its length are left out. What the scripts need
/// has fixed places before the end: see `tailLength`.
enum RedisEntry {
  /// The bytes at the end whose places are fixed.
  static let tailLength = 38
  /// How many bytes at the end to ask for first: nearly always all but the payload.
  static let usualLength = 256
  private static let (plain, withAttributes) = (UInt8(2), UInt8(3))
  private static let longestContentType = 0xFF_FFFF
  /// A server's default limit for one string.
  static let maximumLength = 512 << 20

  /// The string for an entry.
  ///
  /// - Throws: `CacheError`: `tooLarge` if the content type has 16 MiB or more, or a server takes no such string.
  static func encode(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) -> [UInt8] {
    let contentType = metadata.contentType.utf8
    guard contentType.count <= longestContentType else {
      throw CacheError(.tooLarge, "entry \(key): its content type is too long", hint: "do not cache it")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + contentType.count + tailLength)
    bytes += payload
    bytes += contentType
    if !metadata.attributes.isEmpty {
      let json = json(metadata.attributes)
      bytes += json
      append(UInt64(json.count), 4, to: &bytes)
    }
    for time in [metadata.storedAt, metadata.freshUntil, metadata.retainUntil] {
      append(UInt64(time.milliseconds), 6, to: &bytes)
    }
    append(metadata.checksum, 8, to: &bytes)
    append(metadata.payloadChecksum, 8, to: &bytes)
    append(UInt64(contentType.count), 3, to: &bytes)
    bytes.append(metadata.attributes.isEmpty ? plain : withAttributes)
    guard bytes.count <= maximumLength else { throw .tooLarge(key) }
    return bytes
  }

  /// The payload's size and the metadata in `bytes`; `nil` if they are not an entry.
  static func decode(_ bytes: Span<UInt8>) -> (payloadBytes: Int, metadata: EntryMetadata)? {
    decode(endOf: bytes, length: bytes.count)
  }

  /// The payload's size and the metadata of an entry of `length` bytes of which `bytes` are the last ones; `nil` if they
  /// are not an entry's.
  static func decode(endOf bytes: Span<UInt8>, length: Int) -> (payloadBytes: Int, metadata: EntryMetadata)? {
    guard let shape = shape(of: bytes), shape.headLength <= bytes.count, let metadata = metadata(bytes, shape) else {
      return nil
    }
    return (length - shape.headLength, metadata)
  }

  /// The metadata at the end of an entry of which `bytes` are the last ones; `nil` if they are not an entry's.
  static func metadata(endOf bytes: Span<UInt8>) -> EntryMetadata? {
    guard let shape = shape(of: bytes), shape.headLength <= bytes.count else { return nil }
    return metadata(bytes, shape)
  }

  /// The checksum of an entry of which `bytes` are the last ones; 0 if these are not even an entry's last ones.
  static func checksum(endOf bytes: Span<UInt8>) -> UInt64 {
    guard bytes.count >= tailLength, isKind(bytes[bytes.count - 1]) else { return 0 }
    return number(bytes, bytes.count - tailLength + 18, 8)
  }

  /// The metadata to report for an unreadable entry: times from its `line` in the index, and its checksum.
  static func metadata(ofDamaged line: RedisLine, checksum: UInt64) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: SlotTally.start(of: line.slot.freshSlot),
      retainUntil: SlotTally.start(of: line.slot.retainSlot), contentType: "", checksum: checksum)
  }

  private struct Shape {
    let contentTypeLength: Int
    /// The length of the attributes' JSON; `nil` if there are none.
    let jsonLength: Int?

    /// The length of all but the payload.
    var headLength: Int { contentTypeLength + (jsonLength.map { $0 + 4 } ?? 0) + tailLength }
  }

  private static func shape(of bytes: Span<UInt8>) -> Shape? {
    let start = bytes.count - tailLength
    guard start >= 0, isKind(bytes[bytes.count - 1]) else { return nil }
    let contentTypeLength = Int(number(bytes, start + 34, 3))
    guard bytes[bytes.count - 1] == withAttributes else {
      return Shape(contentTypeLength: contentTypeLength, jsonLength: nil)
    }
    guard start >= 4 else { return nil }
    return Shape(contentTypeLength: contentTypeLength, jsonLength: Int(number(bytes, start - 4, 4)))
  }

  private static func metadata(_ bytes: Span<UInt8>, _ shape: Shape) -> EntryMetadata? {
    let (head, tail) = (bytes.count - shape.headLength, bytes.count - tailLength)
    let json = head + shape.contentTypeLength
    guard let contentType = text(bytes.extracting(head..<json)),
      let attributes = shape.jsonLength == nil ? [:] : attributes(array(bytes, json..<json + (shape.jsonLength ?? 0)))
    else { return nil }
    let times = (0..<3).map { Int64(number(bytes, tail + $0 * 6, 6)) }
    guard times.allSatisfy({ $0 <= Timestamp.distantFuture.milliseconds }) else { return nil }
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: times[0]), freshUntil: Timestamp(milliseconds: times[1]),
      retainUntil: Timestamp(milliseconds: times[2]), contentType: contentType, attributes: attributes,
      payloadChecksum: number(bytes, tail + 26, 8), checksum: number(bytes, tail + 18, 8))
  }

  private static func isKind(_ byte: UInt8) -> Bool { byte == plain || byte == withAttributes }

  private static func number(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in start..<start + count { number = number << 8 | UInt64(bytes[index]) }
    return number
  }

  private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
  }

  private static func array(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    bytes.extracting(range).withUnsafeBufferPointer { Array($0) }
  }

  private static func text(_ bytes: Span<UInt8>) -> String? {
    bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
  }

  /// Attributes as a JSON object, ordered by name.
  private static func json(_ attributes: [String: String]) -> [UInt8] {
    var json = [UInt8(ascii: "{")]
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      JSONString.append(name, to: &json)
      json.append(UInt8(ascii: ":"))
      JSONString.append(value, to: &json)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// The attributes in the JSON object `json`; `nil` if it is none.
  static func attributes(_ json: [UInt8]) -> [String: String]? {
    var reader = JSONReader(json)
    var attributes: [String: String] = [:]
    do throws(JSONReader.Failure) {
      try reader.object { reader, name throws(JSONReader.Failure) in attributes[name] = try reader.string() }
      try reader.end()
      return attributes
    } catch {
      return nil
    }
  }
}
