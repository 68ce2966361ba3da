internal import CLMDB
internal import StorageSPI

/// Access by the key of the cache, of any length.
extension LMDBTransaction {
  /// The value under a key, given its bytes; `nil` where there is none.
  func value(ofKey key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(StorageError) -> UnsafeRawBufferPointer? {
    if key.count <= LMDBKeyCoding.prefixSize { return try value(key, in: database) }
    return try locate(key, in: database).value
  }

  /// Calls `body` with the stored form of a key, given its bytes: the one under which it is stored already, or for one
  /// that is not, the one under which it is to be stored.
  func withStoredKey<Output>(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    if key.count <= LMDBKeyCoding.prefixSize { return try body(key) }
    guard let probe = try locate(key, in: database).probe else { throw Self.tooManyCollisions }
    let stored = environment.keyCoding.shortened(key, probe: probe)
    return try stored.span.withUnsafeBytes { stored throws(StorageError) in try body(stored) }
  }

  /// Finds a long key among those with the same prefix and hash, of which there hardly ever is another.
  ///
  /// - Returns: the value, and the byte that tells the key apart; for a key that is not stored, the lowest free one,
  ///   `nil` where there is none.
  private func locate(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi
  ) throws(StorageError) -> (probe: UInt8?, value: UnsafeRawBufferPointer?) {
    let lowest = environment.keyCoding.shortened(key, probe: 0)
    return try lowest.span.withUnsafeBytes { lowest throws(StorageError) in
      try withCursor(on: database) { cursor throws(StorageError) in
        var free = 0
        var item = try cursor.seek(lowest)
        while let (stored, value) = item, stored.dropLast().elementsEqual(lowest.dropLast()), let probe = stored.last {
          if try fullKey(of: value, storedAs: stored).elementsEqual(key) { return (probe, value) }
          if Int(probe) == free { free += 1 }
          item = try cursor.next()
        }
        return (UInt8(exactly: free), nil)
      }
    }
  }

  /// The full key in an entry that is stored under a shortened key.
  func fullKey(
    of value: UnsafeRawBufferPointer, storedAs stored: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    do throws(LMDBFault) {
      guard let key = try LMDBEntry(value).fullKey() else { throw .damaged("its full key is missing") }
      return key
    } catch {
      let prefix = String(decoding: stored.prefix(LMDBKeyCoding.prefixSize), as: UTF8.self)
      throw .lmdb(error, in: "an entry whose key begins with \(prefix)")
    }
  }

  /// The namespaces that have databases, in order. The records of the tally, which follow the name of a namespace and a
  /// zero byte, are skipped all at once, so that the cost is proportional to the number of namespaces.
  func namespaces() throws(StorageError) -> [LMDBNamespace] {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(StorageError) in
      var found: [LMDBNamespace] = []
      var item = try cursor.seek([1])
      while let (name, _) = item {
        // Without order the search for the next one could go back for ever.
        guard let namespace = LMDBNamespace(name: name), found.last.map({ $0.name < namespace.name }) ?? true else {
          throw .lmdb(.damaged("it holds a database that is no namespace"), in: environment.path)
        }
        found.append(namespace)
        item = try cursor.seek(Array(name) + [1])
      }
      return found
    }
  }

  private static var tooManyCollisions: StorageError {
    StorageError(.tooLarge, "256 keys of more than \(LMDBKeyCoding.prefixSize) bytes share their prefix and hash")
  }
}
