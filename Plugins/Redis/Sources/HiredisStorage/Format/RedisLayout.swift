internal import StorageSPI

/// The layout of a store on the server: the names of its keys, and its division into parts.
///
/// On one server a store has a single part, with keys `prefix:...`. On a cluster it has 32 parts, each with all its
/// keys in one slot (`{prefix:07}:...`): one batch can change all of a part, and the parts are spread over all nodes.
struct RedisLayout: Sendable, Hashable {
  /// The layout version, which is stored on the server.
  static let format = 1
  /// As many as a large cluster has nodes, and few enough to ask all at once.
  static let clusterPartCount = 32

  let prefix: String
  let partCount: Int

  /// The numbers of all parts.
  var parts: Range<Int> { 0..<partCount }

  /// The part of the entry under `key`: on a cluster, the slot of the key's text, modulo 32.
  func part(of key: CacheKey) -> Int { partCount == 1 ? 0 : Int(RedisSlot.checksum(key.text.utf8)) % partCount }

  /// The slot of the keys of `part`.
  func slot(of part: Int) -> Int { Int(RedisSlot.checksum("\(prefix):\(Self.digits(part))".utf8)) % RedisSlot.count }

  /// The names of the keys of `part` that are not entries, in the order that the scripts expect.
  func tables(of part: Int) -> [String] {
    let base = base(of: part)
    return ["\(base)keys", "\(base)expiry", "\(base)tally", "\(base)totals"]
  }

  /// The channel on which changes are published. It is no key, and no entry's key has its form: that has a slash.
  var channel: String { "\(base(of: 0))changes" }

  /// The server's key for the entry under `key`.
  func name(of key: CacheKey) -> String { name(of: key, in: part(of: key)) }

  /// The server's key for the entry under `key`, which belongs to `part`.
  func name(of key: CacheKey, in part: Int) -> String { base(of: part) + key.text }

  /// The prefix of all keys of `part`.
  func base(of part: Int) -> String {
    partCount == 1 ? "\(prefix):" : "{\(prefix):\(Self.digits(part))}:"
  }

  private static func digits(_ part: Int) -> String { (part < 10 ? "0" : "") + String(part) }
}

/// The hash slots of a cluster.
enum RedisSlot {
  static let count = 16_384

  /// CRC16 as specified by Redis Cluster (XMODEM: polynomial 0x1021, initial value 0).
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    var checksum: UInt16 = 0
    for byte in bytes { checksum = checksum << 8 ^ remainders[Int(checksum >> 8 ^ UInt16(byte))] }
    return checksum
  }

  /// The contribution of each byte value, so that the checksum goes byte by byte instead of bit by bit.
  private static let remainders: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}
