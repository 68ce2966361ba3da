/// Point reads with libsqlite3 directly: one prepared statement over the same table, the same settings, every column
/// read as the engine has to.
/// Arguments: the database file, the number of entries, the number of reads.
#include <sqlite3.h>

#include "floor.h"

static sqlite3_stmt *statement;
static char *keys;

static uint64_t read_all(int reads) {
  uint64_t sum = 0;
  for (int i = 0; i < reads; i++) {
    sqlite3_bind_text(statement, 1, keys + (size_t)i * KEY_SIZE, KEY_SIZE, SQLITE_STATIC);
    if (sqlite3_step(statement) != SQLITE_ROW) exit(1);
    for (int column = 0; column < 3; column++) sum += (uint64_t)sqlite3_column_int64(statement, column);
    const unsigned char *type = sqlite3_column_text(statement, 3);
    sum += type[0] + (uint64_t)sqlite3_column_bytes(statement, 3);
    sum += sqlite3_column_type(statement, 4) != SQLITE_NULL;
    for (int column = 5; column < 7; column++) sum += (uint64_t)sqlite3_column_int64(statement, column);
    const unsigned char *payload = sqlite3_column_blob(statement, 7);
    sum += payload[0] + (uint64_t)sqlite3_column_bytes(statement, 7);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
  return sum;
}

int main(int count, char **arguments) {
  sqlite3 *database;
  if (count != 4) return 1;
  if (sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL)) return 1;
  sqlite3_exec(database, "PRAGMA mmap_size = 1073741824", NULL, NULL, NULL);
  const char *sql =
      "SELECT stored_at, fresh_until, retain_until, content_type, attributes, checksum, payload_bytes, payload "
      "FROM entries WHERE key = ?1";
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)) return 1;
  keys = random_keys(atoi(arguments[2]), atoi(arguments[3]));
  measure(atoi(arguments[3]), read_all);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}
