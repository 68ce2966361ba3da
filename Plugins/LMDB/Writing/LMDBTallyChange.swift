internal import StorageSPI

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
  private var hasChanges = false
  /// Whether the tally is correct after the changes. It is not if an undecodable entry was replaced or removed: it was
  /// counted, but in an unknown slot.
  private var isRight = true

  /// Starts without changes to the state of `transaction`, which `summary` describes.
  init(_ transaction: LMDBTransaction, _ summary: LMDBSummary) {
    self.transaction = transaction
    self.summary = summary
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
  /// The summary, whichever transaction it belongs to; `nil` in a store of version 1.
  ///
  /// - Throws: `unsupportedFormat` if the store is of a later version, `damaged`.
  func summary() throws(CacheError) -> LMDBSummary? {
    let key = LMDBSummary.key
    let value = try key.span.withUnsafeBytes { key throws(CacheError) -> UnsafeRawBufferPointer? in
      try self.value(key, in: LMDBEnvironment.mainDatabase)
    }
    guard let value else { return nil }
    do throws(LMDBFault) {
      return try LMDBSummary(value)
    } catch {
      throw .lmdb(error, in: environment.path)
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
