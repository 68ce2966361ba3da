internal import CSQLite
internal import CacheBase
internal import EngineAPI

/// A connection to a database, closed when it is released.
///
/// It is opened without SQLite's own mutexes and is not `Sendable`: its owner makes sure that one thread uses it at a
/// time.
final class SQLiteConnection {
  let path: String
  let handle: OpaquePointer
  /// Whether the file was opened as immutable.
  let isImmutable: Bool

  /// Opens the file at `path`; SQLite reads nothing of it before the first statement.
  ///
  /// - Parameter immutable: whether the file cannot change, so that SQLite needs neither locks nor a log.
  init(path: String, flags: Int32, busyTimeout: Int32, immutable: Bool = false) throws(CacheError) {
    var handle: OpaquePointer?
    let name = immutable ? "file:\(PercentEncoding.path(path))?immutable=1" : path
    let mode = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (immutable ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(name, &handle, mode, nil)
    guard let handle else {
      throw CacheError(sqlite: code, message: String(cString: sqlite3_errstr(code)), path: path)
    }
    self.path = path
    self.handle = handle
    isImmutable = immutable
    try check(code)
    sqlite3_busy_timeout(handle, busyTimeout)
  }

  deinit {
    // `sqlite3_close_v2` waits for statements that are finalised later.
    sqlite3_close_v2(handle)
  }

  /// The error for the result `code` of the last call.
  func error(_ code: Int32) -> CacheError {
    let cause = sqlite3_system_errno(handle)
    // SQLite says "disk I/O error" if it has no room for the index of the log.
    if code & 0xFF == SQLITE_IOERR, [ENOSPC, EDQUOT, EFBIG].contains(cause) {
      let full = String(cString: sqlite3_errstr(SQLITE_FULL))
      return CacheError(sqlite: SQLITE_FULL, message: full, path: path)
    }
    let isRefused = code & 0xFF == SQLITE_CANTOPEN && [EACCES, EPERM, EROFS].contains(cause)
    return CacheError(
      sqlite: isRefused ? SQLITE_PERM : code, message: String(cString: sqlite3_errmsg(handle)), path: path)
  }

  /// Throws if the last call has not succeeded, whose result is `code`.
  func check(_ code: Int32) throws(CacheError) {
    if code != SQLITE_OK { throw error(code) }
  }

  /// Runs statements whose results do not matter.
  func execute(_ sql: String) throws(CacheError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  /// Maps the file, so that pages are read in place. A mapping of one gibibyte costs only address space; SQLite reads
  /// pages beyond it in the ordinary way.
  func mapFile() throws(CacheError) { try execute("PRAGMA mmap_size = 1073741824") }

  /// The first column of the first row of `sql`; 0 if there is no row.
  func integer(_ sql: String) throws(CacheError) -> Int64 {
    let statement = try SQLiteStatement(sql, on: self)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}

/// A prepared statement, finalised when it is released.
///
/// Bytes are bound without a copy: they must stay valid until the next `reset()`.
final class SQLiteStatement {
  let connection: SQLiteConnection
  private let handle: OpaquePointer

  /// Compiles `sql`, which must be a single statement.
  init(_ sql: String, on connection: SQLiteConnection) throws(CacheError) {
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard let handle, code == SQLITE_OK else { throw connection.error(code) }
    self.connection = connection
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  /// Goes to the next row, and returns whether there is one.
  func step() throws(CacheError) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw connection.error(code)
  }

  /// Ends the execution and clears the bindings, so that the statement can be used again.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Runs a statement that returns no rows, and resets it for its next use.
  func run() throws(CacheError) {
    defer { reset() }
    _ = try step()
  }

  func bind(_ integer: Int64, at index: Int32) throws(CacheError) {
    try connection.check(sqlite3_bind_int64(handle, index, integer))
  }

  /// Binds UTF-8 bytes as text, or as a blob if `isText` is false.
  func bind(_ bytes: UnsafeBufferPointer<UInt8>, isText: Bool = true, at index: Int32) throws(CacheError) {
    // A null pointer would bind NULL. Nothing is read through this one, which has no bytes.
    let start = bytes.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(handle)
    let count = UInt64(bytes.count)
    try connection.check(
      isText
        ? sqlite3_bind_text64(handle, index, start.assumingMemoryBound(to: CChar.self), count, nil, UInt8(SQLITE_UTF8))
        : sqlite3_bind_blob64(handle, index, start, count, nil))
  }

  /// Binds a copy of the text.
  func bind(_ text: String, at index: Int32) throws(CacheError) {
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    try connection.check(sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), copied))
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The bytes of a text or blob, in SQLite's memory: valid until the next step or reset.
  func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    // For text this is its UTF-8 as stored; SQLite requires this order of the two calls.
    let start = sqlite3_column_blob(handle, column)?.assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }
}

extension String {
  /// Calls `body` with the UTF-8 bytes of the text, in place.
  @inline(__always)
  func withBytes<Output, Failure: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Output
  ) throws(Failure) -> Output {
    try utf8Span.span.withUnsafeBufferPointer(body)
  }
}
