internal import StorageSPI

/// How a key of any length becomes one of LMDB's, which has at most 511 bytes.
///
/// A key of up to 502 bytes is stored as it is. Of a longer one the first 502 bytes are stored, then 8 bytes of hash
/// (64-bit FNV-1a of the whole key, big-endian) and 1 byte that tells apart keys which share prefix and hash. So a
/// stored key of 511 bytes always is a shortened one; its full text is in the entry's header.
///
/// Order: all long keys that share their first 502 bytes lie side by side. The one key that is just these 502 bytes
/// comes before them, both in true order and as stored; no other short key comes between, because it would have to
/// begin with the same 502 bytes. So true order differs from the stored one only within such a group, which a scan
/// gathers and sorts.
struct LMDBKeyCoding: Sendable {
  /// The longest key that is stored as it is, and the number of bytes kept of a longer one.
  static let prefixSize = 502
  /// The size of every shortened key: what LMDB takes at most in its usual build.
  static let shortenedSize = 511

  /// The hash of a long key's bytes; another one only in tests, to force collisions.
  let hash: @Sendable (UnsafeRawBufferPointer) -> UInt64

  init(hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64 = LMDBKeyCoding.fnv1a) { self.hash = hash }

  /// The stored form of the long key `key` with the last byte `probe`.
  func shortened(_ key: UnsafeRawBufferPointer, probe: UInt8) -> [UInt8] {
    var stored = [UInt8](key.prefix(Self.prefixSize))
    withUnsafeBytes(of: hash(key).bigEndian) { stored.append(contentsOf: $0) }
    stored.append(probe)
    return stored
  }

  /// Whether `stored` is what the long key `key` is stored as, whatever its last byte. Where it is not, nobody finds it.
  func isShortened(_ stored: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) -> Bool {
    key.count > Self.prefixSize && shortened(key, probe: 0).dropLast().elementsEqual(stored.dropLast())
  }

  /// Whether a stored key is a shortened one.
  static func isShortened(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count == shortenedSize }

  /// The 64-bit FNV-1a hash (offset basis 14695981039346656037, prime 1099511628211; Fowler, Noll and Vo).
  @Sendable static func fnv1a(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
