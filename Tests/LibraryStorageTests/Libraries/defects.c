/* The small engine, which breaks the rule that its option `defect` names. */
#define TINY_BROKEN
#include "tiny.c"

static int is(const cachectl_store *store, const char *defect) { return !strcmp(store->defect, defect); }

static cachectl_entry entry(const char *key) {
  return (cachectl_entry){
    .key = tiny_text(key), .content_type = tiny_text("text/plain"), .payload = tiny_text("payload"), .stored_at = 1, .fresh_until = 2,
    .retain_until = 3, .payload_checksum = 4, .checksum = 5};
}

/* The statuses and failures that any function may return. */
static int returns(const cachectl_store *store, int32_t *status, cachectl_failure *failure) {
  if (is(store, "code-negative")) *status = -1;
  else if (is(store, "code-99")) *status = 99;
  else if (is(store, "no-message")) *status = CACHECTL_IO_FAILED;
  else if (is(store, "unterminated")) {
    memset(failure, 'x', sizeof *failure);
    *status = CACHECTL_BUSY;
  } else if (is(store, "not-utf8")) *status = tiny_fail(failure, CACHECTL_NO_SPACE, "disk \xff\xfe full", "");
  else if (is(store, "lines")) *status = tiny_fail(failure, CACHECTL_DAMAGED, "one\n\ttwo\x1b[31m\r\n.", "a\nb");
  else return 0;
  return 1;
}

static int32_t defective_open(
  const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  int32_t status = tiny_open(configuration, store, failure);
  if (status != CACHECTL_OK) return status;
  if (is(*store, "open-without-store")) *store = NULL;
  else if (is(*store, "open-fails")) status = tiny_fail(failure, CACHECTL_CANNOT_CREATE, "no room at the inn", "go on");
  else if (is(*store, "open-code-99")) status = 99;
  return status;
}

static int32_t defective_close(cachectl_store *store, cachectl_failure *failure) {
  int fails = is(store, "close-fails");
  tiny_close(store, failure);
  return fails ? tiny_fail(failure, CACHECTL_IO_FAILED, "the last bytes were lost", "") : CACHECTL_OK;
}

/* The entry that is read with a defect. */
static int32_t read_defective(const cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context) {
  cachectl_entry one = entry("cities/key");
  one.key = key;
  if (is(store, "read-null")) return visit(context, NULL), CACHECTL_OK;
  if (is(store, "read-other-key")) one.key = tiny_text("cities/other");
  if (is(store, "read-null-key")) one.key.data = NULL;
  if (is(store, "read-null-data")) one.payload.data = NULL;
  if (is(store, "read-huge")) one.payload.length = SIZE_MAX;
  if (is(store, "read-odd-values")) {
    one.stored_at = -1;
    one.retain_until = INT64_MAX;
    one.content_type = tiny_text("\xff");
  }
  if (is(store, "read-type-null")) one.content_type = (cachectl_bytes){NULL, 16};
  if (is(store, "read-attributes-null")) one.attributes = (cachectl_bytes){NULL, 16};
  if (is(store, "read-attributes-huge")) one.attributes = (cachectl_bytes){one.payload.data, SIZE_MAX};
  if (is(store, "read-attributes-short")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0", 3};
  if (is(store, "read-attributes-cut")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a\2\0\0\0b", 10};
  if (is(store, "read-attributes-odd")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a", 5};
  if (is(store, "read-attributes-absurd")) one.attributes = (cachectl_bytes){(const uint8_t *)"\xff\xff\xff\xff" "a", 5};
  visit(context, &one);
  if (is(store, "read-twice")) visit(context, &one);
  /* The result of the callback is ignored here. */
  return CACHECTL_OK;
}

static int32_t defective_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  int32_t status;
  if (!*store->defect) return tiny_read(store, key, visit, context, failure);
  if (returns(store, &status, failure)) return status;
  return read_defective(store, key, visit, context);
}

static int32_t defective_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  int32_t status;
  if (returns(store, &status, failure)) return status;
  return tiny_apply(store, batch, failure);
}

static int32_t defective_scan(
  cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
  void *context, cachectl_failure *failure) {
  cachectl_entry one = entry("cities/b"), early = entry("cities/-");
  cachectl_bytes position = tiny_text("cities/c");
  if (!*store->defect) return tiny_scan(store, request, visit, next, context, failure);
  if (is(store, "scan-null")) visit(context, NULL);
  if (is(store, "scan-not-a-key")) one.key = tiny_text("no key\x1b"), visit(context, &one);
  if (is(store, "scan-key-not-utf8")) one.key = tiny_text("cities/\xff"), visit(context, &one);
  if (is(store, "scan-long-key")) one.key.length = 1 << 30, visit(context, &one);
  if (is(store, "scan-outside")) one.key = tiny_text("movies/a"), visit(context, &one);
  if (is(store, "scan-huge")) one.payload.length = (size_t)1 << 41, visit(context, &one);
  if (is(store, "scan-without-payload")) one.payload.data = NULL, visit(context, &one);
  if (is(store, "scan-attributes-cut")) {
    one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a\2\0\0\0b", 10};
    visit(context, &one);
  }
  if (is(store, "scan-before-position")) visit(context, &early);
  if (is(store, "scan-behind-position")) visit(context, &one);
  if (is(store, "next-empty")) position.length = 0, next(context, position);
  if (is(store, "next-null-data")) position.data = NULL, next(context, position);
  if (is(store, "next-same")) next(context, request->position);
  if (is(store, "next-alone")) next(context, position);
  if (is(store, "next-back-of-entry")) visit(context, &one), next(context, tiny_text("cities/a"));
  if (is(store, "next-twice")) visit(context, &one), next(context, position), next(context, position);
  if (is(store, "next-early")) visit(context, &one), next(context, position), visit(context, &one);
  return CACHECTL_OK;
}

static int32_t defective_count(
  cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes, cachectl_failure *failure) {
  cachectl_count count = {tiny_text("cities"), 3, 4, 5};
  int32_t status;
  if (!*store->defect) return tiny_count(store, visit, context, storage_bytes, failure);
  if (returns(store, &status, failure)) return status;
  if (is(store, "count-null")) visit(context, NULL);
  if (is(store, "count-namespace")) count.name_space = tiny_text("Not/one"), visit(context, &count);
  if (is(store, "count-namespace-null")) count.name_space.data = NULL, visit(context, &count);
  if (is(store, "count-entries")) count.entries = UINT64_MAX, visit(context, &count);
  if (is(store, "count-large")) count.payload_bytes = (uint64_t)1 << 40, visit(context, &count);
  if (is(store, "count-bytes")) count.payload_bytes = (uint64_t)1 << 60, visit(context, &count);
  if (is(store, "storage-bytes")) *storage_bytes = UINT64_MAX;
  return CACHECTL_OK;
}

static int32_t defective_check(cachectl_store *store, cachectl_failure *failure) {
  if (is(store, "check-fails")) return tiny_fail(failure, CACHECTL_IO_FAILED, "it cannot be read", "");
  return tiny_fail(failure, CACHECTL_DAMAGED, "it is cut off", "");
}

static int32_t defective_inspect(
  const cachectl_configuration *configuration, cachectl_visit_text visit, void *context,
  cachectl_inspection *inspection, cachectl_failure *failure) {
  const char *defect = configuration->values[TINY_DEFECT];
  (void)inspection, (void)failure;
  if (!strcmp(defect, "silent")) return CACHECTL_OK;
  visit(context, tiny_text("/tiny\n/other"));
  if (!strcmp(defect, "file-relative")) visit(context, tiny_text("here"));
  if (!strcmp(defect, "file-null")) visit(context, (cachectl_bytes){NULL, 5});
  if (!strcmp(defect, "files-endless"))
    while (visit(context, tiny_text("/tiny/file")) == CACHECTL_OK) {}
  return CACHECTL_OK;
}

static int32_t defective_remove(
  const cachectl_configuration *configuration, const char *suffix, cachectl_visit_text moved, void *context,
  cachectl_failure *failure) {
  const char *defect = configuration->values[TINY_DEFECT];
  (void)suffix, (void)failure;
  if (!strcmp(defect, "moved-null")) moved(context, (cachectl_bytes){NULL, 5});
  if (!strcmp(defect, "moved-relative")) moved(context, tiny_text("here"));
  return CACHECTL_OK;
}

static int32_t defective_change_count(cachectl_store *store, uint64_t *number) {
  if (is(store, "count-99")) return 99;
  return is(store, "count-none") ? 0 : tiny_change_count(store, number);
}

#ifdef UNORDERED
static const char *const unordered_capabilities[] = {"bounded", "counts-changes", NULL};
#endif

const cachectl_engine *cachectl_plugin(uint32_t abi) {
  (void)abi;
  tiny_engine.open = defective_open;
  tiny_engine.close = defective_close;
  tiny_engine.read = defective_read;
#ifdef UNORDERED
  tiny_engine.capabilities = unordered_capabilities;
#endif
  tiny_engine.change_count = defective_change_count;
  tiny_engine.apply = defective_apply;
  tiny_engine.scan = defective_scan;
  tiny_engine.count = defective_count;
  tiny_engine.check = defective_check;
  tiny_engine.inspect = defective_inspect;
  tiny_engine.remove = defective_remove;
  return &tiny_engine;
}
