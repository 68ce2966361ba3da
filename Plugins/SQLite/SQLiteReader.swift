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
    let listing = try SQLiteEntryListing.of(range, on: connection, known: listing)
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

/// The statement that lists entries in the order of their keys or backwards, on a reading or a writing connection.
final class SQLiteEntryListing {
  private let isDescending: Bool
  private let statement: SQLiteStatement
  private var row = SQLiteRow()

  private init(isDescending: Bool, on connection: SQLiteConnection) throws(CacheError) {
    self.isDescending = isDescending
    statement = try SQLiteStatement(isDescending ? SQLiteSchema.scanBackwards : SQLiteSchema.scan, on: connection)
  }

  /// The listing for `range`: the one that is `known` if it has the same direction.
  static func of(
    _ range: KeyRange, on connection: SQLiteConnection, known: SQLiteEntryListing?
  ) throws(CacheError) -> SQLiteEntryListing {
    if let known, known.isDescending == range.isDescending { return known }
    return try SQLiteEntryListing(isDescending: range.isDescending, on: connection)
  }

  /// The first `limit` entries of `range` in the latest state, without payloads. `snapshot` may keep that state open.
  ///
  /// The index of keys leads to the rows, so the error for a row that cannot be read names its key.
  func entries(
    in range: KeyRange, limit: Int, _ snapshot: inout SQLiteSnapshot
  ) throws(CacheError) -> [EntrySummary] {
    var entries: [EntrySummary] = []
    do throws(CacheError) {
      try Self.withBounds(of: range) { lower, upper throws(CacheError) in
        try snapshot.begin()
        defer { statement.reset() }
        try statement.bind(lower, at: 1)
        try statement.bind(upper, at: 2)
        try statement.bind(Int64(limit), at: 3)
        while try statement.step() { entries.append(try summary()) }
        try snapshot.stay()
      }
    } catch {
      guard error.code == .damaged, error.cause is SQLiteFailure else { throw error }
      let rest = KeyRange(prefix: range.prefix, after: entries.last?.key ?? range.after, isDescending: isDescending)
      throw try Self.naming(rest, error, on: statement.connection)
    }
    return entries
  }

  /// `error`, with the first key of `range` if the index of keys has one.
  private static func naming(
    _ range: KeyRange, _ error: CacheError, on connection: SQLiteConnection
  ) throws(CacheError) -> CacheError {
    let query = range.isDescending ? SQLiteSchema.lastKey : SQLiteSchema.firstKey
    let statement = try SQLiteStatement(query, on: connection)
    let key = try withBounds(of: range) { lower, upper throws(CacheError) -> CacheKey? in
      try statement.bind(lower, at: 1)
      try statement.bind(upper, at: 2)
      return try statement.step() ? try SQLiteReader.key(of: statement, column: 0) : nil
    }
    guard let key, let failure = error.cause as? SQLiteFailure else { return error }
    return .undecodable(failure.message, key: key.text, path: connection.path, cause: failure)
  }

  /// Calls `body` with the first possible key of `range` and the first one behind it.
  private static func withBounds<Output>(
    of range: KeyRange,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    // Keys consist of bytes from 0x21 to 0x7E. So nothing lies between a key and that key followed by 0x01, and
    // everything with the prefix lies before the prefix followed by 0x7F.
    var lower = range.prefix
    var upper = range.prefix + "\u{7F}"
    if let after = range.after?.text {
      if range.isDescending { upper = min(upper, after) } else { lower = max(lower, after + "\u{01}") }
    }
    return try lower.withBytes { lower throws(CacheError) in
      try upper.withBytes { upper throws(CacheError) in try body(lower, upper) }
    }
  }

  /// The entry in the current row.
  private func summary() throws(CacheError) -> EntrySummary {
    let key = try SQLiteReader.key(of: statement, column: SQLiteRow.firstOwnColumn)
    let metadata = try row.metadata(of: statement, key: key.text)
    return EntrySummary(key: key, metadata: metadata, payloadBytes: SQLiteRow.payloadBytes(of: statement))
  }
}
