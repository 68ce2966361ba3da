internal import CSQLite
internal import EngineSupport
internal import StorageSPI

/// A read-only connection with its prepared statement, and the transaction that it may keep open.
///
/// `@unchecked Sendable`: its pool gives it to one caller at a time, and a connection without thread affinity may move
/// between threads.
final class SQLiteReader: SnapshotHolding, @unchecked Sendable {
  let connection: SQLiteConnection
  private var reading: SQLiteEntryReading
  private var snapshot: SQLiteSnapshot
  /// Prepared by the first scan: evictions scan a few entries at a time.
  private var listing: SQLiteEntryListing?
  var row = SQLiteRow()

  /// Connects to the store at `path`, after checking that it is one.
  init(
    path: String, busyTimeout: Int32, keeper: SnapshotKeeper = SnapshotKeeper()
  ) throws(CacheError) {
    let connection = try Self.connect(path: path, busyTimeout: busyTimeout)
    let reading = try SQLiteEntryReading(on: connection)
    self.connection = connection
    self.reading = reading
    snapshot = SQLiteSnapshot(of: connection, keeper)
  }

  static func connect(path: String, busyTimeout: Int32) throws(CacheError) -> SQLiteConnection {
    do throws(CacheError) {
      return try connect(path: path, busyTimeout: busyTimeout, immutable: false)
    } catch {
      // On a medium where the log's index cannot be created, the file alone is the whole store if the log is empty. If
      // it failed only for a temporary reason, such as too many open files, the store may still change at any moment.
      guard [.permissionDenied, .ioFailed].contains(error.code), SQLiteFiles.size(of: path + "-wal") == 0,
        !SQLiteFiles.isWritable(SQLiteFiles.folder(of: path))
      else { throw error }
      return try connect(path: path, busyTimeout: busyTimeout, immutable: true)
    }
  }

  private static func connect(
    path: String, busyTimeout: Int32, immutable: Bool
  ) throws(CacheError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
      path: path, flags: SQLITE_OPEN_READONLY, busyTimeout: busyTimeout, immutable: immutable)
    try connection.mapFile()
    try SQLiteSchema.verify(connection)
    return connection
  }

  /// Lends the payload and metadata under `key` to `body`; `nil` if there is no entry.
  func read<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try reading.read(key, in: &snapshot, body)
  }

  /// Whether a snapshot is kept between reads.
  var isKept: Bool { snapshot.isKept }

  func endKeptSnapshot(unlessUsed: Bool) { snapshot.end(unlessUsed: unlessUsed) }

  /// The first `limit` entries of `range`, without payloads.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    let listing = if let known = self.listing { known } else { try SQLiteEntryListing(on: connection) }
    self.listing = listing
    return try listing.entries(in: range, limit: limit, &snapshot)
  }

  /// How much the store holds, all counted in one state.
  func tally() throws(CacheError) -> EntryTally {
    try inTransaction { () throws(CacheError) in try SQLiteStoredTally.current(on: connection) }
  }

  /// Calls `body` in a transaction, so that it sees a single state of the store.
  func inTransaction<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    snapshot.end()
    try connection.execute("BEGIN")
    defer { _ = try? connection.execute("ROLLBACK") }
    return try body()
  }

  /// The key in a column.
  static func key(
    of statement: borrowing SQLiteStatement, column: Int32
  ) throws(CacheError) -> CacheKey {
    do throws(CacheError) {
      return try CacheKey(String(decoding: statement.bytes(column), as: UTF8.self))
    } catch {
      throw .undecodable(error.message, key: "without a valid key", path: statement.connection.path)
    }
  }
}

/// The statement that lists entries in the order of their keys, on a reading or a writing connection.
final class SQLiteEntryListing {
  private let statement: SQLiteStatement
  private var row = SQLiteRow()

  init(on connection: SQLiteConnection) throws(CacheError) {
    statement = try SQLiteStatement(SQLiteSchema.scan, on: connection)
  }

  /// The first `limit` entries of `range` in the latest state, without payloads. `snapshot` may keep that state open.
  func entries(
    in range: KeyRange, limit: Int, _ snapshot: inout SQLiteSnapshot
  ) throws(CacheError) -> [EntrySummary] {
    // Keys consist of bytes from 0x21 to 0x7E. So nothing lies between a key and that key followed by 0x01, and
    // everything with the prefix lies before the prefix followed by 0x7F.
    let lower = max(range.prefix, range.after.map { $0.text + "\u{01}" } ?? "")
    return try lower.withBytes { lower throws(CacheError) in
      try (range.prefix + "\u{7F}").withBytes { upper throws(CacheError) in
        try snapshot.begin()
        defer { statement.reset() }
        try statement.bind(lower, at: 1)
        try statement.bind(upper, at: 2)
        try statement.bind(Int64(limit), at: 3)
        var entries: [EntrySummary] = []
        while try statement.step() { entries.append(try summary()) }
        try snapshot.stay()
        return entries
      }
    }
  }

  /// The entry in the current row.
  private func summary() throws(CacheError) -> EntrySummary {
    let key = try SQLiteReader.key(of: statement, column: SQLiteRow.firstOwnColumn)
    let metadata = try row.metadata(of: statement, key: key.text)
    return EntrySummary(key: key, metadata: metadata, payloadBytes: SQLiteRow.payloadBytes(of: statement))
  }
}
