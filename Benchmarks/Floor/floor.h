/// The parts of a floor program, the same for all libraries. The library's part is declared here and defined by the
/// file that includes this one; the operations with it are here.
#pragma once
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/// The store's path, and whether it is opened to be written.
static void open_store(const char *path, int is_written);
static void close_store(void);
/// Begins and ends the one read transaction in which all reads then are.
static void hold_state(void);
static void release_state(void);
/// Reads an entry, which must be there, and returns its part of the sum.
static uint64_t read_entry(const char *key, int key_size, int examines_all);
/// Begins a batch of as many writes, and commits it.
static void begin_batch(int size);
static void commit_batch(int size);
static void put(const char *key, int key_size, const uint8_t *payload, int payload_size, uint64_t checksum);

/// The output of `Driver trace`: this head, the operations, the key of each, the keys of all entries, and the payloads
/// of the operations that write. The times are those of all entries.
typedef struct {
  int64_t stored_at, fresh_until, retain_until;
  uint32_t kind, entries, operations, key_size, payload_size, batch;
} trace;

enum { kind_read, kind_write, kind_mix, kind_open };

/// One operation: a read if the version is 0, otherwise the write of that version of the entry.
typedef struct {
  uint32_t number, version;
  uint64_t checksum;
} operation;

static const trace *load;
static const operation *operations;
static const char *keys, *all_keys;
static const uint8_t *payloads;

/// Ends the program, because of a failure of the library.
static void fail(const char *what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static void check(int status, const char *what) {
  if (status) fail(what);
}

static void read_trace(const char *path) {
  int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) fail(path);
  // Read at once, so that no page of it is waited for while time is taken.
  load = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (load == MAP_FAILED) fail("mmap");
  operations = (const operation *)(load + 1);
  keys = (const char *)(operations + load->operations);
  all_keys = keys + (size_t)load->operations * load->key_size;
  payloads = (const uint8_t *)all_keys + (size_t)load->entries * load->key_size;
}

static const char *key_of(uint32_t index) { return keys + (size_t)index * load->key_size; }

/// All of the metadata, and of the payload the size and one byte, so that a library that lends bytes without touching
/// them is measured as such; with `examines_all` also a hash of all bytes (FNV-1a, 64 bits).
static uint64_t examine(
    const uint8_t *payload, uint64_t size, int64_t stored_at, int64_t fresh_until, int64_t retain_until,
    uint64_t payload_checksum, uint64_t checksum, int examines_all) {
  uint64_t sum = payload[0] + size + (uint64_t)stored_at + (uint64_t)fresh_until + (uint64_t)retain_until +
                 payload_checksum + checksum;
  if (!examines_all) return sum;
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t i = 0; i < size; i++) hash = (hash ^ payload[i]) * 0x100000001B3;
  return sum + hash;
}

/// Reads the key of each operation.
static uint64_t read_all(void) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < load->operations; i++) sum += read_entry(key_of(i), (int)load->key_size, 0);
  return sum;
}

static uint64_t open_all(const char *path) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < load->operations; i++) {
    open_store(path, 0);
    sum += read_entry(key_of(i), (int)load->key_size, 0);
    close_store();
  }
  return sum;
}

/// Reads and writes as the operations say.
static uint64_t run_all(void) {
  uint64_t sum = 0;
  const uint8_t *payload = payloads;
  uint32_t pending = 0;
  for (uint32_t i = 0; i < load->operations; i++) {
    if (!operations[i].version) {
      sum += read_entry(key_of(i), (int)load->key_size, 0);
      continue;
    }
    if (!pending) begin_batch((int)load->batch);
    put(key_of(i), (int)load->key_size, payload, (int)load->payload_size, operations[i].checksum);
    payload += load->payload_size;
    if (++pending < load->batch && i + 1 < load->operations) continue;
    commit_batch((int)load->batch);
    pending = 0;
  }
  return sum;
}

/// A hash over all that is in the store.
static uint64_t examine_all(void) {
  uint64_t sum = 0;
  for (uint32_t number = 0; number < load->entries; number++) {
    sum += read_entry(all_keys + (size_t)number * load->key_size, (int)load->key_size, 1);
  }
  return sum;
}

static double nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double elapsed, processor;

static void begin_time(void) {
  elapsed = nanoseconds(CLOCK_MONOTONIC);
  processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void end_time(void) {
  elapsed = nanoseconds(CLOCK_MONOTONIC) - elapsed;
  processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
}

/// Arguments: the trace, the store, and "held" if all reads are in one transaction. Prints the nanoseconds that an
/// operation took, its processor time in nanoseconds, and the sum of all bytes read.
int main(int count, char **arguments) {
  if (count < 3) return 64;
  read_trace(arguments[1]);
  const char *path = arguments[2];
  int is_held = count > 3;
  uint64_t sum = 0;
  if (load->kind == kind_open) {
    open_all(path);
    begin_time();
    sum = open_all(path);
    end_time();
  } else {
    open_store(path, load->kind != kind_read);
    if (is_held) hold_state();
    if (load->kind != kind_write) sum = read_all();
    begin_time();
    sum += load->kind == kind_read ? read_all() : run_all();
    end_time();
    if (is_held) release_state();
    if (load->kind != kind_read) sum += examine_all();
    close_store();
  }
  printf("%.2f %.2f %" PRIu64 "\n", elapsed / load->operations, processor / load->operations, sum);
}
