internal import CLMDB
internal import StorageSPI

/// The tally that the store keeps: see `LMDBSummary` and `LMDBSlot`.
extension LMDBEnvironment {
  /// Changes entries and the tally in one transaction. Changes nothing if `body` fails, or if the store would exceed
  /// `bounds`. After a program that keeps no tally has written to the store, it first counts all entries.
  ///
  /// - Parameters:
  ///   - needed: namespaces that `body` needs besides those whose databases are known.
  ///   - bytes: the approximate number of bytes to write.
  func change(
    _ needed: [LMDBNamespaceUse], bytes: Int, _ durability: Durability, bounds: StoreBounds? = nil,
    _ body: (LMDBTransaction, [LMDBDatabase], inout LMDBTallyChange) throws(CacheError) -> Void
  ) throws(CacheError) {
    var isDone = false
    while !isDone {
      let known = knownDatabases
      isDone = try growing(for: bytes) { () throws(CacheError) -> Bool in
        let transaction = try beginWriting(durability)
        defer { transaction.abort() }
        var summary = try validSummary(transaction)
        let isCounted = summary != nil
        let all =
          isCounted
          ? needed : needed + (try transaction.namespaces()).map { LMDBNamespaceUse(namespace: $0, creates: false) }
        let isCommitted = try withDatabases(known, and: all, in: transaction) { databases throws(CacheError) in
          let start = if let kept = summary.take() { kept } else { try transaction.countAnew(databases) }
          var change = LMDBTallyChange(transaction, start, hasChanges: !isCounted)
          try body(transaction, databases, &change)
          try change.finish(bounds)
          summary = change.summary
        }
        if isCommitted, let summary { keepSummary(summary) }
        return isCommitted
      }
    }
  }

  /// The summary of the state from which the write transaction `transaction` starts; `nil` if there is none, or it
  /// belongs to another state.
  ///
  /// If the transaction numbers are consecutive, no other process has written since this one did, and the record need
  /// not be read.
  func validSummary(_ transaction: LMDBTransaction) throws(CacheError) -> LMDBSummary? {
    let last = transaction.number - 1
    if let kept = takeSummary(), kept.transaction == last { return kept }
    guard let summary = try transaction.summary(), summary.transaction == last else { return nil }
    return summary
  }

  /// How much the store holds, from the stored tally. If a program that keeps no tally has written to it, this takes a
  /// pass over all entries.
  ///
  /// Cost otherwise: proportional to the number of slots.
  func statistics() throws(CacheError) -> StorageStatistics {
    let tally = try withReader { reader throws(CacheError) in
      if let kept = try reader.withSnapshot({ transaction throws(CacheError) in try transaction.keptTally() }) {
        return kept
      }
      return try reader.withDatabases { transaction, databases throws(CacheError) in
        var tally = EntryTally()
        for database in databases {
          try transaction.forEachCount(in: database) { slot, count in tally.add(count, to: slot.slot) }
        }
        return tally
      }
    }
    return StorageStatistics(tally: tally, storageBytes: LMDBFile.allocatedBytes(in: path))
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

  /// Calls `body` with each entry of a database, in order.
  func forEachItem(
    in database: MDB_dbi, _ body: (LMDBCursor.Item) throws(CacheError) -> Void
  ) throws(CacheError) {
    try withCursor(on: database) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let current = item {
        try body(current)
        item = try cursor.next()
      }
    }
  }

  /// Calls `body` with the slot and the count of each decodable entry of a namespace.
  fileprivate func forEachCount(
    in database: LMDBDatabase, _ body: (LMDBSlot, EntryTally.Count) throws(CacheError) -> Void
  ) throws(CacheError) {
    try forEachItem(in: database.handle) { item throws(CacheError) in
      guard let (slot, count) = LMDBSlot.counting(item.value, in: database.namespace) else { return }
      try body(slot, count)
    }
  }

  /// Counts all entries, and replaces the slots.
  ///
  /// - Returns: the summary, which is not written yet.
  fileprivate func countAnew(_ databases: [LMDBDatabase]) throws(CacheError) -> LMDBSummary {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (key, _) = item {
        if LMDBSlot(key: key) != nil { try cursor.remove() }
        item = try cursor.next()
      }
    }
    // Collect slots in memory: the pass is in key order, and would otherwise write a record for each entry.
    var tally: [LMDBSlot: EntryTally.Count] = [:]
    for database in databases {
      try forEachCount(in: database) { slot, count in tally[slot] = (tally[slot] ?? EntryTally.Count()) + count }
    }
    var summary = LMDBSummary(transaction: number)
    for (slot, count) in tally {
      _ = try add(count, to: slot)
      _ = summary.add(count, to: slot.namespace)
    }
    return summary
  }
}

/// A transaction's changes to the tally, collected while it changes entries and written at its end.
struct LMDBTallyChange {
  /// If there are more slots than this, they are written early.
  private static let capacity = 1_024
  /// How many of the latest slots to search for one that changes again. A slot that is not found is recorded twice,
  /// which only costs time.
  private static let lookBack = 8

  private let transaction: LMDBTransaction
  /// The summary, including the changes written so far.
  private(set) var summary: LMDBSummary
  private var changes: [(slot: LMDBSlot, count: EntryTally.Count)] = []
  private var hasChanges: Bool
  /// Whether the tally is correct after the changes. It is not if an undecodable entry was replaced or removed: it was
  /// counted, but in an unknown slot.
  private var isRight = true

  /// Starts with the state of `transaction`, which `summary` describes.
  ///
  /// - Parameter hasChanges: whether the tally differs from the stored one.
  init(_ transaction: LMDBTransaction, _ summary: LMDBSummary, hasChanges: Bool) {
    self.transaction = transaction
    self.summary = summary
    self.hasChanges = hasChanges
  }

  /// Counts an entry that is about to be stored.
  mutating func add(_ metadata: EntryMetadata, payloadBytes: Int, in namespace: LMDBNamespace) throws(CacheError) {
    let slot = LMDBSlot(namespace, freshUntil: metadata.freshUntil, retainUntil: metadata.retainUntil)
    try add(EntryTally.Count(entries: 1, payloadBytes: payloadBytes), to: slot)
  }

  /// Stops counting the entry in `value`, which is about to be replaced or removed.
  mutating func remove(_ value: UnsafeRawBufferPointer, in namespace: LMDBNamespace) throws(CacheError) {
    hasChanges = true
    guard let (slot, count) = LMDBSlot.counting(value, in: namespace) else {
      isRight = false
      return
    }
    try add(EntryTally.Count(entries: -count.entries, payloadBytes: -count.payloadBytes), to: slot)
  }

  /// Writes the changes and the transaction number.
  ///
  /// - Throws: `overBounds` if the store would exceed `bounds`.
  mutating func finish(_ bounds: StoreBounds?) throws(CacheError) {
    try writeChanges()
    if let bounds { try summary.require(bounds) }
    if hasChanges { try writeSummary() }
  }

  /// Writes the summary as this transaction's.
  mutating func writeSummary() throws(CacheError) {
    summary.transaction = isRight ? transaction.number : 0
    try transaction.write(summary)
  }

  private mutating func add(_ count: EntryTally.Count, to slot: LMDBSlot) throws(CacheError) {
    hasChanges = true
    for index in changes.indices.suffix(Self.lookBack).reversed() where changes[index].slot == slot {
      changes[index].count = changes[index].count + count
      return
    }
    changes.append((slot, count))
    if changes.count > Self.capacity { try writeChanges() }
  }

  private mutating func writeChanges() throws(CacheError) {
    for (slot, change) in changes where change != EntryTally.Count() {
      let isPossible = try transaction.add(change, to: slot)
      isRight = summary.add(change, to: slot.namespace) && isPossible && isRight
    }
    changes.removeAll(keepingCapacity: true)
  }
}

extension LMDBSlot {
  /// The slot and count of the entry in `value`; `nil` if it cannot be decoded, and is not counted.
  static func counting(
    _ value: UnsafeRawBufferPointer, in namespace: LMDBNamespace
  ) -> (slot: LMDBSlot, count: EntryTally.Count)? {
    do throws(LMDBFault) {
      let entry = try LMDBEntry(value)
      let slot = LMDBSlot(namespace, freshUntil: try entry.freshUntil(), retainUntil: try entry.retainUntil())
      return (slot, EntryTally.Count(entries: 1, payloadBytes: entry.payloadSize))
    } catch {
      return nil
    }
  }
}

/// Access to the tally's records in the main database.
extension LMDBTransaction {
  /// The summary, whichever transaction it belongs to; `nil` if another program has removed it.
  ///
  /// - Throws: `unsupportedFormat` if the store is of another version, `damaged`.
  func summary() throws(CacheError) -> LMDBSummary? {
    guard let value = try summaryRecord() else { return nil }
    do throws(LMDBFault) {
      return try LMDBSummary(value)
    } catch {
      throw .lmdb(error, in: environment.path)
    }
  }

  /// The bytes of the summary.
  func summaryRecord() throws(CacheError) -> UnsafeRawBufferPointer? {
    let key = LMDBSummary.key
    return try key.span.withUnsafeBytes { key throws(CacheError) in
      try value(key, in: LMDBEnvironment.mainDatabase)
    }
  }

  /// Stores the summary.
  func write(_ summary: LMDBSummary) throws(CacheError) {
    let key = LMDBSummary.key
    try key.span.withUnsafeBytes { key throws(CacheError) in
      summary.write(to: try reserve(key, count: summary.size, in: LMDBEnvironment.mainDatabase))
    }
  }

  /// Adds `change`, which may be negative, to the count of `slot`.
  ///
  /// - Returns: whether the sum is valid. If it is not, the slot is left with no count.
  func add(_ change: EntryTally.Count, to slot: LMDBSlot) throws(CacheError) -> Bool {
    try slot.withKey { key throws(CacheError) in
      let value = try value(key, in: LMDBEnvironment.mainDatabase)
      let before = value.flatMap { $0.count == LMDBSlot.valueSize ? EntryTally.Count($0, at: 0) : nil }
      let sum = (before ?? EntryTally.Count()) + change
      if sum.entries > 0 {
        sum.write(to: try reserve(key, count: LMDBSlot.valueSize, in: LMDBEnvironment.mainDatabase), at: 0)
      } else if value != nil {
        try remove(key, in: LMDBEnvironment.mainDatabase)
      }
      return sum.isPossible
    }
  }

  /// Calls `body` with each slot that has a count, ordered by namespace.
  func forEachSlot(_ body: (LMDBSlot, EntryTally.Count) throws(CacheError) -> Void) throws(CacheError) {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (key, value) = item {
        if let slot = LMDBSlot(key: key), value.count == LMDBSlot.valueSize {
          try body(slot, EntryTally.Count(value, at: 0))
        }
        item = try cursor.next()
      }
    }
  }
}
