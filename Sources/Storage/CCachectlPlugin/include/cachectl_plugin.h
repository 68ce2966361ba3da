/* A storage engine of cachectl as a shared library.
 *
 * The library defines one function, `cachectl_plugin`, which returns a table: the engine's description of itself and its
 * functions. The file is called libcachectl-NAME.so, where NAME is the engine's name. cachectl finds it in the
 * directories of the configuration's `plugins.searchPath`, or by its path:
 * `cachectl --backend ./libcachectl-NAME.so ls`.
 *
 * The comments here say what an engine must do, and `cachectl backends test` checks it: an engine that passes is
 * complete. Examples/FolderEngine is a complete example.
 *
 * Rules for both sides
 *
 * Version. A library is built for one version of this file, CACHECTL_PLUGIN_ABI, which changes with every structure.
 * Bytes.   Memory behind a pointer is lent only until the function that received the pointer returns. Nothing needs to
 *   be freed; copy what you want to keep. The table, and everything behind its pointers, stays valid for as long as the
 *   process lives: a library is never unloaded.
 * Texts.   UTF-8. A `cachectl_bytes` is not terminated; a `const char *` is. A pointer can be NULL if the length is 0.
 * Threads. Any number of threads can call any function of a store at once, except `close`: it is called once, after
 *   all other calls have returned. Callbacks are called on the thread of the call, before it returns.
 * Callbacks. A callback returns CACHECTL_OK to continue. If it returns anything else, the function stops at once and
 *   returns that value. It must not call a callback again after that. A callback calls no function of the engine.
 * Failures. A function returns CACHECTL_OK, or another code of `cachectl_code` after filling in the `cachectl_failure`
 *   that it was given. A missing entry is not a failure. A library never prints, never ends the process, changes no
 *   signal handler, and lets no exception out.
 * Times.   Milliseconds since 1970-01-01T00:00:00Z, from 0 to 253402300799999.
 */
#ifndef CACHECTL_PLUGIN_H
#define CACHECTL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface. */
#define CACHECTL_PLUGIN_ABI 1u
#define CACHECTL_PLUGIN_SYMBOL "cachectl_plugin"

/* The result of a call. */
typedef enum cachectl_code {
  CACHECTL_OK,
  CACHECTL_FAILED,             /* anything without a name here: a defect of the engine */
  CACHECTL_INVALID_OPTION,     /* an option is missing or out of range */
  CACHECTL_DAMAGED,            /* the stored bytes cannot be the written ones */
  CACHECTL_UNSUPPORTED_FORMAT, /* the store has a format that this engine does not read */
  CACHECTL_CANNOT_CREATE,      /* there is no store and none can be created, or the path is not the engine's */
  CACHECTL_PERMISSION_DENIED,  /* the system or the server refuses access */
  CACHECTL_NO_SPACE,           /* no room for the bytes to be written */
  CACHECTL_IO_FAILED,          /* reading or writing failed for another reason */
  CACHECTL_BUSY,               /* another process held the store for longer than the timeout */
  CACHECTL_UNREACHABLE,        /* the server cannot be reached */
  CACHECTL_CONFLICT,           /* a requirement of the batch did not hold */
  CACHECTL_TOO_LARGE,          /* the entry is larger than the engine can hold */
  CACHECTL_OVER_BOUNDS,        /* the store would hold more than the bounds of the batch allow */
  CACHECTL_UNSUPPORTED         /* the engine cannot do that at all */
} cachectl_code;

/* Borrowed bytes. */
typedef struct cachectl_bytes {
  const uint8_t *data;
  size_t length;
} cachectl_bytes;

/* A failure. The host allocates it, and the engine fills it in. Both texts are zero-terminated and truncated to fit:
 * `snprintf(failure->message, sizeof failure->message, ...)` does both. */
typedef struct cachectl_failure {
  char message[640]; /* one line without a final full stop that names the file or the key */
  char hint[384];    /* one line of advice; may be empty */
} cachectl_failure;

/* An entry. The engine stores every field and returns it unchanged. */
typedef struct cachectl_entry {
  cachectl_bytes key;          /* "namespace/rest": printable ASCII, up to 16,384 bytes */
  cachectl_bytes content_type; /* a text */
  cachectl_bytes attributes;   /* any bytes: the host encodes and decodes them */
  cachectl_bytes payload;      /* any bytes */
  int64_t stored_at, fresh_until;
  int64_t retain_until; /* the engine may drop the entry from this time on, never before */
  uint64_t payload_checksum, checksum;
} cachectl_entry;

typedef enum cachectl_operation_kind {
  CACHECTL_PUT,            /* stores the entry in place of one with the same key */
  CACHECTL_UPDATE,         /* stores all fields but the payload; fails with CACHECTL_CONFLICT unless there is an entry
                            * whose checksum is `expected` */
  CACHECTL_REMOVE,         /* removes the entry, if there is one */
  CACHECTL_REQUIRE_ABSENT, /* fails with CACHECTL_CONFLICT if there is an entry */
  CACHECTL_REQUIRE_CHECKSUM /* fails with CACHECTL_CONFLICT unless there is an entry whose checksum is `expected` */
} cachectl_operation_kind;

typedef struct cachectl_operation {
  uint32_t kind; /* a cachectl_operation_kind */
  uint64_t expected;
  cachectl_entry entry; /* for a put all fields, for an update all but the payload, otherwise the key alone */
} cachectl_operation;

/* Changes that are made together, in order: all or none. Each one sees the effects of the earlier ones. */
typedef struct cachectl_batch {
  const cachectl_operation *operations;
  size_t operation_count;
  /* If has_bounds is not 0: after all operations the store must hold at most max_entries entries, with at most
   * max_payload_bytes bytes of payload in total, not counting entries of the namespace `exempt` (if it is not empty).
   * Otherwise the batch fails with CACHECTL_OVER_BOUNDS. Only for engines with the capability "bounded". */
  uint32_t has_bounds;
  uint64_t max_entries, max_payload_bytes;
  cachectl_bytes exempt;
} cachectl_batch;

/* The entries that a scan visits: those whose keys start with `prefix`, from `position` on. */
typedef struct cachectl_scan_request {
  cachectl_bytes prefix;   /* empty for all */
  cachectl_bytes position; /* the one that an earlier scan passed to `next`; empty to begin. For an engine with the
                            * capability "ordered" it is any key: the scan begins after it, or below it if it descends */
  size_t limit;            /* the most entries, 1 or more */
  /* 1 if the payloads are wanted: the scan then also ends before it would visit more than 4 MiB of them, but not before
   * its first entry. If it is 0 only the lengths of payloads count, and their `data` can be NULL. */
  uint32_t has_payloads;
  uint32_t is_descending; /* 1 to visit from the last key to the first; only for engines with the capability "ordered" */
} cachectl_scan_request;

/* How much a store holds of one namespace. */
typedef struct cachectl_count {
  cachectl_bytes name_space;
  uint64_t entries, payload_bytes;
  int64_t earliest_expiry; /* no entry has a `retain_until` before this time; it may be too early */
} cachectl_count;

typedef enum cachectl_option_kind {
  CACHECTL_TEXT,
  CACHECTL_PATH,      /* the engine gets it absolute */
  CACHECTL_INTEGER,   /* a number from `minimum` to `maximum`, in decimal digits */
  CACHECTL_SIZE,      /* bytes, likewise; users write it like "64MiB" */
  CACHECTL_DURATION,  /* milliseconds, likewise; users write it like "5s" */
  CACHECTL_BOOLEAN,   /* "true" or "false" */
  CACHECTL_CHOICE,    /* one of `choices` */
  CACHECTL_STORE_NAME /* which of several stores in one place; lowercase letters, digits and hyphens */
} cachectl_option_kind;

/* An option, declared once: flags, variables, validation, the schema and the help are derived from it. */
typedef struct cachectl_option {
  const char *name; /* in camel case */
  const char *help; /* one line without a final full stop */
  uint32_t kind;    /* a cachectl_option_kind */
  uint32_t is_required, is_secret; /* 0 or 1 */
  int64_t minimum, maximum;
  const char *const *choices; /* ends with NULL */
  const char *default_value;  /* NULL for none */
} cachectl_option;

/* The configuration that a store is opened with. */
typedef struct cachectl_configuration {
  const char *const *values; /* one for each option, in the order of the engine's `options`; NULL for none */
  /* The current time, by which the engine decides which entries have expired. Call this only until `close` has returned. */
  int64_t (*now)(void *clock);
  void *clock;
} cachectl_configuration;

/* Facts about a store, gathered without opening it. The host allocates it, and the engine fills it in. */
typedef struct cachectl_inspection {
  uint32_t exists;        /* 0 or 1 */
  int64_t format;         /* the version of its format; -1 if it is not known */
  int64_t current_format; /* the version that the engine writes */
} cachectl_inspection;

/* An open store; the engine defines the structure. */
typedef struct cachectl_store cachectl_store;

typedef int32_t (*cachectl_visit_entry)(void *context, const cachectl_entry *entry);
typedef int32_t (*cachectl_visit_count)(void *context, const cachectl_count *count);
typedef int32_t (*cachectl_visit_text)(void *context, cachectl_bytes text);

/* An engine. Functions marked as optional can be NULL. */
typedef struct cachectl_engine {
  uint32_t abi;        /* CACHECTL_PLUGIN_ABI */
  /* 1 if a call of `read` or of `apply` can wait for a disk or a network, otherwise 0: it is then also called on threads
   * that must not block. Unless noted, other functions are called on threads that can block. */
  uint32_t reads_wait, changes_wait;
  const char *name;    /* the one in the file's name: lowercase letters and digits */
  const char *version; /* of the engine, or of the library under it */
  const char *summary; /* what it is, in one line without a final full stop */
  const char *const *capabilities; /* "persistent", "shared", "ordered", "bounded", "expiring", "atomic-batches",
                                    * "counts-changes", "read-only"; ends with NULL */
  const cachectl_option *options;
  size_t option_count;

  /* Opens the store, and creates it if there is none. Sets *store if it returns CACHECTL_OK. */
  int32_t (*open)(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure);
  /* Closes the store and frees it, even if it returns a failure. */
  int32_t (*close)(cachectl_store *store, cachectl_failure *failure);
  /* Calls `visit` once with the entry under `key`, if there is one. */
  int32_t (*read)(
    cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure);
  /* Makes all changes of the batch, or makes none and fails. If the engine cannot know whether they were made, for
   * example because its server stopped responding, it fails with CACHECTL_UNREACHABLE and says so in the message. */
  int32_t (*apply)(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure);
  /* Calls `visit` with each entry of the request; in the order of their keys if the engine has the capability "ordered".
   * If more follow, then calls `next` once with the position to continue from: a text that is not the position of the
   * request. With the capability "ordered" that is the last key. A position stays valid whatever is changed, also in other
   * processes, and entries that are there all the time are visited at least once. */
  int32_t (*scan)(
    cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
    void *context, cachectl_failure *failure);
  /* Calls `visit` for each namespace that has entries, and sets *storage_bytes to the space that the store takes up. The
   * host adds the counts of one namespace. The cost should not grow with the number of entries. */
  int32_t (*count)(
    cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes,
    cachectl_failure *failure);
  /* Checks that the structure of the store is intact and every entry can be read; the host checks the checksums. Fails with
   * CACHECTL_DAMAGED and the problem as the message. */
  int32_t (*check)(cachectl_store *store, cachectl_failure *failure);
  /* Removes expired entries, and frees unused space. */
  int32_t (*compact)(cachectl_store *store, cachectl_failure *failure);
  /* Optional: calls `visit` with the place of the store, which is a path or an address, and then with the absolute path of
   * each of its files, and fills in *inspection, without opening, creating or changing the store. If the store is on a
   * server, requests that from it, and fails like `open` if it does not respond. */
  int32_t (*inspect)(
    const cachectl_configuration *configuration, cachectl_visit_text visit, void *context,
    cachectl_inspection *inspection, cachectl_failure *failure);
  /* Optional: deletes the store with everything in it, whatever its state, without needing disk space. If `suffix` is not
   * NULL, moves all that aside instead, and calls `moved` with the new paths, the file or directory to open first. A
   * store that is a file NAME is moved to NAME with the suffix, and its side files to that name with their own endings; a
   * store that is a directory moves its own files into a new directory of that name. If the name is taken, "-2", "-3" and
   * so on is appended to it. The store can then be opened there. Fails with CACHECTL_BUSY if another handle has the store
   * open and would continue to use those files. */
  int32_t (*remove)(
    const cachectl_configuration *configuration, const char *suffix, cachectl_visit_text moved, void *context,
    cachectl_failure *failure);
  /* With the capability "counts-changes", otherwise NULL. Returns 1 and sets *number, which changes with each batch that
   * changed something, whichever handle or process applied it; 0 if the engine cannot tell at the moment.
   * Called on any thread, far more often than `read`: it neither waits nor makes a system call. */
  int32_t (*change_count)(cachectl_store *store, uint64_t *number);
} cachectl_engine;

/* The one function that a library must define. `abi` is the version of the host's interface.
 * Returns the engine; NULL if the library does not support that version. */
#ifdef __cplusplus
extern "C"
#endif
__attribute__((visibility("default"))) const cachectl_engine *cachectl_plugin(uint32_t abi);
#endif
