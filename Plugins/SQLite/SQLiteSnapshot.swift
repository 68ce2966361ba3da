internal import StorageSPI

/// The state of the store that a connection sees, and goes on seeing between its transactions as long as it is the
/// latest.
///
/// To begin and end a transaction for reading takes system calls, which are half of a read of a small entry and a
/// quarter of a small commit. So where the same state was seen several times in a row, a statement that is not at its
/// end keeps the transaction for reading open, and the index of the log tells before each use whether anything was
/// committed since. It also ends when the log is copied, lest it keep whoever copies it from beginning the log anew.
struct SQLiteSnapshot: ~Copyable {
  private let connection: SQLiteConnection
  private var kept: KeptSnapshot
  private var holder: SQLiteSnapshotHolder?
  /// Whether it is known whether there is a log.
  private var isPrepared = false
  private var wasUsed = false
  /// How much of the log was copied when it was looked at last.
  private var copied: UInt32 = 0
  /// The change count that was seen last; `nil` where it could not be told.
  private var seen: UInt64?

  init(of connection: SQLiteConnection, _ keeper: SnapshotKeeper) {
    self.connection = connection
    kept = KeptSnapshot(keeper)
  }

  /// Whether the transaction for reading is open between uses.
  var isKept: Bool { kept.isOpen }

  /// To be called before each read or transaction: makes it see the latest state.
  @inline(__always)
  mutating func begin() throws(StorageError) {
    let state = try state()
    seen = state
    if kept.isCurrent(state) { return }
    end()
    kept.began(at: state)
  }

  /// To be called after each read, before its statement is reset.
  @inline(__always)
  mutating func stay() throws(StorageError) {
    if !kept.isOpen, kept.stays() { _ = try holder?.statement.step() }
  }

  /// To be called after each commit of this connection, which has made `changes` changes, 0 or 1: goes on seeing what was
  /// committed, unless somebody else has committed something since.
  mutating func committed(changes: UInt64) {
    guard let seen, let state = holder?.log.state, state.copied == copied, state.count >> 32 == seen >> 32 &+ changes
    else { return end() }
    // As long as nobody else does, the number of changes goes up by one.
    self.seen = state.count
    kept.advanced(to: state.count)
  }

  /// Ends the transaction for reading, where one is open between uses.
  mutating func end() {
    guard kept.isOpen else { return }
    holder?.statement.reset()
    kept.ended()
  }

  /// Ends the transaction for reading, where one is open between uses and due.
  mutating func end(unlessUsed: Bool) {
    if kept.isDue(unlessUsed: unlessUsed) { end() }
  }

  /// The number by which a transaction that is kept is known to see the latest state; `nil` where it must not be kept.
  private mutating func state() throws(StorageError) -> UInt64? {
    guard let holder else {
      // Whoever reads one entry and closes the store needs none of this.
      if wasUsed { try prepare() }
      wasUsed = true
      return nil
    }
    guard let state = holder.log.state, state.copied == copied else {
      copied = holder.log.state?.copied ?? copied
      return nil
    }
    return state.count
  }

  private mutating func prepare() throws(StorageError) {
    if isPrepared { return }
    isPrepared = true
    if let log = SQLiteLogIndex(of: connection) { holder = try SQLiteSnapshotHolder(on: connection, log) }
  }
}

/// What it takes to keep a transaction for reading open.
private final class SQLiteSnapshotHolder {
  /// It finds more than one row, so that it is not at its end after the first.
  let statement: SQLiteStatement
  let log: SQLiteLogIndex

  init(on connection: SQLiteConnection, _ log: SQLiteLogIndex) throws(StorageError) {
    statement = try SQLiteStatement("SELECT rowid FROM sqlite_schema", on: connection)
    self.log = log
  }
}
