/* A storage engine of cachectl in plain C: a directory with one file of all entries, in the order of their keys. A
 * batch writes a new file and renames it over the old one. So every call sees the entries before the batch or after
 * it, in any process and whenever the process of the batch dies. README.md says more. */
#define _GNU_SOURCE
#include "cachectl_plugin.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = CACHECTL_OK, PAGE_BYTES = 4 << 20, FIELDS = 4 };
enum { PATH, DURABILITY }; /* the places of the options */

struct cachectl_store {
  int directory, is_synced;
  int64_t (*now)(void *clock);
  void *clock;
};

/* The file has this head, the structures of all entries, and the bytes that they point to. The pointers in the file mean
 * nothing: `find_all` sets them. */
struct head {
  char format[8];
  uint64_t count;
};

/* All entries as one call sees them. Their pointers lead into the mapped file, or into the batch that puts them. */
struct table {
  uint8_t *file;
  size_t size, count;
  cachectl_entry *entries;
};

/* Describes a failure and returns its code; without a code, the one for the error of the system. */
static int fail(cachectl_failure *failure, int code, const char *what) {
  const int error = errno;
  snprintf(failure->message, sizeof failure->message, code == OK ? "%s: %m" : "%s", what);
  if (code != OK) return code;
  if (error == EACCES || error == EPERM || error == EROFS) return CACHECTL_PERMISSION_DENIED;
  return error == ENOSPC || error == EDQUOT ? CACHECTL_NO_SPACE : CACHECTL_IO_FAILED;
}

static int compare(cachectl_bytes a, cachectl_bytes b) {
  const size_t common = a.length < b.length ? a.length : b.length;
  const int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
  return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int by_key(const void *a, const void *b) {
  return compare(((const cachectl_entry *)a)->key, ((const cachectl_entry *)b)->key);
}

/* The part of a key before its slash; empty if there is no slash. */
static cachectl_bytes name_space(cachectl_bytes key) {
  const uint8_t *slash = key.length > 0 ? memchr(key.data, '/', key.length) : NULL;
  return (cachectl_bytes){key.data, slash == NULL ? 0 : (size_t)(slash - key.data)};
}

/* The entry under `key`, or the end of the table. */
static cachectl_entry *find(const struct table *table, cachectl_bytes key) {
  cachectl_entry *entry = table->entries, *end = entry + table->count;
  while (entry < end && compare(entry->key, key) != 0) entry++;
  return entry;
}

/* The fields of an entry that point to bytes: the key, the content type, the attributes and the payload. */
static cachectl_bytes *fields_of(cachectl_entry *entry) { return &entry->key; }

/* Sets the pointers of all entries of the file. Fails if it is not intact, as far as that can be seen. */
static int find_all(struct table *table) {
  const struct head *head = (struct head *)table->file;
  if (table->size < sizeof *head || memcmp(head->format, "folder 1", 8) != 0 || head->count > table->size) return 0;
  size_t at = sizeof *head + head->count * sizeof(cachectl_entry);
  if (at > table->size) return 0;
  table->entries = (cachectl_entry *)(head + 1);
  table->count = head->count;
  for (cachectl_entry *entry = table->entries; entry < table->entries + table->count; entry++) {
    cachectl_bytes *fields = fields_of(entry);
    for (int i = 0; i < FIELDS; at += fields[i++].length) {
      if (fields[i].length > table->size - at) return 0;
      fields[i].data = table->file + at;
    }
    if (name_space(entry->key).length == 0) return 0;
    if (entry > table->entries && by_key(entry - 1, entry) >= 0) return 0;
  }
  return at == table->size;
}

/* Finds all entries. `unload` follows, even after a failure. */
static int load(struct table *table, cachectl_store *store, cachectl_failure *failure) {
  struct stat status = {0};
  *table = (struct table){.file = MAP_FAILED};
  const int file = openat(store->directory, "entries", O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return OK;
  if (file < 0 || fstat(file, &status) != 0) return fail(failure, OK, "the file 'entries' cannot be read");
  table->size = (size_t)status.st_size;
  /* Private: the pointers are set in memory alone. */
  if (table->size > 0) table->file = mmap(NULL, table->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  close(file);
  if (table->size > 0 && table->file == MAP_FAILED) return fail(failure, OK, "the file 'entries' cannot be read");
  if (find_all(table)) return OK;
  table->count = 0;
  return fail(failure, CACHECTL_DAMAGED, "the file 'entries' is damaged");
}

static void unload(struct table *table) {
  if (table->file != MAP_FAILED) munmap(table->file, table->size);
}

static int save(const struct table *table, cachectl_store *store, cachectl_failure *failure) {
  const int file = openat(store->directory, "entries.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (stream == NULL) return fail(failure, OK, "the file 'entries.new' cannot be created");
  struct head head = {.format = {'f', 'o', 'l', 'd', 'e', 'r', ' ', '1'}, .count = table->count};
  fwrite(&head, sizeof head, 1, stream);
  fwrite(table->entries, sizeof *table->entries, table->count, stream);
  for (size_t i = 0; i < table->count * FIELDS; i++) {
    const cachectl_bytes field = fields_of(&table->entries[i / FIELDS])[i % FIELDS];
    if (field.length > 0) fwrite(field.data, 1, field.length, stream);
  }
  int is_saved = !ferror(stream) && fflush(stream) == 0 && (!store->is_synced || fdatasync(file) == 0);
  is_saved = fclose(stream) == 0 && is_saved;
  is_saved = is_saved && renameat(store->directory, "entries.new", store->directory, "entries") == 0;
  is_saved = is_saved && (!store->is_synced || fsync(store->directory) == 0);
  return is_saved ? OK : fail(failure, OK, "the file 'entries' cannot be written");
}

/* Makes one change in the table, whatever the order of its entries, or checks one requirement. */
static int operate(struct table *table, const cachectl_operation *operation, cachectl_failure *failure) {
  cachectl_entry *entry = find(table, operation->entry.key);
  const int is_there = entry < table->entries + table->count;
  const cachectl_operation_kind kind = operation->kind;
  if (kind > CACHECTL_REQUIRE_CHECKSUM) return fail(failure, CACHECTL_UNSUPPORTED, "an operation is unknown");
  if (kind == CACHECTL_REMOVE && is_there) *entry = table->entries[--table->count];
  int is_met = kind != CACHECTL_REQUIRE_ABSENT || !is_there;
  if (kind == CACHECTL_UPDATE || kind == CACHECTL_REQUIRE_CHECKSUM)
    is_met = is_there && entry->checksum == operation->expected;
  if (!is_met) return fail(failure, CACHECTL_CONFLICT, "an entry is not as the batch requires");
  if (kind != CACHECTL_PUT && kind != CACHECTL_UPDATE) return OK;
  const cachectl_bytes payload = kind == CACHECTL_PUT ? operation->entry.payload : entry->payload;
  *entry = operation->entry;
  entry->payload = payload;
  if (!is_there) table->count++;
  return OK;
}

/* Fails unless the table is within the bounds of the batch. */
static int check_bounds(const struct table *table, const cachectl_batch *batch, cachectl_failure *failure) {
  uint64_t count = 0, bytes = 0;
  for (size_t i = 0; i < table->count; i++) {
    if (compare(name_space(table->entries[i].key), batch->exempt) == 0) continue;
    count++;
    bytes += table->entries[i].payload.length;
  }
  if (!batch->has_bounds || (count <= batch->max_entries && bytes <= batch->max_payload_bytes)) return OK;
  return fail(failure, CACHECTL_OVER_BOUNDS, "the store would hold more than the bounds allow");
}

/* Makes the changes of `batch`, and removes the entries that have expired by `now`. One thread or process at a time does
 * that. */
static int change(cachectl_store *store, const cachectl_batch *batch, int64_t now, cachectl_failure *failure) {
  struct table table = {.file = MAP_FAILED};
  const int lock = openat(store->directory, "lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  const int is_locked = lock >= 0 && flock(lock, LOCK_EX) == 0;
  int code = is_locked ? load(&table, store, failure) : fail(failure, OK, "the file 'lock' cannot be locked");
  cachectl_entry *entries = calloc(table.count + batch->operation_count + 1, sizeof *entries);
  if (entries == NULL) code = fail(failure, CACHECTL_NO_SPACE, "there is no memory for the entries");
  if (code == OK && table.count > 0) memcpy(entries, table.entries, table.count * sizeof *entries);
  table.entries = entries;
  for (size_t i = 0; i < batch->operation_count && code == OK; i++)
    code = operate(&table, &batch->operations[i], failure);
  for (size_t i = 0; i < table.count && code == OK;)
    if (entries[i].retain_until > now) i++;
    else entries[i] = entries[--table.count];
  if (code == OK) code = check_bounds(&table, batch, failure);
  if (code == OK) {
    qsort(entries, table.count, sizeof *entries, by_key);
    code = save(&table, store, failure);
  }
  free(entries);
  unload(&table);
  if (lock >= 0) close(lock);
  return code;
}

/* The functions of the interface. */

static int folder_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  struct table table;
  int code = load(&table, store, failure);
  const cachectl_entry *entry = find(&table, key);
  if (entry < table.entries + table.count) code = visit(context, entry);
  unload(&table);
  return code;
}

static int folder_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  return change(store, batch, INT64_MIN, failure);
}

static int folder_compact(cachectl_store *store, cachectl_failure *failure) {
  return change(store, &(cachectl_batch){0}, store->now(store->clock), failure);
}

static int is_requested(const cachectl_scan_request *request, cachectl_bytes key) {
  const cachectl_bytes prefix = request->prefix, start = {key.data, prefix.length};
  const int order = request->is_descending ? compare(request->position, key) : compare(key, request->position);
  return key.length >= prefix.length && compare(start, prefix) == 0 && (request->position.length == 0 || order > 0);
}

static int folder_scan(
  cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
  void *context, cachectl_failure *failure) {
  const cachectl_entry *last = NULL;
  struct table table;
  int code = load(&table, store, failure);
  for (size_t i = 0, visited = 0, bytes = 0; i < table.count && code == OK; i++) {
    const cachectl_entry *entry = &table.entries[request->is_descending ? table.count - 1 - i : i];
    if (!is_requested(request, entry->key)) continue;
    bytes += request->has_payloads ? entry->payload.length : 0;
    if (visited == request->limit || (visited > 0 && bytes > PAGE_BYTES)) {
      code = next(context, last->key);
      break;
    }
    code = visit(context, entry);
    last = entry;
    visited++;
  }
  unload(&table);
  return code;
}

static int folder_count(
  cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes,
  cachectl_failure *failure) {
  struct table table;
  int code = load(&table, store, failure);
  *storage_bytes = table.size;
  for (const cachectl_entry *entry = table.entries; entry < table.entries + table.count && code == OK; entry++) {
    const cachectl_count one = {name_space(entry->key), 1, entry->payload.length, entry->retain_until};
    code = visit(context, &one);
  }
  unload(&table);
  return code;
}

static int folder_check(cachectl_store *store, cachectl_failure *failure) {
  struct table table;
  const int code = load(&table, store, failure);
  unload(&table);
  return code;
}

static int folder_open(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  const char *path = configuration->values[PATH];
  char parent[4096];
  for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
    if (snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) < (int)sizeof parent) mkdir(parent, 0700);
  mkdir(path, 0700);
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return fail(failure, errno == EACCES ? OK : CACHECTL_CANNOT_CREATE, path);
  *store = malloc(sizeof **store);
  if (*store == NULL) return fail(failure, CACHECTL_FAILED, "there is no memory for a store");
  const int is_synced = strcmp(configuration->values[DURABILITY], "relaxed") != 0;
  **store = (cachectl_store){directory, is_synced, configuration->now, configuration->clock};
  return OK;
}

static int folder_close(cachectl_store *store, cachectl_failure *failure) {
  (void)failure;
  close(store->directory);
  free(store);
  return OK;
}

static const char *const capabilities[] = {"persistent", "shared", "ordered", "bounded", "atomic-batches", NULL};
static const char *const durabilities[] = {"full", "normal", "relaxed", NULL};
static const cachectl_option options[] = {
  {.name = "path", .kind = CACHECTL_PATH, .default_value = "folder", .help = "the directory of the store"},
  {.name = "durability", .kind = CACHECTL_CHOICE, .choices = durabilities, .default_value = "normal",
   .help = "what a commit survives: full and normal (loss of power), relaxed (a crash)"}};

static const cachectl_engine engine = {
  .abi = CACHECTL_PLUGIN_ABI, .reads_wait = 1, .changes_wait = 1, .name = "folder", .version = "1",
  .summary = "a directory with one file of all entries, written in C", .capabilities = capabilities, .options = options,
  .option_count = sizeof options / sizeof *options, .open = folder_open, .close = folder_close, .read = folder_read,
  .apply = folder_apply, .scan = folder_scan, .count = folder_count, .check = folder_check, .compact = folder_compact};

const cachectl_engine *cachectl_plugin(uint32_t abi) { return abi == CACHECTL_PLUGIN_ABI ? &engine : NULL; }
