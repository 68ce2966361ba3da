/// What a floor program consists of, whichever library it stands on. The library's part is declared here and defined by
/// the file that includes this one; what is done with it stands here.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CWorkload.h"

/// The store's path, and whether it is opened to be written.
static void open_store(const char *path, int is_written);
static void close_store(void);
/// Begins and ends the one read transaction in which all reads then are.
static void hold_state(void);
static void release_state(void);
/// Reads an entry, which has to be there, and returns what is added up of it.
static uint64_t read_entry(const char *key, int key_size, int examines_all);
/// Begins a batch of as many writes, and commits it.
static void begin_batch(int size);
static void commit_batch(int size);
static void put(const char *key, int key_size, const uint8_t *payload, int payload_size, uint64_t checksum);

/// Ends the program, because of a failure of the library.
static void fail(const char *what) {
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static void check(int status, const char *what) {
  if (status) fail(what);
}

static workload load;
static operation *operations;
/// The keys of all operations, and the payloads of those that write, one after another in memory.
static char *keys;
static uint8_t *payloads;

static const char *key_of(int index) { return keys + (size_t)index * (size_t)load.key_size; }

static void make_operations(void) {
  operations = workload_operations(&load);
  size_t count = (size_t)load.operations, written = 0;
  for (size_t i = 0; i < count; i++) written += operations[i].version != 0;
  keys = malloc(count * (size_t)load.key_size);
  uint8_t *payload = payloads = malloc(written * (size_t)load.payload_size + 1);
  if (!keys || !payloads) fail("malloc");
  for (size_t i = 0; i < count; i++) {
    workload_write_key(&load, operations[i].number, keys + i * (size_t)load.key_size);
    if (!operations[i].version) continue;
    workload_write_payload(&load, operations[i].number, operations[i].version, payload);
    payload += load.payload_size;
  }
}

static uint64_t examine(
    const uint8_t *payload, uint64_t size, int64_t stored_at, int64_t fresh_until, int64_t retain_until,
    uint64_t checksum, int examines_all) {
  uint64_t sum = workload_entry_sum(payload, size, stored_at, fresh_until, retain_until, checksum);
  return examines_all ? sum + workload_payload_hash(payload, size) : sum;
}

/// Reads the key of each operation.
static uint64_t read_all(void) {
  uint64_t sum = 0;
  for (int i = 0; i < load.operations; i++) sum += read_entry(key_of(i), load.key_size, 0);
  return sum;
}

static uint64_t open_all(const char *path) {
  uint64_t sum = 0;
  for (int i = 0; i < load.operations; i++) {
    open_store(path, 0);
    sum += read_entry(key_of(i), load.key_size, 0);
    close_store();
  }
  return sum;
}

/// Reads and writes as the operations say.
static uint64_t run_all(void) {
  uint64_t sum = 0;
  const uint8_t *payload = payloads;
  int pending = 0;
  for (int i = 0; i < load.operations; i++) {
    if (!operations[i].version) {
      sum += read_entry(key_of(i), load.key_size, 0);
      continue;
    }
    if (!pending) begin_batch(load.batch);
    uint64_t checksum = workload_checksum(operations[i].number, operations[i].version);
    put(key_of(i), load.key_size, payload, load.payload_size, checksum);
    payload += load.payload_size;
    if (++pending < load.batch && i + 1 < load.operations) continue;
    commit_batch(load.batch);
    pending = 0;
  }
  return sum;
}

/// A hash over all that is in the store.
static uint64_t examine_all(void) {
  uint64_t sum = 0;
  char *key = malloc((size_t)load.key_size);
  for (int number = 0; number < load.entries; number++) {
    workload_write_key(&load, (uint32_t)number, key);
    sum += read_entry(key, load.key_size, 1);
  }
  free(key);
  return sum;
}

static void run_reads(const char *path) {
  int is_held = load.kind == workload_read_held;
  open_store(path, 0);
  if (is_held) hold_state();
  uint64_t sum = read_all();
  workload_time begin = workload_now();
  sum += read_all();
  workload_print(workload_since(begin), load.operations, sum);
  if (is_held) release_state();
  close_store();
}

static void run_writes(const char *path) {
  open_store(path, 1);
  uint64_t sum = load.kind == workload_mix ? read_all() : 0;
  workload_time begin = workload_now();
  sum += run_all();
  workload_time taken = workload_since(begin);
  workload_print(taken, load.operations, sum + examine_all());
  close_store();
}

static void run_openings(const char *path) {
  open_all(path);
  workload_time begin = workload_now();
  uint64_t sum = open_all(path);
  workload_print(workload_since(begin), load.operations, sum);
}

/// Arguments: the workload, the store, and by what its size is divided.
int main(int count, char **arguments) {
  if (count != 4) return 64;
  load = workload_named(arguments[1], atoi(arguments[3]));
  if (!load.name) return 64;
  make_operations();
  switch (load.kind) {
    case workload_read:
    case workload_read_held: run_reads(arguments[2]); break;
    case workload_write:
    case workload_mix: run_writes(arguments[2]); break;
    case workload_open: run_openings(arguments[2]); break;
    case workload_create: return 64;
  }
}
