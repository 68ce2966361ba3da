internal import CLMDB
internal import EngineSupport
internal import Platform
internal import StorageSPI
internal import Synchronization

/// Operations that look at the whole store.
extension LMDBEnvironment {
  /// Checks the structure of the file; see `LMDBTreeCheck`. A transaction pins the state meanwhile, so that other
  /// writers do not reuse its pages; the check does not read any tree pages through it.
  ///
  /// - Returns: the number of the transaction whose state was checked.
  /// - Throws: `damaged` if the structure is damaged.
  @discardableResult
  func checkStructure(_ extent: LMDBTreeCheck.Extent) throws(CacheError) -> UInt64 {
    gate.enter()
    defer { gate.leave() }
    let transaction = try beginReading()
    defer { transaction.abort() }
    if let fault = try structureFault(transaction, extent) {
      isDamaged.store(true, ordering: .relaxed)
      throw .lmdb(fault, in: LMDBFile.data(in: path))
    }
    return UInt64(bitPattern: Int64(transaction.number))
  }

  /// - Throws: `damaged` if the meta pages do not follow on each other.
  private func checkMetaPages() throws(CacheError) {
    gate.enter()
    defer { gate.leave() }
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    guard let file = LMDBMappedFile(descriptor: descriptor) else { throw error(EIO, "read") }
    do throws(LMDBFault) {
      try LMDBMetaPage.requireConsecutive(in: file.bytes)
    } catch {
      isDamaged.store(true, ordering: .relaxed)
      throw .lmdb(error, in: LMDBFile.data(in: path))
    }
  }

  private func structureFault(
    _ transaction: LMDBTransaction, _ extent: LMDBTreeCheck.Extent
  ) throws(CacheError) -> LMDBFault? {
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    guard let file = LMDBMappedFile(descriptor: descriptor) else { throw error(EIO, "read") }
    do throws(LMDBFault) {
      let meta = try LMDBMetaPage.both(in: file.bytes)[transaction.number & 1]
      let branches = LMDBBranchReader(descriptor)
      if (Int(meta.lastPage) + 1) * meta.pageSize <= file.bytes.count {
        var check = LMDBTreeCheck(file.bytes, meta, extent, branches: branches)
        try check.run()
      } else {
        // The meta page may belong to a later transaction by now, with pages beyond the mapped part.
        guard let whole = LMDBMappedFile(descriptor: descriptor) else { throw .damaged("it cannot be mapped") }
        var check = LMDBTreeCheck(whole.bytes, meta, extent, branches: branches)
        try check.run()
      }
      return nil
    } catch {
      return error
    }
  }

  /// The issues with the structure. Only if it is sound, because LMDB trusts it, also the issues with the entries.
  func integrityIssues() throws(CacheError) -> [IntegrityIssue] {
    do throws(CacheError) {
      try checkStructure(.full)
      // Checked last: damage to the trees is worse.
      try checkMetaPages()
    } catch  where error.code == .damaged {
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
    return try withSnapshot { transaction throws(CacheError) in
      var (issues, counted) = ([IntegrityIssue](), EntryTally())
      for namespace in try transaction.namespaces() {
        try transaction.forEachItem(in: namespace) { item throws(CacheError) in
          if let (slot, count) = LMDBSlot.counting(item.value, in: namespace) {
            counted.add(count, to: slot.slot)
          }
          if let issue = transaction.issue(with: item, in: namespace.name) { issues.append(issue) }
        }
      }
      // An undecodable entry is in the tally but cannot be counted here, and has been reported already.
      if issues.isEmpty, let kept = try transaction.keptTally(), kept != counted {
        issues.append(IntegrityIssue(kind: .structure, message: "the tally of \(path) disagrees with its entries"))
      }
      return issues
    }
  }

  /// Removes the entries that are expired at `time`, in one transaction. The freed pages stay in the file; see
  /// `releaseFreePages`. Check the structure first.
  func removeExpired(at time: Timestamp, _ durability: Durability) throws(CacheError) {
    let namespaces = try withSnapshot { transaction throws(CacheError) in try transaction.namespaces() }
    let needed = namespaces.map { LMDBNamespaceUse(namespace: $0, creates: false) }
    try change(needed, bytes: Self.mapGranularity, durability) { transaction, databases, tally throws(CacheError) in
      for database in databases { try transaction.removeExpired(at: time, in: database, &tally) }
    }
  }
}

extension LMDBTransaction {
  /// Leaves undecodable entries alone, because it is unknown whether they have expired.
  fileprivate func removeExpired(
    at time: Timestamp, in database: LMDBDatabase, _ tally: inout LMDBTallyChange
  ) throws(CacheError) {
    try withCursor(on: database.handle) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (_, value) = item {
        if let until = try? LMDBEntry(value).retainUntil(), time >= until {
          try tally.remove(value, in: database.namespace)
          try cursor.remove()
        }
        item = try cursor.next()
      }
    }
  }

  fileprivate func issue(with item: LMDBTreeWalk.Item, in namespace: String) -> IntegrityIssue? {
    var key: CacheKey?
    do throws(CacheError) {
      let bytes = LMDBKeyCoding.isShortened(item.key) ? try fullKey(of: item.value, storedAs: item.key) : item.key
      let name = try CacheKey(stored: bytes, namespace: namespace, path: environment.path)
      key = name
      if LMDBKeyCoding.isShortened(item.key), !environment.keyCoding.isShortened(item.key, of: bytes) {
        throw .lmdb(.damaged("it is stored under another key than its own"), in: "entry \(name)")
      }
      _ = try decoding(name) { () throws(LMDBFault) in try LMDBEntry(item.value).metadata() }
      return nil
    } catch {
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }
}
