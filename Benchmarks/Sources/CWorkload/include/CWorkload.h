/// What the floor programs in C and the driver in Swift do alike: which entries there are, which of them are read and
/// written in which order, and how time is taken. Both are built with these very functions.
#pragma once
#include <stdint.h>

/// What a workload does to a store.
typedef enum {
  workload_create,     ///< Nothing: the store is only made.
  workload_write,      ///< Writes each entry once, in a random order, into an empty store.
  workload_read,       ///< Reads entries that are drawn evenly, each in a read transaction of its own.
  workload_read_held,  ///< The same, all in one read transaction.
  workload_mix,        ///< Reads and writes entries that are drawn by a zipfian distribution.
  workload_open,       ///< Opens the store, reads an entry, and closes it.
} workload_kind;

/// A workload: one row of the table in Workloads.c.
typedef struct {
  const char *name;
  workload_kind kind;
  /// How many entries there are, or are to be.
  int entries;
  /// The size of a key and of a payload, in bytes.
  int key_size, payload_size;
  int operations;
  /// How many writes are committed together.
  int batch;
} workload;

/// One operation: a read where the version is 0, otherwise the write of that version of the entry.
typedef struct {
  uint32_t number, version;
} operation;

/// The version that a fill writes.
enum { workload_first_version = 1 };

/// The times in the metadata of all entries, in milliseconds since 1970-01-01T00:00:00Z.
static const int64_t workload_stored_at = 1767225600000;
static const int64_t workload_fresh_until = 1767229200000;
static const int64_t workload_retain_until = 1767312000000;

/// The workload called `name`, with its entries and operations divided by `divisor`; its name is null where there is
/// none.
workload workload_named(const char *name, int divisor);

/// All operations of a workload in order; the caller frees them.
operation *workload_operations(const workload *load);

/// Writes the key of an entry, "bench/" and its number with leading zeros.
void workload_write_key(const workload *load, uint32_t number, char *key);

/// Writes the payload of one version of an entry: JSON, of the workload's size.
void workload_write_payload(const workload *load, uint32_t number, uint32_t version, uint8_t *payload);

/// The checksum of one version of an entry, which any engine takes for a number.
uint64_t workload_checksum(uint32_t number, uint32_t version);

/// What is added up of an entry that was read: all of its metadata, and of the payload the size and one byte, so that
/// whoever lends bytes without touching them is measured as such.
static inline uint64_t workload_entry_sum(
    const uint8_t *payload, uint64_t size, int64_t stored_at, int64_t fresh_until, int64_t retain_until,
    uint64_t checksum) {
  return payload[0] + size + (uint64_t)stored_at + (uint64_t)fresh_until + (uint64_t)retain_until + checksum;
}

/// A hash of all bytes of a payload, for the check of what was written (FNV-1a, 64 bits).
uint64_t workload_payload_hash(const uint8_t *payload, uint64_t size);

/// A point in time, or the time between two, in nanoseconds.
typedef struct {
  uint64_t elapsed;
  /// The processor time that this process has used: what other processes do is not in it.
  uint64_t processor;
} workload_time;

/// Now.
workload_time workload_now(void);

/// The time since `begin`.
workload_time workload_since(workload_time begin);

/// Prints what a run is judged by: nanoseconds an operation that have passed, those of processor time, and the sum.
void workload_print(workload_time taken, int operations, uint64_t sum);
