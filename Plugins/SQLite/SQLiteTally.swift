internal import CSQLite
internal import StorageSPI

/// The tally of a store that is written to: a copy in memory, and what the transaction under way changes of it.
///
/// The copy is read again only after somebody else's commit. A transaction writes the slots that it has changed, each
/// once, however many entries it has put.
final class SQLiteTally {
  private let connection: SQLiteConnection
  private let save: SQLiteStatement
  private let remove: SQLiteStatement
  private var tally = EntryTally()
  /// The version of the data that `tally` is of; `nil` where it is of none.
  private var version: UInt32?
  private var changes: [EntryTally.Slot: EntryTally.Count] = [:]
  /// The change to one slot that is not yet among the changes: most entries of a batch are of the same slot.
  private var latest: (slot: EntryTally.Slot, count: EntryTally.Count)?

  init(on connection: SQLiteConnection) throws(StorageError) {
    let save = try SQLiteStatement(SQLiteSchema.saveTally, on: connection)
    let remove = try SQLiteStatement(SQLiteSchema.removeTally, on: connection)
    self.connection = connection
    self.save = save
    self.remove = remove
  }

  /// To be called at the beginning of each transaction.
  func begin() throws(StorageError) {
    if version == csqlite_data_version(connection.handle) { return }
    if let kept = try Self.kept(on: connection) {
      tally = kept
    } else {
      try recount()
    }
  }

  /// Counts all entries anew.
  func recount() throws(StorageError) {
    let counted = try Self.counted(on: connection)
    try connection.execute("DELETE FROM tally")
    (tally, changes, latest) = (EntryTally(), counted.slots, nil)
  }

  /// Counts an entry, or with -1 `entries` counts it no longer.
  func add(entries: Int, payloadBytes: Int, to slot: EntryTally.Slot) {
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

  /// Writes what has changed, and returns the tally. To be called at the end of each transaction.
  func finish() throws(StorageError) -> EntryTally {
    collectLatest()
    for (slot, change) in changes where change != EntryTally.Count() {
      tally.add(change, to: slot)
      try write(tally.slots[slot], to: slot)
    }
    return tally
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
  func commit() {
    changes.removeAll(keepingCapacity: true)
    version = csqlite_data_version(connection.handle)
  }

  /// To be called after each transaction that was rolled back.
  func rollBack() {
    changes.removeAll(keepingCapacity: true)
    (latest, version) = (nil, nil)
  }

  /// The tally of a store of any version. It is counted where it is not kept: no transaction is needed around the two
  /// queries, because either alone is right.
  static func current(on connection: SQLiteConnection) throws(StorageError) -> EntryTally {
    if let kept = try kept(on: connection) { kept } else { try counted(on: connection) }
  }

  /// The tally that the store keeps; `nil` where it is of version 1, or somebody has changed it by other means.
  static func kept(on connection: SQLiteConnection) throws(StorageError) -> EntryTally? {
    guard try SQLiteSchema.verify(connection) == SQLiteSchema.version else { return nil }
    return try tally(SQLiteSchema.tally, on: connection)
  }

  /// The tally of the entries that are there. Cost: a pass over all entries.
  static func counted(on connection: SQLiteConnection) throws(StorageError) -> EntryTally {
    try tally(SQLiteSchema.count, on: connection) ?? EntryTally()
  }

  private static func tally(_ query: String, on connection: SQLiteConnection) throws(StorageError) -> EntryTally? {
    let statement = try SQLiteStatement(query, on: connection)
    var tally: EntryTally?
    while try statement.step() {
      let slot = EntryTally.Slot(
        namespace: String(decoding: statement.bytes(0), as: UTF8.self), freshSlot: statement.integer(1),
        retainSlot: statement.integer(2))
      tally = tally ?? EntryTally()
      tally?.add(try count(of: statement), to: slot)
    }
    return tally
  }

  /// The numbers of a row, small enough to be added up.
  private static func count(of statement: borrowing SQLiteStatement) throws(StorageError) -> EntryTally.Count {
    let (entries, payloadBytes) = (statement.integer(3), statement.integer(4))
    guard (0...largest).contains(entries), (0...largest).contains(payloadBytes) else {
      let path = statement.connection.path
      throw StorageError(.damaged, "\(path): the tally is damaged", hint: "repair it with: cachectl verify --repair")
    }
    return EntryTally.Count(entries: Int(entries), payloadBytes: Int(payloadBytes))
  }

  /// More than any slot of a store can have: SQLite's largest database is as large.
  private static let largest: Int64 = 1 << 48
}
