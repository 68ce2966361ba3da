internal import CSQLite
internal import EngineSupport
internal import StorageSPI

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
  static let definitions = [entriesTable, readableView, tallyTable] + tallyTriggers

  /// The payload comes last, so that reading the other columns of a large entry does not touch the payload's pages.
  private static let entriesTable = """
    CREATE TABLE entries (
      key TEXT NOT NULL UNIQUE,
      namespace TEXT NOT NULL,
      stored_at INTEGER NOT NULL,
      fresh_until INTEGER NOT NULL,
      retain_until INTEGER NOT NULL,
      content_type TEXT NOT NULL,
      attributes TEXT,
      checksum INTEGER NOT NULL,
      payload_bytes INTEGER NOT NULL,
      payload ANY NOT NULL
    ) STRICT
    """

  private static let readableView = """
    CREATE VIEW entries_readable AS SELECT
      key, content_type, payload_bytes,
      strftime('%Y-%m-%dT%H:%M:%fZ', stored_at / 1000.0, 'unixepoch') AS stored_at,
      strftime('%Y-%m-%dT%H:%M:%fZ', fresh_until / 1000.0, 'unixepoch') AS fresh_until,
      strftime('%Y-%m-%dT%H:%M:%fZ', retain_until / 1000.0, 'unixepoch') AS retain_until,
      attributes,
      CASE WHEN json_valid(payload) THEN payload END AS json
    FROM entries
    """

  /// An `EntryTally` of the rows up to a mark. The mark is a row of its own: its namespace is one that no key can have,
  /// its `fresh_slot` is the number of the last counted row, and its `retain_slot` is the schema's change counter,
  /// which VACUUM also increments, because it may renumber rows. Without a mark of the current schema, everything must
  /// be counted.
  private static let tallyTable = """
    CREATE TABLE tally (
      namespace TEXT NOT NULL,
      fresh_slot INTEGER NOT NULL,
      retain_slot INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      payload_bytes INTEGER NOT NULL,
      PRIMARY KEY (namespace, fresh_slot, retain_slot)
    ) STRICT, WITHOUT ROWID
    """

  /// A change made by any other program makes the engine count again. The engine itself disables these triggers and
  /// updates the tally, which is faster than a trigger could be.
  private static let tallyTriggers = ["INSERT", "UPDATE", "DELETE"].map { change in
    "CREATE TRIGGER tally_\(change.lowercased()) AFTER \(change) ON entries BEGIN DELETE FROM tally; END"
  }

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
    // The log may have a newer header.
    let isMarked = try header.isMarked ? true : connection.integer("PRAGMA application_id") == applicationID
    guard isMarked, version > 0 else {
      throw CacheError(.damaged, "\(path): its marks are damaged")
    }
    guard version == Self.version else { throw .otherVersion(version, path: path) }
  }

  static let read = "SELECT \(columns), payload FROM entries WHERE key = ?1"
  static let scan = "SELECT \(columns), key FROM entries WHERE \(range) ORDER BY key LIMIT ?3"
  static let scanBackwards = "SELECT \(columns), key FROM entries WHERE \(range) ORDER BY key DESC LIMIT ?3"
  /// These two read the index of keys alone.
  static let firstKey = "SELECT key FROM entries WHERE \(range) ORDER BY key LIMIT 1"
  static let lastKey = "SELECT key FROM entries WHERE \(range) ORDER BY key DESC LIMIT 1"
  private static let range = "key >= ?1 AND key < ?2"
  static let everything = "SELECT \(columns), payload, key, namespace FROM entries ORDER BY key"
  /// A size, clamped so that a damaged one cannot make sums overflow. SQLite stores nothing larger.
  private static let payloadBytes = "max(0, min(payload_bytes, 1000000000))"
  static let tally =
    "SELECT namespace, fresh_slot, retain_slot, entries, payload_bytes FROM tally WHERE namespace <> '/'"
  static let mark = """
    SELECT fresh_slot FROM tally
    WHERE namespace = '/' AND retain_slot = (SELECT schema_version FROM pragma_schema_version)
    """
  static let saveMark = """
    UPDATE tally SET fresh_slot = coalesce((SELECT max(rowid) FROM entries), 0),
      retain_slot = (SELECT schema_version FROM pragma_schema_version)
    WHERE namespace = '/' RETURNING fresh_slot
    """
  /// Leaves a mark that matches no schema: SQLite's counter has only 32 bits.
  static let emptyTally = "DELETE FROM tally; INSERT INTO tally VALUES ('/', 0, \(Int64.min), 0, 0)"
  static let saveTally = "INSERT OR REPLACE INTO tally VALUES (?1, ?2, ?3, ?4, ?5)"
  static let removeTally = "DELETE FROM tally WHERE namespace = ?1 AND fresh_slot = ?2 AND retain_slot = ?3"
  /// The correct tally of all rows.
  static let count = "\(countedColumns) FROM entries GROUP BY 1, 2, 3"
  static let countBehind = "\(countedColumns) FROM entries WHERE rowid > ?1 GROUP BY 1, 2, 3"
  /// Takes the namespace from the key: the column of that name is for people.
  private static let countedColumns = """
    SELECT substr(key, 1, instr(key, '/') - 1), fresh_until >> \(EntryTally.slotBits),
      retain_until >> \(EntryTally.slotBits), count(*), sum(\(payloadBytes))
    """
  static let checksum = "SELECT checksum FROM entries WHERE key = ?1"
  /// The function reports to the writer what the statement removes or replaces.
  private static let noteReplaced = "replaced(entries.rowid, fresh_until, retain_until, \(payloadBytes))"
  /// With NULL as the second parameter, the entry may have any checksum. `CASE` makes sure that the checksum is compared
  /// before the function is called.
  static let remove = """
    DELETE FROM entries
    WHERE key = ?1 AND CASE WHEN ?2 IS NULL OR checksum = ?2 THEN \(noteReplaced) END
    """
  static let hasExpired = "SELECT 1 FROM entries WHERE retain_until <= ?1 LIMIT 1"
  static let removeExpired = "DELETE FROM entries WHERE retain_until <= ?1"
  static let put = """
    INSERT INTO entries (stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_bytes,
      payload, key, namespace)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (key) DO UPDATE SET
      stored_at = excluded.stored_at, fresh_until = excluded.fresh_until, retain_until = excluded.retain_until,
      content_type = excluded.content_type, attributes = excluded.attributes, checksum = excluded.checksum,
      payload_bytes = excluded.payload_bytes, payload = excluded.payload
    WHERE \(noteReplaced)
    """

  /// The columns that start every query, in the order in which `SQLiteRow` reads them.
  private static let columns =
    "stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_bytes"
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
  /// If its own mark is damaged, the file is a store because it still contains definitions of a store, or because of
  /// the mark next to it. The definitions of another application count for more than that one. Those in a log cannot be
  /// read without changing files.
  func requireOwn(_ path: String) throws(CacheError) {
    if isMarked { return }
    let found = isDatabase ? Self.definitions(inFile: path) : []
    if !found.isDisjoint(with: SQLiteSchema.definitions) { return }
    let isOthers = isDatabase && (!found.isEmpty || SQLiteFiles.size(of: path + "-wal") > 0)
    if !isOthers, StoreMark(ofFile: path).isPresent { return }
    throw isDatabase ? .foreign(application, path: path) : .notAStore(path, "it is a file of another kind")
  }

  /// Throws if the file at `path`, which is a store, may have been written by another version. The definitions act as a
  /// second copy of the version: if they are those of this version, its number is damaged.
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
