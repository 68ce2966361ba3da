internal import CSQLite
internal import EngineAPI

/// The count of a store that is being written to, in memory.
///
/// The table `counts` counts the rows up to a mark. Whoever needs the whole count also counts the rows after the mark,
/// which are fewer than `stride`. So a commit that only adds rows writes no page for the count; once per `stride` rows, a
/// commit moves the mark. A change to a counted row is written at once.
///
/// The copy in memory is read again only after another connection's commit, and is then written with the next change. As
/// long as several processes write in turn, no rows remain after the mark for any of them.
final class SQLiteCounter {
  /// The most rows that can be after the mark.
  private static let stride: Int64 = 128

  private let connection: SQLiteConnection
  private let save: SQLiteStatement
  private let saveMark: SQLiteStatement
  /// The data version that the count belongs to; `nil` if it must be read.
  private var version: Int32?
  /// The count of all rows, without `changes`.
  private var count = StoreCount()
  /// The changes of the current transaction. Most entries of a batch belong to the same namespace.
  private var changes: [(namespace: String, count: EntryCount)] = []
  /// The namespaces of which the table does not have the whole count.
  private var unsaved: Set<String> = []
  /// The last row that the table counts. With the largest number each change is written.
  private var mark = Int64.max
  /// The last row added since the mark was moved.
  private var lastRow = Int64.max
  /// Whether the current transaction must write the count.
  private var mustSave = false

  init(on connection: SQLiteConnection) throws(CacheError) {
    self.connection = connection
    save = try SQLiteStatement(SQLiteSchema.saveCount, on: connection)
    saveMark = try SQLiteStatement(SQLiteSchema.saveMark, on: connection)
  }

  /// Call this at the start of each transaction.
  func begin() throws(CacheError) {
    changes.removeAll(keepingCapacity: true)
    mustSave = false
    if version == dataVersion { return }
    count = try StoreCount(SQLiteSchema.count, on: connection)
    unsaved = Set(count.namespaces.keys)
    mark = .max
    lastRow = .max
  }

  /// Counts what a statement has done to the row with the number `row`.
  func add(_ change: EntryCount, to namespace: String, row: Int64) {
    if changes.isEmpty, change.entries == 0, change.payloadBytes == 0,
      change.earliestExpiry >= count[namespace].earliestExpiry
    {
      return
    }
    if row <= mark { mustSave = true } else { lastRow = max(lastRow, row) }
    if changes.last?.namespace == namespace {
      changes[changes.count - 1].count += change
    } else {
      changes.append((namespace, change))
    }
  }

  /// Counts all entries again. Call this before the first change of a transaction.
  func recount() throws(CacheError) {
    let found = try StoreCount(SQLiteSchema.recount, on: connection)
    mustSave = found != count
    unsaved.formUnion(found.namespaces.keys)
    unsaved.formUnion(count.namespaces.keys)
    count = found
  }

  /// Writes what must be written, and throws if the store would exceed `bounds`. Call this at the end of each
  /// transaction.
  func finish(_ bounds: StoreBounds?) throws(CacheError) {
    for change in changes {
      count[change.namespace] += change.count
      unsaved.insert(change.namespace)
    }
    if mustSave || lastRow &- mark >= Self.stride { try saveAll() }
    try bounds?.require(count)
  }

  private func saveAll() throws(CacheError) {
    for namespace in unsaved {
      try save.bind(namespace, at: 1)
      try save.bind(Int64(count[namespace].entries), at: 2)
      try save.bind(Int64(count[namespace].payloadBytes), at: 3)
      try save.bind(count[namespace].earliestExpiry.milliseconds, at: 4)
      try save.run()
    }
    unsaved.removeAll(keepingCapacity: true)
    // The next added row is then after the mark: SQLite numbers it one higher than the last row.
    defer { saveMark.reset() }
    mark = try saveMark.step() ? saveMark.integer(0) : .max
    lastRow = mark
  }

  /// Call this after each commit.
  func commit() { version = dataVersion }

  /// Call this after each rollback.
  func rollBack() { version = nil }

  /// A number that changes with each commit of this connection, and at its next transaction after another connection's
  /// commit.
  private var dataVersion: Int32 { csqlite_control(connection.handle, SQLITE_FCNTL_DATA_VERSION, 0) }
}

extension StoreCount {
  /// The result of `query`: `SQLiteSchema.count` or `recount`.
  init(_ query: String, on connection: SQLiteConnection) throws(CacheError) {
    // More than any namespace can have: it is the size of SQLite's largest database.
    let possible: ClosedRange<Int64> = 0...1 << 48
    self.init()
    let statement = try SQLiteStatement(query, on: connection)
    while try statement.step() {
      guard possible.contains(statement.integer(1)), possible.contains(statement.integer(2)) else {
        throw CacheError(.damaged, "\(connection.path): the table 'counts' is damaged")
      }
      self[String(decoding: statement.bytes(0), as: UTF8.self)] = EntryCount(
        entries: Int(statement.integer(1)), payloadBytes: Int(statement.integer(2)),
        earliestExpiry: Timestamp(milliseconds: statement.integer(3)))
    }
  }
}
