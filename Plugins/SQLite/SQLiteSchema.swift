internal import StorageSPI

/// The table, and the marks by which a database is known to be a store of this engine.
enum SQLiteSchema {
  /// The bytes "CaCh" in the file's header: "this is a store of cachectl".
  static let applicationID: Int64 = 0x4361_4368
  /// The version of the table. A database of any other version is refused.
  static let version: Int64 = 1

  /// The payload comes last, so that reading the other columns of a large entry does not touch the pages that it fills.
  /// The second index also answers how much each namespace holds without reading the table.
  static let creation = """
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
    ) STRICT;
    CREATE INDEX entries_by_expiry ON entries (retain_until, namespace, payload_bytes);
    CREATE VIEW entries_readable AS SELECT
      key, content_type, payload_bytes,
      strftime('%Y-%m-%dT%H:%M:%fZ', stored_at / 1000.0, 'unixepoch') AS stored_at,
      strftime('%Y-%m-%dT%H:%M:%fZ', fresh_until / 1000.0, 'unixepoch') AS fresh_until,
      strftime('%Y-%m-%dT%H:%M:%fZ', retain_until / 1000.0, 'unixepoch') AS retain_until,
      attributes,
      CASE WHEN json_valid(payload) THEN payload END AS json
    FROM entries;
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Throws unless the database is a store of this engine and version. It needs no lock for writing, and it does not
  /// parse the other application's tables.
  static func verify(_ connection: SQLiteConnection) throws(StorageError) {
    let application = try connection.integer("PRAGMA application_id")
    let found = try connection.integer("PRAGMA user_version")
    guard application == applicationID else {
      throw .foreign("is a database of another application (application_id \(application))", path: connection.path)
    }
    guard found == version else {
      throw .foreign("has format version \(found), and this program reads version \(version)", path: connection.path)
    }
  }

  static let read = "SELECT \(columns), payload FROM entries WHERE key = ?1"
  static let scan = "SELECT \(columns), key FROM entries WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3"
  static let everything = "SELECT \(columns), payload, key, namespace FROM entries ORDER BY key"
  static let tally = """
    SELECT namespace, fresh_until >> \(EntryTally.slotBits), retain_until >> \(EntryTally.slotBits), count(*),
      sum(payload_bytes)
    FROM entries GROUP BY 1, 2, 3
    """
  static let checksum = "SELECT checksum FROM entries WHERE key = ?1"
  static let remove = "DELETE FROM entries WHERE key = ?1"
  static let removeExpired = "DELETE FROM entries WHERE retain_until <= ?1"
  static let put = """
    INSERT INTO entries (stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_bytes,
      payload, key, namespace)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (key) DO UPDATE SET
      stored_at = excluded.stored_at, fresh_until = excluded.fresh_until, retain_until = excluded.retain_until,
      content_type = excluded.content_type, attributes = excluded.attributes, checksum = excluded.checksum,
      payload_bytes = excluded.payload_bytes, payload = excluded.payload
    """

  /// The columns that every query begins with, in the order in which `SQLiteRow` reads them.
  private static let columns =
    "stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_bytes"
}
