internal import CLMDB
internal import EngineAPI

/// An LMDB transaction, aborted unless it is committed.
///
/// The caller is inside the environment's gate, and stops using everything that the transaction lent once it has ended.
///
/// `@unchecked Sendable`: a write transaction never leaves the thread that begins it. A `ResourcePool` gives a read
/// transaction to one caller at a time, and `MDB_NOTLS` allows it to move between threads.
final class LMDBTransaction: @unchecked Sendable {
  let environment: LMDBEnvironment
  private let pointer: OpaquePointer
  private var hasEnded = false

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
    try environment.check(mdb_txn_commit(pointer), "write to")
  }

  /// Releases the state of a read transaction, but keeps its slot in the reader table.
  func reset() { mdb_txn_reset(pointer) }

  /// Sees the latest state again after `reset()`.
  func renew() throws(CacheError) { try environment.check(mdb_txn_renew(pointer), "read") }

  /// The handle of the database called `name`; `nil` if it does not exist and `create` is false.
  func openDatabase(_ name: String?, create: Bool = false) throws(CacheError) -> MDB_dbi? {
    var handle: MDB_dbi = 0
    let status = mdb_dbi_open(pointer, name, create ? UInt32(MDB_CREATE) : 0, &handle)
    if status == MDB_NOTFOUND { return nil }
    try environment.check(status, "open a database of")
    return handle
  }

  /// The value under a stored key, in place; `nil` if there is none.
  func value(_ key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(CacheError) -> UnsafeRawBufferPointer? {
    var key = MDB_val(key)
    var value = MDB_val()
    let status = mdb_get(pointer, database, &key, &value)
    if status == MDB_NOTFOUND { return nil }
    try environment.check(status, "read")
    return UnsafeRawBufferPointer(value)
  }

  /// The record of the count, whichever transaction wrote it; `nil` if there is none that can be read.
  func countRecord() throws(CacheError) -> LMDBCountRecord? {
    let key = LMDBCountRecord.key
    return try key.span.withUnsafeBytes { key throws(CacheError) in
      try value(key, in: LMDBEnvironment.mainDatabase).flatMap { LMDBCountRecord($0) }
    }
  }

  /// Stores the record of the count.
  func write(_ record: LMDBCountRecord) throws(CacheError) {
    let key = LMDBCountRecord.key
    try key.span.withUnsafeBytes { key throws(CacheError) in
      var key = MDB_val(key)
      var value = MDB_val(mv_size: record.size, mv_data: nil)
      let status = mdb_put(pointer, LMDBEnvironment.mainDatabase, &key, &value, UInt32(MDB_RESERVE))
      try environment.check(status, "write to")
      record.write(to: UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }
  }

  func openCursor(on database: MDB_dbi) throws(CacheError) -> LMDBCursor {
    try LMDBCursor(on: database, in: pointer, environment)
  }

  /// Calls `body` with each entry of a database, in order.
  func forEachItem(in database: MDB_dbi, _ body: (LMDBCursor.Item) throws(CacheError) -> Void) throws(CacheError) {
    let cursor = try openCursor(on: database)
    var item = try cursor.first()
    while let current = item {
      try body(current)
      item = try cursor.next()
    }
  }
}

/// Keys and names as they are stored.
extension LMDBTransaction {
  /// The value under the key with the bytes `key`; `nil` if there is none.
  func value(ofKey key: UnsafeRawBufferPointer, in database: MDB_dbi) throws(CacheError) -> UnsafeRawBufferPointer? {
    try LMDBKey.withStored(key) { stored throws(CacheError) in try value(stored, in: database) }
  }

  /// The key of an entry in `database`.
  func key(of item: LMDBCursor.Item, in database: LMDBDatabase) throws(CacheError) -> CacheKey {
    let bytes = LMDBKey.isShortened(item.key) ? EncodedEntry(item.value)?.key() : item.key
    let text = bytes.map { String(decoding: $0, as: UTF8.self) }
    guard let text, let key = try? CacheKey(text), key.namespace == database.namespace.name else {
      let start = String(decoding: item.key.prefix(80), as: UTF8.self)
      throw .damagedLMDB(
        environment.files.directory, "an entry of \(database.namespace.name) has no key that can be read (\(start)...)")
    }
    return key
  }

  /// The namespaces that have databases, in order.
  func namespaces() throws(CacheError) -> [LMDBNamespace] {
    var found: [LMDBNamespace] = []
    try forEachItem(in: LMDBEnvironment.mainDatabase) { item throws(CacheError) in
      if item.key.elementsEqual(LMDBCountRecord.key) { return }
      guard CacheKey.isNamespace(String(decoding: item.key, as: UTF8.self)) else {
        throw .damagedLMDB(environment.files.directory, "it holds a database whose name is not a namespace")
      }
      found.append(LMDBNamespace(item.key, count: item.key.count))
    }
    return found
  }
}

/// A namespace's name as 32 bytes, padded with zeros, so that a comparison takes four words.
///
/// (`SIMD32` would be the natural type, but its metadata costs a tenth of a millisecond at process start.)
struct LMDBNamespace: Sendable, Hashable {
  private let first, second, third, fourth: UInt64

  /// The namespace of a key, from the key's bytes and the namespace's length (at most 32).
  init(_ key: UnsafeRawBufferPointer, count: Int) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<count])) }
    (first, second, third, fourth) = words
  }

  var name: String {
    withUnsafeBytes(of: self) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// A namespace and LMDB's handle of its database, which is valid for the environment's lifetime.
struct LMDBDatabase: Sendable {
  let namespace: LMDBNamespace
  let handle: MDB_dbi
}

extension CacheKey {
  /// Calls `body` with the UTF-8 bytes of the key's text.
  func withBytes<Output>(
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let text = text
    return try text.utf8Span.span.withUnsafeBytes { bytes throws(CacheError) in try body(bytes) }
  }
}

/// A position in a database, closed at the end of its life, which is before that of its transaction.
final class LMDBCursor {
  /// An item: its stored key and its value, in place.
  typealias Item = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

  private let pointer: OpaquePointer
  private let environment: LMDBEnvironment

  /// Opens a cursor in the transaction `transaction`.
  init(on database: MDB_dbi, in transaction: OpaquePointer, _ environment: LMDBEnvironment) throws(CacheError) {
    var cursor: OpaquePointer?
    let status = mdb_cursor_open(transaction, database, &cursor)
    guard let cursor else { throw environment.error(status, "read") }
    pointer = cursor
    self.environment = environment
  }

  deinit { mdb_cursor_close(pointer) }

  /// The first item whose key is `key` or greater.
  func seek(_ key: [UInt8]) throws(CacheError) -> Item? {
    guard !key.isEmpty else { return try first() }
    return try key.span.withUnsafeBytes { key throws(CacheError) in try get(MDB_SET_RANGE, MDB_val(key)) }
  }

  /// The first item of the database.
  func first() throws(CacheError) -> Item? { try get(MDB_FIRST) }

  /// The last item of the database.
  func last() throws(CacheError) -> Item? { try get(MDB_LAST) }

  /// The item before the current one.
  func previous() throws(CacheError) -> Item? { try get(MDB_PREV) }

  /// The item after the current one, or after one that was just removed.
  func next() throws(CacheError) -> Item? { try get(MDB_NEXT) }

  /// The item with the stored key `key`.
  func find(_ key: UnsafeRawBufferPointer) throws(CacheError) -> Item? { try get(MDB_SET_KEY, MDB_val(key)) }

  /// Removes the current item.
  func remove() throws(CacheError) { try environment.check(mdb_cursor_del(pointer, 0), "write to") }

  /// Reserves `count` bytes for the value of a stored key, to be filled before the next call. Finds the old value and stores
  /// the new one in a single descent of the tree.
  ///
  /// - Parameter replacing: receives the old value, in place, before it is replaced.
  func reserve(
    _ key: UnsafeRawBufferPointer, count: Int, replacing: (UnsafeRawBufferPointer) -> Void
  ) throws(CacheError) -> UnsafeMutableRawBufferPointer {
    var key = MDB_val(key)
    var value = MDB_val(mv_size: count, mv_data: nil)
    var status = mdb_cursor_put(pointer, &key, &value, UInt32(MDB_RESERVE | MDB_NOOVERWRITE))
    if status == MDB_KEYEXIST {
      replacing(UnsafeRawBufferPointer(value))
      value = MDB_val(mv_size: count, mv_data: nil)
      status = mdb_cursor_put(pointer, &key, &value, UInt32(MDB_RESERVE | MDB_CURRENT))
    }
    try environment.check(status, "write to")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: count)
  }

  private func get(_ operation: MDB_cursor_op, _ key: MDB_val = MDB_val()) throws(CacheError) -> Item? {
    var key = key
    var value = MDB_val()
    let status = mdb_cursor_get(pointer, &key, &value, operation)
    if status == MDB_NOTFOUND { return nil }
    try environment.check(status, "read")
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
