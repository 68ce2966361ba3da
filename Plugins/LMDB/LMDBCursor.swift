internal import CLMDB
internal import StorageSPI

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
