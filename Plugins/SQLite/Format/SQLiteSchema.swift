internal import CSQLite
internal import StorageSPI

/// The tables, and the marks that identify a database as a store of this engine.
enum SQLiteSchema {
  /// The bytes "CaCh" in the file's header: "this is a store of cachectl".
  static let applicationID: Int64 = 0x4361_4368
  /// The version that this engine writes. It upgrades an older store before writing to it.
  static let version: Int64 = 3
  /// Stores of version 1 have no tally; those of version 2 have one without a mark, which counts every entry.
  static let firstVersionWithTally: Int64 = 2
  static let firstVersionWithMark: Int64 = 3
  /// The versions that this engine reads.
  static let readableVersions: ClosedRange<Int64> = 1...version
  /// The versions that later programs may write. Any other number is damage.
  static let laterVersions: ClosedRange<Int64> = (version + 1)...(version + 100)

  /// The statements that create a new store.
  static let creation = marked(definitions.map { $0 + ";" }.joined(separator: "\n"))

  /// The statements that upgrade a store from version `old`, to run in order and commit together. The first transaction
  /// afterwards counts the entries, because there is no mark.
  static func upgrade(from old: Int64) -> [String] {
    (old < firstVersionWithTally ? tallyUpgrade : []) + ["PRAGMA user_version = \(version)"]
  }

  /// Drops the index by expiry: it was there for counting, and maintaining it cost more than the tally does.
  private static let tallyUpgrade = ["DROP INDEX IF EXISTS entries_by_expiry", tallyTable] + tallyTriggers

  /// Every definition in the database, with the exact text that SQLite stores. Versions 2 and 3 differ only in rows.
  static let definitions = [entriesTable, readableView, tallyTable] + tallyTriggers
  /// The definitions in a store of version 1.
  static let firstDefinitions = [
    entriesTable, readableView,
    "CREATE INDEX entries_by_expiry ON entries (retain_until, namespace, payload_bytes)",
  ]

  /// The definitions of all versions.
  static let allDefinitions = Set(definitions + firstDefinitions)

  /// Whether `found` is the complete set of definitions of a readable version. A later version has other definitions:
  /// they act as a second copy of the version, which tells a later version from damage.
  static func areDefinitions(_ found: Set<String>) -> Bool {
    found == Set(definitions) || found == Set(firstDefinitions)
  }

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

  private static func marked(_ statements: String) -> String {
    "\(statements)\nPRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);"
  }

  /// The version of the store; throws unless it is a store of this engine, of a version that it reads. It needs no
  /// write lock, and does not parse another application's tables.
  @discardableResult
  static func verify(_ connection: SQLiteConnection) throws(CacheError) -> Int64 {
    let application = try connection.integer("PRAGMA application_id")
    let found = try connection.integer("PRAGMA user_version")
    // From here on the connection holds a lock that keeps the file from being replaced.
    guard csqlite_has_moved(connection.handle) == 0 else {
      throw CacheError(sqlite: SQLITE_BUSY, message: "it was replaced meanwhile", path: connection.path)
    }
    if application == applicationID, readableVersions.contains(found) { return found }
    if let definitions = try? definitions(in: connection), definitions.isEmpty || areDefinitions(definitions) {
      throw CacheError(
        .damaged, "\(connection.path): its marks are damaged (application_id \(application), user_version \(found))")
    }
    guard application == applicationID else {
      throw .foreign(Int(application), path: connection.path)
    }
    throw .laterVersion(Int(found), path: connection.path)
  }

  private static func definitions(in connection: SQLiteConnection) throws(CacheError) -> Set<String> {
    let statement = try SQLiteStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", on: connection)
    var found: Set<String> = []
    while try statement.step() { found.insert(String(decoding: statement.bytes(0), as: UTF8.self)) }
    return found
  }

  static let read = "SELECT \(columns), payload FROM entries WHERE key = ?1"
  static let scan = "SELECT \(columns), key FROM entries WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3"
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
    UPDATE tally SET fresh_slot = ?1, retain_slot = (SELECT schema_version FROM pragma_schema_version)
    WHERE namespace = '/'
    """
  /// Leaves a mark that matches no schema: SQLite's counter has only 32 bits.
  static let emptyTally = "DELETE FROM tally; INSERT INTO tally VALUES ('/', 0, \(Int64.min), 0, 0)"
  static let lastRow = "SELECT max(rowid) FROM entries"
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
