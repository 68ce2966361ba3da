internal import StorageSPI

/// The layout of a store on the server: the names of its keys, and its division into parts.
///
/// On one server a store has a single part, with keys `prefix:...`. On a cluster it has a part for each of the 16,384
/// slots, with keys `prefix:{tag}:...`, so that entries are spread over all nodes, however many these are, and a script
/// can change all of a part. A part without entries has no keys.
struct RedisLayout: Sendable, Hashable {
  /// The layout version, which is stored on the server.
  static let format = 1

  let prefix: String
  /// Whether the store is on a cluster.
  let isSpread: Bool
  /// Whether the store has tables: an index and a tally. Without them it consists of its entries alone, so that a server
  /// may evict any key.
  var isIndexed = true

  /// The numbers of all parts; on a cluster they are those of the slots.
  var parts: Range<Int> { 0..<(isSpread ? RedisSlot.count : 1) }

  /// The part of the entry under `key`: on a cluster, the slot of the key's text.
  func part(of key: CacheKey) -> Int { isSpread ? RedisSlot.number(of: key.text.utf8) : 0 }

  /// The names of the keys of `part` that are not entries: the index and the tally.
  func tables(of part: Int) -> [String] {
    let base = base(of: part)
    return ["\(base)index", "\(base)tally"]
  }

  /// The key that says that a store has no tables, so that the other engine does not open it.
  var marker: String { "\(prefix):evicting" }

  /// The key that remembers the latest batch of `writer`, in a store without tables. No entry's key has its form.
  func record(of writer: String) -> String { "\(prefix):@\(writer)" }

  /// The channel on which changes are published. It is no key, and no entry's key has its form: that has a slash.
  var channel: String { "\(prefix):changes" }

  /// The server's key for the entry under `key`.
  func name(of key: CacheKey) -> String { name(of: key, in: part(of: key)) }

  /// The server's key for the entry under `key`, which belongs to `part`.
  func name(of key: CacheKey, in part: Int) -> String { base(of: part) + key.text }

  /// The prefix of all keys of `part`.
  func base(of part: Int) -> String { isSpread ? "\(prefix):{\(RedisSlot.tag(of: part))}:" : "\(prefix):" }

  /// The key that `name` is the server's key for; `nil` if it is no entry of this store.
  func key(named name: String) -> CacheKey? {
    guard name.hasPrefix("\(prefix):") else { return nil }
    let rest = name.dropFirst(prefix.utf8.count + 1)
    guard isSpread else { return try? CacheKey(String(rest)) }
    guard rest.first == "{", let key = try? CacheKey(String(rest.dropFirst(RedisSlot.tagLength + 3))) else {
      return nil
    }
    return self.name(of: key) == name ? key : nil
  }
}

/// The hash slots of a cluster.
enum RedisSlot {
  static let count = 16_384
  /// The length of a tag.
  static let tagLength = 3

  /// The slot of a key, or of the part of it in braces.
  static func number(of bytes: some Sequence<UInt8>) -> Int { Int(checksum(bytes)) % count }

  /// The text in braces that puts a key into `slot`: the first one of three letters and digits.
  static func tag(of slot: Int) -> String { String(decoding: tags[slot], as: UTF8.self) }

  /// The tags of `slots`, one after another.
  static func tags(of slots: [Int]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(slots.count * tagLength)
    for slot in slots { bytes += tags[slot] }
    return bytes
  }

  /// The slots whose tags are `tags`, one after another.
  static func slots(tags: [UInt8]) -> [Int] {
    stride(from: 0, to: tags.count, by: tagLength).map { number(of: tags[$0..<min($0 + tagLength, tags.count)]) }
  }

  private static let tags: [[UInt8]] = {
    var tags = [[UInt8]](repeating: [], count: count)
    let letters = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for first in letters {
      for second in letters {
        for third in letters {
          let tag = [first, second, third]
          let slot = number(of: tag)
          if tags[slot].isEmpty { tags[slot] = tag }
        }
      }
    }
    return tags
  }()

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
