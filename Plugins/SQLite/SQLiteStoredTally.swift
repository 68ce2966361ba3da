internal import StorageSPI

/// The tally as a store keeps it, and the rows that it does not count yet.
struct SQLiteStoredTally {
  /// The last row that is counted.
  let mark: Int64
  /// What is behind the mark.
  private(set) var behindMark = EntryTally()
  /// The tally of all entries.
  private(set) var whole: EntryTally

  /// The tally that the store keeps, to be read in one transaction; `nil` where there is none: where the store is of
  /// version 1, or somebody has changed its entries or its schema by other means.
  init?(on connection: SQLiteConnection) throws(StorageError) {
    let version = try SQLiteSchema.verify(connection)
    if version < SQLiteSchema.firstVersionWithTally { return nil }
    whole = try Self.tally(SQLiteSchema.tally, on: connection)
    if version < SQLiteSchema.firstVersionWithMark {
      // There is no mark: everything is counted, unless nothing is.
      if whole.isEmpty { return nil }
      mark = .max
      return
    }
    guard let mark = try Self.mark(on: connection) else { return nil }
    self.mark = mark
    behindMark = try Self.tally(SQLiteSchema.countBehind, after: mark, on: connection)
    whole.add(behindMark)
  }

  /// The tally of a store of any version. It is counted where it is not kept.
  static func current(on connection: SQLiteConnection) throws(StorageError) -> EntryTally {
    if let stored = try SQLiteStoredTally(on: connection) { stored.whole } else { try counted(on: connection) }
  }

  /// The tally of the entries that are there. Cost: a pass over all entries.
  static func counted(on connection: SQLiteConnection) throws(StorageError) -> EntryTally {
    try tally(SQLiteSchema.count, on: connection)
  }

  /// The mark; `nil` where there is none, or it was set before the last change to the schema.
  private static func mark(on connection: SQLiteConnection) throws(StorageError) -> Int64? {
    let statement = try SQLiteStatement(SQLiteSchema.mark, on: connection)
    return try statement.step() ? statement.integer(0) : nil
  }

  private static func tally(
    _ query: String, after row: Int64? = nil, on connection: SQLiteConnection
  ) throws(StorageError) -> EntryTally {
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
