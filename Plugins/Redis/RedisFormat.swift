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
///     payload · metadata as `EntryMetadata` encodes it · length of the payload (4) · length of the metadata (4) · version (1)
///
/// Numbers begin with the lowest byte.
enum RedisEntry {
  /// The version of the format, which an inspection reports.
  static let format = 1
  /// The last byte has the version in its lower half. No text in UTF-8 ends with such a byte.
  private static let lastByte: UInt8 = 0xC0
  /// The number of bytes behind the metadata: see also the script of `RedisBatch`.
  static let tailLength = 9
  /// How many bytes at the end of an entry to ask for first: nearly always all but the payload.
  static let usualEnd = 256
  /// A server's limit for one string.
  private static let maximumLength = 512 << 20

  /// The version in the last byte of an entry; `nil` if no version of this engine has written it.
  static func version(_ last: UInt8) -> Int? { last & 0xF0 == lastByte ? Int(last & 0x0F) : nil }

  /// The bytes of an entry.
  ///
  /// - Throws: `CacheError` with the code `tooLarge` if no server takes the entry.
  static func encode(
    _ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata
  ) throws(CacheError) -> [UInt8] {
    let metadata = metadata.encoded()
    let length = payload.count + metadata.count + tailLength
    guard length <= maximumLength else {
      throw CacheError(
        .tooLarge, "entry \(key) is larger than the 512 MiB that a Redis server takes", hint: "do not cache it")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    bytes += payload
    bytes += metadata
    bytes.append(littleEndian: UInt32(payload.count))
    bytes.append(littleEndian: UInt32(metadata.count))
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

  /// The last bytes of an entry.
  struct Tail {
    let payloadBytes: Int
    /// The length of the metadata and the tail.
    let endLength: Int

    /// Reads them at the end of `bytes`, which can lack the beginning of the entry.
    init(_ bytes: Span<UInt8>, of key: CacheKey) throws(CacheError) {
      let start = bytes.count - tailLength
      guard !bytes.isEmpty, let version = version(bytes[bytes.count - 1]) else { throw .notAnEntry(key) }
      guard version == format else { throw .otherVersion(key) }
      guard start >= 0 else { throw .notAnEntry(key) }
      (payloadBytes, endLength) = bytes.withUnsafeBytes {
        (Int($0.number(at: start, as: UInt32.self)), Int($0.number(at: start + 4, as: UInt32.self)) + tailLength)
      }
    }

    /// The metadata, of which `bytes` has all.
    func metadata(_ bytes: Span<UInt8>, of key: CacheKey) throws(CacheError) -> EntryMetadata {
      let start = bytes.count - endLength
      guard start >= 0,
        let metadata = EntryMetadata(encoded: bytes.bytes.extracting(start..<bytes.count - tailLength))
      else { throw .notAnEntry(key) }
      return metadata
    }
  }

  /// A checksum as the script compares it.
  static func bytes(ofChecksum checksum: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: checksum)
    return bytes
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
