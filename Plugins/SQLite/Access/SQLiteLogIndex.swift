internal import CSQLite
internal import StorageSPI

/// The log's index in shared memory, which tells the store's state without a system call.
struct SQLiteLogIndex {
  /// Valid as long as the connection is open.
  private let index: UnsafePointer<csqlite_log_index>

  /// The index that `connection` has mapped once it has read something; `nil` if it uses no log, such as on a read-only
  /// medium.
  init?(of connection: SQLiteConnection) {
    guard !connection.isImmutable, Self.hasLog(connection),
      let index = csqlite_find_log_index(connection.handle)
    else { return nil }
    self.index = index
  }

  private static func hasLog(_ connection: SQLiteConnection) -> Bool {
    do throws(CacheError) {
      let mode = try SQLiteStatement("PRAGMA journal_mode", on: connection)
      return try mode.step() && mode.text(0) == "wal"
    } catch {
      return false
    }
  }

  /// A number that changes with each commit, and how many pages of the log have been copied into the database; `nil`
  /// while a process is writing the index.
  @inline(__always)
  var state: (count: UInt64, copied: UInt32)? {
    let state = csqlite_read_log_state(index)
    return state.is_known != 0 ? (state.count, state.copied_frames) : nil
  }
}

/// The log's index, and a connection that keeps it alive for as long as the store is open. If it were rebuilt, the
/// change count could return to an earlier value.
///
/// `@unchecked Sendable`: the engine keeps it behind a lock, and a connection without thread affinity may move between
/// threads.
final class SQLiteChangeCounter: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let index: SQLiteLogIndex?

  init(_ options: SQLiteOptions) throws(CacheError) {
    let connection = try SQLiteReader.connect(path: options.path, busyTimeout: options.busyTimeout)
    self.connection = connection
    index = SQLiteLogIndex(of: connection)
  }

  /// The number that changes with each commit; `nil` if it is unknown.
  var count: UInt64? { index?.state?.count }
}
