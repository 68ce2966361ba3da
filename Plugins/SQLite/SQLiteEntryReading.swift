internal import StorageSPI

/// The statement that finds an entry by its key, on a reading or a writing connection.
struct SQLiteEntryReading: ~Copyable {
  private let statement: SQLiteStatement
  private var row = SQLiteRow()

  init(on connection: SQLiteConnection) throws(CacheError) {
    statement = try SQLiteStatement(SQLiteSchema.read, on: connection)
  }

  /// Lends the payload and metadata under `key` in the latest state to `body`; `nil` if there is no entry. `snapshot`
  /// may keep that state open.
  @inline(__always)
  mutating func read<Output>(
    _ key: UnsafeBufferPointer<UInt8>, in snapshot: inout SQLiteSnapshot,
    _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try snapshot.begin()
    defer { statement.reset() }
    let output = try find(key, body)
    try snapshot.stay()
    return output
  }

  @inline(__always)
  private mutating func find<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try statement.bind(key, at: 1)
    guard try statement.step() else { return nil }
    let metadata = try row.metadata(of: statement, key: String(decoding: key, as: UTF8.self))
    return try body(try SQLiteRow.payload(of: statement, key: String(decoding: key, as: UTF8.self)).span, metadata)
  }
}
