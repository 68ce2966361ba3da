internal import CSQLite
#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif
internal import StorageSPI

/// The connection that writes, with its prepared statements.
///
/// It is `@unchecked Sendable` because the engine keeps it behind a lock, and a connection without thread affinity may
/// be used by any thread then.
final class SQLiteWriter: @unchecked Sendable {
  let connection: SQLiteConnection
  private let put: SQLiteStatement
  private let remove: SQLiteStatement
  private let checksum: SQLiteStatement
  private let begin: SQLiteStatement
  private let commit: SQLiteStatement
  private let tally: SQLiteTally
  private let logPages: UnsafeMutablePointer<Int32>
  private let replaced: UnsafeMutablePointer<csqlite_replaced>

  /// A connection to the store, after a check that it is one.
  init(_ options: SQLiteOptions, busyTimeout: Int32) throws(StorageError) {
    let connection = try Self.connect(options, busyTimeout: busyTimeout)
    let replaced = try Self.observeReplaced(on: connection)
    let tally = try SQLiteTally(on: connection)
    let put = try SQLiteStatement(SQLiteSchema.put, on: connection)
    let remove = try SQLiteStatement(SQLiteSchema.remove, on: connection)
    let checksum = try SQLiteStatement(SQLiteSchema.checksum, on: connection)
    let begin = try SQLiteStatement("BEGIN IMMEDIATE", on: connection)
    let commit = try SQLiteStatement("COMMIT", on: connection)
    self.connection = connection
    self.tally = tally
    self.replaced = replaced
    self.put = put
    self.remove = remove
    self.checksum = checksum
    self.begin = begin
    self.commit = commit
    logPages = .allocate(capacity: 1)
    logPages.initialize(to: 0)
    csqlite_observe_log(connection.handle, logPages)
  }

  deinit {
    sqlite3_wal_hook(connection.handle, nil, nil)
    sqlite3_create_function(connection.handle, "replaced", 4, SQLITE_UTF8, nil, nil, nil, nil)
    logPages.deallocate()
    replaced.deallocate()
  }

  /// Where the statements note what they replace.
  private static func observeReplaced(
    on connection: SQLiteConnection
  ) throws(StorageError) -> UnsafeMutablePointer<csqlite_replaced> {
    let replaced = UnsafeMutablePointer<csqlite_replaced>.allocate(capacity: 1)
    replaced.initialize(to: csqlite_replaced())
    let code = csqlite_observe_replaced(connection.handle, replaced)
    if code != SQLITE_OK { throw connection.error(code) }
    return replaced
  }

  private static func connect(_ options: SQLiteOptions, busyTimeout: Int32) throws(StorageError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
      path: options.path, flags: SQLITE_OPEN_READWRITE, busyTimeout: busyTimeout)
    if try SQLiteSchema.verify(connection) < SQLiteSchema.version { try upgrade(connection) }
    // The mode is kept in the file; asking for it again matters only where somebody has changed it. The limit is what
    // the log may keep of the disk when it is empty again.
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = \(options.durability.synchronous);
      PRAGMA journal_size_limit = 16777216
      """)
    _ = csqlite_keep_log(connection.handle)
    let code = csqlite_disable_triggers(connection.handle)
    if code != SQLITE_OK { throw connection.error(code) }
    return connection
  }

  /// Makes a store of an older version one of this, in one transaction.
  static func upgrade(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(StorageError) {
      // Another process may have done it meanwhile.
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

  /// How long the next statements wait for another writer, in milliseconds.
  func setBusyTimeout(_ timeout: Int32) { sqlite3_busy_timeout(connection.handle, timeout) }

  /// Whether the log is long enough to be worth copying into the database, which then waits for the disk. The number of
  /// pages is SQLite's own default.
  var needsCheckpoint: Bool { logPages.pointee >= 1_000 }

  /// Makes all the changes of `batch`, or none.
  func apply(_ batch: WriteBatch) throws(StorageError) {
    try transaction(bounds: batch.bounds) { () throws(StorageError) in
      for operation in batch.operations { try apply(operation) }
    }
  }

  /// Makes the changes of `body` and what they do to the tally, or none.
  func transaction(
    bounds: StoreBounds? = nil, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    try begin.run()
    do throws(StorageError) {
      try tally.begin()
      try body()
      try tally.finish(bounds)
      try commit.run()
      tally.commit()
    } catch {
      tally.rollBack()
      // Some failures have rolled back already.
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Makes one change, within a transaction.
  func apply(_ operation: WriteBatch.Operation) throws(StorageError) {
    switch operation {
    case .put(let key, let payload, let metadata):
      try put(key, payload, metadata)
      count(key, EntryTally.Slot(namespace: key.namespace, metadata), payloadBytes: payload.count)
    case .remove(let key):
      try key.text.withBytes { key throws(StorageError) in
        defer { remove.reset() }
        try remove.bind(key, at: 1)
        replaced.pointee.count = 0
        _ = try remove.step()
      }
      discountReplaced(in: key)
    case .require(let key, let expectation):
      guard expectation.isMet(byChecksum: try storedChecksum(of: key)) else { throw .conflict(on: key) }
    }
  }

  /// Counts what the last statement has put, instead of what it has replaced.
  private func count(_ key: CacheKey, _ slot: EntryTally.Slot, payloadBytes: Int) {
    let isNew = replaced.pointee.count == 0
    if !isNew, replacedSlot(in: key) == slot, replaced.pointee.payload_bytes == payloadBytes { return }
    discountReplaced(in: key)
    let row = isNew ? sqlite3_last_insert_rowid(connection.handle) : replaced.pointee.row
    tally.add(entries: 1, payloadBytes: payloadBytes, to: slot, row: row)
  }

  /// Counts no longer what the last statement has replaced or removed.
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

  /// The checksum of the entry under `key`; `nil` where there is none.
  func storedChecksum(of key: CacheKey) throws(StorageError) -> UInt64? {
    try key.text.withBytes { key throws(StorageError) in
      defer { checksum.reset() }
      try checksum.bind(key, at: 1)
      return try checksum.step() ? UInt64(bitPattern: checksum.integer(0)) : nil
    }
  }

  private func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(StorageError) {
    let attributes = metadata.attributes.isEmpty ? [] : try SQLiteRow.encoded(metadata.attributes)
    defer { put.reset() }
    try put.bind(metadata.storedAt.milliseconds, at: 1)
    try put.bind(metadata.freshUntil.milliseconds, at: 2)
    try put.bind(metadata.retainUntil.milliseconds, at: 3)
    try put.bind(Int64(bitPattern: metadata.checksum), at: 6)
    try put.bind(Int64(payload.count), at: 7)
    try payload.span.withUnsafeBufferPointer { payload throws(StorageError) in
      try put.bind(payload, isText: Self.isText(payload), at: 8)
      try metadata.contentType.withBytes { contentType throws(StorageError) in
        try put.bind(contentType, at: 4)
        try attributes.span.withUnsafeBufferPointer { attributes throws(StorageError) in
          if !attributes.isEmpty { try put.bind(attributes, at: 5) }
          try execute(put, key)
        }
      }
    }
  }

  /// Runs the statement with the key and its namespace, which stand last among its parameters.
  private func execute(_ put: borrowing SQLiteStatement, _ key: CacheKey) throws(StorageError) {
    try key.text.withBytes { bytes throws(StorageError) in
      try put.bind(bytes, at: 9)
      try put.bind(UnsafeBufferPointer(rebasing: bytes[..<key.namespaceLength]), at: 10)
      replaced.pointee.count = 0
      _ = try put.step()
    }
  }

  /// Whether a payload is stored as text: SQLite's functions for JSON and text take no blob. The bytes stay the same
  /// either way. A zero byte would end the text for them, so it makes a blob.
  private static func isText(_ payload: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (try? UTF8Span(validating: payload.span)) != nil else { return false }
    guard let start = payload.baseAddress else { return true }
    return memchr(start, 0, payload.count) == nil
  }

  /// Removes the entries that have expired at `time`, and gives the space that is free back to the file system.
  func compact(at time: Timestamp) throws(StorageError) {
    try transaction { () throws(StorageError) in
      let statement = try SQLiteStatement(SQLiteSchema.removeExpired, on: connection)
      try statement.bind(time.milliseconds, at: 1)
      try statement.run()
      // Reading everything once more costs less than the copying of everything that follows.
      try tally.recount()
    }
    try connection.execute("VACUUM")
    // It has made the mark invalid, which makes the next transaction count.
    try transaction { () throws(StorageError) in }
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  /// Copies the log into the database as far as readers allow, without waiting for them.
  func checkpoint() throws(StorageError) { try checkpoint(SQLITE_CHECKPOINT_PASSIVE) }

  private func checkpoint(_ mode: Int32) throws(StorageError) {
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, nil, nil)
    logPages.pointee = 0
    // Another process that reads or checkpoints at this moment is no failure: the next checkpoint does the rest. Nor
    // is a database that may only be read: nothing was written to its log.
    if code != SQLITE_OK, ![SQLITE_BUSY, SQLITE_READONLY].contains(code & 0xFF) { throw connection.error(code) }
  }
}
