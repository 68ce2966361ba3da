internal import CSQLite
internal import StorageSPI

/// The tally of a store that is being written to: a copy in memory, and the part of it that is not stored yet.
///
/// The stored tally counts the rows up to a mark. A reader that needs the total also counts the rows behind the mark,
/// which are fewer than `stride`. So a commit that only adds rows writes no page for the tally; once per `stride` rows,
/// a commit moves the mark. A change to a counted row is written at once.
///
/// The copy is read again only after another connection's commit, and is then written with the next change. As long as
/// several processes write in turn, no rows remain behind the mark for any of them.
final class SQLiteTally {
  /// The most rows that may be behind the mark.
  private static let stride: Int64 = 128

  private let connection: SQLiteConnection
  private let save: SQLiteStatement
  private let remove: SQLiteStatement
  private let saveMark: SQLiteStatement
  /// The tally without `changes`.
  private var tally = EntryTally()
  /// The data version that the tally belongs to; `nil` if the tally is not loaded.
  private var version: Int32?
  /// The last row that the stored tally counts.
  private var mark: Int64 = 0
  /// The difference between `tally` and the stored tally.
  private var unsaved: [EntryTally.Slot: EntryTally.Count] = [:]
  /// Whether the current transaction must write its changes.
  private var mustSave = false
  /// The last row added since the mark was moved.
  private var added: Int64 = 0
  /// Changes that are in neither `tally` nor `unsaved` yet; they are added when someone asks.
  private var changes: [EntryTally.Slot: EntryTally.Count] = [:]
  /// The change to one slot, not yet in `changes`: most entries of a batch belong to the same slot.
  private var latest: (slot: EntryTally.Slot, count: EntryTally.Count)?

  init(on connection: SQLiteConnection) throws(CacheError) {
    let save = try SQLiteStatement(SQLiteSchema.saveTally, on: connection)
    let remove = try SQLiteStatement(SQLiteSchema.removeTally, on: connection)
    let saveMark = try SQLiteStatement(SQLiteSchema.saveMark, on: connection)
    self.connection = connection
    self.save = save
    self.remove = remove
    self.saveMark = saveMark
  }

  /// Call this at the start of each transaction.
  func begin() throws(CacheError) {
    if version == dataVersion { return }
    if let stored = try SQLiteStoredTally(on: connection) {
      (tally, mark, added) = (stored.whole, stored.mark, stored.mark)
      (unsaved, mustSave) = (stored.behindMark.slots, true)
      forgetChanges()
    } else {
      try recount()
    }
  }

  /// Recounts all entries.
  func recount() throws(CacheError) {
    let counted = try SQLiteStoredTally.counted(on: connection)
    try connection.execute(SQLiteSchema.emptyTally)
    (tally, unsaved, mustSave) = (EntryTally(), [:], true)
    (changes, latest) = (counted.slots, nil)
  }

  /// Counts an entry, or stops counting it if `entries` is -1.
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

  /// Writes what must be written, and throws if the store would exceed `bounds`. Call this at the end of each
  /// transaction.
  func finish(_ bounds: StoreBounds?) throws(CacheError) {
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

  private func saveAll() throws(CacheError) {
    collect()
    for (slot, change) in unsaved where change != EntryTally.Count() { try write(tally.slots[slot], to: slot) }
    unsaved.removeAll(keepingCapacity: true)
    // The next added row is then behind the mark: SQLite numbers it one higher than the last row.
    defer { saveMark.reset() }
    mark = try saveMark.step() ? saveMark.integer(0) : 0
    added = mark
    mustSave = false
  }

  private func write(_ count: EntryTally.Count?, to slot: EntryTally.Slot) throws(CacheError) {
    if let count {
      try save.bind(Int64(count.entries), at: 4)
      try save.bind(Int64(count.payloadBytes), at: 5)
      try run(save, with: slot)
    } else {
      try run(remove, with: slot)
    }
  }

  private func run(_ statement: borrowing SQLiteStatement, with slot: EntryTally.Slot) throws(CacheError) {
    try slot.namespace.withBytes { namespace throws(CacheError) in
      defer { statement.reset() }
      try statement.bind(namespace, at: 1)
      try statement.bind(slot.freshSlot, at: 2)
      try statement.bind(slot.retainSlot, at: 3)
      _ = try statement.step()
    }
  }

  /// Call this after each commit.
  func commit() { version = dataVersion }

  /// A number that changes with each commit of this connection, and at its next transaction after another connection's
  /// commit.
  private var dataVersion: Int32 { csqlite_control(connection.handle, SQLITE_FCNTL_DATA_VERSION, 0) }

  /// Call this after each rollback.
  func rollBack() { version = nil }
}

/// The tally as stored, and the rows that it does not count yet.
struct SQLiteStoredTally {
  /// The last counted row.
  let mark: Int64
  /// The tally of the rows behind the mark.
  private(set) var behindMark = EntryTally()
  /// The tally of all entries.
  private(set) var whole: EntryTally

  /// Reads the stored tally, in one transaction. It is `nil` if there is none, because another program has changed the
  /// entries or the schema.
  init?(on connection: SQLiteConnection) throws(CacheError) {
    guard let mark = try Self.mark(on: connection) else { return nil }
    self.mark = mark
    whole = try Self.tally(SQLiteSchema.tally, on: connection)
    behindMark = try Self.tally(SQLiteSchema.countBehind, after: mark, on: connection)
    whole.add(behindMark)
  }

  /// The tally of the existing entries. Cost: a pass over all of them.
  static func counted(on connection: SQLiteConnection) throws(CacheError) -> EntryTally {
    try tally(SQLiteSchema.count, on: connection)
  }

  /// The mark; `nil` if there is none, or the schema has changed since it was set.
  private static func mark(on connection: SQLiteConnection) throws(CacheError) -> Int64? {
    let statement = try SQLiteStatement(SQLiteSchema.mark, on: connection)
    return try statement.step() ? statement.integer(0) : nil
  }

  private static func tally(
    _ query: String, after row: Int64? = nil, on connection: SQLiteConnection
  ) throws(CacheError) -> EntryTally {
    let statement = try SQLiteStatement(query, on: connection)
    if let row { try statement.bind(row, at: 1) }
    var tally = EntryTally()
    while try statement.step() {
      let slot = EntryTally.Slot(
        namespace: String(decoding: statement.bytes(0), as: UTF8.self), freshSlot: statement.integer(1),
        retainSlot: statement.integer(2))
      tally.add(try count(of: statement), to: slot)
    }
    return tally
  }

  /// The numbers in a row, small enough to add up without overflow.
  private static func count(of statement: borrowing SQLiteStatement) throws(CacheError) -> EntryTally.Count {
    let (entries, payloadBytes) = (statement.integer(3), statement.integer(4))
    guard (0...largest).contains(entries), (0...largest).contains(payloadBytes) else {
      let path = statement.connection.path
      throw CacheError(.damaged, "\(path): the tally is damaged")
    }
    return EntryTally.Count(entries: Int(entries), payloadBytes: Int(payloadBytes))
  }

  /// More than any slot can have: it is the size of SQLite's largest database.
  private static let largest: Int64 = 1 << 48
}
