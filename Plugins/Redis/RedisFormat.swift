internal import EngineAPI

/// The names of a store's keys on the server.
///
/// On one server it is `PREFIX:KEY`. On a cluster the group of the key is in braces, `PREFIX:cities{/v1/page=0}`, so that a
/// group has one hash slot, and a script can change all of it. The slash keeps the braces from being empty.
struct RedisNames: Sendable, Hashable {
  let prefix: String
  let isCluster: Bool

  /// The first characters of all names.
  var start: String { prefix + ":" }

  /// The server's key for the entry under `key`.
  func name(of key: CacheKey) -> String {
    guard isCluster else { return start + key.text }
    let (text, group) = (key.text, key.group)
    let slash = text.utf8.index(before: group.startIndex)
    return "\(start)\(text[..<slash]){\(text[slash..<group.endIndex])}\(text[group.endIndex...])"
  }

  /// The key whose entry has the name `name`; `nil` if no entry of this store has that name.
  func key(named name: String) -> CacheKey? {
    guard name.hasPrefix(start) else { return nil }
    let text = name.dropFirst(start.utf8.count)
    guard isCluster else { return try? CacheKey(String(text)) }
    guard let brace = text.firstIndex(of: "{") else { return nil }
    let group = text[brace...].dropFirst().prefix { $0 != "," }
    guard group.first == "/", group.last == "}" else { return nil }
    return try? CacheKey("\(text[..<brace])\(group.dropLast())\(text[group.endIndex...])")
  }

  /// The hash slot of the key called `name`; `nil` on one server.
  func slot(of name: String) -> Int? {
    guard isCluster else { return nil }
    let bytes = name.utf8
    if let open = bytes.firstIndex(of: UInt8(ascii: "{")) {
      let tag = bytes[bytes.index(after: open)...].prefix { $0 != UInt8(ascii: "}") }
      if !tag.isEmpty, tag.endIndex < bytes.endIndex { return Self.slot(tag) }
    }
    return Self.slot(bytes)
  }

  /// The number of hash slots of a cluster.
  static let slots = 16_384

  /// CRC16 as Redis Cluster specifies it (XMODEM: polynomial 0x1021, initial value 0), modulo the number of slots.
  private static func slot(_ bytes: some Sequence<UInt8>) -> Int {
    var sum: UInt16 = 0
    for byte in bytes { sum = sum << 8 ^ remainders[Int(sum >> 8 ^ UInt16(byte))] }
    return Int(sum) % slots
  }

  /// The contribution of each byte to the sum.
  private static let remainders: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}

/// An entry as the bytes of one string: the payload first, so that a native tool shows it, then its metadata.
///
///     payload · length of the content type · content type · attributes as `EntryMetadata` encodes them
///     · storedAt (6) · freshUntil (6) · retainUntil (6) · checksum (8) · payloadChecksum (8)
///     · length of the payload (4) · length of the texts (3) · version (1)
///
/// Numbers begin with the most significant byte, and times are milliseconds since 1970 in UTC. The length of the content type
/// has 7 bits in each byte, the lowest first, and the highest bit says that another byte follows.
enum RedisEntry {
  /// The version of the format, which an inspection reports.
  static let format = 1
  /// The last byte has the version in its lower half. No text in UTF-8 ends with such a byte.
  private static let lastByte: UInt8 = 0xC0
  /// The number of bytes at the end whose places are fixed: see also the script of `RedisBatch`.
  static let tailLength = 42
  /// How many bytes at the end of an entry to ask for first: nearly always all but the payload.
  static let usualEnd = 256
  private static let longestTexts = 0xFF_FFFF
  /// A server's limit for one string.
  private static let maximumLength = 512 << 20

  /// The version in the last byte of an entry; `nil` if no version of this engine has written it.
  static func version(_ last: UInt8) -> Int? { last & 0xF0 == lastByte ? Int(last & 0x0F) : nil }

  /// The bytes of an entry.
  ///
  /// - Throws: `CacheError` with the code `tooLarge` if no server takes the entry, or its texts have 16 MiB or more.
  static func encode(
    _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata
  ) throws(CacheError) -> [UInt8] {
    let texts = texts(metadata)
    let length = payload.count + texts.count + tailLength
    guard texts.count <= longestTexts, length <= maximumLength else {
      throw CacheError(
        .tooLarge, "entry \(key) is larger than the 512 MiB that a Redis server takes", hint: "do not cache it")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    bytes += payload
    bytes += texts
    append(UInt64(metadata.storedAt.milliseconds), 6, to: &bytes)
    append(UInt64(metadata.freshUntil.milliseconds), 6, to: &bytes)
    append(UInt64(metadata.retainUntil.milliseconds), 6, to: &bytes)
    append(metadata.checksum, 8, to: &bytes)
    append(metadata.payloadChecksum, 8, to: &bytes)
    append(UInt64(payload.count), 4, to: &bytes)
    append(UInt64(texts.count), 3, to: &bytes)
    bytes.append(lastByte | UInt8(format))
    return bytes
  }

  /// The metadata of the entry under `key`, and the length of its payload, with which its bytes begin.
  ///
  /// - Throws: `CacheError`: `damaged` if `bytes` are not an entry, `unsupportedFormat` if another version wrote them.
  static func decode(
    _ bytes: Span<UInt8>, of key: CacheKey
  ) throws(CacheError) -> (metadata: EntryMetadata, payloadBytes: Int) {
    let tail = try Tail(bytes, of: key)
    guard tail.payloadBytes + tail.endLength == bytes.count else { throw .notAnEntry(key) }
    return (try tail.metadata(bytes, of: key), tail.payloadBytes)
  }

  /// The fixed bytes at the end of an entry.
  struct Tail {
    let payloadBytes: Int
    /// The length of the texts and the tail.
    let endLength: Int
    private let start: Int

    /// Reads them at the end of `bytes`, which can lack the beginning of the entry.
    init(_ bytes: Span<UInt8>, of key: CacheKey) throws(CacheError) {
      start = bytes.count - tailLength
      guard !bytes.isEmpty, let version = version(bytes[bytes.count - 1]) else { throw .notAnEntry(key) }
      guard version == format else { throw .otherVersion(key) }
      guard start >= 0 else { throw .notAnEntry(key) }
      payloadBytes = Int(number(bytes, start + 34, 4))
      endLength = Int(number(bytes, start + 38, 3)) + tailLength
    }

    /// The metadata, of which `bytes` has all.
    func metadata(_ bytes: Span<UInt8>, of key: CacheKey) throws(CacheError) -> EntryMetadata {
      var place = bytes.count - endLength
      let texts = bytes.extracting(0..<start)
      guard place >= 0, let contentType = text(texts, &place) else { throw .notAnEntry(key) }
      let latest = UInt64(Timestamp.distantFuture.milliseconds)
      let (stored, fresh, retain) = (number(bytes, start, 6), number(bytes, start + 6, 6), number(bytes, start + 12, 6))
      guard max(stored, fresh, retain) <= latest else { throw .notAnEntry(key) }
      var metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: Int64(stored)), freshUntil: Timestamp(milliseconds: Int64(fresh)),
        retainUntil: Timestamp(milliseconds: Int64(retain)), contentType: contentType,
        payloadChecksum: number(bytes, start + 26, 8), checksum: number(bytes, start + 18, 8))
      let areAttributes = texts.extracting(place...).withUnsafeBytes { metadata.setAttributes(encoded: $0) }
      guard areAttributes else { throw .notAnEntry(key) }
      return metadata
    }
  }

  /// A checksum as the script compares it.
  static func bytes(ofChecksum checksum: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    append(checksum, 8, to: &bytes)
    return bytes
  }

  private static func texts(_ metadata: EntryMetadata) -> [UInt8] {
    var bytes: [UInt8] = []
    append(metadata.contentType, to: &bytes)
    bytes += metadata.encodedAttributes
    return bytes
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    var length = text.utf8.count
    while length > 0x7F {
      bytes.append(UInt8(length & 0x7F | 0x80))
      length >>= 7
    }
    bytes.append(UInt8(length))
    bytes += text.utf8
  }

  private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
  }

  fileprivate static func number(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in start..<start + count { number = number << 8 | UInt64(bytes[index]) }
    return number
  }

  /// The text at `place`, which is then behind it; `nil` if there is none.
  private static func text(_ bytes: Span<UInt8>, _ place: inout Int) -> String? {
    var (length, shift) = (0, 0)
    while true {
      guard place < bytes.count, shift <= 21 else { return nil }
      let byte = Int(bytes[place])
      place += 1
      length |= (byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    guard length <= bytes.count - place else { return nil }
    defer { place += length }
    return bytes.extracting(place..<place + length).withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
  }
}

extension CacheError {
  /// The error for a key of the store whose value is not an entry.
  static func notAnEntry(_ key: CacheKey) -> CacheError {
    CacheError(
      .damaged,
      "entry \(key): its value on the server is not as cachectl wrote it, unless another program uses the prefix too",
      key: key.text, cause: UnreadableEntry(key))
  }

  fileprivate static func otherVersion(_ key: CacheKey) -> CacheError {
    CacheError(
      .unsupportedFormat, "entry \(key): another version of cachectl wrote it",
      hint: "use that version, or give the option prefix another value", cause: UnreadableEntry(key))
  }
}
