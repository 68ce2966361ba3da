/* The small engine, which breaks the rule that its option `defect` names. */
#define TINY_BROKEN
#include "tiny.c"

static int is(const cachectl_store *store, const char *defect) { return !strcmp(store->defect, defect); }

static cachectl_bytes bytes(const char *text) { return (cachectl_bytes){(const uint8_t *)text, strlen(text)}; }

static cachectl_entry entry(const char *key) {
  return (cachectl_entry){
    .key = bytes(key), .content_type = bytes("text/plain"), .payload = bytes("payload"), .stored_at = 1, .fresh_until = 2,
    .retain_until = 3, .payload_checksum = 4, .checksum = 5};
}

/* A callback that is called when it must not. */
static cachectl_visit_entry kept_visit;
static void *kept_context;

static void *visit_elsewhere(void *key) {
  cachectl_entry one = entry(key);
  kept_visit(kept_context, &one);
  return NULL;
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
  if (is(store, "read-other-key")) one.key = bytes("cities/other");
  if (is(store, "read-null-key")) one.key.data = NULL;
  if (is(store, "read-null-data")) one.payload.data = NULL;
  if (is(store, "read-huge")) one.payload.length = SIZE_MAX;
  if (is(store, "read-time-negative")) one.stored_at = -1;
  if (is(store, "read-time-large")) one.retain_until = 253402300800000;
  if (is(store, "read-type-not-utf8")) one.content_type = bytes("\xff\xfe");
  if (is(store, "read-type-null")) one.content_type = (cachectl_bytes){NULL, 16};
  if (is(store, "read-attributes-null")) one.attributes = (cachectl_bytes){NULL, 16};
  if (is(store, "read-attributes-huge")) one.attributes = (cachectl_bytes){one.payload.data, SIZE_MAX};
  if (is(store, "read-attributes-short")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0", 3};
  if (is(store, "read-attributes-cut")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a\2\0\0\0b", 10};
  if (is(store, "read-attributes-odd")) one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a", 5};
  if (is(store, "read-attributes-absurd")) one.attributes = (cachectl_bytes){(const uint8_t *)"\xff\xff\xff\xff" "a", 5};
  if (is(store, "read-attributes-not-utf8"))
    one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a\1\0\0\0\xff", 10};
  visit(context, &one);
  if (is(store, "read-twice")) visit(context, &one);
  /* What the callback returned is ignored here. */
  return CACHECTL_OK;
}

static int32_t defective_read(
  cachectl_store *store, cachectl_bytes key, cachectl_visit_entry visit, void *context, cachectl_failure *failure) {
  int32_t status;
  if (!*store->defect) return tiny_read(store, key, visit, context, failure);
  if (returns(store, &status, failure)) return status;
  if (is(store, "read-thread") || is(store, "read-null-context")) {
    pthread_t thread;
    kept_visit = visit;
    kept_context = is(store, "read-thread") ? context : NULL;
    if (!kept_context) return visit(NULL, NULL), CACHECTL_OK;
    if (pthread_create(&thread, NULL, visit_elsewhere, "cities/key")) return 99;
    pthread_join(thread, NULL);
    return CACHECTL_OK;
  }
  if (is(store, "read-late") || is(store, "scan-late")) {
    /* The callback of another call, which is over. */
    cachectl_entry one = entry("cities/key");
    if (kept_visit) kept_visit(context, &one);
    return CACHECTL_OK;
  }
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
  cachectl_bytes position = bytes("cities/c");
  kept_visit = visit;
  if (!*store->defect) return tiny_scan(store, request, visit, next, context, failure);
  if (is(store, "scan-null")) visit(context, NULL);
  if (is(store, "scan-not-a-key")) one.key = bytes("no key\x1b"), visit(context, &one);
  if (is(store, "scan-key-not-utf8")) one.key = bytes("cities/\xff"), visit(context, &one);
  if (is(store, "scan-long-key")) one.key.length = 1 << 30, visit(context, &one);
  if (is(store, "scan-outside")) one.key = bytes("movies/a"), visit(context, &one);
  if (is(store, "scan-huge")) one.payload.length = (size_t)1 << 41, visit(context, &one);
  if (is(store, "scan-without-payload")) one.payload.data = NULL, visit(context, &one);
  if (is(store, "scan-attributes-cut")) {
    one.attributes = (cachectl_bytes){(const uint8_t *)"\1\0\0\0a\2\0\0\0b", 10};
    visit(context, &one);
  }
  if (is(store, "next-null")) next(context, NULL);
  if (is(store, "next-empty")) position.length = 0, next(context, &position);
  if (is(store, "next-not-utf8")) position = bytes("cities/\xff"), next(context, &position);
  if (is(store, "next-lines")) position = bytes("cities/c\n"), next(context, &position);
  if (is(store, "next-null-data")) position.data = NULL, next(context, &position);
  if (is(store, "next-same")) next(context, &request->position);
  if (is(store, "next-back")) position = bytes("cities/."), next(context, &position);
  if (is(store, "next-back-of-entry")) visit(context, &one), position = bytes("cities/a"), next(context, &position);
  if (is(store, "next-back-with-entry")) visit(context, &early), position = bytes("cities/."), next(context, &position);
  if (is(store, "next-back-descending")) next(context, &position);
  if (is(store, "next-twice")) next(context, &position), next(context, &position);
  if (is(store, "next-early")) next(context, &position), visit(context, &one);
  if (is(store, "scan-beyond-limit")) {
    char key[32];
    for (size_t i = 0; i <= request->limit; i++) {
      snprintf(key, sizeof key, "cities/%08zu", i);
      one.key = bytes(key);
      visit(context, &one);
    }
  }
  return CACHECTL_OK;
}

static int32_t defective_count(
  cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes, cachectl_failure *failure) {
  cachectl_count count = {bytes("cities"), 3, 4, 5};
  int32_t status;
  if (!*store->defect) return tiny_count(store, visit, context, storage_bytes, failure);
  if (returns(store, &status, failure)) return status;
  if (is(store, "count-null")) visit(context, NULL);
  if (is(store, "count-namespace")) count.name_space = bytes("Not/one"), visit(context, &count);
  if (is(store, "count-namespace-null")) count.name_space.data = NULL, visit(context, &count);
  if (is(store, "count-time")) count.earliest_expiry = -1, visit(context, &count);
  if (is(store, "count-entries")) count.entries = UINT64_MAX, visit(context, &count);
  if (is(store, "count-bytes")) count.payload_bytes = (uint64_t)1 << 60, visit(context, &count);
  if (is(store, "count-endless")) {
    char name[16];
    int32_t result = CACHECTL_OK;
    for (int i = 0; result == CACHECTL_OK; i++) {
      snprintf(name, sizeof name, "n%d", i);
      count.name_space = bytes(name);
      result = visit(context, &count);
    }
  }
  if (is(store, "storage-bytes")) *storage_bytes = UINT64_MAX;
  return CACHECTL_OK;
}

static int32_t defective_check(
  cachectl_store *store, cachectl_visit_issue visit, void *context, cachectl_failure *failure) {
  cachectl_issue issue = {bytes("cities/a"), "undecodable", "it is cut off"};
  (void)failure;
  if (is(store, "issue-null")) visit(context, NULL);
  if (is(store, "issue-no-kind")) issue.kind = NULL, visit(context, &issue);
  if (is(store, "issue-kind")) issue.kind = "not\none line", visit(context, &issue);
  if (is(store, "issue-key")) issue.key = bytes("nothing"), visit(context, &issue);
  if (is(store, "issue-no-message")) issue.message = "", visit(context, &issue);
  if (is(store, "issue-endless"))
    while (visit(context, &issue) == CACHECTL_OK) {}
  if (!*store->defect) visit(context, &issue);
  return CACHECTL_OK;
}

static const char *defect_of(const cachectl_configuration *configuration) {
  for (size_t i = 0; i < configuration->value_count; i++)
    if (!strcmp(configuration->values[i].name, "defect")) return configuration->values[i].text;
  return "";
}

static int32_t defective_inspect(
  const cachectl_configuration *configuration, cachectl_visit_text file, cachectl_visit_inspection visit, void *context,
  cachectl_failure *failure) {
  const char *defect = defect_of(configuration);
  cachectl_bytes path = bytes("/tiny/file");
  cachectl_inspection inspection = {.path = "/tiny", .exists = 1, .format = 1, .current_format = 1};
  (void)failure;
  if (!strcmp(defect, "silent")) return CACHECTL_OK;
  if (!strcmp(defect, "null")) return visit(context, NULL), CACHECTL_OK;
  if (!strcmp(defect, "path")) inspection.path = "";
  if (!strcmp(defect, "path-null")) inspection.path = NULL;
  if (!strcmp(defect, "path-lines")) inspection.path = "/a\n/b";
  if (!strcmp(defect, "file-relative")) path = bytes("here");
  if (!strcmp(defect, "caution-lines")) inspection.caution = "two\nlines";
  if (!strcmp(defect, "files-endless"))
    while (file(context, &path) == CACHECTL_OK) {}
  if (strcmp(defect, "file-late")) file(context, &path);
  visit(context, &inspection);
  if (!strcmp(defect, "file-late")) file(context, &path);
  if (!strcmp(defect, "twice")) visit(context, &inspection);
  return CACHECTL_OK;
}

static int32_t defective_remove(
  const cachectl_configuration *configuration, const char *suffix, cachectl_visit_text moved, void *context,
  cachectl_failure *failure) {
  const char *defect = defect_of(configuration);
  const cachectl_bytes relative = bytes("here"), absolute = bytes("/there");
  (void)suffix, (void)failure;
  if (!strcmp(defect, "moved-null")) moved(context, &(cachectl_bytes){NULL, 5});
  if (!strcmp(defect, "moved-relative")) moved(context, &relative);
  if (!strcmp(defect, "moved-endless"))
    while (moved(context, &absolute) == CACHECTL_OK) {}
  return CACHECTL_OK;
}

static int32_t defective_change_mark(cachectl_store *store, cachectl_bytes key, uint64_t *number, uint64_t *age) {
  *number = key.length;
  *age = !strcmp(store->defect, "mark-old") ? UINT64_MAX : 5;
  if (!strcmp(store->defect, "mark-99")) return 99;
  return !strcmp(store->defect, "mark-none") ? 0 : 1;
}

static int32_t defective_change_count(cachectl_store *store, uint64_t *number) {
  if (is(store, "count-99")) return 99;
  return is(store, "count-none") ? 0 : tiny_change_count(store, number);
}

static const char *const defective_capabilities[] = {
  "atomic-batches", "ordered", "bounded", "counts-changes", "follows-changes", NULL};

const cachectl_engine *cachectl_plugin(uint32_t abi) {
  (void)abi;
  tiny_engine.open = defective_open;
  tiny_engine.close = defective_close;
  tiny_engine.read = defective_read;
  tiny_engine.capabilities = defective_capabilities;
  tiny_engine.change_count = defective_change_count;
  tiny_engine.change_mark = defective_change_mark;
  tiny_engine.apply = defective_apply;
  tiny_engine.scan = defective_scan;
  tiny_engine.count = defective_count;
  tiny_engine.check = defective_check;
  tiny_engine.inspect = defective_inspect;
  tiny_engine.remove = defective_remove;
  return &tiny_engine;
}
