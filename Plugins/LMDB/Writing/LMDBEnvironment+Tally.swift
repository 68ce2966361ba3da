internal import CLMDB
internal import StorageSPI

/// The tally that the store keeps: see `LMDBSummary` and `LMDBSlot`.
extension LMDBEnvironment {
  /// Changes entries and the tally in one transaction. Changes nothing if `body` fails, or if the store would exceed
  /// `bounds`.
  ///
  /// Upgrades a store of version 1 first, in a separate transaction.
  ///
  /// - Parameters:
  ///   - needed: namespaces that `body` needs besides those whose databases are known.
  ///   - bytes: the approximate number of bytes to write.
  func change(
    _ needed: [LMDBNamespaceUse], bytes: Int, _ durability: Durability, bounds: StoreBounds? = nil,
    _ body: (LMDBTransaction, [LMDBDatabase], inout LMDBTallyChange) throws(CacheError) -> Void
  ) throws(CacheError) {
    while true {
      let known = knownDatabases
      let attempt = try growing(for: bytes) { () throws(CacheError) -> LMDBChangeAttempt in
        let transaction = try beginWriting(durability)
        guard let summary = try validSummary(transaction) else {
          transaction.abort()
          return .isNotCounted
        }
        var change = LMDBTallyChange(transaction, summary)
        let isDone = try withDatabases(known, and: needed, in: transaction) { databases throws(CacheError) in
          try body(transaction, databases, &change)
          try change.finish(bounds)
        }
        if isDone { keepSummary(change.summary) }
        return isDone ? .isDone : .knowsTooLittle
      }
      switch attempt {
      case .isDone: return
      case .knowsTooLittle: continue
      case .isNotCounted: try countAnew(durability)
      }
    }
  }

  /// The summary of the state from which the write transaction `transaction` starts; `nil` if the summary belongs to
  /// another state, or the store is of version 1.
  ///
  /// If the transaction numbers are consecutive, no other process has written since this one did, and the record need
  /// not be read.
  func validSummary(_ transaction: LMDBTransaction) throws(CacheError) -> LMDBSummary? {
    let last = transaction.number - 1
    if let kept = takeSummary(), kept.transaction == last { return kept }
    guard let summary = try transaction.summary(), summary.transaction == last else { return nil }
    return summary
  }

  /// Counts all entries and writes the tally, in one transaction. This upgrades a store of version 1, and corrects the
  /// tally after a program that keeps none has written to the store.
  ///
  /// Cost: a pass over all entries.
  func countAnew(_ durability: Durability) throws(CacheError) {
    try growing(for: Self.mapGranularity) { () throws(CacheError) in
      let transaction = try beginWriting(durability)
      defer { transaction.abort() }
      if try validSummary(transaction) != nil { return }
      try transaction.countAnew()
      try transaction.commit()
    }
  }

  /// How much the store holds, from the stored tally. If the store is of version 1, or a program that keeps no tally
  /// has written to it, this takes a pass over all entries.
  ///
  /// Cost otherwise: proportional to the number of slots.
  func statistics() throws(CacheError) -> StorageStatistics {
    let kept = try withSnapshot { transaction throws(CacheError) in
      try transaction.keptTally()
    }
    if let kept { return StorageStatistics(tally: kept, storageBytes: LMDBFile.allocatedBytes(in: path)) }
    let counted = try withSnapshot { transaction throws(CacheError) in
      var tally = EntryTally()
      for namespace in try transaction.namespaces() {
        try transaction.forEachCount(in: namespace) { slot, count in tally.add(count, to: slot.slot) }
      }
      return tally
    }
    return StorageStatistics(tally: counted, storageBytes: LMDBFile.allocatedBytes(in: path))
  }
}

extension LMDBTransaction {
  /// The tally of the state that this transaction reads; `nil` if none is stored for that state.
  func keptTally() throws(CacheError) -> EntryTally? {
    guard let summary = try summary(), summary.transaction == number else { return nil }
    var tally = EntryTally()
    try forEachSlot { slot, count in tally.add(count, to: slot.slot) }
    return tally
  }

  /// Calls `body` with the slot and the count of each decodable entry of a namespace.
  func forEachCount(
    in namespace: LMDBNamespace, _ body: (LMDBSlot, EntryTally.Count) throws(CacheError) -> Void
  ) throws(CacheError) {
    try forEachItem(in: namespace) { item throws(CacheError) in
      guard let (slot, count) = LMDBSlot.counting(item.value, in: namespace) else { return }
      try body(slot, count)
    }
  }

  /// Replaces all records of the tally.
  fileprivate func countAnew() throws(CacheError) {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (key, _) = item {
        if LMDBSlot(key: key) != nil { try cursor.remove() }
        item = try cursor.next()
      }
    }
    // Collect slots in memory: the pass is in key order, and would otherwise write a record for each entry.
    var (tally, summary) = ([LMDBSlot: EntryTally.Count](), LMDBSummary(transaction: number))
    let reader = try LMDBTransaction(environment, flags: MDB_RDONLY)
    defer { reader.abort() }
    for namespace in try reader.namespaces() {
      try reader.forEachCount(in: namespace) { slot, count in
        tally[slot] = (tally[slot] ?? EntryTally.Count()) + count
      }
    }
    for (slot, count) in tally {
      _ = try add(count, to: slot)
      _ = summary.add(count, to: slot.namespace)
    }
    try write(summary)
  }
}

/// The result of an attempt to change entries.
private enum LMDBChangeAttempt {
  case isDone
  /// The tally does not belong to the store's latest state.
  case isNotCounted
  /// Another thread has opened a database since the transaction began.
  case knowsTooLittle
}
