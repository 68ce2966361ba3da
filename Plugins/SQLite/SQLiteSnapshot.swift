internal import CSQLite
internal import EngineAPI

/// The state of the store that a connection sees, and keeps seeing between transactions for as long as it is the
/// latest.
///
/// Beginning and ending a read transaction takes system calls, which are half the cost of reading a small entry and a
/// quarter of a small commit. So once a connection has seen the same state several times in a row, an unfinished
/// statement keeps the read transaction open, and before each use the log's index tells whether anything was committed
/// since. The transaction also ends when the log is copied, so that it does not stop the log from restarting.
struct SQLiteSnapshot: ~Copyable {
  private let connection: SQLiteConnection
  private var kept: KeptSnapshot
  private var wasUsed = false
  /// `nil` before the second use.
  private var log: SQLiteLogIndex?
  /// Keeps the transaction open: it finds more than one row, so it is unfinished after the first.
  private var holder: SQLiteStatement?
  /// How much of the log had been copied at the last check.
  private var copied: UInt32 = 0
  /// The change count seen last; `nil` if it was unknown.
  private var seen: UInt64?

  init(of connection: SQLiteConnection, _ keeper: SnapshotKeeper) {
    self.connection = connection
    kept = KeptSnapshot(keeper)
  }

  /// Whether the read transaction is open between uses.
  var isKept: Bool { kept.isOpen }

  /// Call this before each read or transaction: it makes the connection see the latest state.
  @inline(__always)
  mutating func begin() throws(CacheError) {
    seen = try changeCount()
    if kept.isCurrent(seen) { return }
    end()
    kept.began(at: seen)
  }

  /// Call this after each read, before resetting its statement.
  @inline(__always)
  mutating func stay() throws(CacheError) {
    if !kept.isOpen, kept.stays() { _ = try holder?.step() }
  }

  /// Call this after each commit of this connection, which has made `changes` changes, 0 or 1. The connection keeps
  /// seeing what it committed, unless another connection has committed since.
  mutating func committed(changes: UInt64) {
    // If no other connection commits, the count goes up by exactly one.
    guard let seen, let state = log?.state, state.copied == copied, state.count >> 32 == seen >> 32 &+ changes
    else { return end() }
    self.seen = state.count
    kept.advanced(to: state.count)
  }

  /// Ends the read transaction, if one is open between uses.
  mutating func end() {
    guard kept.isOpen else { return }
    holder?.reset()
    kept.ended()
  }

  /// The change count that shows whether a kept transaction sees the latest state; `nil` if none is allowed to be kept.
  private mutating func changeCount() throws(CacheError) -> UInt64? {
    guard let log else {
      // A caller that reads one entry and closes the store needs none of this.
      if wasUsed { try prepare() }
      wasUsed = true
      return nil
    }
    guard let state = log.state, state.copied == copied else {
      copied = log.state?.copied ?? copied
      return nil
    }
    return state.count
  }

  private mutating func prepare() throws(CacheError) {
    holder = try SQLiteStatement("SELECT rowid FROM sqlite_schema", on: connection)
    log = SQLiteLogIndex(of: connection)
  }
}

/// The log's index in shared memory, which tells the store's state without a system call. It keeps the connection open that
/// has mapped it: if it were rebuilt meanwhile, the change count could return to an earlier value.
///
/// `@unchecked Sendable`: it only reads, and a connection without thread affinity can be closed by any thread.
final class SQLiteLogIndex: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let index: UnsafePointer<UInt32>?

  /// The index that `connection` has mapped once it has read something. It tells nothing if the connection uses no log,
  /// such as on a read-only medium.
  init(of connection: SQLiteConnection) {
    self.connection = connection
    let hasLog = try? connection.integer("SELECT journal_mode = 'wal' FROM pragma_journal_mode")
    index = connection.isImmutable || hasLog != 1 ? nil : csqlite_find_log_index(connection.handle)
  }

  /// A number that changes with each commit, and how many pages of the log have been copied into the database; `nil`
  /// while a process is writing the index, or without a log.
  @inline(__always)
  var state: (count: UInt64, copied: UInt32)? {
    guard let index else { return nil }
    let state = csqlite_read_log_state(index)
    return state.is_known != 0 ? (state.count, state.copied_pages) : nil
  }
}
