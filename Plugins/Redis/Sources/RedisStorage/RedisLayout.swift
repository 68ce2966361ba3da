internal import StorageSPI

/// How a store lies on the server: the names of its keys, and the parts into which it is divided.
///
/// On one server a store has one part; its keys are `prefix:...`. On a cluster it has 32, each with all its keys in one
/// slot (`{prefix:07}:...`): what is in one part can be changed together, and the parts are spread over all nodes.
struct RedisLayout: Sendable, Hashable {
  /// The version of the layout, which is noted on the server.
  static let format = 1
  /// As many as a large cluster has nodes, and few enough that all can be asked at once.
  static let clusterPartCount = 32

  let prefix: String
  let partCount: Int

  /// The numbers of all parts.
  var parts: Range<Int> { 0..<partCount }

  /// The part to which the entry under `key` belongs: on a cluster the slot of the key's text, modulo 32.
  func part(of key: CacheKey) -> Int { partCount == 1 ? 0 : Int(RedisSlot.checksum(key.text.utf8)) % partCount }

  /// The slot in which the keys of `part` are.
  func slot(of part: Int) -> Int { Int(RedisSlot.checksum("\(prefix):\(Self.digits(part))".utf8)) % RedisSlot.count }

  /// The names of the keys of `part` that are no entries, in the order in which the scripts take them.
  func tables(of part: Int) -> [String] {
    let base = base(of: part)
    return ["\(base)keys", "\(base)expiry", "\(base)tally", "\(base)totals"]
  }

  /// The name of the entry under `key`.
  func name(of key: CacheKey) -> String { name(of: key, in: part(of: key)) }

  /// The name of the entry under `key`, which belongs to `part`.
  func name(of key: CacheKey, in part: Int) -> String { base(of: part) + key.text }

  /// What the names of all keys of `part` begin with.
  func base(of part: Int) -> String {
    partCount == 1 ? "\(prefix):" : "{\(prefix):\(Self.digits(part))}:"
  }

  private static func digits(_ part: Int) -> String { (part < 10 ? "0" : "") + String(part) }
}

/// The slots of a cluster.
enum RedisSlot {
  static let count = 16_384

  /// CRC16 as the specification of Redis Cluster has it (XMODEM: polynomial 0x1021, begun with 0).
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    var checksum: UInt16 = 0
    for byte in bytes { checksum = checksum << 8 ^ remainders[Int(checksum >> 8 ^ UInt16(byte))] }
    return checksum
  }

  /// What each value of a byte adds: a key is looked at byte by byte then, and not bit by bit.
  private static let remainders: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}
