/// The workloads with liblmdb directly: as a careful user of it would write them, over the bytes that the project's
/// engine stores.
#include <lmdb.h>

#include "floor.h"

/// The header of an entry, as Sources/Storage/EngineAPI/EncodedEntry.swift describes it, and of the content type
/// application/json.
typedef struct __attribute__((packed)) {
  uint8_t version, content_type, zero[2];
  uint32_t size;
  int64_t stored_at, fresh_until, retain_until;
  uint64_t payload_checksum, checksum;
  uint32_t attributes;
} header;

static MDB_env *environment;
static MDB_dbi database;
static MDB_txn *writing;
static MDB_txn *reading;
static int is_held;

static void open_store(const char *path, int is_written) {
  check(mdb_env_create(&environment), "mdb_env_create");
  mdb_env_set_maxdbs(environment, 128);
  mdb_env_set_mapsize(environment, (size_t)1 << 30);
  check(mdb_env_open(environment, path, MDB_NOTLS | MDB_NOSYNC, 0600), "mdb_env_open");
  check(mdb_txn_begin(environment, NULL, is_written ? 0 : MDB_RDONLY, &reading), "mdb_txn_begin");
  check(mdb_dbi_open(reading, "bench", is_written ? MDB_CREATE : 0, &database), "mdb_dbi_open");
  check(mdb_txn_commit(reading), "mdb_txn_commit");
  check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &reading), "mdb_txn_begin");
  mdb_txn_reset(reading);
}

static void close_store(void) {
  mdb_txn_abort(reading);
  mdb_env_close(environment);
}

static void hold_state(void) {
  check(mdb_txn_renew(reading), "mdb_txn_renew");
  is_held = 1;
}

static void release_state(void) { mdb_txn_reset(reading); }

static uint64_t read_entry(const char *name, int key_size, int examines_all) {
  MDB_val key = {(size_t)key_size, (void *)name}, value;
  if (!is_held && mdb_txn_renew(reading)) fail("mdb_txn_renew");
  if (mdb_get(reading, database, &key, &value)) fail("mdb_get");
  const header *head = value.mv_data;
  if (value.mv_size < sizeof *head || head->version != 1 || head->size > value.mv_size) fail("decoding");
  uint64_t sum = examine(
      (const uint8_t *)value.mv_data + head->size, value.mv_size - head->size, head->stored_at, head->fresh_until,
      head->retain_until, head->payload_checksum, head->checksum, examines_all);
  if (!is_held) mdb_txn_reset(reading);
  return sum;
}

static void begin_batch(int size) {
  (void)size;
  check(mdb_txn_begin(environment, NULL, 0, &writing), "mdb_txn_begin");
}

static void commit_batch(int size) {
  (void)size;
  check(mdb_txn_commit(writing), "mdb_txn_commit");
}

static void put(const char *name, int key_size, const uint8_t *payload, int payload_size, uint64_t checksum) {
  MDB_val key = {(size_t)key_size, (void *)name}, value = {sizeof(header) + (size_t)payload_size, NULL};
  if (mdb_put(writing, database, &key, &value, MDB_RESERVE)) fail("mdb_put");
  header *head = value.mv_data;
  *head = (header){
      .version = 1, .content_type = 1, .size = sizeof *head, .stored_at = load->stored_at,
      .fresh_until = load->fresh_until, .retain_until = load->retain_until, .payload_checksum = checksum,
      .checksum = checksum};
  memcpy(head + 1, payload, (size_t)payload_size);
}
