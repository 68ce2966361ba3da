internal import CSQLite
internal import EngineAPI
internal import CacheBase

/// The tables, and the marks that identify a database as a store of this engine.
enum SQLiteSchema {
  /// The bytes "CaCh" in the file's header: "this is a store of cachectl".
  static let applicationID: Int64 = 0x4361_4368
  static let version: Int64 = 1

  /// The statements that create a new store.
  static let creation = """
    \(definitions.joined(separator: ";\n"));
    PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);
    """

  /// Every definition in the database, with the exact text that SQLite stores.
  static let definitions = [entriesTable, readableView, countsTable] + triggers

  /// The payload comes last, so that reading the other columns of a large entry does not touch the payload's pages. `VACUUM`
  /// keeps the numbers of rows because they have their own column.
  private static let entriesTable = """
    CREATE TABLE entries (
      id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
      stored_at INTEGER NOT NULL, fresh_until INTEGER NOT NULL, retain_until INTEGER NOT NULL,
      content_type TEXT NOT NULL, attributes TEXT,
      checksum INTEGER NOT NULL, payload_checksum INTEGER NOT NULL,
      payload_bytes INTEGER NOT NULL, payload ANY NOT NULL
    ) STRICT
    """

  private static let readableView = """
    CREATE VIEW entries_readable AS SELECT
      key, \(namespace) AS namespace, content_type, payload_bytes,
      strftime('%Y-%m-%dT%H:%M:%fZ', stored_at / 1000.0, 'unixepoch') AS stored_at,
      strftime('%Y-%m-%dT%H:%M:%fZ', fresh_until / 1000.0, 'unixepoch') AS fresh_until,
      strftime('%Y-%m-%dT%H:%M:%fZ', retain_until / 1000.0, 'unixepoch') AS retain_until,
      attributes,
      CASE WHEN json_valid(payload) THEN payload END AS json
    FROM entries
    """

  /// The counts of the rows up to a mark. The mark is a row whose namespace is one that no key can have, and whose `entries`
  /// is the number of the last counted row. Without a mark, everything must be counted.
  private static let countsTable = """
    CREATE TABLE counts (
      namespace TEXT PRIMARY KEY, entries INTEGER NOT NULL,
      payload_bytes INTEGER NOT NULL, earliest_expiry INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """

  /// A change made by any other program makes the engine count again. The engine itself disables these triggers and
  /// updates the counts, which is faster than a trigger could be.
  private static let triggers = ["INSERT", "UPDATE", "DELETE"].map { change in
    "CREATE TRIGGER counts_\(change.lowercased()) AFTER \(change) ON entries BEGIN DELETE FROM counts; END"
  }

  private static let namespace = "substr(key, 1, instr(key, '/') - 1)"
  /// A size, clamped so that a damaged one cannot make sums overflow. SQLite stores nothing larger.
  private static let payloadBytes = "max(0, min(payload_bytes, 1000000000))"
  /// The columns that start every query of whole entries, in the order in which `SQLiteRow` reads them.
  private static let columns =
    "stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_checksum, payload_bytes"

  static let read = "SELECT \(columns), payload FROM entries WHERE key = ?1"
  static let checksum = "SELECT checksum FROM entries WHERE key = ?1"
  static let everything = "SELECT \(columns), payload, key FROM entries ORDER BY key"

  /// The query for up to ?3 entries from ?1 on and below ?2.
  static func scan(payloads: Bool, isDescending: Bool) -> String {
    "SELECT \(columns), \(payloads ? "payload" : "NULL"), key \(scanned(isDescending))"
  }

  /// The query for the same keys, which reads the index of keys alone.
  static func scanKeys(isDescending: Bool) -> String { "SELECT key \(scanned(isDescending))" }

  private static func scanned(_ isDescending: Bool) -> String {
    "FROM entries WHERE key >= ?1 AND key < ?2 ORDER BY key \(isDescending ? "DESC" : "ASC") LIMIT ?3"
  }

  static let put = """
    INSERT INTO entries (stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_checksum, key,
      payload_bytes, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (key) DO UPDATE SET
      stored_at = excluded.stored_at, fresh_until = excluded.fresh_until, retain_until = excluded.retain_until,
      content_type = excluded.content_type, attributes = excluded.attributes, checksum = excluded.checksum,
      payload_checksum = excluded.payload_checksum, payload_bytes = excluded.payload_bytes, payload = excluded.payload
    WHERE \(noteReplaced)
    """
  /// `CASE` makes sure that the checksum is compared before the function is called.
  static let update = """
    UPDATE entries SET stored_at = ?1, fresh_until = ?2, retain_until = ?3, content_type = ?4, attributes = ?5,
      checksum = ?6, payload_checksum = ?7
    WHERE key = ?8 AND CASE WHEN checksum = ?9 THEN \(noteReplaced) END
    """
  static let remove = "DELETE FROM entries WHERE key = ?1 AND \(noteReplaced)"
  static let removeExpired = "DELETE FROM entries WHERE retain_until <= ?1"
  /// The function reports to the writer what the statement removes or replaces.
  private static let noteReplaced = "replaced(entries.id, \(payloadBytes))"

  /// By namespace, the rows of the table and the entries after its mark.
  static let count = """
    SELECT namespace, sum(entries), sum(payload_bytes), min(earliest_expiry) FROM (
      SELECT namespace, entries, payload_bytes, earliest_expiry FROM counts WHERE namespace <> '/'
      UNION ALL SELECT \(counted) FROM entries
      WHERE id > coalesce((SELECT entries FROM counts WHERE namespace = '/'), \(Int64.min)) GROUP BY 1
    ) GROUP BY 1
    """
  /// By namespace, all entries.
  static let recount = "SELECT \(counted) FROM entries GROUP BY 1"
  private static let counted = "\(namespace), count(*), sum(\(payloadBytes)), min(retain_until)"
  static let saveCount = "INSERT OR REPLACE INTO counts VALUES (?1, ?2, ?3, ?4)"
  static let saveMark =
    "INSERT OR REPLACE INTO counts SELECT '/', coalesce(max(id), 0), 0, 0 FROM entries RETURNING entries"

  /// The definitions in the database, as far as they can be read.
  static func definitions(in connection: SQLiteConnection) -> Set<String> {
    var found: Set<String> = []
    do throws(CacheError) {
      let statement = try SQLiteStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", on: connection)
      while try statement.step() { found.insert(String(decoding: statement.bytes(0), as: UTF8.self)) }
    } catch {}
    return found
  }

  /// Throws unless the database is a store of this engine, of the version that it reads. It needs no write lock, and runs
  /// no statement on the database of another application.
  static func verify(_ connection: SQLiteConnection) throws(CacheError) {
    let path = connection.path
    let header = try SQLiteHeader(of: connection)
    try header.requireOwn(path)
    let version = try connection.integer("PRAGMA user_version")
    // From here on the connection holds a lock that keeps the file from being replaced.
    guard csqlite_control(connection.handle, SQLITE_FCNTL_HAS_MOVED, 0) == 0 else {
      throw CacheError(sqlite: SQLITE_BUSY, message: "it was replaced meanwhile", path: path)
    }
    // The log might have a newer header.
    let isMarked = try header.isMarked ? true : connection.integer("PRAGMA application_id") == applicationID
    guard isMarked, version > 0 else {
      throw CacheError(.damaged, "\(path): its marks are damaged")
    }
    guard version == Self.version else { throw .otherVersion(version, path: path) }
  }
}

/// The marks in the header of a database file, as they are on disk. They are read without a statement, which could create
/// a log next to the database of another application.
struct SQLiteHeader {
  private let isDatabase: Bool
  private let application: Int64
  private let version: Int64

  /// Cost: reading 72 bytes.
  init(of connection: SQLiteConnection) throws(CacheError) {
    var header = [UInt8](repeating: 0, count: 72)
    let code = csqlite_file_read(connection.handle, &header, 72, 0)
    guard code == SQLITE_OK else {
      throw CacheError(sqlite: code, message: "its header cannot be read", path: connection.path)
    }
    isDatabase = header.starts(with: "SQLite format 3\0".utf8)
    application = Self.number(header[68..<72])
    version = Self.number(header[60..<64])
  }

  /// The marks of the file at `path`.
  init(at path: String) throws(CacheError) {
    try self.init(of: SQLiteConnection(path: path, flags: SQLITE_OPEN_READONLY, busyTimeout: 0))
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(Int32(truncatingIfNeeded: bytes.reduce(0) { $0 << 8 | Int($1) }))
  }

  /// Whether the file says that it is a store.
  var isMarked: Bool { isDatabase && application == SQLiteSchema.applicationID }

  /// The store's version; `nil` if its marks are damaged.
  var format: Int? { isMarked && version > 0 ? Int(version) : nil }

  /// Throws unless the file at `path` is a store, damaged or not.
  ///
  /// If its own mark is damaged, the file is a store because it still contains definitions of a store, or because of the
  /// mark next to it. The definitions of another application count for more than that one. Those in a log cannot be read
  /// without changing files.
  func requireOwn(_ path: String) throws(CacheError) {
    if isMarked { return }
    let found = isDatabase ? Self.definitions(inFile: path) : []
    if !found.isDisjoint(with: SQLiteSchema.definitions) { return }
    let isOthers = isDatabase && (!found.isEmpty || SQLiteFiles.size(of: path + "-wal") > 0)
    if !isOthers, StoreMark(ofFile: path).isPresent { return }
    let kind = isDatabase ? "database of another application (application_id \(application))" : "file of another kind"
    throw .notAStore(path, "it is a \(kind)")
  }

  /// Throws if the file at `path`, which is a store, might have been written by another version. The definitions act as
  /// a second copy of the version: if they are those of this version, its number is damaged.
  func requireRemovable(_ path: String) throws(CacheError) {
    guard isMarked, version > 0, version != SQLiteSchema.version else { return }
    let found = Self.definitions(inFile: path)
    if !found.isEmpty, found != Set(SQLiteSchema.definitions) { throw .otherVersion(version, path: path) }
  }

  /// The definitions in the file without its log, as far as they can be read.
  private static func definitions(inFile path: String) -> Set<String> {
    let connection = try? SQLiteConnection(path: path, flags: SQLITE_OPEN_READONLY, busyTimeout: 0, immutable: true)
    return connection.map(SQLiteSchema.definitions) ?? []
  }
}

/// Reads the columns that start every query of whole entries.
///
/// It remembers the last content type and attributes, so that a run of entries that have the same allocates no text for
/// them. It begins with the most usual type as a literal, which is not even reference-counted.
struct SQLiteRow {
  private var metadata = EntryMetadata(
    storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "application/json")
  /// The JSON that the last attributes were read from; empty for none.
  private var json: [UInt8] = []

  /// The entry in the current row of `statement`, whose payload is in SQLite's memory; empty if it was not selected.
  ///
  /// - Parameter key: the entry's key, for error messages.
  @inline(__always)
  mutating func entry(
    of statement: SQLiteStatement, key: @autoclosure () -> String
  ) throws(CacheError) -> (metadata: EntryMetadata, payload: UnsafeBufferPointer<UInt8>) {
    guard readContentType(of: statement), readAttributes(of: statement) else {
      throw .undecodable("its metadata cannot be decoded", key: key(), path: statement.connection.path)
    }
    let payload = statement.bytes(8)
    guard payload.count == Self.payloadBytes(of: statement) || statement.isNull(8) else {
      throw .undecodable("the length of its payload is wrong", key: key(), path: statement.connection.path)
    }
    metadata.storedAt = Timestamp(milliseconds: statement.integer(0))
    metadata.freshUntil = Timestamp(milliseconds: statement.integer(1))
    metadata.retainUntil = Timestamp(milliseconds: statement.integer(2))
    metadata.checksum = UInt64(bitPattern: statement.integer(5))
    metadata.payloadChecksum = UInt64(bitPattern: statement.integer(6))
    return (metadata, payload)
  }

  /// The size that the payload had when it was written.
  static func payloadBytes(of statement: SQLiteStatement) -> Int { Int(statement.integer(7)) }

  static func key(of statement: SQLiteStatement, column: Int32 = 9) throws(CacheError) -> CacheKey {
    do throws(CacheError) {
      return try CacheKey(String(decoding: statement.bytes(column), as: UTF8.self))
    } catch {
      throw .undecodable(error.message, key: "without a valid key", path: statement.connection.path)
    }
  }

  /// Returns `false` if it is not UTF-8.
  private mutating func readContentType(of statement: SQLiteStatement) -> Bool {
    let bytes = statement.bytes(3)
    if metadata.contentType.withBytes({ Self.areEqual($0, bytes) }) { return true }
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    metadata.contentType = text
    return true
  }

  private static func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count, let left = left.baseAddress, let start = right.baseAddress else {
      return left.isEmpty && right.isEmpty
    }
    return memcmp(left, start, right.count) == 0
  }

  /// Returns `false` if they are not a JSON object of strings.
  private mutating func readAttributes(of statement: SQLiteStatement) -> Bool {
    let bytes = statement.bytes(4)
    if json.withUnsafeBufferPointer({ Self.areEqual($0, bytes) }) { return true }
    guard let attributes = bytes.isEmpty ? [:] : JSONReader.attributes(in: Array(bytes)) else { return false }
    json = Array(bytes)
    metadata.attributes = attributes
    return true
  }

  /// Whether to store a payload as text: SQLite's functions for JSON and text take no blob. The bytes stay the same
  /// either way. A zero byte would end the text for those functions, so a payload with one is stored as a blob.
  static func isText(_ payload: UnsafeBufferPointer<UInt8>) -> Bool {
    guard (try? UTF8Span(validating: payload.span)) != nil else { return false }
    guard let start = payload.baseAddress else { return true }
    return memchr(start, 0, payload.count) == nil
  }
}
