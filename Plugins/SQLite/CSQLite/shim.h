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
