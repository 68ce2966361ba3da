#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/// Calls `sqlite3_file_control` for an operation that takes and returns an `int`: Swift would need a cast for its pointer.
static inline int csqlite_control(sqlite3 *database, int operation, int value) {
  sqlite3_file_control(database, "main", operation, &value);
  return value;
}

/// The changes that a connection makes.
struct csqlite_changes {
  /// How many rows the last statement has replaced or removed, 0 or 1, and the old content of that row.
  int replaced;
  long long row, payload_bytes;
  /// The length of the log after the last commit, and how many commits have written to it.
  int log_pages;
  unsigned commits;
};

static inline int csqlite_note_commit(void *changes, sqlite3 *database, const char *schema, int pages) {
  ((struct csqlite_changes *)changes)->log_pages = pages;
  ((struct csqlite_changes *)changes)->commits += 1;
  return SQLITE_OK;
}

static inline void csqlite_note_replaced(sqlite3_context *context, int count, sqlite3_value **values) {
  struct csqlite_changes *changes = (struct csqlite_changes *)sqlite3_user_data(context);
  changes->replaced += 1;
  changes->row = sqlite3_value_int64(values[0]);
  changes->payload_bytes = sqlite3_value_int64(values[1]);
  sqlite3_result_int(context, 1);
}

/// Defines the SQL function `replaced`, which records its arguments and returns true: a statement that has found a row
/// uses it to report the row's old content, without a second search. It also observes commits, in place of the automatic
/// checkpoint, and disables the database's triggers for the connection.
///
/// Returns the connection's memory, freed when it is closed; NULL on an error.
static inline struct csqlite_changes *csqlite_observe_changes(sqlite3 *database) {
  // Variadic, so Swift cannot call it.
  if (sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL) != SQLITE_OK) return NULL;
  struct csqlite_changes *changes = (struct csqlite_changes *)sqlite3_malloc(sizeof *changes);
  if (changes == NULL) return NULL;
  *changes = (struct csqlite_changes){0};
  // Frees the memory at once if it fails.
  int code = sqlite3_create_function_v2(
      database, "replaced", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, changes, csqlite_note_replaced, NULL, NULL, sqlite3_free);
  if (code != SQLITE_OK) return NULL;
  sqlite3_wal_hook(database, csqlite_note_commit, changes);
  return changes;
}

/// The main database file as SQLite has it open; NULL if there is none.
static inline sqlite3_file *csqlite_file(sqlite3 *database) {
  sqlite3_file *file = NULL;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return code == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

/// Locks the file, whatever it contains, against every other connection in all processes until `database` is closed.
/// Run no statement on `database`: it does not know of the lock.
static inline int csqlite_lock_file(sqlite3 *database) {
  static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
  sqlite3_file *file = csqlite_file(database);
  if (file == NULL) return SQLITE_CANTOPEN;
  int code = SQLITE_OK;
  for (int level = 0; level < 3 && code == SQLITE_OK; level += 1) code = file->pMethods->xLock(file, levels[level]);
  if (code != SQLITE_OK) file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
  return code;
}

/// Reads bytes of the file as they are on disk; zeros follow the end of the file. It uses SQLite's descriptor, because
/// closing one of our own would drop the locks that this process has on the file.
static inline int csqlite_file_read(sqlite3 *database, void *bytes, int count, long long offset) {
  sqlite3_file *file = csqlite_file(database);
  int code = file == NULL ? SQLITE_CANTOPEN : file->pMethods->xRead(file, bytes, count, offset);
  return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/// The log's index as the connection has it in memory, valid until the connection is closed; NULL if there is none.
/// Call this only for a connection in write-ahead mode that has read something: for any other it would create the
/// index.
static inline const uint32_t *csqlite_find_log_index(sqlite3 *database) {
  sqlite3_file *file = csqlite_file(database);
  if (file == NULL || file->pMethods->iVersion < 2 || file->pMethods->xShmMap == NULL) return NULL;
  void volatile *region = NULL;
  // The size is that of SQLite's regions; zero means not to create the region.
  int code = file->pMethods->xShmMap(file, 0, 32768, 0, &region);
  return code == SQLITE_OK ? (const uint32_t *)region : NULL;
}

/// A number that changes with each commit, and how many pages of the log have been copied into the database.
struct csqlite_log_state {
  int is_known;
  uint64_t count;
  uint32_t copied_pages;
};

/// The index begins as described in "WAL-mode File Format" in SQLite's documentation: with two copies of a header of 12
/// words, followed by how far the log has been copied. A commit writes the second copy first, then the first one; this
/// function reads them in the opposite order. If they are equal, they belong to one commit.
static inline struct csqlite_log_state csqlite_read_log_state(const uint32_t *index) {
  uint32_t header[12];
  for (int word = 0; word < 12; word += 1) header[word] = __atomic_load_n(&index[word], __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  // The first byte of the fourth word tells whether the header is complete.
  int is_known = *(const uint8_t *)&header[3] != 0;
  for (int word = 0; word < 12; word += 1) {
    is_known = is_known && header[word] == __atomic_load_n(&index[12 + word], __ATOMIC_RELAXED);
  }
  // The change count restarts if the index is rebuilt after a crash; but then the checksum of the last frame, which covers
  // the whole log, differs.
  uint64_t changes = header[2], checksum = header[6] ^ (header[7] << 16 | header[7] >> 16);
  struct csqlite_log_state state = {is_known, changes << 32 | checksum, __atomic_load_n(&index[24], __ATOMIC_RELAXED)};
  return state;
}
