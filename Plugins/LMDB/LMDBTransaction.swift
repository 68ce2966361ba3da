internal import CLMDB
internal import Platform
internal import StorageSPI

/// An LMDB transaction, aborted unless it is committed. All LMDB calls on a transaction are here.
///
/// The caller is inside the environment's gate, and stops using everything that the transaction lent once it has ended.
///
/// `@unchecked Sendable`: a write transaction never leaves the thread that begins it. A `ResourcePool` gives a read
/// transaction to one caller at a time, and `MDB_NOTLS` allows it to move between threads.
final class LMDBTransaction: @unchecked Sendable {
  let environment: LMDBEnvironment
  private let pointer: OpaquePointer
  private var hasEnded = false
  /// The cursors that change entries, one per database. LMDB closes them with the transaction.
  private var places: [(database: MDB_dbi, cursor: OpaquePointer)] = []

  /// Begins a transaction with the flags of `mdb_txn_begin`.
  init(_ environment: LMDBEnvironment, flags: Int32) throws(CacheError) {
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

  /// Discards the changes, unless the transaction has already ended.
  func abort() {
    if !hasEnded { mdb_txn_abort(pointer) }
    hasEnded = true
  }

  /// The number of the transaction whose state this one reads, or its own number if it writes.
  var number: Int { mdb_txn_id(pointer) }

  /// Makes the changes durable and visible. The transaction has ended even if this throws.
  func commit() throws(CacheError) {
    hasEnded = true
    try check(mdb_txn_commit(pointer), "write to")
  }

  /// Releases the state of a read transaction, but keeps its slot in the reader table.
  func reset() { mdb_txn_reset(pointer) }

  /// Sees the latest state again after `reset()`.
  func renew() throws(CacheError) { try check(mdb_txn_renew(pointer), "read") }

  /// The handle of the database called `name`; `nil` if it does not exist and `create` is false.
  func openDatabase(_ name: String?, create: Bool = false) throws(CacheError) -> MDB_dbi? {
    var handle: MDB_dbi = 0
    let status = mdb_dbi_open(pointer, name, create ? UInt32(MDB_CREATE) : 0, &handle)
    if status == MDB_NOTFOUND { return nil }
    try check(status, "open a database of")
    return handle
  }

  /// The value under a stored key, in place; `nil` if there is none.
  func value(_ key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(CacheError) -> UnsafeRawBufferPointer? {
    var (key, value) = (MDB_val(key), MDB_val())
    let status = mdb_get(pointer, database, &key, &value)
    if status == MDB_NOTFOUND { return nil }
    try check(status, "read")
    return UnsafeRawBufferPointer(value)
  }

  /// Reserves `count` bytes for the value of a stored key. Fill them before the next call.
  func reserve(
    _ key: UnsafeRawBufferPointer, count: Int, in database: MDB_dbi
  ) throws(CacheError) -> UnsafeMutableRawBufferPointer {
    var (key, value) = (MDB_val(key), MDB_val(mv_size: count, mv_data: nil))
    try check(mdb_put(pointer, database, &key, &value, UInt32(MDB_RESERVE)), "write to")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  /// Removes the value under a stored key, if there is one.
  func remove(_ key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(CacheError) {
    var key = MDB_val(key)
    let status = mdb_del(pointer, database, &key, nil)
    if status != MDB_NOTFOUND { try check(status, "write to") }
  }

  /// Like `reserve`, reserves `count` bytes for the value of a stored key. It finds the old value and stores the new
  /// one in a single descent of the tree.
  ///
  /// - Parameter replacing: receives the old value, in place, before it is replaced.
  func replace(
    _ key: UnsafeRawBufferPointer, count: Int, in database: MDB_dbi,
    _ replacing: (UnsafeRawBufferPointer) throws(CacheError) -> Void
  ) throws(CacheError) -> UnsafeMutableRawBufferPointer {
    let cursor = try place(in: database)
    var (key, value) = (MDB_val(key), MDB_val(mv_size: count, mv_data: nil))
    var status = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_RESERVE | MDB_NOOVERWRITE))
    if status == MDB_KEYEXIST {
      try requireRightSize(UnsafeRawBufferPointer(value))
      try replacing(UnsafeRawBufferPointer(value))
      value = MDB_val(mv_size: count, mv_data: nil)
      status = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_RESERVE | MDB_CURRENT))
    }
    try check(status, "write to")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  /// Removes the value under a stored key, if there is one.
  ///
  /// - Parameter removing: receives the value, in place, before it is removed.
  func remove(
    _ key: UnsafeRawBufferPointer, in database: MDB_dbi,
    _ removing: (UnsafeRawBufferPointer) throws(CacheError) -> Void
  ) throws(CacheError) {
    let cursor = try place(in: database)
    var (key, value) = (MDB_val(key), MDB_val())
    let status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
    if status == MDB_NOTFOUND { return }
    try check(status, "read")
    try requireRightSize(UnsafeRawBufferPointer(value))
    try removing(UnsafeRawBufferPointer(value))
    try check(mdb_cursor_del(cursor, 0), "write to")
  }

  /// Requires that a large value, which begins behind the 16 bytes of the head of its first page, has about as many pages as
  /// that head says. LMDB frees that many, and billions of them would take minutes and gigabytes.
  ///
  /// Pages may be more than needed: a smaller value can take the place of a larger one.
  func requireRightSize(_ value: UnsafeRawBufferPointer) throws(CacheError) {
    guard let start = value.baseAddress, Int(bitPattern: start) % 4_096 == 16 else { return }
    var (statistics, info) = (MDB_stat(), MDB_envinfo())
    mdb_env_stat(environment.pointer, &statistics)
    mdb_env_info(environment.pointer, &info)
    let pageSize = Int(statistics.ms_psize)
    // A map begins at a page of the system, so that it says nothing about the place of larger ones.
    guard pageSize <= Int(getpagesize()), Int(bitPattern: start) % pageSize == 16 else { return }
    let number = (start - 16).loadUnaligned(as: UInt64.self)
    let pages = UInt64((start - 4).loadUnaligned(as: UInt32.self))
    let all = UInt64(info.me_mapsize / pageSize)
    if number < all, pages <= all - number, pages >= UInt64((value.count + 15) / pageSize + 1) { return }
    // A page that this transaction has changed is not in the map, and a small value in it can have such an address too.
    guard environment.maps(start) else { return }
    throw environment.error(MDB_CORRUPTED, "write to")
  }

  private func place(in database: MDB_dbi) throws(CacheError) -> OpaquePointer {
    if let place = places.first(where: { $0.database == database }) { return place.cursor }
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(pointer, database, &cursor), "write to")
    guard let cursor else { throw environment.error(MDB_PANIC, "write to") }
    places.append((database, cursor))
    return cursor
  }

  /// Lends a cursor on a database to `body`.
  func withCursor<Output>(
    on database: MDB_dbi, _ body: (borrowing LMDBCursor) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(pointer, database, &cursor), "read")
    guard let cursor else { throw environment.error(MDB_PANIC, "read") }
    return try body(LMDBCursor(cursor, environment))
  }

  private func check(_ status: Int32, _ action: String) throws(CacheError) {
    guard status == MDB_SUCCESS else { throw environment.error(status, action) }
  }
}

/// A position in a database, closed at the end of its life.
struct LMDBCursor: ~Copyable {
  /// An item: its stored key and its value, in place.
  typealias Item = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

  private let pointer: OpaquePointer
  private let environment: LMDBEnvironment

  init(_ pointer: OpaquePointer, _ environment: LMDBEnvironment) {
    (self.pointer, self.environment) = (pointer, environment)
  }

  deinit { mdb_cursor_close(pointer) }

  /// The first item whose key is `key` or greater.
  func seek(_ key: UnsafeRawBufferPointer) throws(CacheError) -> Item? {
    key.isEmpty ? try get(MDB_FIRST, MDB_val()) : try get(MDB_SET_RANGE, MDB_val(key))
  }

  /// The first item whose key is `key` or greater.
  func seek(_ key: [UInt8]) throws(CacheError) -> Item? {
    try key.span.withUnsafeBytes { key throws(CacheError) in try seek(key) }
  }

  /// The first item of the database.
  func first() throws(CacheError) -> Item? { try get(MDB_FIRST, MDB_val()) }

  /// The last item of the database.
  func last() throws(CacheError) -> Item? { try get(MDB_LAST, MDB_val()) }

  /// The item before the current one.
  func previous() throws(CacheError) -> Item? { try get(MDB_PREV, MDB_val()) }

  /// The item after the current one, or after one that was just removed.
  func next() throws(CacheError) -> Item? { try get(MDB_NEXT, MDB_val()) }

  /// Removes the current item.
  func remove() throws(CacheError) {
    let status = mdb_cursor_del(pointer, 0)
    guard status == MDB_SUCCESS else { throw environment.error(status, "write to") }
  }

  private func get(_ operation: MDB_cursor_op, _ key: MDB_val) throws(CacheError) -> Item? {
    var (key, value) = (key, MDB_val())
    let status = mdb_cursor_get(pointer, &key, &value, operation)
    if status == MDB_NOTFOUND { return nil }
    guard status == MDB_SUCCESS else { throw environment.error(status, "read") }
    return (UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
  }
}

extension MDB_val {
  /// The bytes in LMDB's form; LMDB does not write to them.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes that LMDB lends.
  init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}
