/// Point reads with liblmdb directly: a read transaction renewed for each read, and mdb_get.
/// Arguments: the store's folder, the number of entries, the number of reads.
#include <lmdb.h>

#include "floor.h"

static MDB_txn *transaction;
static MDB_dbi database;
static char *keys;

static uint64_t read_all(int reads) {
  uint64_t sum = 0;
  for (int i = 0; i < reads; i++) {
    MDB_val key = {KEY_SIZE, keys + (size_t)i * KEY_SIZE}, value;
    if (mdb_txn_renew(transaction) || mdb_get(transaction, database, &key, &value)) exit(1);
    // The payload follows the header, whose size is at offset 4 and whose checksum at offset 32.
    const unsigned char *bytes = value.mv_data;
    sum += bytes[*(const uint32_t *)(bytes + 4)] + value.mv_size + *(const uint64_t *)(bytes + 32);
    mdb_txn_reset(transaction);
  }
  return sum;
}

int main(int count, char **arguments) {
  MDB_env *environment;
  if (count != 4 || mdb_env_create(&environment)) return 1;
  mdb_env_set_maxdbs(environment, 128);
  mdb_env_set_mapsize(environment, (size_t)1 << 30);
  if (mdb_env_open(environment, arguments[1], MDB_NOTLS, 0600)) return 1;
  if (mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction)) return 1;
  if (mdb_dbi_open(transaction, "bench", 0, &database) || mdb_txn_commit(transaction)) return 1;
  if (mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction)) return 1;
  mdb_txn_reset(transaction);
  keys = random_keys(atoi(arguments[2]), atoi(arguments[3]));
  measure(atoi(arguments[3]), read_all);
  mdb_txn_abort(transaction);
  mdb_env_close(environment);
}
