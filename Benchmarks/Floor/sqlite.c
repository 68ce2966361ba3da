/// The workloads with libsqlite3 directly: as a careful user of it would write them, over the table that the project's
/// engine makes, with prepared statements and the same settings.
#include <sqlite3.h>

#include "floor.h"

static sqlite3 *database;
static sqlite3_stmt *selection, *insertion;

static void execute(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql); }

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
  return statement;
}

static void prepare_writing(void) {
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216");
  // The triggers let the project's engine notice that others have written, and count again.
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  insertion = prepared(
      "INSERT INTO entries (stored_at, fresh_until, retain_until, content_type, attributes, checksum, "
      "payload_checksum, payload_bytes, payload, key) VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?5, ?6, ?7, ?8) "
      "ON CONFLICT (key) DO UPDATE SET stored_at = excluded.stored_at, fresh_until = excluded.fresh_until, "
      "retain_until = excluded.retain_until, content_type = excluded.content_type, attributes = excluded.attributes, "
      "checksum = excluded.checksum, payload_checksum = excluded.payload_checksum, "
      "payload_bytes = excluded.payload_bytes, payload = excluded.payload");
}

static void open_store(const char *path, int is_written) {
  int flags = (is_written ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
  check(sqlite3_open_v2(path, &database, flags, NULL), "sqlite3_open_v2");
  execute("PRAGMA mmap_size = 1073741824");
  if (is_written) prepare_writing();
  selection = prepared(
      "SELECT stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_checksum, "
      "payload_bytes, payload "
      "FROM entries WHERE key = ?1");
}

static void close_store(void) {
  sqlite3_finalize(selection);
  sqlite3_finalize(insertion);
  insertion = NULL;
  check(sqlite3_close(database), "sqlite3_close");
}

static void hold_state(void) { execute("BEGIN"); }
static void release_state(void) { execute("COMMIT"); }

/// The type and the attributes are looked at, too: a caller who hands out metadata must do that.
static uint64_t read_entry(const char *key, int key_size, int examines_all) {
  sqlite3_bind_text(selection, 1, key, key_size, SQLITE_STATIC);
  if (sqlite3_step(selection) != SQLITE_ROW) fail("sqlite3_step");
  const char *type = (const char *)sqlite3_column_blob(selection, 3);
  if (sqlite3_column_bytes(selection, 3) != 16 || memcmp(type, "application/json", 16)) fail("decoding");
  if (sqlite3_column_type(selection, 4) != SQLITE_NULL) fail("decoding");
  const uint8_t *payload = sqlite3_column_blob(selection, 8);
  sqlite3_int64 size = sqlite3_column_bytes(selection, 8);
  if (size != sqlite3_column_int64(selection, 7)) fail("decoding");
  uint64_t sum = examine(
      payload, (uint64_t)size, sqlite3_column_int64(selection, 0), sqlite3_column_int64(selection, 1),
      sqlite3_column_int64(selection, 2), (uint64_t)sqlite3_column_int64(selection, 6),
      (uint64_t)sqlite3_column_int64(selection, 5), examines_all);
  sqlite3_reset(selection);
  return sum;
}

/// One statement is a transaction by itself.
static void begin_batch(int size) {
  if (size > 1) execute("BEGIN IMMEDIATE");
}

static void commit_batch(int size) {
  if (size > 1) execute("COMMIT");
}

static void put(const char *key, int key_size, const uint8_t *payload, int payload_size, uint64_t checksum) {
  sqlite3_bind_int64(insertion, 1, load->stored_at);
  sqlite3_bind_int64(insertion, 2, load->fresh_until);
  sqlite3_bind_int64(insertion, 3, load->retain_until);
  sqlite3_bind_text(insertion, 4, "application/json", 16, SQLITE_STATIC);
  sqlite3_bind_int64(insertion, 5, (sqlite3_int64)checksum);
  sqlite3_bind_int64(insertion, 6, payload_size);
  sqlite3_bind_text(insertion, 7, (const char *)payload, payload_size, SQLITE_STATIC);
  sqlite3_bind_text(insertion, 8, key, key_size, SQLITE_STATIC);
  if (sqlite3_step(insertion) != SQLITE_DONE) fail("sqlite3_step");
  sqlite3_reset(insertion);
}
