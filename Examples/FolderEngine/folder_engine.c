/* A storage engine of cachectl in plain C: a folder with a file for each entry. It holds no state of its own: each call
 * takes the folder's lock and looks at what is there. README.md says why that keeps the rules of the interface. */
#include "folder.h"
#include <stdlib.h>
#include <string.h>

static int compare(cachectl_bytes a, cachectl_bytes b) {
  size_t common = a.length < b.length ? a.length : b.length;
  int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
  return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int by_key(const void *a, const void *b) {
  return compare(((const struct item *)a)->record.entry.key, ((const struct item *)b)->record.entry.key);
}

static int has_prefix(cachectl_bytes key, cachectl_bytes prefix) {
  return prefix.length <= key.length && (prefix.length == 0 || memcmp(key.data, prefix.data, prefix.length) == 0);
}

static int folder_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  struct call call;
  struct record record = {0};
  int code = begin(&call, store, failure);
  name_file(key, record.name);
  if (code == OK) code = read_file(store->entries, 1, &record, failure);
  if (code == OK && record.memory != NULL && compare(record.entry.key, key) == 0) code = visit(context, &record.entry);
  free(record.memory);
  return end(&call, code);
}

/* The entry that an operation is about, as the operations before have left it; NULL where another has its name. */
static struct item *find(struct call *call, cachectl_bytes key) {
  struct item absent = {.record.entry.key = key};
  name_file(key, absent.record.name);
  for (size_t i = 0; i < call->count; i++) {
    struct record *record = &call->items[i].record;
    if (strcmp(record->name, absent.record.name) != 0) continue;
    return compare(record->entry.key, key) == 0 ? &call->items[i] : NULL;
  }
  call->items[call->count] = absent;
  return &call->items[call->count++];
}

/* Makes one change in memory, or judges one requirement. */
static int make(struct call *call, const cachectl_operation *operation) {
  struct item *item = find(call, operation->entry.key);
  if (item == NULL) return fail(call->failure, CACHECTL_UNSUPPORTED, "two keys have one hash", "the second is refused");
  const uint64_t checksum = item->record.entry.metadata.checksum, wanted = operation->entry.metadata.checksum;
  switch (operation->kind) {
  case CACHECTL_PUT:
  case CACHECTL_REMOVE:
    item->record.entry = operation->entry;
    item->is_there = operation->kind == CACHECTL_PUT;
    item->is_changed = 1;
    return OK;
  case CACHECTL_REQUIRE_ABSENT:
    if (!item->is_there) return OK;
    break;
  case CACHECTL_REQUIRE_CHECKSUM:
    if (item->is_there && checksum == wanted) return OK;
    break;
  default:
    return fail(call->failure, CACHECTL_UNSUPPORTED, "an operation is not known", item->record.name);
  }
  return fail(call->failure, CACHECTL_CONFLICT, "an entry is not as required", item->record.name);
}

/* Whether what the operations have left is within the bounds of the batch. */
static int judge_bounds(const struct call *call, const cachectl_batch *batch) {
  uint64_t entries = 0, bytes = 0;
  for (size_t i = 0; i < call->count; i++) {
    const cachectl_entry *entry = &call->items[i].record.entry;
    int is_exempt = batch->exempt.length > 0 && has_prefix(entry->key, batch->exempt) &&
      entry->key.data[batch->exempt.length] == '/';
    if (!call->items[i].is_there || is_exempt) continue;
    entries++;
    bytes += entry->payload.length;
  }
  if (entries <= batch->max_entries && bytes <= batch->max_payload_bytes) return OK;
  return fail(call->failure, CACHECTL_OVER_BOUNDS, "the store would hold more than it may", "entries");
}

/* A damaged file is no hindrance to what takes its place. */
static int32_t ignore(void *context, const cachectl_issue *issue) {
  (void)context, (void)issue;
  return OK;
}

static int folder_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  struct call call;
  int code = begin(&call, store, failure);
  if (code == OK) code = read_all(&call, batch->operation_count, ignore, NULL);
  const char *operations = (const char *)batch->operations;
  for (size_t i = 0; i < batch->operation_count && code == OK; i++)
    code = make(&call, (const void *)(operations + i * batch->operation_size));
  if (code == OK && batch->has_bounds) code = judge_bounds(&call, batch);
  return end(&call, code == OK ? commit(&call) : code);
}

static int folder_scan(
  cachectl_store *store, const cachectl_range *range, cachectl_visit_entry visit, void *context,
  cachectl_failure *failure) {
  struct call call;
  int code = begin(&call, store, failure);
  if (code == OK) code = read_all(&call, 0, NULL, NULL);
  if (code == OK && call.count > 0) qsort(call.items, call.count, sizeof *call.items, by_key);
  for (size_t i = 0, left = range->limit; i < call.count && left > 0 && code == OK; i++) {
    const cachectl_entry *entry = &call.items[range->is_descending ? call.count - 1 - i : i].record.entry;
    const int order = compare(entry->key, range->after);
    if (range->after.length > 0 && (range->is_descending ? order >= 0 : order <= 0)) continue;
    if (!has_prefix(entry->key, range->prefix)) continue;
    code = visit(context, entry);
    left--;
  }
  return end(&call, code);
}

static int folder_statistics(
  cachectl_store *store, cachectl_visit_slot visit, void *context, uint64_t *storage_bytes, cachectl_failure *failure) {
  struct call call;
  int code = begin(&call, store, failure);
  if (code == OK) code = read_all(&call, 0, NULL, NULL);
  *storage_bytes = 0;
  for (size_t i = 0; i < call.count && code == OK; i++) {
    const cachectl_entry *entry = &call.items[i].record.entry;
    const uint8_t *slash = memchr(entry->key.data, '/', entry->key.length);
    cachectl_slot slot = {
      .size = sizeof slot, .name_space = {entry->key.data, (size_t)(slash - entry->key.data)},
      .fresh_slot = entry->metadata.fresh_until >> 20, .retain_slot = entry->metadata.retain_until >> 20, .entries = 1,
      .payload_bytes = entry->payload.length};
    *storage_bytes += call.items[i].record.file_bytes;
    code = visit(context, &slot);
  }
  return end(&call, code);
}

static int folder_check_integrity(
  cachectl_store *store, cachectl_visit_issue visit, void *context, cachectl_failure *failure) {
  struct call call;
  int code = begin(&call, store, failure);
  return end(&call, code == OK ? read_all(&call, 0, visit, context) : code);
}

static int folder_compact(cachectl_store *store, cachectl_failure *failure) {
  struct call call;
  int code = begin(&call, store, failure);
  if (code == OK) code = read_all(&call, 0, NULL, NULL);
  const int64_t now = store->now(store->clock);
  for (size_t i = 0; i < call.count; i++) {
    int is_expired = call.items[i].record.entry.metadata.retain_until <= now;
    call.items[i].is_there = !is_expired;
    call.items[i].is_changed = is_expired;
  }
  return end(&call, code == OK ? commit(&call) : code);
}

static const char *text(const cachectl_configuration *configuration, const char *name) {
  const char *values = (const char *)configuration->values;
  for (size_t i = 0; i < configuration->value_count; i++) {
    const cachectl_value *value = (const void *)(values + i * configuration->value_size);
    if (strcmp(value->name, name) == 0) return value->text;
  }
  return "";
}

static int folder_open(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  cachectl_store *made = malloc(sizeof *made);
  if (made == NULL) return fail(failure, CACHECTL_FAILED, "there is no memory for", "the store");
  const char *durability = text(configuration, "durability");
  *made = (cachectl_store){.now = configuration->now, .clock = configuration->clock};
  made->durability = strcmp(durability, "full") == 0 ? FULL : strcmp(durability, "relaxed") == 0 ? RELAXED : NORMAL;
  int code = open_folder(made, text(configuration, "path"), failure);
  if (code != OK) free(made);
  else *store = made;
  return code;
}

static int folder_close(cachectl_store *store, cachectl_failure *failure) {
  (void)failure;
  close_folder(store);
  free(store);
  return OK;
}

static const char *const capabilities[] = {"persistent", "shared", "atomic-batches", NULL};
static const char *const durabilities[] = {"full", "normal", "relaxed", NULL};
static const cachectl_option options[] = {
  {.name = "path", .kind = CACHECTL_PATH, .default_value = "folder", .help = "the folder of the store"},
  {.name = "durability", .kind = CACHECTL_CHOICE, .choices = durabilities, .default_value = "normal",
   .help = "what a commit survives: full (loss of power), normal (a crash), relaxed (fastest)"}};

static const cachectl_engine engine = {
  .size = sizeof engine, .abi = CACHECTL_PLUGIN_ABI, .flags = CACHECTL_READS_WAIT, .name = "folder", .version = "1",
  .summary = "a folder with a file for each entry, written in C", .capabilities = capabilities, .options = options,
  .option_count = sizeof options / sizeof *options, .option_size = sizeof *options, .open = folder_open,
  .close = folder_close, .read = folder_read, .apply = folder_apply, .scan = folder_scan,
  .statistics = folder_statistics, .check_integrity = folder_check_integrity, .compact = folder_compact};

const cachectl_engine *cachectl_plugin(uint32_t abi) { return abi == CACHECTL_PLUGIN_ABI ? &engine : NULL; }
