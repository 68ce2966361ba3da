internal import CSQLite
internal import EngineSupport
internal import StorageSPI

/// Reads through a connection, and may keep its read transaction open.
///
/// `@unchecked Sendable`: one caller uses it at a time, and a connection without thread affinity may move between
/// threads.
final class SQLiteReader: SnapshotHolding, @unchecked Sendable {
  let connection: SQLiteConnection
  var snapshot: SQLiteSnapshot
  var row = SQLiteRow()
  private let finding: SQLiteStatement
  /// Prepared by the first scan: evictions scan a few entries at a time.
  private var listing: Listing?

  /// A statement that lists entries in one direction.
  private final class Listing {
    let isDescending: Bool
    let statement: SQLiteStatement

    init(isDescending: Bool, on connection: SQLiteConnection) throws(CacheError) {
      self.isDescending = isDescending
      statement = try SQLiteStatement(isDescending ? SQLiteSchema.scanBackwards : SQLiteSchema.scan, on: connection)
    }
  }

  /// Reads through `connection`.
  init(on connection: SQLiteConnection, _ keeper: SnapshotKeeper) throws(CacheError) {
    self.connection = connection
    finding = try SQLiteStatement(SQLiteSchema.read, on: connection)
    snapshot = SQLiteSnapshot(of: connection, keeper)
  }

  /// Reads through a new connection to the store at `path`, after checking that it is one.
  convenience init(
    path: String, busyTimeout: Int32, keeper: SnapshotKeeper = SnapshotKeeper()
  ) throws(CacheError) {
    try self.init(on: Self.connect(path: path, busyTimeout: busyTimeout), keeper)
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

  /// Whether the read transaction stays open between reads.
  var isKept: Bool { snapshot.isKept }

  func endKeptSnapshot(unlessUsed: Bool) { snapshot.end(unlessUsed: unlessUsed) }

  /// Lends the payload and metadata under `key` in the latest state to `body`; `nil` if there is no entry.
  @inline(__always)
  func read<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try snapshot.begin()
    defer { finding.reset() }
    let output = try find(key, body)
    try snapshot.stay()
    return output
  }

  @inline(__always)
  private func find<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try finding.bind(key, at: 1)
    guard try finding.step() else { return nil }
    let metadata = try row.metadata(of: finding, key: String(decoding: key, as: UTF8.self))
    return try body(try SQLiteRow.payload(of: finding, key: String(decoding: key, as: UTF8.self)).span, metadata)
  }

  /// The first `limit` entries of `range` in the latest state, without payloads.
  ///
  /// The error for a row that cannot be read names its key if the index of keys still has it.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    let known = listing?.isDescending == range.isDescending ? listing : nil
    let listing = if let known { known } else { try Listing(isDescending: range.isDescending, on: connection) }
    self.listing = listing
    var entries: [EntrySummary] = []
    do throws(CacheError) {
      try Self.withBounds(of: range) { lower, upper throws(CacheError) in
        try snapshot.begin()
        defer { listing.statement.reset() }
        try listing.statement.bind(lower, at: 1)
        try listing.statement.bind(upper, at: 2)
        try listing.statement.bind(Int64(limit), at: 3)
        while try listing.statement.step() { entries.append(try summary(of: listing.statement)) }
        try snapshot.stay()
      }
      return entries
    } catch {
      guard error.code == .damaged, let failure = error.cause as? SQLiteFailure else { throw error }
      var rest = range
      rest.after = entries.last?.key ?? range.after
      let statement = try SQLiteStatement(
        range.isDescending ? SQLiteSchema.lastKey : SQLiteSchema.firstKey, on: connection)
      try Self.withBounds(of: rest) { lower, upper throws(CacheError) in
        try statement.bind(lower, at: 1)
        try statement.bind(upper, at: 2)
        guard try statement.step() else { throw error }
      }
      let key = try Self.key(of: statement, column: 0)
      throw .undecodable(failure.message, key: key.text, path: connection.path)
    }
  }

  /// Calls `body` with the first possible key of `range`, and the first one behind it.
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
  private func summary(of statement: borrowing SQLiteStatement) throws(CacheError) -> EntrySummary {
    let key = try Self.key(of: statement, column: SQLiteRow.firstOwnColumn)
    let metadata = try row.metadata(of: statement, key: key.text)
    return EntrySummary(key: key, metadata: metadata, payloadBytes: SQLiteRow.payloadBytes(of: statement))
  }

  /// The key in a column.
  static func key(of statement: borrowing SQLiteStatement, column: Int32) throws(CacheError) -> CacheKey {
    do throws(CacheError) {
      return try CacheKey(String(decoding: statement.bytes(column), as: UTF8.self))
    } catch {
      throw .undecodable(error.message, key: "without a valid key", path: statement.connection.path)
    }
  }

  /// How much the store holds, all counted in one state.
  func tally() throws(CacheError) -> EntryTally {
    try inTransaction { () throws(CacheError) in
      if let stored = try SQLiteStoredTally(on: connection) { return stored.whole }
      return try SQLiteStoredTally.counted(on: connection)
    }
  }

  /// Calls `body` in a transaction, so that it sees a single state of the store.
  func inTransaction<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    snapshot.end()
    try connection.execute("BEGIN")
    defer { _ = try? connection.execute("ROLLBACK") }
    return try body()
  }
}
