#include <stdlib.h>
#include <string.h>

#include "CWorkload.h"
#include "Random.h"

/// All workloads. What is filled is also what the others begin with, so their keys and payloads agree.
static const workload workloads[] = {
    // name, kind, entries, bytes of a key, bytes of a payload, operations, batch
    {"create", workload_create, 1, 16, 100, 1, 1},
    {"fill-single", workload_write, 100000, 16, 100, 100000, 1},
    {"fill-batches", workload_write, 100000, 16, 100, 100000, 1000},
    {"fill-pages", workload_write, 10000, 40, 12000, 10000, 1000},
    {"read-small", workload_read, 100000, 16, 100, 200000, 1},
    {"read-small-held", workload_read_held, 100000, 16, 100, 200000, 1},
    {"read-pages", workload_read, 10000, 40, 12000, 200000, 1},
    {"read-pages-held", workload_read_held, 10000, 40, 12000, 200000, 1},
    {"ycsb-b", workload_mix, 100000, 16, 100, 200000, 1},
    {"open", workload_open, 100000, 16, 100, 1000, 1},
};

/// YCSB B: 95 % reads.
static const double read_share = 0.95;

workload workload_named(const char *name, int divisor) {
  workload none = {0};
  if (divisor < 1) return none;
  for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
    workload found = workloads[i];
    if (strcmp(found.name, name)) continue;
    found.entries = found.entries > divisor ? found.entries / divisor : 1;
    found.operations = found.operations > divisor ? found.operations / divisor : 1;
    return found;
  }
  return none;
}

/// Each number once, shuffled (Fisher and Yates).
static void write_all(const workload *load, operation *operations, uint64_t *random) {
  for (uint32_t i = 0; i < (uint32_t)load->operations; i++) {
    uint32_t other = (uint32_t)random_below(random, i + 1);
    operations[i] = operations[other];
    operations[other] = (operation){i, workload_first_version};
  }
}

operation *workload_operations(const workload *load) {
  operation *operations = calloc((size_t)load->operations, sizeof *operations);
  if (!operations) exit(1);
  uint64_t random = 42;
  if (load->kind == workload_write) {
    write_all(load, operations, &random);
    return operations;
  }
  for (int i = 0; i < load->operations; i++) {
    int is_mix = load->kind == workload_mix;
    uint64_t count = (uint64_t)load->entries;
    operations[i].number = (uint32_t)(is_mix ? random_zipfian(&random, count) : random_below(&random, count));
    // Each write has a version of its own, so that a read which misses one is found out.
    if (is_mix && random_unit(&random) >= read_share) operations[i].version = (uint32_t)i + workload_first_version + 1;
  }
  return operations;
}

void workload_write_key(const workload *load, uint32_t number, char *key) {
  int at = load->key_size;
  for (uint32_t rest = number; at > 6; rest /= 10) key[--at] = (char)('0' + rest % 10);
  memcpy(key, "bench/", 6);
}

/// Digits and a text between `{"entry":"` and `"}`.
void workload_write_payload(const workload *load, uint32_t number, uint32_t version, uint8_t *payload) {
  static const char beginning[] = "{\"entry\":\"", ending[] = "\"}";
  memset(payload, 'a' + (int)(number % 16), (size_t)load->payload_size);
  memcpy(payload, beginning, sizeof beginning - 1);
  memcpy(payload + load->payload_size - (sizeof ending - 1), ending, sizeof ending - 1);
  uint64_t digits = (uint64_t)version << 32 | number;
  for (int i = 0; i < 20; i++, digits /= 10) payload[sizeof beginning - 1 + i] = (uint8_t)('0' + digits % 10);
}

uint64_t workload_checksum(uint32_t number, uint32_t version) {
  uint64_t seed = (uint64_t)version << 32 | number;
  return random_next(&seed);
}

uint64_t workload_payload_hash(const uint8_t *payload, uint64_t size) {
  uint64_t hash = 0xCBF29CE484222325;
  for (uint64_t i = 0; i < size; i++) hash = (hash ^ payload[i]) * 0x100000001B3;
  return hash;
}
