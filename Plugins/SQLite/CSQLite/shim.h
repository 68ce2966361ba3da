#include <sqlite3.h>
#include <stddef.h>

/// Keeps the log and its index on disk after the last connection has closed, so that a later reader has no file to
/// make. `sqlite3_file_control` itself cannot be called from Swift with a pointer of the right type without a cast.
static inline int csqlite_keep_log(sqlite3 *database) {
  int keep = 1;
  return sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}

static inline int csqlite_count_log_pages(void *pages, sqlite3 *database, const char *schema, int count) {
  *(int *)pages = count;
  return SQLITE_OK;
}

/// After each commit `pages` holds the number of pages in the log. It takes the place of the automatic checkpoint.
static inline void csqlite_observe_log(sqlite3 *database, int *pages) {
  sqlite3_wal_hook(database, csqlite_count_log_pages, pages);
}

/// What a statement has replaced or removed: one row at most.
struct csqlite_replaced {
  int count;
  long long row, fresh_until, retain_until, payload_bytes;
};

static inline void csqlite_note_replaced(sqlite3_context *context, int count, sqlite3_value **values) {
  struct csqlite_replaced *replaced = (struct csqlite_replaced *)sqlite3_user_data(context);
  replaced->count += 1;
  replaced->row = sqlite3_value_int64(values[0]);
  replaced->fresh_until = sqlite3_value_int64(values[1]);
  replaced->retain_until = sqlite3_value_int64(values[2]);
  replaced->payload_bytes = sqlite3_value_int64(values[3]);
  (void)count;
  sqlite3_result_int(context, 1);
}

/// Makes the SQL function `replaced`, which notes its arguments in `replaced` and is true: a statement that has found a
/// row tells so what was in it, without a second search.
static inline int csqlite_observe_replaced(sqlite3 *database, struct csqlite_replaced *replaced) {
  return sqlite3_create_function(
      database, "replaced", 4, SQLITE_UTF8 | SQLITE_DIRECTONLY, replaced, csqlite_note_replaced, NULL, NULL);
}

/// Turns the triggers in the database off for this connection. The function is variadic, which Swift cannot call.
static inline int csqlite_disable_triggers(sqlite3 *database) {
  int enabled = 1;
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &enabled);
  return code == SQLITE_OK && enabled ? SQLITE_ERROR : code;
}

/// A number that changes with each commit of this connection, and at its next transaction after a commit of another.
static inline unsigned csqlite_data_version(sqlite3 *database) {
  unsigned version = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

/// Whether the file that is open is no longer the one at its path.
static inline int csqlite_has_moved(sqlite3 *database) {
  int has_moved = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return has_moved;
}

/// The main database file as SQLite has it open; NULL where there is none.
static inline sqlite3_file *csqlite_file(sqlite3 *database) {
  sqlite3_file *file = NULL;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return code == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

/// Locks the file, whatever is in it, against every other connection of this and other processes, until `database` is
/// closed. No statement may be run on `database`: it does not know of the lock.
static inline int csqlite_lock_file(sqlite3 *database) {
  static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
  sqlite3_file *file = csqlite_file(database);
  if (file == NULL) return SQLITE_CANTOPEN;
  for (int level = 0; level < 3; level += 1) {
    int code = file->pMethods->xLock(file, levels[level]);
    if (code == SQLITE_OK) continue;
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    return code;
  }
  return SQLITE_OK;
}

/// The size of the file in bytes; 0 where it cannot be told.
static inline long long csqlite_file_size(sqlite3 *database) {
  sqlite3_file *file = csqlite_file(database);
  sqlite3_int64 size = 0;
  return file != NULL && file->pMethods->xFileSize(file, &size) == SQLITE_OK ? size : 0;
}

/// Reads bytes of the file, as they are on disk. Closing a descriptor of our own would drop the locks that the process
/// has on the file: hence through SQLite's.
static inline int csqlite_file_read(sqlite3 *database, void *bytes, int count, long long offset) {
  sqlite3_file *file = csqlite_file(database);
  return file == NULL ? SQLITE_CANTOPEN : file->pMethods->xRead(file, bytes, count, offset);
}
