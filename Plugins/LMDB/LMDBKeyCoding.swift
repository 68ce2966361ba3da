internal import StorageSPI

/// Maps keys of any length to LMDB's keys, which have at most 511 bytes.
///
/// A key of up to 502 bytes is stored as it is. A longer one is stored as its first 502 bytes, followed by 8 bytes of
/// hash (64-bit FNV-1a of the whole key, big-endian) and 1 byte that distinguishes keys with the same prefix and hash.
/// So a stored key of 511 bytes is always a shortened one; the entry's header holds its full text.
///
/// Order: all long keys that share their first 502 bytes lie side by side. The one key that consists of just these 502
/// bytes comes before them, both in true order and as stored. No other short key comes between, because it would have
/// to begin with the same 502 bytes. So the true order differs from the stored one only within such a group, which a
/// scan collects and sorts.
struct LMDBKeyCoding: Sendable {
  /// The longest key that is stored as it is, and the number of bytes kept from a longer one.
  static let prefixSize = 502
  /// The size of every shortened key: the largest that LMDB's usual build accepts.
  static let shortenedSize = 511

  /// Hashes a long key's bytes. Tests replace it to force collisions.
  let hash: @Sendable (UnsafeRawBufferPointer) -> UInt64

  init(hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64 = { FNV1a.hash($0) }) { self.hash = hash }

  /// The stored form of the long key `key` with the last byte `probe`.
  func shortened(_ key: UnsafeRawBufferPointer, probe: UInt8) -> [UInt8] {
    var stored = [UInt8](key.prefix(Self.prefixSize))
    withUnsafeBytes(of: hash(key).bigEndian) { stored.append(contentsOf: $0) }
    stored.append(probe)
    return stored
  }

  /// Whether `stored` is a stored form of the long key `key`, with any last byte. If it is not, no read finds it.
  func isShortened(_ stored: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) -> Bool {
    key.count > Self.prefixSize && shortened(key, probe: 0).dropLast().elementsEqual(stored.dropLast())
  }

  /// Whether a stored key is shortened.
  static func isShortened(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count == shortenedSize }
}
