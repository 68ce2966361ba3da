internal import CLMDB
internal import StorageSPI

/// An LMDB transaction, aborted unless it was committed. Everything that calls LMDB on one is here.
///
/// Whoever uses it is inside the environment's gate, and uses nothing that it lent once it has ended.
///
/// `@unchecked Sendable`: a transaction for writing never leaves the thread that begins it; one for reading is used by
/// one caller at a time, which a `ResourcePool` sees to, and may move between threads because of `MDB_NOTLS`.
final class LMDBTransaction: @unchecked Sendable {
  let environment: LMDBEnvironment
  private let pointer: OpaquePointer
  private var hasEnded = false
  /// The places at which entries are changed, one in each database. LMDB closes them with the transaction.
  private var places: [(database: MDB_dbi, cursor: OpaquePointer)] = []

  /// Begins a transaction with the flags of `mdb_txn_begin`.
  init(_ environment: LMDBEnvironment, flags: Int32) throws(StorageError) {
    var pointer: OpaquePointer?
    var status = mdb_txn_begin(environment.pointer, nil, UInt32(flags), &pointer)
    if status == MDB_READERS_FULL {
      mdb_reader_check(environment.pointer, nil)
      status = mdb_txn_begin(environment.pointer, nil, UInt32(flags), &pointer)
    }
    guard status == MDB_SUCCESS, let pointer else { throw environment.error(status, "open a transaction on") }
    self.environment = environment
    self.pointer = pointer
  }

  deinit { abort() }

  /// Drops the changes, unless the transaction has ended already.
  func abort() {
    if !hasEnded { mdb_txn_abort(pointer) }
    hasEnded = true
  }

  /// The number of the transaction whose state this one reads, or of this one where it writes.
  var number: Int { mdb_txn_id(pointer) }

  /// Makes the changes durable and visible. Whatever it reports, the transaction has ended.
  func commit() throws(StorageError) {
    hasEnded = true
    try check(mdb_txn_commit(pointer), "write to")
  }

  /// Lets go of the state that a transaction for reading sees, but keeps its place in the table of readers.
  func reset() { mdb_txn_reset(pointer) }

  /// Sees the latest state again after `reset()`.
  func renew() throws(StorageError) { try check(mdb_txn_renew(pointer), "read") }

  /// The handle of the database called `name`; `nil` where there is none and it is not to be created.
  func openDatabase(_ name: String?, create: Bool = false) throws(StorageError) -> MDB_dbi? {
    var handle: MDB_dbi = 0
    let status = mdb_dbi_open(pointer, name, create ? UInt32(MDB_CREATE) : 0, &handle)
    if status == MDB_NOTFOUND { return nil }
    try check(status, "open a database of")
    return handle
  }

  /// How many entries a database holds.
  func count(of database: MDB_dbi) throws(StorageError) -> Int {
    var stat = MDB_stat()
    let status = mdb_stat(pointer, database, &stat)
    if status == MDB_NOTFOUND { return 0 }
    try check(status, "read")
    return stat.ms_entries
  }

  /// The value under a stored key, in place; `nil` where there is none.
  func value(_ key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(StorageError) -> UnsafeRawBufferPointer? {
    var (key, value) = (MDB_val(key), MDB_val())
    let status = mdb_get(pointer, database, &key, &value)
    if status == MDB_NOTFOUND { return nil }
    try check(status, "read")
    return UnsafeRawBufferPointer(value)
  }

  /// Makes room for a value of `count` bytes under a stored key. It must be filled before the next call.
  func reserve(
    _ key: UnsafeRawBufferPointer, count: Int, in database: MDB_dbi
  ) throws(StorageError) -> UnsafeMutableRawBufferPointer {
    var (key, value) = (MDB_val(key), MDB_val(mv_size: count, mv_data: nil))
    try check(mdb_put(pointer, database, &key, &value, UInt32(MDB_RESERVE)), "write to")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  /// Removes the value under a stored key, if there is one.
  func remove(_ key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(StorageError) {
    var key = MDB_val(key)
    let status = mdb_del(pointer, database, &key, nil)
    if status != MDB_NOTFOUND { try check(status, "write to") }
  }

  /// Makes room for a value of `count` bytes under a stored key, as `reserve` does. Looking for what is there and
  /// storing share one way down the tree.
  ///
  /// - Parameter replacing: is given the value that was there, in place, before it is gone.
  func replace(
    _ key: UnsafeRawBufferPointer, count: Int, in database: MDB_dbi,
    _ replacing: (UnsafeRawBufferPointer) throws(StorageError) -> Void
  ) throws(StorageError) -> UnsafeMutableRawBufferPointer {
    let cursor = try place(in: database)
    var (key, value) = (MDB_val(key), MDB_val(mv_size: count, mv_data: nil))
    var status = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_RESERVE | MDB_NOOVERWRITE))
    if status == MDB_KEYEXIST {
      try replacing(UnsafeRawBufferPointer(value))
      value = MDB_val(mv_size: count, mv_data: nil)
      status = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_RESERVE | MDB_CURRENT))
    }
    try check(status, "write to")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  /// Removes the value under a stored key, if there is one.
  ///
  /// - Parameter removing: is given the value, in place, before it is gone.
  func remove(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi,
    _ removing: (UnsafeRawBufferPointer) throws(StorageError) -> Void
  ) throws(StorageError) {
    let cursor = try place(in: database)
    var (key, value) = (MDB_val(key), MDB_val())
    let status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
    if status == MDB_NOTFOUND { return }
    try check(status, "read")
    try removing(UnsafeRawBufferPointer(value))
    try check(mdb_cursor_del(cursor, 0), "write to")
  }

  private func place(in database: MDB_dbi) throws(StorageError) -> OpaquePointer {
    if let place = places.first(where: { $0.database == database }) { return place.cursor }
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(pointer, database, &cursor), "write to")
    guard let cursor else { throw environment.error(MDB_PANIC, "write to") }
    places.append((database, cursor))
    return cursor
  }

  /// Calls `body` with each item of a database, in order.
  func forEachItem(
    in database: MDB_dbi, _ body: (LMDBCursor.Item) throws(StorageError) -> Void
  ) throws(StorageError) {
    try withCursor(on: database) { cursor throws(StorageError) in
      var item = try cursor.first()
      while let current = item {
        try body(current)
        item = try cursor.next()
      }
    }
  }

  /// Lends a cursor on a database to `body`.
  func withCursor<Output>(
    on database: MDB_dbi, _ body: (borrowing LMDBCursor) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(pointer, database, &cursor), "read")
    guard let cursor else { throw environment.error(MDB_PANIC, "read") }
    return try body(LMDBCursor(cursor, environment))
  }

  private func check(_ status: Int32, _ action: String) throws(StorageError) {
    guard status == MDB_SUCCESS else { throw environment.error(status, action) }
  }
}
