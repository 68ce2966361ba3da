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
    guard let probe = try locate(key, in: database).probe else {
      throw CacheError(.tooLarge, "256 keys of more than \(LMDBKeyCoding.prefixSize) bytes share their prefix and hash")
    }
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
    let cursor = try openCursor(on: database)
    var free = 0
    var item = try cursor.seek(lowest)
    while let (stored, value) = item, stored.dropLast().elementsEqual(lowest.dropLast()), let probe = stored.last {
      if try fullKey(of: (stored, value)).elementsEqual(key) { return (probe, value) }
      if Int(probe) == free { free += 1 }
      item = try cursor.next()
    }
    return (UInt8(exactly: free), nil)
  }

  /// The full key of an entry.
  private func fullKey(of item: LMDBCursor.Item) throws(CacheError) -> UnsafeRawBufferPointer {
    guard LMDBKeyCoding.isShortened(item.key) else { return item.key }
    do throws(LMDBFault) { return try LMDBEntry(item.value).fullKey() } catch {
      let prefix = String(decoding: item.key.prefix(LMDBKeyCoding.prefixSize), as: UTF8.self)
      throw .lmdb(error, in: "an entry whose key begins with \(prefix)")
    }
  }

  /// The key of an entry in `database`.
  func key(of item: LMDBCursor.Item, in database: LMDBDatabase) throws(CacheError) -> CacheKey {
    let text = String(decoding: try fullKey(of: item), as: UTF8.self)
    guard let key = try? CacheKey(text), key.namespace == database.namespace.name else {
      throw .lmdb(
        .damaged("'\(text.prefix(80))' in namespace \(database.namespace.name) is no key of it"), in: environment.path)
    }
    return key
  }

  /// The namespaces that have databases, in order.
  func namespaces() throws(CacheError) -> [LMDBNamespace] {
    var found: [LMDBNamespace] = []
    try forEachItem(in: LMDBEnvironment.mainDatabase) { item throws(CacheError) in
      if item.key.elementsEqual(LMDBCountRecord.key) { return }
      guard CacheKey.isNamespace(String(decoding: item.key, as: UTF8.self)) else {
        throw .lmdb(.damaged("it holds a database that is no namespace"), in: environment.path)
      }
      found.append(LMDBNamespace(item.key, count: item.key.count))
    }
    return found
  }
}

/// A namespace's name as 32 bytes, padded with zeros, so that a comparison takes four words.
///
/// (`SIMD32` would be the natural type, but its metadata costs a tenth of a millisecond at process start.)
struct LMDBNamespace: Sendable, Hashable {
  private let first, second, third, fourth: UInt64

  /// The namespace of a key, from the key's bytes and the namespace's length (32 at most).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    (first, second, third, fourth) = words
  }

  /// The name.
  var name: String {
    withUnsafeBytes(of: self) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// A namespace and LMDB's handle of its database, which is valid for the environment's lifetime.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}

extension CacheKey {
  /// Calls `body` with the UTF-8 bytes of the key's text.
  func withBytes<Output>(
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let text = text
    return try text.utf8Span.span.withUnsafeBytes { bytes throws(CacheError) in try body(bytes) }
  }
}
