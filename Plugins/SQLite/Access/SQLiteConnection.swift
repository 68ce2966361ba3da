internal import CSQLite
internal import Platform
internal import StorageSPI

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
    let name = immutable ? Self.immutableName(of: path) : path
    let mode = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (immutable ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(name, &handle, mode, nil)
    guard let handle, code == SQLITE_OK else {
      defer { sqlite3_close(handle) }
      throw Self.error(code, of: handle, path: path)
    }
    sqlite3_busy_timeout(handle, busyTimeout)
    self.path = path
    self.handle = handle
    isImmutable = immutable
  }

  deinit {
    // `sqlite3_close_v2` waits for statements that are finalised later.
    sqlite3_close_v2(handle)
  }

  /// The error for the result `code` of the last call.
  func error(_ code: Int32) -> CacheError { Self.error(code, of: handle, path: path) }

  private static func error(_ code: Int32, of handle: OpaquePointer?, path: String) -> CacheError {
    guard let handle else {
      return CacheError(sqlite: code, message: String(cString: sqlite3_errstr(code)), path: path)
    }
    let isRefused = code & 0xFF == SQLITE_CANTOPEN && [EACCES, EPERM, EROFS].contains(sqlite3_system_errno(handle))
    return CacheError(
      sqlite: isRefused ? SQLITE_PERM : code, message: String(cString: sqlite3_errmsg(handle)), path: path)
  }

  /// Runs statements whose results do not matter.
  func execute(_ sql: String) throws(CacheError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  /// Maps the file, so that pages are read in place. A mapping of one gibibyte costs only address space; SQLite reads
  /// pages beyond it in the ordinary way.
  func mapFile() throws(CacheError) { try execute("PRAGMA mmap_size = 1073741824") }

  /// Removes the mapped pages from the memory of the process.
  func unmapFile() throws(CacheError) { try execute("PRAGMA mmap_size = 0") }

  /// The first column of the first row of `sql`; 0 if there is no row.
  func integer(_ sql: String) throws(CacheError) -> Int64 {
    let statement = try SQLiteStatement(sql, on: self)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The file as a URI.
  private static func immutableName(of path: String) -> String {
    "file:\(PercentEncoding.path(path))?immutable=1"
  }
}
