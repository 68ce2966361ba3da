/* A storage engine of cachectl as a shared library.
 *
 * The library defines one function, `cachectl_plugin`, which returns a table with the engine's functions and its
 * description of itself. The file is called libcachectl-NAME.so, where NAME is the engine's name. cachectl finds it in
 * the folders of the configuration's `plugins.searchPath`, or by its path:
 * `cachectl --backend ./libcachectl-NAME.so ls`.
 *
 * The comments here say what an engine must do, and `cachectl backends test` checks it: an engine that passes is
 * complete. Examples/FolderEngine is a complete example.
 *
 * Rules for both sides
 *
 * Versions.  CACHECTL_PLUGIN_ABI changes when old libraries can no longer be used. Structures only ever gain fields at
 *   the end. Every structure that may grow either begins with its size as its maker compiled it, or travels with the
 *   size of one element. A reader does not look beyond that size, and treats missing fields as zero.
 * Bytes.  Memory behind a pointer is lent only until the function that received the pointer returns. Nothing needs to
 *   be freed; copy what you want to keep. The pointers in the table, and everything behind them, stay valid for as long
 *   as the process lives: a library is never unloaded.
 * Texts.  UTF-8. A `cachectl_bytes` is not terminated; a `const char *` is. A pointer may be NULL if the length is 0.
 * Threads.  Any number of threads may call any function of a store at once, except `close`: it is called once, after
 *   all other calls have returned. Callbacks are called on the thread of the call, before it returns.
 * Callbacks.  A callback returns CACHECTL_OK to continue. If it returns anything else, the function stops at once and
 *   returns that value. It must not call the callback again after that. A callback calls no function of the plugin.
 * Failures.  A function returns CACHECTL_OK, or another code of `cachectl_code` after filling in the `cachectl_failure`
 *   that it was given. A missing entry is not a failure. A library never prints, never ends the process, changes no
 *   signal handler, and lets no exception out.
 * Times.  Milliseconds since 1970-01-01T00:00:00Z, from 0 to 253402300799999.
 */
#ifndef CACHECTL_PLUGIN_H
#define CACHECTL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define CACHECTL_PLUGIN_ABI 1u

/* The result of a call. */
typedef enum cachectl_code {
  CACHECTL_OK = 0,
  CACHECTL_FAILED = 1,             /* anything that has no name here: a defect of the engine */
  CACHECTL_INVALID_OPTION = 2,     /* an option is missing or out of range */
  CACHECTL_DAMAGED = 3,            /* what is stored cannot be what was written */
  CACHECTL_UNSUPPORTED_FORMAT = 4, /* the store has a format that this engine does not read */
  CACHECTL_CANNOT_CREATE = 5,      /* there is no store, and none can be made */
  CACHECTL_PERMISSION_DENIED = 6,  /* the system or the server refuses access */
  CACHECTL_NO_SPACE = 7,           /* no room for what was to be written */
  CACHECTL_IO_FAILED = 8,          /* reading or writing failed for another reason */
  CACHECTL_BUSY = 9,               /* another process held the store for longer than the time-out */
  CACHECTL_UNREACHABLE = 10,       /* the server cannot be reached */
  CACHECTL_CONFLICT = 11,          /* a requirement of the batch did not hold */
  CACHECTL_TOO_LARGE = 12,         /* the entry is larger than the engine can hold */
  CACHECTL_OVER_BOUNDS = 13,       /* the store would hold more than the bounds of the batch allow */
  CACHECTL_UNSUPPORTED = 14,       /* the engine cannot do that at all */
  CACHECTL_CANCELLED = 15          /* the caller no longer waits, as `is_cancelled` says */
} cachectl_code;

/* Borrowed bytes. */
typedef struct cachectl_bytes {
  const uint8_t *data;
  size_t length;
} cachectl_bytes;

/* What went wrong. The host allocates it, and the plugin fills it in. Both texts are zero-terminated and truncated to
 * fit: `snprintf(failure->message, sizeof failure->message, ...)` does both. */
typedef struct cachectl_failure {
  char message[1024]; /* one line without a final full stop that names the file or the key */
  char hint[512];     /* what to do about it, one line; empty where there is nothing to advise */
} cachectl_failure;

/* An entry: its payload and metadata. The plugin stores every field and returns it unchanged. */
typedef struct cachectl_attribute {
  cachectl_bytes name, value; /* any texts; a name occurs once in an entry */
} cachectl_attribute;

typedef struct cachectl_metadata {
  int64_t stored_at, fresh_until;
  int64_t retain_until; /* the engine may drop the entry from this time on, never before */
  uint64_t checksum;
  cachectl_bytes content_type;
  const cachectl_attribute *attributes;
  size_t attribute_count;
} cachectl_metadata;

typedef struct cachectl_entry {
  size_t size; /* sizeof(cachectl_entry) */
  cachectl_bytes key; /* "namespace/rest": printable ASCII, up to 16,384 bytes */
  cachectl_bytes payload; /* any bytes; for `scan` only the length counts, and `data` may be NULL */
  cachectl_metadata metadata;
} cachectl_entry;

/* Changes that are made together, in order: all or none. Each one sees the effects of the earlier ones. */
typedef enum cachectl_operation_kind {
  CACHECTL_PUT = 0,             /* stores payload and metadata under the key, in place of what was there */
  CACHECTL_REMOVE = 1,          /* removes the entry, if there is one */
  CACHECTL_REQUIRE_ABSENT = 2,  /* fails with CACHECTL_CONFLICT where there is an entry */
  CACHECTL_REQUIRE_CHECKSUM = 3 /* ... where there is none, or its checksum is not `entry.metadata.checksum` */
} cachectl_operation_kind;

typedef struct cachectl_operation {
  uint32_t kind; /* a cachectl_operation_kind */
  cachectl_entry entry; /* the key; for a put all fields */
} cachectl_operation;

typedef struct cachectl_batch {
  size_t size; /* sizeof(cachectl_batch) */
  const cachectl_operation *operations;
  size_t operation_count;
  size_t operation_size; /* sizeof(cachectl_operation): the distance from one to the next */
  /* If has_bounds is not 0: after all operations the store must hold at most max_entries entries, with at most
   * max_payload_bytes bytes of payload in total, not counting those of the namespace `exempt` (if it is not empty).
   * Otherwise the batch fails with CACHECTL_OVER_BOUNDS. */
  uint32_t has_bounds;
  uint64_t max_entries, max_payload_bytes;
  cachectl_bytes exempt;
} cachectl_batch;

/* The entries that a scan visits: those whose keys start with `prefix` and come after `after`, ordered by the bytes of
 * their keys, at most `limit`. If it descends, it visits them from the last one to the first, and only keys below `after`. */
typedef struct cachectl_range {
  size_t size; /* sizeof(cachectl_range) */
  cachectl_bytes prefix; /* empty for all */
  cachectl_bytes after;  /* empty to begin with the first one, or with the last one if the scan descends */
  size_t limit;          /* 1 or more */
  uint32_t is_descending; /* 0 or 1 */
} cachectl_range;

/* The number of entries of one namespace that become stale within the same 2^20 milliseconds and expire within the same
 * 2^20 milliseconds. All slots together are the content of the store. */
typedef struct cachectl_slot {
  size_t size; /* sizeof(cachectl_slot) */
  cachectl_bytes name_space;
  int64_t fresh_slot, retain_slot; /* fresh_until >> 20, retain_until >> 20 */
  uint64_t entries, payload_bytes;
} cachectl_slot;

/* A problem with a store. */
typedef struct cachectl_issue {
  size_t size; /* sizeof(cachectl_issue) */
  cachectl_bytes key; /* the entry concerned; empty where it is the structure of the store */
  const char *kind; /* "undecodable", "structure", or a name of the engine's own in camel case */
  const char *message; /* what was found, in one line */
} cachectl_issue;

/* An option, declared once: flags, variables, validation, the schema and the help are derived from it. */
typedef enum cachectl_option_kind {
  CACHECTL_TEXT = 0,       /* any text */
  CACHECTL_PATH = 1,       /* a path; the plugin gets it absolute */
  CACHECTL_INTEGER = 2,    /* a number from `minimum` to `maximum` */
  CACHECTL_SIZE = 3,       /* bytes, likewise; written like "64MiB" */
  CACHECTL_DURATION = 4,   /* milliseconds, likewise; written like "5s" */
  CACHECTL_BOOLEAN = 5,    /* 0 or 1 */
  CACHECTL_CHOICE = 6,     /* one of `choices` */
  CACHECTL_STORE_NAME = 7  /* which of several stores in one place; lower-case letters, digits and hyphens */
} cachectl_option_kind;

typedef struct cachectl_option {
  const char *name; /* in camel case */
  uint32_t kind; /* a cachectl_option_kind */
  uint32_t is_required, is_secret; /* 0 or 1 */
  const char *help; /* one line without a final full stop */
  int64_t minimum, maximum;
  const char *const *choices; /* ends with NULL */
  const char *default_value; /* NULL for none; numbers in decimal digits, booleans "true" or "false" */
} cachectl_option;

/* The value of an option. Every option with a value or a default is passed. */
typedef struct cachectl_value {
  const char *name;
  const char *text; /* for the kinds text, path, choice and store name; NULL for the others */
  int64_t number; /* for the others */
} cachectl_value;

/* The configuration that a store is opened with. */
typedef struct cachectl_configuration {
  size_t size; /* sizeof(cachectl_configuration) */
  const cachectl_value *values;
  size_t value_count;
  size_t value_size; /* sizeof(cachectl_value) */
  /* The current time, by which the engine decides what has expired. Call this and the function below only until `close`
   * has returned. */
  int64_t (*now)(void *clock);
  void *clock;
  /* Whether the caller of the current function on this thread has stopped waiting: 1 or 0. A function that waits for a
   * server asks this now and then, on the thread of the call. Once it is 1, the function returns within a few tenths of a
   * second, with CACHECTL_CANCELLED if the server has not answered by then. */
  int32_t (*is_cancelled)(void *clock);
} cachectl_configuration;

/* How an entry was used. */
typedef struct cachectl_use {
  cachectl_bytes key;
  int64_t last_used_at; /* the time of the last use */
  uint64_t count; /* how many uses to add */
} cachectl_use;

/* Whether a store exists. */
typedef enum cachectl_presence {
  CACHECTL_AS_FILES_TELL = 0, /* where it has files, there is one */
  CACHECTL_PRESENT = 1,
  CACHECTL_ABSENT = 2
} cachectl_presence;

/* Facts about a store, gathered without opening it, for `inspect`. */
typedef struct cachectl_inspection {
  size_t size; /* sizeof(cachectl_inspection) */
  cachectl_bytes path; /* where the store is, or would be: a file, a folder or an address */
  const cachectl_bytes *files; /* the absolute paths of its files; none where it has none */
  size_t file_count;
  int64_t format; /* the version of its format; -1 where it is not known */
  int64_t current_format; /* the version that the engine writes */
  uint32_t presence; /* a cachectl_presence; say it where stores are on a server, and so have no files */
  cachectl_bytes caution; /* what users should know of the place of the store, such as that its server may drop what the store
    needs, one line; empty where there is nothing */
} cachectl_inspection;

/* An open store; the plugin defines the structure. */
typedef struct cachectl_store cachectl_store;

typedef int32_t (*cachectl_visit_entry)(void *context, const cachectl_entry *entry);
typedef int32_t (*cachectl_visit_one)(void *context, size_t index, const cachectl_entry *entry);
typedef int32_t (*cachectl_visit_slot)(void *context, const cachectl_slot *slot);
typedef int32_t (*cachectl_visit_issue)(void *context, const cachectl_issue *issue);
typedef int32_t (*cachectl_visit_inspection)(void *context, const cachectl_inspection *inspection);
typedef int32_t (*cachectl_visit_path)(void *context, cachectl_bytes path);

/* For `flags`: a read may wait for a disk or a network. Without this flag, `read` is called on threads that must not
 * block. All other functions are always called on a thread that may block. */
#define CACHECTL_READS_WAIT 1u

/* An engine. Functions marked as optional may be NULL. */
typedef struct cachectl_engine {
  size_t size; /* sizeof(cachectl_engine) */
  uint32_t abi; /* CACHECTL_PLUGIN_ABI */
  uint32_t flags; /* CACHECTL_READS_WAIT or 0 */
  const char *name; /* that of the file: lower-case letters and digits */
  const char *version; /* of the engine, or of the library under it */
  const char *summary; /* what it is, in one line without a final full stop */
  const char *const *capabilities; /* "persistent", "shared", "atomic-batches", "native-expiry", "eviction",
                                    * "own-bounds"; ends with NULL */
  const cachectl_option *options;
  size_t option_count;
  size_t option_size; /* sizeof(cachectl_option) */

  /* Opens the store, and creates it if there is none. Sets *store if it returns CACHECTL_OK. */
  int32_t (*open)(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure);
  /* Closes the store and frees it, even if it returns a failure. */
  int32_t (*close)(cachectl_store *store, cachectl_failure *failure);
  /* Calls `visit` once with the entry under `key`, if there is one. */
  int32_t (*read)(
    cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure);
  /* Makes all changes of the batch, or makes none and fails. If the engine cannot know whether they were made, for
   * example because its server stopped answering, it fails with CACHECTL_UNREACHABLE and says so in the message. */
  int32_t (*apply)(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure);
  /* Calls `visit` with each entry of `range`, in order. */
  int32_t (*scan)(
    cachectl_store *store, const cachectl_range *range, cachectl_visit_entry visit, void *context,
    cachectl_failure *failure);
  /* Calls `visit` with each slot that has entries, and sets *storage_bytes to the space that the store takes up. The
   * cost should not grow with the number of entries. */
  int32_t (*statistics)(
    cachectl_store *store, cachectl_visit_slot visit, void *context, uint64_t *storage_bytes,
    cachectl_failure *failure);
  /* Calls `visit` with each problem of the store. The host checks the checksums. */
  int32_t (*check_integrity)(
    cachectl_store *store, cachectl_visit_issue visit, void *context, cachectl_failure *failure);
  /* Removes expired entries, and frees unused space. */
  int32_t (*compact)(cachectl_store *store, cachectl_failure *failure);
  /* Optional: releases memory that only makes reads faster. */
  void (*release_memory)(cachectl_store *store);
  /* Optional: calls `visit` once with the facts about a store, without opening, creating or changing it. If the store
   * is on a server, asks that server, and fails like `open` if it does not answer. */
  int32_t (*inspect)(
    const cachectl_configuration *configuration, cachectl_visit_inspection visit, void *context,
    cachectl_failure *failure);
  /* Optional: deletes the store with everything in it, whatever its state, without needing disk space. If `suffix` is not
   * NULL, moves all that aside instead, and calls `moved` with where it is now, the file or folder to open first. A store
   * that is a file NAME is moved to NAME with the suffix, and its side files to that name with their own endings; a store
   * that is a folder moves its own files into a new folder of that name. If the name is taken, "-2", "-3" and so on is
   * appended to it. The store can then be opened there. Fails with CACHECTL_BUSY if another handle has the store open and
   * would continue to use those files. */
  int32_t (*remove)(
    const cachectl_configuration *configuration, const char *suffix, cachectl_visit_path moved, void *context,
    cachectl_failure *failure);
  /* With the capability "eviction", otherwise NULL: does what `apply` does; if the store would exceed the bounds of the
   * batch, removes other entries in the same commit, expired ones first, then by `order`, and sets *evicted to how many of
   * them had not expired. Fails with CACHECTL_OVER_BOUNDS, having changed nothing, if it finds too little that may go.
   * `order` names what decides, the most important first, separated by spaces: "stored-at", "last-used-at" (or stored, if
   * that is later), "use-count", "payload-bytes", "retain-until"; the least goes first, or the most after a minus. Entries
   * that the batch names and those of its namespace `exempt` stay. At most 31 entries, and a sixty-fourth of the store, go
   * beyond the need. The choice may be among a random sample of at least three entries for each that goes, or 96. */
  int32_t (*apply_evicting)(
    cachectl_store *store, const cachectl_batch *batch, const char *order, uint64_t *evicted, cachectl_failure *failure);
  /* Likewise: adds uses to what is known of the entries that are there, for all who share the store. `use_size` is
   * sizeof(cachectl_use). What is known outlives the replacement of an entry, but not its removal. */
  int32_t (*add_uses)(
    cachectl_store *store, const cachectl_use *uses, size_t use_count, size_t use_size, cachectl_failure *failure);
  /* Optional, for engines with the flag CACHECTL_READS_WAIT: reads the entries under `keys`, all of them different, in
   * little more time than it takes to read one. Calls `visit` once for each entry that is there, in any order, with the place of its key
   * in `keys`; with NULL as the entry if it cannot be read back, so that the host asks `read` for the reason. Fails only
   * for a reason that concerns all of them, such as CACHECTL_UNREACHABLE. */
  int32_t (*read_all)(
    cachectl_store *store, const cachectl_bytes *keys, size_t key_count, cachectl_visit_one visit, void *context,
    cachectl_failure *failure);
  /* Optional, for an engine that learns of the changes that others make to its store, soon after they are made. Returns 1
   * and sets *number and *age; 0 while it does not follow the store, such as without a connection, which it then tries to
   * get in the background; -1 if it never follows this store. The number changes when another handle or process has
   * changed the entry under `key`, and those of all keys change when changes may have been missed; so a copy of the entry
   * is good while its number stays. *age is how many milliseconds ago, rounded up, the engine last made sure that it has
   * missed no change. With an empty key the host only asks whether it follows the store: 0 or -1.
   * Called on any thread, far more often than `read`: it neither waits nor makes a system call. */
  int32_t (*change_mark)(cachectl_store *store, cachectl_bytes key, uint64_t *number, uint64_t *age);
} cachectl_engine;

#if defined(__GNUC__)
#define CACHECTL_EXPORT __attribute__((visibility("default")))
#else
#define CACHECTL_EXPORT
#endif

/* The one function that a library must define. `abi` is the version of the host's interface.
 * Returns the engine; NULL if the library does not support that version. */
typedef const cachectl_engine *(*cachectl_plugin_function)(uint32_t abi);
#define CACHECTL_PLUGIN_SYMBOL "cachectl_plugin"
CACHECTL_EXPORT const cachectl_engine *cachectl_plugin(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
