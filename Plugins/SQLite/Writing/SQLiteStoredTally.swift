internal import StorageSPI

/// The tally as stored, and the rows that it does not count yet.
struct SQLiteStoredTally {
  /// The last counted row.
  let mark: Int64
  /// The tally of the rows behind the mark.
  private(set) var behindMark = EntryTally()
  /// The tally of all entries.
  private(set) var whole: EntryTally

  /// Reads the stored tally, in one transaction. It is `nil` if there is none, because the store is of version 1 or
  /// another program has changed its entries or its schema.
  init?(on connection: SQLiteConnection) throws(CacheError) {
    let version = try SQLiteSchema.verify(connection)
    if version < SQLiteSchema.firstVersionWithTally { return nil }
    whole = try Self.tally(SQLiteSchema.tally, on: connection)
    if version < SQLiteSchema.firstVersionWithMark {
      // There is no mark. Either the tally counts everything, or it is empty and counts nothing.
      if whole.isEmpty { return nil }
      mark = .max
      return
    }
    guard let mark = try Self.mark(on: connection) else { return nil }
    self.mark = mark
    behindMark = try Self.tally(SQLiteSchema.countBehind, after: mark, on: connection)
    whole.add(behindMark)
  }

  /// The tally of a store of any version, counted if it is not stored.
  static func current(on connection: SQLiteConnection) throws(CacheError) -> EntryTally {
    if let stored = try SQLiteStoredTally(on: connection) { stored.whole } else { try counted(on: connection) }
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
