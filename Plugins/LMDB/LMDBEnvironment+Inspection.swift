internal import CLMDB
internal import Glibc
internal import StorageSPI

/// What looks at the whole store.
extension LMDBEnvironment {
  /// Checks the structure of the file; see `LMDBTreeCheck`. A transaction pins the state meanwhile: it keeps other
  /// writers from using the pages again, and looks at no page of a tree itself.
  ///
  /// - Throws: `damaged` where the structure is.
  func checkStructure(_ extent: LMDBTreeCheck.Extent) throws(StorageError) {
    let transaction = try beginReading()
    defer {
      transaction.abort()
      gate.leave()
    }
    if let fault = try structureFault(transaction, extent) {
      throw .lmdb(fault, in: LMDBFile.data(in: path))
    }
  }

  private func structureFault(
    _ transaction: LMDBTransaction, _ extent: LMDBTreeCheck.Extent
  ) throws(StorageError) -> LMDBFault? {
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    guard let file = LMDBMappedFile(descriptor: descriptor) else { throw error(EIO, "read") }
    do throws(LMDBFault) {
      let meta = try LMDBMetaPage.both(in: file.bytes)[transaction.number & 1]
      // The meta page may be of a later transaction by now, whose pages may lie beyond what was mapped.
      guard let whole = LMDBMappedFile(descriptor: descriptor) else { throw .damaged("it cannot be mapped") }
      var check = LMDBTreeCheck(whole.bytes, meta, extent)
      try check.run()
      return nil
    } catch {
      return error
    }
  }

  /// How much the store holds, found in a pass over the headers.
  func statistics() throws(StorageError) -> StorageStatistics {
    let tally = try LMDBReader(self).withSnapshot(of: { _ in true }) { transaction, databases throws(StorageError) in
      var tally = EntryTally()
      for (name, handle) in databases { try transaction.count(entriesOf: name, in: handle, into: &tally) }
      return tally
    }
    return StorageStatistics(tally: tally, storageBytes: LMDBFile.allocatedBytes(in: path))
  }

  /// What is wrong with the structure; and only where that is sound, because LMDB trusts it, with the entries.
  func integrityIssues() throws(StorageError) -> [IntegrityIssue] {
    do throws(StorageError) {
      try checkStructure(.full)
    } catch  where error.code == .damaged {
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
    return try LMDBReader(self).withSnapshot(of: { _ in true }) { transaction, databases throws(StorageError) in
      var issues: [IntegrityIssue] = []
      for (name, handle) in databases {
        try transaction.forEachItem(in: handle) { item throws(StorageError) in
          if let issue = transaction.issue(with: item, in: name) { issues.append(issue) }
        }
      }
      return issues
    }
  }

  /// Removes what has expired at `time`, in one transaction. The freed pages stay in the file; see `releaseFreePages`.
  func removeExpired(at time: Timestamp, _ durability: Durability) throws(StorageError) {
    guard !isReadOnly else { throw error(EACCES, "write to") }
    let names = try LMDBReader(self).withSnapshot(of: { _ in true }) { _, databases in databases.map(\.name) }
    let namespaces = names.compactMap { name in Array(name.utf8).withUnsafeBytes { LMDBNamespace(name: $0) } }
    try growing(for: LMDBEnvironment.mapGranularity) { () throws(StorageError) in
      let transaction = try beginWriting(durability)
      let wanted = Dictionary(uniqueKeysWithValues: namespaces.map { ($0, false) })
      try withDatabases(wanted, in: transaction) { databases throws(StorageError) in
        for database in databases { try transaction.removeExpired(at: time, in: database.handle) }
      }
    }
  }
}

extension LMDBTransaction {
  fileprivate func forEachItem(
    in database: MDB_dbi, _ body: (LMDBCursor.Item) throws(StorageError) -> Void
  ) throws(StorageError) {
    try withCursor(on: database) { cursor throws(StorageError) in
      var item = try cursor.first()
      while let current = item {
        try body(current)
        item = try cursor.next()
      }
    }
  }

  fileprivate func count(
    entriesOf namespace: String, in database: MDB_dbi, into tally: inout EntryTally
  ) throws(StorageError) {
    try forEachItem(in: database) { item throws(StorageError) in
      do throws(LMDBFault) {
        let entry = try LMDBEntry(item.value)
        let slot = EntryTally.Slot(
          namespace: namespace, freshUntil: try entry.freshUntil(), retainUntil: try entry.retainUntil())
        tally.add(slot, payloadBytes: entry.payloadSize)
      } catch {
        throw .lmdb(error, in: "an entry of namespace \(namespace)")
      }
    }
  }

  /// An entry that cannot be decoded is left alone: whether it has expired cannot be told.
  fileprivate func removeExpired(at time: Timestamp, in database: MDB_dbi) throws(StorageError) {
    try withCursor(on: database) { cursor throws(StorageError) in
      var item = try cursor.first()
      while let (_, value) = item {
        if let until = try? LMDBEntry(value).retainUntil(), time >= until { try cursor.remove() }
        item = try cursor.next()
      }
    }
  }

  fileprivate func issue(with item: LMDBCursor.Item, in namespace: String) -> IntegrityIssue? {
    var key: CacheKey?
    do throws(StorageError) {
      let bytes = LMDBKeyCoding.isShortened(item.key) ? try fullKey(of: item.value, storedAs: item.key) : item.key
      let name = try CacheKey(stored: bytes, namespace: namespace, path: environment.path)
      key = name
      _ = try decoding(name) { () throws(LMDBFault) in try LMDBEntry(item.value).metadata() }
      return nil
    } catch {
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }
}
