internal import CLMDB
internal import StorageSPI

/// The tally that is kept in the store: see `LMDBSummary` and `LMDBSlot`.
extension LMDBEnvironment {
  /// Changes entries in one transaction, and the tally with them. Ends with nothing changed where `body` fails, or the
  /// store would not be within `bounds`.
  ///
  /// A store of version 1 is upgraded first, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - needed: namespaces that `body` needs besides those whose databases are known.
  ///   - bytes: about how much is written.
  func change(
    _ needed: [LMDBNamespaceUse], bytes: Int, _ durability: Durability, bounds: StoreBounds? = nil,
    _ body: (LMDBTransaction, [LMDBDatabase], inout LMDBTallyChange) throws(StorageError) -> Void
  ) throws(StorageError) {
    while true {
      let known = knownDatabases
      let attempt = try growing(for: bytes) { () throws(StorageError) -> LMDBChangeAttempt in
        let transaction = try beginWriting(durability)
        guard let summary = try validSummary(transaction) else {
          transaction.abort()
          return .isNotCounted
        }
        var change = LMDBTallyChange(transaction, summary)
        let isDone = try withDatabases(known, and: needed, in: transaction) { databases throws(StorageError) in
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

  /// The summary of the state that `transaction`, one for writing, begins with; `nil` where it is of another state, or
  /// the store of version 1.
  ///
  /// Nobody else has written since this process did where the numbers follow on each other: then the record need not be
  /// read.
  func validSummary(_ transaction: LMDBTransaction) throws(StorageError) -> LMDBSummary? {
    let last = transaction.number - 1
    if let kept = takeSummary(), kept.transaction == last { return kept }
    guard let summary = try transaction.summary(), summary.transaction == last else { return nil }
    return summary
  }

  /// Counts all entries and writes the tally, in one transaction: upgrades a store of version 1, and sets right the
  /// tally of one into which a program wrote that keeps none.
  ///
  /// Cost: a pass over all entries.
  func countAnew(_ durability: Durability) throws(StorageError) {
    while true {
      try withSnapshot(of: { _ in true }) { _, _ in }  // So that all databases are known.
      let known = knownDatabases
      let isDone = try growing(for: Self.mapGranularity) { () throws(StorageError) in
        let transaction = try beginWriting(durability)
        defer { transaction.abort() }
        if try validSummary(transaction) != nil { return true }
        let names = try transaction.namespaces()
        let databases = known.filter { names.contains($0.namespace) }
        guard databases.count == names.count else { return false }
        try transaction.countAnew(databases)
        try transaction.commit()
        return true
      }
      if isDone { return }
    }
  }

  /// How much the store holds: what is kept, or in a store of version 1, or one into which a program wrote that keeps no
  /// tally, what a pass over all entries finds.
  ///
  /// Cost otherwise: proportional to the number of slots.
  func statistics() throws(StorageError) -> StorageStatistics {
    let kept = try withSnapshot(of: { _ in false }) { transaction, _ throws(StorageError) in
      try transaction.keptTally()
    }
    if let kept { return StorageStatistics(tally: kept, storageBytes: LMDBFile.allocatedBytes(in: path)) }
    let counted = try withSnapshot(of: { _ in true }) { transaction, databases throws(StorageError) in
      var tally = EntryTally()
      for database in databases {
        try transaction.forEachCount(in: database) { slot, count in tally.add(count, to: slot.slot) }
      }
      return tally
    }
    return StorageStatistics(tally: counted, storageBytes: LMDBFile.allocatedBytes(in: path))
  }
}

extension LMDBTransaction {
  /// The tally of the state that this transaction reads; `nil` where none is kept of that state.
  func keptTally() throws(StorageError) -> EntryTally? {
    guard let summary = try summary(), summary.transaction == number else { return nil }
    var tally = EntryTally()
    try forEachSlot { slot, count in tally.add(count, to: slot.slot) }
    return tally
  }

  /// Calls `body` with the slot and the count of each entry of a namespace that can be decoded.
  func forEachCount(
    in database: LMDBDatabase, _ body: (LMDBSlot, EntryTally.Count) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachItem(in: database.handle) { item throws(StorageError) in
      guard let (slot, count) = LMDBSlot.counting(item.value, in: database.namespace) else { return }
      try body(slot, count)
    }
  }

  /// Replaces all records of the tally.
  fileprivate func countAnew(_ databases: [LMDBDatabase]) throws(StorageError) {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(StorageError) in
      var item = try cursor.first()
      while let (key, _) = item {
        if LMDBSlot(key: key) != nil { try cursor.remove() }
        item = try cursor.next()
      }
    }
    // Slots are gathered in memory: the pass is in the order of keys, and would write each record for each entry.
    var (tally, summary) = ([LMDBSlot: EntryTally.Count](), LMDBSummary(transaction: number))
    for database in databases {
      try forEachCount(in: database) { slot, count in
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

/// How an attempt to change entries has ended.
private enum LMDBChangeAttempt {
  case isDone
  /// The tally is none of the store's latest state.
  case isNotCounted
  /// Somebody has opened a database since the transaction began.
  case knowsTooLittle
}
