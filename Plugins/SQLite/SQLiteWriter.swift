internal import CSQLite
internal import EngineSupport
internal import Platform
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
  /// It still has in memory what this connection committed last.
  let reader: SQLiteReader
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
    guard let replaced = csqlite_observe_replaced(connection.handle) else { throw connection.error(SQLITE_NOMEM) }
    let tally = try SQLiteTally(on: connection)
    let put = try SQLiteStatement(SQLiteSchema.put, on: connection)
    let removal = try SQLiteStatement(SQLiteSchema.remove, on: connection)
    let checksum = try SQLiteStatement(SQLiteSchema.checksum, on: connection)
    let reader = try SQLiteReader(on: connection, keeper)
    let begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
    let commit = try SQLiteStatement("COMMIT", on: connection)
    self.connection = connection
    self.tally = tally
    self.replaced = replaced
    self.put = put
    self.removal = removal
    self.checksum = checksum
    self.reader = reader
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

  private static func connect(_ options: SQLiteOptions, busyTimeout: Int32) throws(CacheError) -> SQLiteConnection {
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
    // much disk space an empty log may keep.
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous);
      PRAGMA journal_size_limit = 16777216
      """)
    try connection.mapFile()
    // Keeps the log and its index on disk after the last connection closes: a later reader need not create them.
    _ = csqlite_control(connection.handle, SQLITE_FCNTL_PERSIST_WAL, 1)
    let code = csqlite_disable_triggers(connection.handle)
    if code != SQLITE_OK { throw connection.error(code) }
    return connection
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

  private func commitWriting() throws(CacheError) {
    let commits = log.pointee.commits
    try reader.snapshot.stay()
    try commit.run()
    reader.snapshot.committed(changes: UInt64(log.pointee.commits &- commits))
  }

  /// Releases mapped memory.
  func releaseMemory() throws(CacheError) {
    reader.snapshot.end()
    try connection.execute("PRAGMA mmap_size = 0")
    try connection.mapFile()
  }

  /// Removes the entries that are expired at `time`, and returns free space to the file system.
  ///
  /// Shrinking the file takes a copy of its content. If there is no room for one, it empties the log, and free space in the file
  /// stays there for new entries.
  func compact(at time: Timestamp) throws(CacheError) {
    // From here on the log is written from its start, in the space that it already has.
    try Self.ignoringFullDisk(checkpoint)
    try removeExpired(at: time)
    // The space that the log has taken can be freed too.
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
    try Self.ignoringFullDisk(vacuumIfThereIsRoom)
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  static func ignoringFullDisk(_ body: () throws(CacheError) -> Void) throws(CacheError) {
    do throws(CacheError) { try body() } catch {
      guard error.code == .noSpace else { throw error }
    }
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
    reader.snapshot.end()
    try connection.execute("PRAGMA temp_store = \(isSmall ? "MEMORY" : "DEFAULT"); VACUUM")
    // It has invalidated the mark, which makes the next transaction recount.
    try transaction { () throws(CacheError) in }
  }

  /// Copies as much of the log into the database as readers allow, without waiting for them.
  func checkpoint() throws(CacheError) { try checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

  private func checkpoint(_ mode: Int32) throws(CacheError) {
    reader.snapshot.end()
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, nil, nil)
    log.pointee.pages = 0
    // It is not an error if another process is reading or checkpointing: the next checkpoint does the rest. Nor if the
    // database is read-only: nothing was written to its log.
    if code != SQLITE_OK, ![SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xFF) { throw connection.error(code) }
  }
}

extension SQLiteWriter {
  /// Makes one change, inside a transaction.
  func apply(_ operation: WriteBatch.Operation) throws(CacheError) {
    switch operation {
    case .put(let key, let payload, let metadata):
      try put(key, payload, metadata)
      count(key, EntryTally.Slot(namespace: key.namespace, metadata), payloadBytes: payload.count)
    case .remove(let key): try remove(key)
    case .require(let key, let expectation):
      let found = try key.text.withBytes { key throws(CacheError) -> UInt64? in
        defer { checksum.reset() }
        try checksum.bind(key, at: 1)
        return try checksum.step() ? UInt64(bitPattern: checksum.integer(0)) : nil
      }
      guard expectation.isMet(byChecksum: found) else { throw .conflict(on: key) }
    }
  }

  /// Removes the entry under `key`, if there is one. With a checksum, it must be there and have this one.
  func remove(_ key: CacheKey, ifStill checksum: UInt64? = nil) throws(CacheError) {
    try key.text.withBytes { key throws(CacheError) in
      defer { removal.reset() }
      try removal.bind(key, at: 1)
      if let checksum { try removal.bind(Int64(bitPattern: checksum), at: 2) }
      replaced.pointee.count = 0
      _ = try removal.step()
    }
    if checksum != nil, replaced.pointee.count == 0 { throw .conflict(on: key) }
    discountReplaced(in: key)
  }

  /// Counts what the last statement stored, and stops counting what it replaced.
  private func count(_ key: CacheKey, _ slot: EntryTally.Slot, payloadBytes: Int) {
    let isNew = replaced.pointee.count == 0
    if !isNew, replacedSlot(in: key) == slot, replaced.pointee.payload_bytes == payloadBytes { return }
    discountReplaced(in: key)
    let row = isNew ? sqlite3_last_insert_rowid(connection.handle) : replaced.pointee.row
    tally.add(entries: 1, payloadBytes: payloadBytes, to: slot, row: row)
  }

  /// Stops counting what the last statement replaced or removed.
  private func discountReplaced(in key: CacheKey) {
    guard replaced.pointee.count > 0 else { return }
    tally.add(
      entries: -1, payloadBytes: -Int(replaced.pointee.payload_bytes), to: replacedSlot(in: key),
      row: replaced.pointee.row)
  }

  private func replacedSlot(in key: CacheKey) -> EntryTally.Slot {
    let bits = EntryTally.slotBits
    return EntryTally.Slot(
      namespace: key.namespace, freshSlot: replaced.pointee.fresh_until >> bits,
      retainSlot: replaced.pointee.retain_until >> bits)
  }

  private func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) {
    let attributes = metadata.attributes.isEmpty ? [] : SQLiteRow.encoded(metadata.attributes)
    defer { put.reset() }
    try put.bind(metadata.storedAt.milliseconds, at: 1)
    try put.bind(metadata.freshUntil.milliseconds, at: 2)
    try put.bind(metadata.retainUntil.milliseconds, at: 3)
    try put.bind(Int64(bitPattern: metadata.checksum), at: 6)
    try put.bind(Int64(payload.count), at: 7)
    try payload.span.withUnsafeBufferPointer { payload throws(CacheError) in
      try put.bind(payload, isText: Self.isText(payload), at: 8)
      try metadata.contentType.withBytes { contentType throws(CacheError) in
        try put.bind(contentType, at: 4)
        try attributes.span.withUnsafeBufferPointer { attributes throws(CacheError) in
          if !attributes.isEmpty { try put.bind(attributes, at: 5) }
          try key.text.withBytes { bytes throws(CacheError) in
            try put.bind(bytes, at: 9)
            try put.bind(UnsafeBufferPointer(rebasing: bytes[..<key.namespaceLength]), at: 10)
            replaced.pointee.count = 0
            _ = try put.step()
          }
        }
      }
    }
  }

  /// Whether to store a payload as text: SQLite's functions for JSON and text take no blob. The bytes stay the same
  /// either way. A zero byte would end the text for those functions, so a payload with one is stored as a blob.
  private static func isText(_ payload: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (try? UTF8Span(validating: payload.span)) != nil else { return false }
    guard let start = payload.baseAddress else { return true }
    return memchr(start, 0, payload.count) == nil
  }
}
