#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/// Keeps the log and its index on disk after the last connection has closed, so that a later reader has no file to
/// make. `sqlite3_file_control` itself cannot be called from Swift with a pointer of the right type without a cast.
static inline int csqlite_keep_log(sqlite3 *database) {
  int keep = 1;
  return sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}

/// The log after the last commit of a connection, and how many commits have written to it.
struct csqlite_log {
  int pages;
  unsigned commits;
};

static inline int csqlite_note_commit(void *log, sqlite3 *database, const char *schema, int pages) {
  ((struct csqlite_log *)log)->pages = pages;
  ((struct csqlite_log *)log)->commits += 1;
  return SQLITE_OK;
}

/// Keeps `log` up to date. It takes the place of the automatic checkpoint.
static inline void csqlite_observe_log(sqlite3 *database, struct csqlite_log *log) {
  sqlite3_wal_hook(database, csqlite_note_commit, log);
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

/// The beginning of the index of the log, as "WAL-mode File Format" in SQLite's documentation has it: two copies of a
/// header, and then how far the log has been copied.
struct csqlite_log_header {
  uint32_t format, unused, changes;
  uint8_t is_complete, is_big_endian;
  uint16_t page_size;
  uint32_t last_frame, pages, frame_checksum[2], salts[2], checksum[2];
};
struct csqlite_log_index {
  struct csqlite_log_header headers[2];
  uint32_t copied_frames;
};

/// The index of the log as the connection has it in memory, until the connection is closed; NULL where there is none.
/// To be asked of a connection in write-ahead mode that has read something: another one would make the index.
static inline const struct csqlite_log_index *csqlite_find_log_index(sqlite3 *database) {
  sqlite3_file *file = csqlite_file(database);
  if (file == NULL || file->pMethods->iVersion < 2 || file->pMethods->xShmMap == NULL) return NULL;
  void volatile *region = NULL;
  // The size is that of SQLite's regions; zero says that there is nothing to be made.
  int code = file->pMethods->xShmMap(file, 0, 32768, 0, &region);
  return code == SQLITE_OK ? (const struct csqlite_log_index *)region : NULL;
}

/// What changes with each commit, and how much of the log has been copied.
struct csqlite_log_state {
  int is_known;
  uint64_t count;
  uint32_t copied_frames;
};

/// Whoever commits writes the second header first and then the first one; this reads them the other way round. What is
/// equal in both is of one commit, because the number of changes and the checksum tell one from the next.
static inline struct csqlite_log_state csqlite_read_log_state(const struct csqlite_log_index *index) {
  const struct csqlite_log_header *first = &index->headers[0], *second = &index->headers[1];
  struct csqlite_log_state state = {0, 0, 0};
  uint32_t changes = __atomic_load_n(&first->changes, __ATOMIC_RELAXED);
  uint32_t frame = __atomic_load_n(&first->frame_checksum[0], __ATOMIC_RELAXED);
  uint32_t other_frame = __atomic_load_n(&first->frame_checksum[1], __ATOMIC_RELAXED);
  uint32_t checksum = __atomic_load_n(&first->checksum[0], __ATOMIC_RELAXED);
  uint32_t other_checksum = __atomic_load_n(&first->checksum[1], __ATOMIC_RELAXED);
  uint8_t is_complete = __atomic_load_n(&first->is_complete, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  state.is_known = is_complete && changes == __atomic_load_n(&second->changes, __ATOMIC_RELAXED) &&
      frame == __atomic_load_n(&second->frame_checksum[0], __ATOMIC_RELAXED) &&
      other_frame == __atomic_load_n(&second->frame_checksum[1], __ATOMIC_RELAXED) &&
      checksum == __atomic_load_n(&second->checksum[0], __ATOMIC_RELAXED) &&
      other_checksum == __atomic_load_n(&second->checksum[1], __ATOMIC_RELAXED);
  // The number of changes begins anew where the index is made anew after a crash; then the checksum, which is one over
  // the whole log, is another.
  state.count = (uint64_t)changes << 32 | (frame ^ (other_frame << 16 | other_frame >> 16));
  state.copied_frames = __atomic_load_n(&index->copied_frames, __ATOMIC_RELAXED);
  return state;
}
