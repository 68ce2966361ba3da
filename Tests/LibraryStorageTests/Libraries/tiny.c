/* A small engine in memory: what a library has to do, without a medium. Other files include it and break it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cachectl_plugin.h"

#ifndef TINY_NAME
#define TINY_NAME "tiny"
#endif
#ifndef TINY_READS_WAIT
#define TINY_READS_WAIT 0
#endif

/* An entry, in one block of memory with all that it points to. */
typedef struct tiny_entry {
  int references;
  cachectl_entry entry;
  unsigned char bytes[];
} tiny_entry;

/* Entries in the order of their keys. */
typedef struct tiny_table {
  tiny_entry **entries;
  size_t count;
} tiny_table;

/* The places of two options. */
enum { TINY_NOTE, TINY_DEFECT = 7 };

struct cachectl_store {
  pthread_rwlock_t lock;
  tiny_table table;
  uint64_t changes;
  int64_t (*now)(void *clock);
  void *clock;
  char defect[64];
};

static int tiny_fail(cachectl_failure *failure, int code, const char *message, const char *hint) {
  snprintf(failure->message, sizeof failure->message, "%s", message);
  snprintf(failure->hint, sizeof failure->hint, "%s", hint);
  return code;
}

static int tiny_compare(cachectl_bytes left, cachectl_bytes right) {
  size_t shorter = left.length < right.length ? left.length : right.length;
  int order = shorter ? memcmp(left.data, right.data, shorter) : 0;
  return order ? order : (left.length > right.length) - (left.length < right.length);
}

/* The index of `key`, or the index at which to insert it. */
static size_t tiny_place(const tiny_table *table, cachectl_bytes key) {
  size_t low = 0, high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (tiny_compare(table->entries[middle]->entry.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static tiny_entry *tiny_find(const tiny_table *table, cachectl_bytes key) {
  size_t place = tiny_place(table, key);
  if (place == table->count || tiny_compare(table->entries[place]->entry.key, key)) return NULL;
  return table->entries[place];
}

static void tiny_release(tiny_entry *entry) {
  if (--entry->references == 0) free(entry);
}

static cachectl_bytes tiny_copy_bytes(cachectl_bytes bytes, unsigned char **room) {
  cachectl_bytes copy = {*room, bytes.length};
  if (bytes.length) memcpy(*room, bytes.data, bytes.length);
  *room += bytes.length;
  return copy;
}

static tiny_entry *tiny_copy(const cachectl_entry *entry) {
  size_t size = entry->key.length + entry->content_type.length + entry->attributes.length + entry->payload.length;
  tiny_entry *copy = malloc(sizeof *copy + size);
  if (!copy) return NULL;
  unsigned char *room = copy->bytes;
  copy->references = 1;
  copy->entry = *entry;
  copy->entry.key = tiny_copy_bytes(entry->key, &room);
  copy->entry.content_type = tiny_copy_bytes(entry->content_type, &room);
  copy->entry.attributes = tiny_copy_bytes(entry->attributes, &room);
  copy->entry.payload = tiny_copy_bytes(entry->payload, &room);
  return copy;
}

static void tiny_free(tiny_table *table) {
  for (size_t i = 0; i < table->count; i++) tiny_release(table->entries[i]);
  free(table->entries);
}

/* A table of the same entries, with room for `more` of them. */
static int tiny_share(const tiny_table *table, size_t more, tiny_table *copy) {
  copy->count = table->count;
  copy->entries = malloc((table->count + more + 1) * sizeof *copy->entries);
  if (!copy->entries) return 0;
  for (size_t i = 0; i < table->count; i++) {
    copy->entries[i] = table->entries[i];
    copy->entries[i]->references++;
  }
  return 1;
}

static void tiny_remove(tiny_table *table, cachectl_bytes key) {
  size_t place = tiny_place(table, key);
  if (place == table->count || tiny_compare(table->entries[place]->entry.key, key)) return;
  tiny_release(table->entries[place]);
  table->count--;
  memmove(table->entries + place, table->entries + place + 1, (table->count - place) * sizeof *table->entries);
}

static int tiny_put(tiny_table *table, const cachectl_entry *entry) {
  tiny_entry *copy = tiny_copy(entry);
  if (!copy) return 0;
  tiny_remove(table, entry->key);
  size_t place = tiny_place(table, entry->key);
  memmove(table->entries + place + 1, table->entries + place, (table->count - place) * sizeof *table->entries);
  table->entries[place] = copy;
  table->count++;
  return 1;
}

static int tiny_operate(tiny_table *table, const cachectl_operation *operation, cachectl_failure *failure) {
  const cachectl_entry *entry = &operation->entry;
  cachectl_entry updated = *entry;
  tiny_entry *found = tiny_find(table, entry->key);
  int is_expected = found && found->entry.checksum == operation->expected;
  switch (operation->kind) {
  case CACHECTL_PUT:
    return tiny_put(table, entry) ? CACHECTL_OK : tiny_fail(failure, CACHECTL_NO_SPACE, "no memory is left", "");
  case CACHECTL_UPDATE:
    if (!is_expected) break;
    updated.payload = found->entry.payload;
    return tiny_put(table, &updated) ? CACHECTL_OK : tiny_fail(failure, CACHECTL_NO_SPACE, "no memory is left", "");
  case CACHECTL_REMOVE:
    tiny_remove(table, entry->key);
    return CACHECTL_OK;
  case CACHECTL_REQUIRE_ABSENT:
    if (!found) return CACHECTL_OK;
    break;
  case CACHECTL_REQUIRE_CHECKSUM:
    if (is_expected) return CACHECTL_OK;
    break;
  default:
    return tiny_fail(failure, CACHECTL_UNSUPPORTED, "the operation is unknown", "");
  }
  return tiny_fail(failure, CACHECTL_CONFLICT, "the entry is another one", "read it again");
}

static int tiny_begins(cachectl_bytes text, cachectl_bytes prefix) {
  return text.length >= prefix.length && (!prefix.length || !memcmp(text.data, prefix.data, prefix.length));
}

static int tiny_is_within(const tiny_table *table, const cachectl_batch *batch) {
  uint64_t entries = 0, bytes = 0;
  for (size_t i = 0; i < table->count; i++) {
    cachectl_bytes key = table->entries[i]->entry.key;
    if (batch->exempt.length && tiny_begins(key, batch->exempt) && key.data[batch->exempt.length] == '/') continue;
    entries++;
    bytes += table->entries[i]->entry.payload.length;
  }
  return entries <= batch->max_entries && bytes <= batch->max_payload_bytes;
}

static int32_t tiny_open(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  cachectl_store *new = calloc(1, sizeof *new);
  if (!new) return tiny_fail(failure, CACHECTL_FAILED, "no memory is left", "");
  pthread_rwlock_init(&new->lock, NULL);
  new->now = configuration->now;
  new->clock = configuration->clock;
  snprintf(new->defect, sizeof new->defect, "%s", configuration->values[TINY_DEFECT]);
  *store = new;
  return CACHECTL_OK;
}

static int32_t tiny_close(cachectl_store *store, cachectl_failure *failure) {
  (void)failure;
  tiny_free(&store->table);
  pthread_rwlock_destroy(&store->lock);
  free(store);
  return CACHECTL_OK;
}

static int32_t tiny_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  (void)failure;
  pthread_rwlock_rdlock(&store->lock);
  tiny_entry *found = tiny_find(&store->table, key);
  int32_t status = found ? visit(context, &found->entry) : CACHECTL_OK;
  pthread_rwlock_unlock(&store->lock);
  return status;
}

static int32_t tiny_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  tiny_table changed;
  int32_t status = CACHECTL_OK;
  pthread_rwlock_wrlock(&store->lock);
  if (!tiny_share(&store->table, batch->operation_count, &changed)) {
    pthread_rwlock_unlock(&store->lock);
    return tiny_fail(failure, CACHECTL_NO_SPACE, "no memory is left", "");
  }
  for (size_t i = 0; i < batch->operation_count && status == CACHECTL_OK; i++) {
    status = tiny_operate(&changed, &batch->operations[i], failure);
  }
  if (status == CACHECTL_OK && batch->has_bounds && !tiny_is_within(&changed, batch))
    status = tiny_fail(failure, CACHECTL_OVER_BOUNDS, "the store would be too large", "");
  tiny_table old = status == CACHECTL_OK ? store->table : changed;
  if (status == CACHECTL_OK) store->table = changed, store->changes++;
  tiny_free(&old);
  pthread_rwlock_unlock(&store->lock);
  return status;
}

static int32_t tiny_scan(
  cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
  void *context, cachectl_failure *failure) {
  (void)failure;
  int32_t status = CACHECTL_OK;
  pthread_rwlock_rdlock(&store->lock);
  size_t count = store->table.count, visited = 0, bytes = 0;
  const cachectl_entry *last = NULL;
  for (size_t i = 0; i < count && status == CACHECTL_OK; i++) {
    const cachectl_entry *entry = &store->table.entries[request->is_descending ? count - 1 - i : i]->entry;
    int order = tiny_compare(entry->key, request->position);
    if (!tiny_begins(entry->key, request->prefix)) continue;
    if (request->position.length && (request->is_descending ? order >= 0 : order <= 0)) continue;
    bytes += request->has_payloads ? entry->payload.length : 0;
    if (visited == request->limit || (last && bytes > 4 << 20)) {
      status = next(context, last->key);
      break;
    }
    status = visit(context, entry);
    last = entry;
    visited++;
  }
  pthread_rwlock_unlock(&store->lock);
  return status;
}

static cachectl_bytes tiny_namespace(cachectl_bytes key) {
  const uint8_t *slash = memchr(key.data, '/', key.length);
  key.length = (size_t)(slash - key.data);
  return key;
}

static int32_t tiny_count(
  cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes, cachectl_failure *failure) {
  (void)failure;
  int32_t status = CACHECTL_OK;
  pthread_rwlock_rdlock(&store->lock);
  *storage_bytes = 0;
  for (size_t i = 0; i < store->table.count && status == CACHECTL_OK;) {
    cachectl_count count = {tiny_namespace(store->table.entries[i]->entry.key), 0, 0, INT64_MAX};
    for (; i < store->table.count; i++) {
      const cachectl_entry *entry = &store->table.entries[i]->entry;
      if (tiny_compare(tiny_namespace(entry->key), count.name_space)) break;
      count.entries++;
      count.payload_bytes += entry->payload.length;
      if (entry->retain_until < count.earliest_expiry) count.earliest_expiry = entry->retain_until;
    }
    *storage_bytes += count.payload_bytes;
    status = visit(context, &count);
  }
  pthread_rwlock_unlock(&store->lock);
  return status;
}

static int32_t tiny_change_count(cachectl_store *store, uint64_t *number) {
  pthread_rwlock_rdlock(&store->lock);
  *number = store->changes;
  pthread_rwlock_unlock(&store->lock);
  return 1;
}

static int32_t tiny_check(cachectl_store *store, cachectl_failure *failure) {
  (void)store, (void)failure;
  return CACHECTL_OK;
}

static int32_t tiny_compact(cachectl_store *store, cachectl_failure *failure) {
  (void)failure;
  pthread_rwlock_wrlock(&store->lock);
  int64_t now = store->now(store->clock);
  for (size_t i = store->table.count; i-- > 0;) {
    const cachectl_entry *entry = &store->table.entries[i]->entry;
    if (entry->retain_until <= now) tiny_remove(&store->table, entry->key), store->changes++;
  }
  pthread_rwlock_unlock(&store->lock);
  return CACHECTL_OK;
}

static cachectl_bytes tiny_text(const char *text) { return (cachectl_bytes){(const uint8_t *)text, strlen(text)}; }

/* Gives the values of the configuration back, as the place of the store. */
static int32_t tiny_inspect(
  const cachectl_configuration *configuration, cachectl_visit_text visit, void *context,
  cachectl_inspection *inspection, cachectl_failure *failure) {
  (void)failure;
  const char *note = configuration->values[TINY_NOTE];
  char text[1024] = "";
  for (size_t i = 0; i <= TINY_DEFECT; i++) {
    const char *value = configuration->values[i];
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s;", value ? value : "none");
  }
  *inspection = (cachectl_inspection){
    .exists = strcmp(note, "absent") != 0, .format = -1, .current_format = configuration->now(configuration->clock)};
  int32_t status = visit(context, tiny_text(text));
  return status || !strcmp(note, "nofile") ? status : visit(context, tiny_text("/tiny/file"));
}

/* Reports that it has moved a file that does not exist. */
static int32_t tiny_remove_store(
  const cachectl_configuration *configuration, const char *suffix, cachectl_visit_text moved, void *context,
  cachectl_failure *failure) {
  (void)configuration, (void)failure;
  char path[256];
  if (!suffix) return CACHECTL_OK;
  snprintf(path, sizeof path, "/tiny/file%s", suffix);
  return moved(context, tiny_text(path));
}

static const char *const tiny_capabilities[] = {"atomic-batches", "ordered", "bounded", "counts-changes", NULL};
static const char *const tiny_modes[] = {"quick", "thorough", NULL};

static cachectl_option tiny_options[] = {
  {.name = "note", .kind = CACHECTL_TEXT, .help = "any text", .default_value = "none"},
  {.name = "ratio", .kind = CACHECTL_INTEGER, .help = "a number", .minimum = -5, .maximum = 5, .default_value = "-1"},
  {.name = "room", .kind = CACHECTL_SIZE, .help = "bytes", .maximum = 1 << 20, .default_value = "4096"},
  {.name = "patience", .kind = CACHECTL_DURATION, .help = "milliseconds", .maximum = 60000, .default_value = "5000"},
  {.name = "eager", .kind = CACHECTL_BOOLEAN, .help = "yes or no", .default_value = "true"},
  {.name = "mode", .kind = CACHECTL_CHOICE, .help = "one of two", .choices = tiny_modes, .default_value = "quick"},
  {.name = "password", .kind = CACHECTL_TEXT, .help = "a secret", .is_secret = 1},
  {.name = "defect", .kind = CACHECTL_TEXT, .help = "the rule to break", .default_value = ""},
};

static cachectl_engine tiny_engine = {
  .abi = CACHECTL_PLUGIN_ABI,
  .reads_wait = TINY_READS_WAIT,
  .changes_wait = TINY_READS_WAIT,
  .name = TINY_NAME,
  .version = "1.0",
  .summary = "a table in memory, for tests",
  .capabilities = tiny_capabilities,
  .options = tiny_options,
  .option_count = sizeof tiny_options / sizeof *tiny_options,
  .open = tiny_open,
  .close = tiny_close,
  .read = tiny_read,
  .apply = tiny_apply,
  .scan = tiny_scan,
  .count = tiny_count,
  .check = tiny_check,
  .compact = tiny_compact,
  .inspect = tiny_inspect,
  .remove = tiny_remove_store,
  .change_count = tiny_change_count,
};

#ifndef TINY_BROKEN
const cachectl_engine *cachectl_plugin(uint32_t abi) {
  return abi == CACHECTL_PLUGIN_ABI ? &tiny_engine : NULL;
}
#endif
