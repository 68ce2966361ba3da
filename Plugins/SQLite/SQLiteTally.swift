internal import CSQLite
internal import StorageSPI

/// The tally of a store that is written to: a copy in memory, and what of it is not yet in the store.
///
/// The store's own tally counts the rows up to a mark. Whoever needs the whole counts the rows behind the mark, which
/// are fewer than `stride`. So a commit that only adds rows writes no page for the tally, but one in `stride` that
/// moves the mark. A change to a row that is counted is written at once.
///
/// The copy is read again only after somebody else's commit, and is then written with the next change: as long as
/// several processes write in turn, none of them finds a row behind the mark.
final class SQLiteTally {
  /// How many rows may be behind the mark, at most.
  private static let stride: Int64 = 128

  private let connection: SQLiteConnection
  private let save: SQLiteStatement
  private let remove: SQLiteStatement
  private let saveMark: SQLiteStatement
  private let lastRow: SQLiteStatement
  /// The tally but for `changes`.
  private var tally = EntryTally()
  /// The version of the data that the tally is of; `nil` where it is of none.
  private var version: UInt32?
  /// The last row that the store's tally counts.
  private var mark: Int64 = 0
  /// What `tally` counts more than the store's does.
  private var unsaved: [EntryTally.Slot: EntryTally.Count] = [:]
  /// Whether a change that is to be committed has to be written with the rest.
  private var mustSave = false
  /// The last row that was added since the mark was moved.
  private var added: Int64 = 0
  /// What neither `tally` nor `unsaved` has yet: as long as nobody asks, they need not.
  private var changes: [EntryTally.Slot: EntryTally.Count] = [:]
  /// The change to one slot that is not yet among the changes: most entries of a batch are of the same slot.
  private var latest: (slot: EntryTally.Slot, count: EntryTally.Count)?

  init(on connection: SQLiteConnection) throws(StorageError) {
    let save = try SQLiteStatement(SQLiteSchema.saveTally, on: connection)
    let remove = try SQLiteStatement(SQLiteSchema.removeTally, on: connection)
    let saveMark = try SQLiteStatement(SQLiteSchema.saveMark, on: connection)
    let lastRow = try SQLiteStatement(SQLiteSchema.lastRow, on: connection)
    self.connection = connection
    self.save = save
    self.remove = remove
    self.saveMark = saveMark
    self.lastRow = lastRow
  }

  /// To be called at the beginning of each transaction.
  func begin() throws(StorageError) {
    if version == csqlite_data_version(connection.handle) { return }
    if let stored = try SQLiteStoredTally(on: connection) {
      (tally, mark, added) = (stored.whole, stored.mark, stored.mark)
      (unsaved, mustSave) = (stored.behindMark.slots, true)
      forgetChanges()
    } else {
      try recount()
    }
  }

  /// Counts all entries anew.
  func recount() throws(StorageError) {
    let counted = try SQLiteStoredTally.counted(on: connection)
    try connection.execute(SQLiteSchema.emptyTally)
    (tally, unsaved, mustSave) = (EntryTally(), [:], true)
    (changes, latest) = (counted.slots, nil)
  }

  /// Counts an entry, or with -1 `entries` counts it no longer.
  ///
  /// - Parameter row: the number of its row.
  func add(entries: Int, payloadBytes: Int, to slot: EntryTally.Slot, row: Int64) {
    if row <= mark { mustSave = true } else { added = max(added, row) }
    let count = EntryTally.Count(entries: entries, payloadBytes: payloadBytes)
    if let (latestSlot, latestCount) = latest, latestSlot == slot {
      latest = (slot, latestCount + count)
    } else {
      collectLatest()
      latest = (slot, count)
    }
  }

  private func collectLatest() {
    guard let (slot, count) = latest.take() else { return }
    changes[slot, default: EntryTally.Count()] = changes[slot, default: EntryTally.Count()] + count
  }

  /// Writes what has to be written, and throws where the store would not be within `bounds`. To be called at the end of
  /// each transaction.
  func finish(_ bounds: StoreBounds?) throws(StorageError) {
    if added &- mark >= Self.stride || mustSave && hasChanges { try saveAll() }
    guard let bounds else { return }
    collect()
    try bounds.require(tally)
  }

  private var hasChanges: Bool { latest != nil || !changes.isEmpty }

  private func collect() {
    collectLatest()
    for (slot, change) in changes {
      tally.add(change, to: slot)
      unsaved[slot, default: EntryTally.Count()] = unsaved[slot, default: EntryTally.Count()] + change
    }
    forgetChanges()
  }

  private func forgetChanges() {
    changes.removeAll(keepingCapacity: true)
    latest = nil
  }

  private func saveAll() throws(StorageError) {
    collect()
    for (slot, change) in unsaved where change != EntryTally.Count() { try write(tally.slots[slot], to: slot) }
    unsaved.removeAll(keepingCapacity: true)
    // After this the next row that is added is behind the mark: SQLite numbers it one higher than the last.
    defer { lastRow.reset() }
    mark = try lastRow.step() ? lastRow.integer(0) : 0
    (added, mustSave) = (mark, false)
    try saveMark.bind(mark, at: 1)
    try saveMark.run()
  }

  private func write(_ count: EntryTally.Count?, to slot: EntryTally.Slot) throws(StorageError) {
    if let count {
      try save.bind(Int64(count.entries), at: 4)
      try save.bind(Int64(count.payloadBytes), at: 5)
      try run(save, with: slot)
    } else {
      try run(remove, with: slot)
    }
  }

  private func run(_ statement: borrowing SQLiteStatement, with slot: EntryTally.Slot) throws(StorageError) {
    try slot.namespace.withBytes { namespace throws(StorageError) in
      defer { statement.reset() }
      try statement.bind(namespace, at: 1)
      try statement.bind(slot.freshSlot, at: 2)
      try statement.bind(slot.retainSlot, at: 3)
      _ = try statement.step()
    }
  }

  /// To be called after each commit.
  func commit() { version = csqlite_data_version(connection.handle) }

  /// To be called after each transaction that was rolled back.
  func rollBack() { version = nil }
}
