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

enum { OK = CACHECTL_OK, PAGE_BYTES = 4 << 20 };

struct cachectl_store {
  int directory, is_synced;
  int64_t (*now)(void *clock);
  void *clock;
};

/* The file begins with a head. Each entry is a record and its texts: the key, the content type, the payload, and the
 * name and value of each attribute, each after its length. */
struct head {
  char format[8];
  uint64_t entry_count, attribute_count;
};
struct record {
  int64_t stored_at, fresh_until, retain_until;
  uint64_t payload_checksum, checksum, attribute_count;
};

/* All entries as one call sees them. Their bytes are in the mapped file, or in the batch that puts them. */
struct table {
  uint8_t *file;
  size_t size, at, count;
  cachectl_entry *entries;
  cachectl_attribute *attributes;
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

/* The part of a key before its slash; empty if there is no slash. */
static cachectl_bytes name_space(cachectl_bytes key) {
  const uint8_t *slash = key.length > 0 ? memchr(key.data, '/', key.length) : NULL;
  return (cachectl_bytes){key.data, slash == NULL ? 0 : (size_t)(slash - key.data)};
}

/* Reading the file. */

static int take(struct table *table, void *value, size_t length) {
  if (length > table->size - table->at) return 0;
  memcpy(value, table->file + table->at, length);
  table->at += length;
  return 1;
}

static int take_text(struct table *table, cachectl_bytes *text) {
  if (!take(table, &text->length, sizeof text->length) || text->length > table->size - table->at) return 0;
  text->data = table->file + table->at;
  table->at += text->length;
  return 1;
}

static int take_entry(struct table *table, cachectl_entry *entry, cachectl_attribute *attributes, uint64_t limit) {
  struct record r;
  if (!take(table, &r, sizeof r) || r.attribute_count > limit) return 0;
  *entry = (cachectl_entry){
    .stored_at = r.stored_at, .fresh_until = r.fresh_until, .retain_until = r.retain_until, .checksum = r.checksum,
    .payload_checksum = r.payload_checksum, .attributes = attributes, .attribute_count = r.attribute_count};
  int is_intact = take_text(table, &entry->key) && take_text(table, &entry->content_type);
  is_intact = is_intact && take_text(table, &entry->payload) && name_space(entry->key).length > 0;
  for (uint64_t i = 0; i < r.attribute_count && is_intact; i++)
    is_intact = take_text(table, &attributes[i].name) && take_text(table, &attributes[i].value);
  return is_intact;
}

/* Whether the file is intact, as far as that can be seen. */
static int take_all(struct table *table, size_t more) {
  struct head head = {0};
  if (table->size > 0 && (!take(table, &head, sizeof head) || memcmp(head.format, "folder 1", 8) != 0)) return 0;
  /* A record and two lengths are the least that an entry and an attribute take. */
  if (head.entry_count > table->size / sizeof(struct record) || head.attribute_count > table->size / 16) return 0;
  table->entries = calloc(head.entry_count + more + 1, sizeof *table->entries);
  table->attributes = calloc(head.attribute_count + 1, sizeof *table->attributes);
  if (table->entries == NULL || table->attributes == NULL) return 0;
  for (uint64_t used = 0; table->count < head.entry_count; table->count++) {
    cachectl_entry *entry = &table->entries[table->count];
    if (!take_entry(table, entry, table->attributes + used, head.attribute_count - used)) return 0;
    if (table->count > 0 && compare(entry[-1].key, entry->key) >= 0) return 0;
    used += entry->attribute_count;
  }
  return table->at == table->size;
}

/* Reads all entries, with room for `more`. `unload` follows, even after a failure. */
static int load(struct table *table, cachectl_store *store, size_t more, cachectl_failure *failure) {
  struct stat status = {0};
  *table = (struct table){.file = MAP_FAILED};
  const int file = openat(store->directory, "entries", O_RDONLY | O_CLOEXEC);
  int is_read = file >= 0 ? fstat(file, &status) == 0 : errno == ENOENT;
  table->size = (size_t)status.st_size;
  if (table->size > 0) table->file = mmap(NULL, table->size, PROT_READ, MAP_PRIVATE, file, 0);
  is_read = is_read && (table->size == 0 || table->file != MAP_FAILED);
  const int code = is_read ? OK : fail(failure, OK, "the file 'entries' cannot be read");
  if (file >= 0) close(file);
  return code != OK || take_all(table, more) ? code : fail(failure, CACHECTL_DAMAGED, "the file 'entries' is damaged");
}

static void unload(struct table *table) {
  if (table->file != MAP_FAILED) munmap(table->file, table->size);
  free(table->entries);
  free(table->attributes);
}

/* Changing the file. */

static void put_text(FILE *stream, cachectl_bytes text) {
  fwrite(&text.length, sizeof text.length, 1, stream);
  if (text.length > 0) fwrite(text.data, 1, text.length, stream);
}

static void put_all(FILE *stream, const struct table *table) {
  struct head head = {.format = "folder ", .entry_count = table->count};
  head.format[7] = '1';
  for (size_t i = 0; i < table->count; i++) head.attribute_count += table->entries[i].attribute_count;
  fwrite(&head, sizeof head, 1, stream);
  for (const cachectl_entry *e = table->entries; e < table->entries + table->count; e++) {
    const struct record record = {
      e->stored_at, e->fresh_until, e->retain_until, e->payload_checksum, e->checksum, e->attribute_count};
    fwrite(&record, sizeof record, 1, stream);
    put_text(stream, e->key);
    put_text(stream, e->content_type);
    put_text(stream, e->payload);
    for (size_t i = 0; i < e->attribute_count; i++) {
      put_text(stream, e->attributes[i].name);
      put_text(stream, e->attributes[i].value);
    }
  }
}

static int save(const struct table *table, cachectl_store *store, cachectl_failure *failure) {
  const int file = openat(store->directory, "entries.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (stream == NULL) return fail(failure, OK, "the file 'entries.new' cannot be created");
  put_all(stream, table);
  int is_saved = !ferror(stream) && fflush(stream) == 0 && (!store->is_synced || fdatasync(file) == 0);
  is_saved = fclose(stream) == 0 && is_saved;
  is_saved = is_saved && renameat(store->directory, "entries.new", store->directory, "entries") == 0;
  is_saved = is_saved && (!store->is_synced || fsync(store->directory) == 0);
  return is_saved ? OK : fail(failure, OK, "the file 'entries' cannot be written");
}

/* Makes one change in the table, or checks one requirement. */
static int operate(struct table *table, const cachectl_operation *operation, cachectl_failure *failure) {
  size_t place = 0;
  while (place < table->count && compare(table->entries[place].key, operation->entry.key) < 0) place++;
  cachectl_entry *entry = &table->entries[place];
  const size_t is_there = place < table->count && compare(entry->key, operation->entry.key) == 0;
  const uint32_t kind = operation->kind;
  if (kind > CACHECTL_REQUIRE_CHECKSUM) return fail(failure, CACHECTL_UNSUPPORTED, "an operation is unknown");
  int is_met = kind != CACHECTL_REQUIRE_ABSENT || !is_there;
  if (kind == CACHECTL_UPDATE || kind == CACHECTL_REQUIRE_CHECKSUM)
    is_met = is_there && entry->checksum == operation->expected;
  if (!is_met) return fail(failure, CACHECTL_CONFLICT, "an entry is not as the batch requires");
  if (kind == CACHECTL_REQUIRE_ABSENT || kind == CACHECTL_REQUIRE_CHECKSUM) return OK;
  const cachectl_bytes payload = kind == CACHECTL_UPDATE ? entry->payload : operation->entry.payload;
  /* Makes room for a new entry, or closes the gap that one leaves. */
  const size_t is_kept = kind != CACHECTL_REMOVE;
  memmove(entry + is_kept, entry + is_there, (table->count - place - is_there) * sizeof *entry);
  table->count += is_kept - is_there;
  if (is_kept) *entry = operation->entry, entry->payload = payload;
  return OK;
}

static int check_bounds(const struct table *table, const cachectl_batch *batch, cachectl_failure *failure) {
  uint64_t entries = 0, bytes = 0;
  for (size_t i = 0; i < table->count; i++) {
    if (compare(name_space(table->entries[i].key), batch->exempt) == 0) continue;
    entries++;
    bytes += table->entries[i].payload.length;
  }
  if (entries <= batch->max_entries && bytes <= batch->max_payload_bytes) return OK;
  return fail(failure, CACHECTL_OVER_BOUNDS, "the store would hold more than the bounds allow");
}

static void remove_expired(struct table *table, int64_t now) {
  const size_t count = table->count;
  table->count = 0;
  for (size_t i = 0; i < count; i++)
    if (table->entries[i].retain_until > now) table->entries[table->count++] = table->entries[i];
}

/* Makes the changes of `batch`; without one, removes what has expired. One thread or process at a time does that. */
static int change(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  const size_t operations = batch == NULL ? 0 : batch->operation_count;
  struct table table;
  const int lock = openat(store->directory, "lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return fail(failure, OK, "the file 'lock' cannot be created");
  int is_locked = 0;
  do is_locked = flock(lock, LOCK_EX) == 0;
  while (!is_locked && errno == EINTR);
  int code = is_locked ? OK : fail(failure, OK, "the file 'lock' cannot be locked");
  if (code == OK) {
    code = load(&table, store, operations, failure);
    for (size_t i = 0; i < operations && code == OK; i++) code = operate(&table, &batch->operations[i], failure);
    if (code == OK && batch == NULL) remove_expired(&table, store->now(store->clock));
    if (code == OK && batch != NULL && batch->has_bounds) code = check_bounds(&table, batch, failure);
    if (code == OK) code = save(&table, store, failure);
    unload(&table);
  }
  close(lock);
  return code;
}

/* The functions of the interface. */

static int folder_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  struct table table;
  int code = load(&table, store, 0, failure);
  for (size_t i = 0; i < table.count && code == OK; i++)
    if (compare(table.entries[i].key, key) == 0) code = visit(context, &table.entries[i]);
  unload(&table);
  return code;
}

static int folder_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  return change(store, batch, failure);
}

static int folder_compact(cachectl_store *store, cachectl_failure *failure) { return change(store, NULL, failure); }

static int folder_scan(
  cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
  void *context, cachectl_failure *failure) {
  const cachectl_bytes prefix = request->prefix, position = request->position;
  const cachectl_entry *last = NULL;
  struct table table;
  int code = load(&table, store, 0, failure);
  for (size_t i = 0, visited = 0, bytes = 0; i < table.count && code == OK; i++) {
    const cachectl_entry *entry = &table.entries[request->is_descending ? table.count - 1 - i : i];
    const cachectl_bytes start = {entry->key.data, prefix.length};
    const int order = compare(entry->key, position);
    if (position.length > 0 && (request->is_descending ? order >= 0 : order <= 0)) continue;
    if (prefix.length > entry->key.length || compare(start, prefix) != 0) continue;
    bytes += request->has_payloads ? entry->payload.length : 0;
    if (visited == request->limit || (visited > 0 && bytes > PAGE_BYTES)) {
      code = next(context, &last->key);
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
  int code = load(&table, store, 0, failure);
  *storage_bytes = table.size;
  /* The entries of a namespace are next to each other. */
  for (size_t i = 0; i < table.count && code == OK;) {
    cachectl_count count = {.name_space = name_space(table.entries[i].key), .earliest_expiry = INT64_MAX};
    for (; i < table.count && compare(name_space(table.entries[i].key), count.name_space) == 0; i++) {
      const int64_t expiry = table.entries[i].retain_until;
      if (expiry < count.earliest_expiry) count.earliest_expiry = expiry;
      count.entries++;
      count.payload_bytes += table.entries[i].payload.length;
    }
    code = visit(context, &count);
  }
  unload(&table);
  return code;
}

static int folder_check(cachectl_store *store, cachectl_visit_issue visit, void *context, cachectl_failure *failure) {
  struct table table;
  const int code = load(&table, store, 0, failure);
  unload(&table);
  if (code != CACHECTL_DAMAGED) return code;
  return visit(context, &(cachectl_issue){.kind = "structure", .message = failure->message});
}

static const char *text(const cachectl_configuration *configuration, const char *name) {
  for (size_t i = 0; i < configuration->value_count; i++)
    if (strcmp(configuration->values[i].name, name) == 0) return configuration->values[i].text;
  return "";
}

static int folder_open(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  const char *path = text(configuration, "path");
  char parent[4096];
  for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
    if (snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) < (int)sizeof parent) mkdir(parent, 0700);
  mkdir(path, 0700);
  cachectl_store *made = malloc(sizeof *made);
  if (made == NULL) return fail(failure, CACHECTL_FAILED, "there is no memory for a store");
  *made = (cachectl_store){.now = configuration->now, .clock = configuration->clock};
  made->is_synced = strcmp(text(configuration, "durability"), "relaxed") != 0;
  made->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  *store = made;
  if (made->directory >= 0) return OK;
  const int code = fail(failure, OK, path);
  free(made);
  return code == CACHECTL_IO_FAILED ? CACHECTL_CANNOT_CREATE : code;
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
  .size = sizeof engine, .abi = CACHECTL_PLUGIN_ABI, .reads_wait = 1, .name = "folder", .version = "1",
  .summary = "a directory with one file of all entries, written in C", .capabilities = capabilities, .options = options,
  .option_count = sizeof options / sizeof *options, .open = folder_open, .close = folder_close, .read = folder_read,
  .apply = folder_apply, .scan = folder_scan, .count = folder_count, .check = folder_check, .compact = folder_compact};

const cachectl_engine *cachectl_plugin(uint32_t abi) { return abi == CACHECTL_PLUGIN_ABI ? &engine : NULL; }
