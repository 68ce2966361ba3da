internal import CSQLite
internal import EngineSupport
internal import StorageSPI

/// The writing connection with its prepared statements.
///
/// `@unchecked Sendable`: the engine keeps it behind a lock, and a connection without thread affinity may move between
/// threads.
final class SQLiteWriter: @unchecked Sendable {
  let connection: SQLiteConnection
  let put: SQLiteStatement
  let removal: SQLiteStatement
  let checksum: SQLiteStatement
  private var reading: SQLiteEntryReading
  /// Prepared by the first scan.
  private var listing: SQLiteEntryListing?
  private var snapshot: SQLiteSnapshot
  private let begin: SQLiteStatement
  private let commit: SQLiteStatement
  let tally: SQLiteTally
  private let log: UnsafeMutablePointer<csqlite_log>
  let replaced: UnsafeMutablePointer<csqlite_replaced>

  /// Connects to the store, after checking that it is one.
  init(
    _ options: SQLiteOptions, busyTimeout: Int32, keeper: SnapshotKeeper = SnapshotKeeper()
  ) throws(CacheError) {
    let connection = try Self.connect(options, busyTimeout: busyTimeout)
    let replaced = try Self.observeReplaced(on: connection)
    let tally = try SQLiteTally(on: connection)
    let put = try SQLiteStatement(SQLiteSchema.put, on: connection)
    let removal = try SQLiteStatement(SQLiteSchema.remove, on: connection)
    let checksum = try SQLiteStatement(SQLiteSchema.checksum, on: connection)
    let reading = try SQLiteEntryReading(on: connection)
    let begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
    let commit = try SQLiteStatement("COMMIT", on: connection)
    self.connection = connection
    self.tally = tally
    self.replaced = replaced
    self.put = put
    self.removal = removal
    self.checksum = checksum
    self.reading = reading
    snapshot = SQLiteSnapshot(of: connection, keeper)
    self.begin = begin
    self.commit = commit
    log = .allocate(capacity: 1)
    log.initialize(to: csqlite_log())
    csqlite_observe_log(connection.handle, log)
  }

  deinit {
    sqlite3_wal_hook(connection.handle, nil, nil)
    log.deallocate()
  }

  /// Where statements record what they replace.
  private static func observeReplaced(
    on connection: SQLiteConnection
  ) throws(CacheError) -> UnsafeMutablePointer<csqlite_replaced> {
    guard let replaced = csqlite_observe_replaced(connection.handle) else {
      let code = sqlite3_errcode(connection.handle)
      throw connection.error(code == SQLITE_OK ? SQLITE_NOMEM : code)
    }
    return replaced
  }

  private static func connect(_ options: SQLiteOptions, busyTimeout: Int32) throws(CacheError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
      path: options.path, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    if try SQLiteSchema.verify(connection) < SQLiteSchema.version { try upgrade(connection) }
    // The file stores the journal mode, so setting it again matters only if something has changed it. The limit is how
    // much disk space an empty log may keep.
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = \(options.durability.synchronous);
      PRAGMA journal_size_limit = 16777216
      """)
    try connection.mapFile()
    _ = csqlite_keep_log(connection.handle)
    let code = csqlite_disable_triggers(connection.handle)
    if code != SQLITE_OK { throw connection.error(code) }
    return connection
  }

  /// Upgrades a store of an older version, in one transaction.
  static func upgrade(_ connection: SQLiteConnection) throws(CacheError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(CacheError) {
      // Another process may have upgraded it meanwhile.
      let version = try SQLiteSchema.verify(connection)
      if version < SQLiteSchema.version {
        for statement in SQLiteSchema.upgrade(from: version) { try connection.execute(statement) }
      }
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// How long the following statements wait for another writer, in milliseconds.
  func setBusyTimeout(_ timeout: Int32) { sqlite3_busy_timeout(connection.handle, timeout) }

  /// Whether the log is long enough to be worth copying into the database, which waits for the disk. The threshold, in
  /// pages, is SQLite's own default.
  var needsCheckpoint: Bool { log.pointee.pages >= 1_000 }

  /// Makes all the changes of `batch`, or none.
  func apply(_ batch: WriteBatch) throws(CacheError) {
    try transaction(bounds: batch.bounds) { () throws(CacheError) in
      var rest = batch.operations[...]
      while let operation = rest.popFirst() {
        // An eviction requires each entry as it was before it removes it: one search does both.
        if case .require(let key, .checksum(let checksum)) = operation, case .remove(key)? = rest.first {
          _ = rest.popFirst()
          try remove(key, ifStill: checksum)
        } else {
          try apply(operation)
        }
      }
    }
  }

  /// Makes the changes of `body` and the matching changes to the tally, or none.
  func transaction(
    bounds: StoreBounds? = nil, _ body: () throws(CacheError) -> Void
  ) throws(CacheError) {
    try beginWriting()
    do throws(CacheError) {
      try tally.begin()
      try body()
      try tally.finish(bounds)
      try commitWriting()
      tally.commit()
    } catch {
      tally.rollBack()
      snapshot.end()
      // Some failures have already rolled back.
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  private func beginWriting() throws(CacheError) {
    try snapshot.begin()
    do throws(CacheError) {
      try begin.run()
    } catch {
      // Another connection is writing or has just written. SQLite does not wait while this connection sees an older
      // state.
      guard error.code == .busy, snapshot.isKept else { throw error }
      snapshot.end()
      try begin.run()
    }
  }

  private func commitWriting() throws(CacheError) {
    let commits = log.pointee.commits
    try snapshot.stay()
    try commit.run()
    snapshot.committed(changes: UInt64(log.pointee.commits &- commits))
  }

  func endKeptSnapshot(unlessUsed: Bool) { snapshot.end(unlessUsed: unlessUsed) }

  /// Releases mapped memory.
  func releaseMemory() throws(CacheError) {
    snapshot.end()
    try connection.unmapFile()
    try connection.mapFile()
  }

  /// Lends the payload and metadata under `key` to `body`; `nil` if there is no entry. This connection still has in
  /// memory what it committed last.
  func read<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try reading.read(key, in: &snapshot, body)
  }

  /// The first `limit` entries of `range`, without payloads.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    let listing = if let known = self.listing { known } else { try SQLiteEntryListing(on: connection) }
    self.listing = listing
    return try listing.entries(in: range, limit: limit, &snapshot)
  }

  /// Removes the entries that are expired at `time`, and returns free space to the file system.
  ///
  /// Shrinking the file takes a copy of its content. If there is no room for one, it empties the log, and free space in the file
  /// stays there for new entries.
  func compact(at time: Timestamp) throws(CacheError) {
    // From here on the log is written from its start, in the space that it already has.
    do throws(CacheError) {
      try checkpoint()
    } catch {
      guard error.code == .noSpace else { throw error }
    }
    try removeExpired(at: time)
    // The space that the log has taken can be freed too.
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    do throws(CacheError) {
      try vacuumIfThereIsRoom()
    } catch {
      guard error.code == .noSpace else { throw error }
    }
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  private func removeExpired(at time: Timestamp) throws(CacheError) {
    let expired = try SQLiteStatement(SQLiteSchema.hasExpired, on: connection)
    try expired.bind(time.milliseconds, at: 1)
    // If there are none, write nothing: there may be no room for it.
    guard try expired.step() else { return }
    expired.reset()
    try transaction { () throws(CacheError) in
      let statement = try SQLiteStatement(SQLiteSchema.removeExpired, on: connection)
      try statement.bind(time.milliseconds, at: 1)
      try statement.run()
      // Recounting everything costs less than the copying that follows.
      try tally.recount()
    }
  }

  /// Up to this size a copy of the content is made in memory, in bytes.
  private static let largestCopyInMemory = 32 << 20

  /// The content is written to the log once more. Before that, it is copied: in memory if it is small, and otherwise
  /// perhaps on the same file system.
  private func vacuumIfThereIsRoom() throws(CacheError) {
    let used = try connection.integer("PRAGMA page_count") - connection.integer("PRAGMA freelist_count")
    let size = Int(used * (try connection.integer("PRAGMA page_size")))
    let isSmall = size <= Self.largestCopyInMemory
    let needed = isSmall ? size + size / 64 + 16_384 : 2 * size
    if let free = SQLiteFiles.freeBytes(at: connection.path), free < needed { return }
    snapshot.end()
    try connection.execute("PRAGMA temp_store = \(isSmall ? "MEMORY" : "DEFAULT"); VACUUM")
    // It has invalidated the mark, which makes the next transaction recount.
    try transaction { () throws(CacheError) in }
  }

  /// Copies as much of the log into the database as readers allow, without waiting for them.
  func checkpoint() throws(CacheError) { try checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

  private func checkpoint(_ mode: Int32) throws(CacheError) {
    snapshot.end()
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, nil, nil)
    log.pointee.pages = 0
    // It is not an error if another process is reading or checkpointing: the next checkpoint does the rest. Nor if the
    // database is read-only: nothing was written to its log.
    if code != SQLITE_OK, ![SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xFF) { throw connection.error(code) }
  }
}
