internal import CLMDB
internal import Platform
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

/// Access by cache key, of any length.
extension LMDBTransaction {
  /// The value under the key with the bytes `key`; `nil` if there is none.
  func value(ofKey key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(CacheError) -> UnsafeRawBufferPointer? {
    if key.count <= LMDBKeyCoding.prefixSize { return try value(key, in: database) }
    return try locate(key, in: database).value
  }

  /// Calls `body` with the stored form of a key: the existing one, or for a key that is not stored yet, the one to
  /// store it under.
  func withStoredKey<Output>(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi,
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    if key.count <= LMDBKeyCoding.prefixSize { return try body(key) }
    guard let probe = try locate(key, in: database).probe else { throw Self.tooManyCollisions }
    let stored = environment.keyCoding.shortened(key, probe: probe)
    return try stored.span.withUnsafeBytes { stored throws(CacheError) in try body(stored) }
  }

  /// Finds a long key among those with the same prefix and hash; there is hardly ever more than one.
  ///
  /// - Returns: the value, and the byte that distinguishes the key; for a key that is not stored, the lowest free byte,
  ///   or `nil` if there is none.
  private func locate(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi
  ) throws(CacheError) -> (probe: UInt8?, value: UnsafeRawBufferPointer?) {
    let lowest = environment.keyCoding.shortened(key, probe: 0)
    return try lowest.span.withUnsafeBytes { lowest throws(CacheError) in
      try withCursor(on: database) { cursor throws(CacheError) in
        let hashed = UnsafeRawBufferPointer(rebasing: lowest.dropLast())
        var free = 0
        var item = try cursor.seek(lowest)
        while let (stored, value) = item, byteOrder(UnsafeRawBufferPointer(rebasing: stored.dropLast()), hashed) == 0,
          let probe = stored.last
        {
          if byteOrder(try fullKey(of: value, storedAs: stored), key) == 0 { return (probe, value) }
          if Int(probe) == free { free += 1 }
          item = try cursor.next()
        }
        return (UInt8(exactly: free), nil)
      }
    }
  }

  /// The full key of an entry that is stored under a shortened key.
  func fullKey(
    of value: UnsafeRawBufferPointer, storedAs stored: UnsafeRawBufferPointer
  ) throws(CacheError) -> UnsafeRawBufferPointer {
    do throws(LMDBFault) {
      guard let key = try LMDBEntry(value).fullKey() else { throw .damaged("its full key is missing") }
      return key
    } catch {
      let prefix = String(decoding: stored.prefix(LMDBKeyCoding.prefixSize), as: UTF8.self)
      throw .lmdb(error, in: "an entry whose key begins with \(prefix)")
    }
  }

  /// The namespaces that have databases, in order. It skips each namespace's tally records (its name followed by a zero
  /// byte) in one step, so the cost is proportional to the number of namespaces.
  func namespaces() throws(CacheError) -> [LMDBNamespace] {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
      var found: [LMDBNamespace] = []
      var item = try cursor.seek([1])
      while let (name, _) = item {
        // If the names were out of order, the search for the next one could loop forever.
        guard let namespace = LMDBNamespace(name: name), found.last.map({ $0.name < namespace.name }) ?? true else {
          throw .lmdb(.damaged("it holds a database that is no namespace"), in: environment.path)
        }
        found.append(namespace)
        item = try cursor.seek(Array(name) + [1])
      }
      return found
    }
  }

  private static var tooManyCollisions: CacheError {
    CacheError(.tooLarge, "256 keys of more than \(LMDBKeyCoding.prefixSize) bytes share their prefix and hash")
  }
}

/// A namespace's name as 32 bytes, padded with zeros, so that a comparison takes four words.
///
/// (`SIMD32` would be the natural type, but its metadata costs a tenth of a millisecond at process start.)
struct LMDBNamespace: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64) { (first, second, third, fourth) }
  private let first, second, third, fourth: UInt64

  /// The namespace of a key, from the key's bytes and the namespace's length (32 at most).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    (first, second, third, fourth) = words
  }

  /// The namespace called `name`; `nil` if that cannot be a namespace.
  init?(name: UnsafeRawBufferPointer) {
    guard CacheKey.isNamespace(String(decoding: name, as: UTF8.self)) else { return nil }
    self.init(name, count: name.count)
  }

  /// The longest name, in bytes.
  static let size = CacheKey.maximumNamespaceLength

  /// The length of the name, in bytes.
  var length: Int { withUnsafeBytes(of: words) { bytes in bytes.firstIndex(of: 0) ?? Self.size } }

  /// Writes the name, padded with zeros to 32 bytes, at `offset` of `room`.
  func write(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
    room.storeBytes(of: words, toByteOffset: offset, as: (UInt64, UInt64, UInt64, UInt64).self)
  }

  /// The name.
  var name: String {
    withUnsafeBytes(of: words) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// A write transaction's need of a namespace.
struct LMDBNamespaceUse {
  let namespace: LMDBNamespace
  /// Whether to create its database if there is none.
  var creates: Bool
}

/// A namespace and LMDB's handle of its database, which is valid for the environment's lifetime.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}

/// Compares two keys by their bytes, a shorter one first: below zero if `left` comes first.
func byteOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  guard let first = left.baseAddress, let second = right.baseAddress else { return left.count - right.count }
  let order = Int(memcmp(first, second, min(left.count, right.count)))
  return order == 0 ? left.count - right.count : order
}
