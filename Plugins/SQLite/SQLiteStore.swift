internal import CSQLite
internal import EngineAPI
internal import CacheBase
internal import Synchronization

/// The writing connection, opened by the first write (most runs of the command-line tool never write), and the lock in
/// front of it.
final class SQLiteStore: SnapshotHolding {
  private struct State {
    var writer: SQLiteWriter?
    var isClosed = false
  }

  /// This many reads after a write use the writer. Later reads use the pool, whose readers can keep their snapshots
  /// longer.
  private static let readsAfterWrite = 256

  private let options: SQLiteOptions
  private let keeper: SnapshotKeeper
  private let state = Mutex(State())
  private let patience: LockPatience
  /// How many more reads go through the writer.
  private let readsLeft = Atomic<Int>(0)

  /// - Parameter now: the time since a fixed moment.
  init(
    _ options: SQLiteOptions, _ keeper: SnapshotKeeper, now: @escaping @Sendable () -> Duration = LockPatience.elapsed
  ) {
    self.options = options
    self.keeper = keeper
    patience = LockPatience(.milliseconds(options.busyTimeout), now: now)
  }

  /// Calls `body` with the writer, and returns whether the log should be copied. It waits for other writers for up to
  /// the timeout, or only for a moment if another call has just done that in vain.
  func perform(_ body: (SQLiteWriter) throws(CacheError) -> Void) throws(CacheError) -> Bool {
    try state.withLock { state throws(CacheError) in
      try patience.wait { timeout throws(CacheError) in
        try use(&state, busyTimeout: Int32(timeout / .milliseconds(1)), body)
      }
    }
  }

  /// Applies `batch`, and returns whether the log should be copied. It waits for other writers as `perform` does.
  ///
  /// If the file system has no space for the batch, it copies the log into the database first: then the log begins again
  /// in the space that it already has.
  func apply(_ batch: WriteBatch) throws(CacheError) -> Bool {
    do throws(CacheError) {
      return try perform { writer throws(CacheError) in try writer.apply(batch) }
    } catch {
      guard error.code == .noSpace, (try? checkpoint()) != nil else { throw error }
      return try perform { writer throws(CacheError) in try writer.apply(batch) }
    }
  }

  /// Applies `batch`, unless that would wait for the disk or for another writer.
  ///
  /// - Returns: whether the log should be copied; `nil` if applying would have waited, and nothing was done.
  func applyWithoutWaiting(_ batch: WriteBatch) throws(CacheError) -> Bool? {
    if options.durability == .full { return nil }
    do throws(CacheError) {
      let done = try state.withLockIfAvailable { state throws(CacheError) in
        try use(&state, busyTimeout: 0) { writer throws(CacheError) in try writer.apply(batch) }
      }
      if done != nil { patience.succeeded() }
      return done
    } catch {
      // Another process holds the store, or the disk is full, so nothing was changed.
      if [.busy, .noSpace].contains(error.code) { return nil }
      throw error
    }
  }

  private func use(
    _ state: inout State, busyTimeout: Int32, _ body: (SQLiteWriter) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    if state.isClosed { throw .storeClosed }
    let writer =
      if let open = state.writer { open } else { try SQLiteWriter(options, busyTimeout: busyTimeout, keeper: keeper) }
    state.writer = writer
    writer.setBusyTimeout(busyTimeout)
    do throws(CacheError) {
      try body(writer)
    } catch {
      // If even the rollback failed, closing the connection rolls back. A connection that was opened read-only can
      // never write again, even if the reason has passed, so close it too.
      if writer.connection.isInTransaction || error.code == .permissionDenied { state.writer = nil }
      throw error
    }
    readsLeft.store(Self.readsAfterWrite, ordering: .relaxed)
    return writer.needsCheckpoint
  }

  /// Reads through the connection that wrote last, if that is worthwhile: another one would have to drop its page cache
  /// and map the file again.
  ///
  /// - Returns: what `body` returned; `nil` if another connection should read, or the writer is in use.
  @inline(__always)
  func withReader<Output: Sendable>(
    _ body: (SQLiteReader) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    guard readsLeft.load(ordering: .relaxed) > 0 else { return nil }
    let result: Output?? = try state.withLockIfAvailable { state throws(CacheError) -> Output? in
      if state.isClosed { throw .storeClosed }
      guard let writer = state.writer else { return nil }
      readsLeft.wrappingSubtract(1, ordering: .relaxed)
      writer.setBusyTimeout(options.busyTimeout)
      return .some(try body(writer.reader))
    }
    return result ?? nil
  }

  /// Copies the log into the database, after ending the snapshots that idle readers in this process keep.
  func checkpoint() throws(CacheError) {
    try state.withLock { state throws(CacheError) in
      keeper.endIdle()
      try state.writer?.checkpoint()
    }
  }

  func endKeptSnapshot() {
    _ = state.withLockIfAvailable { $0.writer?.reader.endKeptSnapshot() }
  }

  /// Closes at once if nothing was written: then there is nothing to copy, and nothing to wait for.
  ///
  /// - Returns: whether it closed.
  func closeWithoutWaiting() -> Bool {
    let wasOnlyRead = state.withLockIfAvailable { state in
      state.isClosed = true
      return state.writer == nil
    }
    return wasOnlyRead ?? false
  }

  /// Copies the log and closes. If the file system has no space for the copy, the log keeps the commits, and a later
  /// handle copies them.
  func close() throws(CacheError) {
    try state.withLock { state throws(CacheError) in
      state.isClosed = true
      let writer = state.writer.take()
      try SQLiteWriter.ignoringFullDisk { () throws(CacheError) in try writer?.checkpoint() }
    }
  }
}

/// The writing connection with its prepared statements.
///
/// `@unchecked Sendable`: the store keeps it behind a lock, and a connection without thread affinity can move between
/// threads.
final class SQLiteWriter: @unchecked Sendable {
  let connection: SQLiteConnection
  /// It still has in memory what this connection committed last.
  let reader: SQLiteReader
  private let begin: SQLiteStatement
  private let commit: SQLiteStatement
  private let put: SQLiteStatement
  private let update: SQLiteStatement
  private let removal: SQLiteStatement
  private let checksum: SQLiteStatement
  private let counter: SQLiteCounter
  private let changes: UnsafeMutablePointer<csqlite_changes>

  /// Connects to the store, after checking that it is one.
  init(
    _ options: SQLiteOptions, busyTimeout: Int32, keeper: SnapshotKeeper = SnapshotKeeper()
  ) throws(CacheError) {
    let connection = try SQLiteConnection(
      path: options.path, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    try SQLiteSchema.verify(connection)
    let synchronous =
      switch options.durability {
      case .full: "FULL"
      case .normal: "NORMAL"
      case .relaxed: "OFF"
      }
    // The file stores the journal mode, so setting it again matters only if something has changed it. The limit is how
    // much disk space an empty log can keep.
    try connection.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous); PRAGMA journal_size_limit = 16777216")
    try connection.mapFile()
    // Keeps the log and its index on disk after the last connection closes: a later reader need not create them.
    _ = csqlite_control(connection.handle, SQLITE_FCNTL_PERSIST_WAL, 1)
    guard let changes = csqlite_observe_changes(connection.handle) else { throw connection.error(SQLITE_NOMEM) }
    self.connection = connection
    self.changes = changes
    reader = try SQLiteReader(on: connection, keeper)
    begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
    commit = try SQLiteStatement("COMMIT", on: connection)
    put = try SQLiteStatement(SQLiteSchema.put, on: connection)
    update = try SQLiteStatement(SQLiteSchema.update, on: connection)
    removal = try SQLiteStatement(SQLiteSchema.remove, on: connection)
    checksum = try SQLiteStatement(SQLiteSchema.checksum, on: connection)
    counter = try SQLiteCounter(on: connection)
  }

  /// How long the following statements wait for another writer, in milliseconds.
  func setBusyTimeout(_ timeout: Int32) { sqlite3_busy_timeout(connection.handle, timeout) }

  /// Whether the log is long enough to be worth copying into the database, which waits for the disk. The threshold, in
  /// pages, is SQLite's own default.
  var needsCheckpoint: Bool { changes.pointee.log_pages >= 1_000 }

  /// Makes all the changes of `batch`, or none.
  func apply(_ batch: WriteBatch) throws(CacheError) {
    try transaction(bounds: batch.bounds) { () throws(CacheError) in
      for operation in batch.operations { try apply(operation) }
    }
  }

  /// Makes the changes of `body` and the matching changes to the counts, or none.
  private func transaction(
    bounds: StoreBounds? = nil, _ body: () throws(CacheError) -> Void
  ) throws(CacheError) {
    try beginWriting()
    do throws(CacheError) {
      try counter.begin()
      try body()
      try counter.finish(bounds)
      let commits = changes.pointee.commits
      try reader.snapshot.stay()
      try commit.run()
      reader.snapshot.committed(changes: UInt64(changes.pointee.commits &- commits))
      counter.commit()
    } catch {
      counter.rollBack()
      reader.snapshot.end()
      // Some failures have already rolled back.
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  private func beginWriting() throws(CacheError) {
    try reader.snapshot.begin()
    do throws(CacheError) {
      try begin.run()
    } catch {
      // Another connection is writing or has just written. SQLite does not wait while this connection sees an older
      // state.
      guard error.code == .busy, reader.snapshot.isKept else { throw error }
      reader.snapshot.end()
      try begin.run()
    }
  }

  private func apply(_ operation: WriteBatch.Operation) throws(CacheError) {
    switch operation {
    case .put(let key, let payload, let metadata):
      try payload.span.withUnsafeBufferPointer { payload throws(CacheError) in
        try put.bind(Int64(payload.count), at: 9)
        try put.bind(payload, isText: SQLiteRow.isText(payload), at: 10)
        try run(put, key, metadata)
      }
      count(key, EntryCount(entries: 1, payloadBytes: payload.count, earliestExpiry: metadata.retainUntil))
    case .update(let key, let metadata, let checksum):
      try update.bind(Int64(bitPattern: checksum), at: 9)
      try run(update, key, metadata)
      guard changes.pointee.replaced > 0 else { throw .conflict(on: key) }
      let unchanged = Int(changes.pointee.payload_bytes)
      count(key, EntryCount(entries: 1, payloadBytes: unchanged, earliestExpiry: metadata.retainUntil))
    case .remove(let key):
      try key.text.withBytes { key throws(CacheError) in
        try removal.bind(key, at: 1)
        changes.pointee.replaced = 0
        try removal.run()
      }
      if changes.pointee.replaced > 0 { count(key, EntryCount()) }
    case .require(let key, let expectation):
      let found = try key.text.withBytes { key throws(CacheError) -> UInt64? in
        defer { checksum.reset() }
        try checksum.bind(key, at: 1)
        return try checksum.step() ? UInt64(bitPattern: checksum.integer(0)) : nil
      }
      guard expectation.isMet(byChecksum: found) else { throw .conflict(on: key) }
    }
  }

  /// Runs a statement that stores `metadata` under `key`.
  private func run(
    _ statement: SQLiteStatement, _ key: CacheKey, _ metadata: EntryMetadata
  ) throws(CacheError) {
    try statement.bind(metadata.storedAt.milliseconds, at: 1)
    try statement.bind(metadata.freshUntil.milliseconds, at: 2)
    try statement.bind(metadata.retainUntil.milliseconds, at: 3)
    try statement.bind(Int64(bitPattern: metadata.checksum), at: 6)
    try statement.bind(Int64(bitPattern: metadata.payloadChecksum), at: 7)
    let attributes = metadata.encodedAttributes.isEmpty ? [] : JSONWriter.bytes(of: metadata.attributes)
    try metadata.contentType.withBytes { contentType throws(CacheError) in
      try statement.bind(contentType, at: 4)
      try attributes.span.withUnsafeBufferPointer { attributes throws(CacheError) in
        if !attributes.isEmpty { try statement.bind(attributes, at: 5) }
        try key.text.withBytes { key throws(CacheError) in
          try statement.bind(key, at: 8)
          changes.pointee.replaced = 0
          try statement.run()
        }
      }
    }
  }

  /// Counts what the last statement stored, and stops counting what it replaced or removed.
  private func count(_ key: CacheKey, _ stored: EntryCount) {
    let isNew = changes.pointee.replaced == 0
    var change = stored
    if !isNew { change.remove(payloadBytes: Int(changes.pointee.payload_bytes)) }
    let row = isNew ? sqlite3_last_insert_rowid(connection.handle) : changes.pointee.row
    counter.add(change, to: key.namespace, row: row)
  }

  /// Copies as much of the log into the database as readers allow, without waiting for them.
  func checkpoint() throws(CacheError) { try checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

  private func checkpoint(_ mode: Int32) throws(CacheError) {
    reader.snapshot.end()
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, nil, nil)
    changes.pointee.log_pages = 0
    // It is not an error if another process is reading or checkpointing: the next checkpoint does the rest. Nor if the
    // database is read-only: nothing was written to its log.
    if ![SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xFF) { try connection.check(code) }
  }

  /// Removes the entries that are expired at `time`, and returns free space to the file system.
  func compact(at time: Timestamp) throws(CacheError) {
    // From here on the log is written from its start, in the space that it already has.
    try Self.ignoringFullDisk(checkpoint)
    // If nothing has expired it writes nothing: there might be no room for it.
    try transaction { () throws(CacheError) in
      let statement = try SQLiteStatement(SQLiteSchema.removeExpired, on: connection)
      try statement.bind(time.milliseconds, at: 1)
      try statement.run()
      // To count everything costs less than the copying that follows.
      try counter.recount()
    }
    // The space that the log has taken can be freed too.
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    try Self.ignoringFullDisk(vacuum)
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  static func ignoringFullDisk(_ body: () throws(CacheError) -> Void) throws(CacheError) {
    do throws(CacheError) { try body() } catch {
      guard error.code == .noSpace else { throw error }
    }
  }

  /// The content is copied, in memory if it is small, and then written to the log. If there is no room for that, the free
  /// space stays in the file.
  private func vacuum() throws(CacheError) {
    reader.snapshot.end()
    let isSmall = SQLiteFiles.size(of: connection.path) <= 32 << 20
    try connection.execute("PRAGMA temp_store = \(isSmall ? "MEMORY" : "DEFAULT"); VACUUM")
  }
}
