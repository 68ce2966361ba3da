/* The engine of Examples/FolderEngine, which misbehaves as the variable FAULT says. It is compiled with the example,
 * whose entry point is then called folder_plugin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cachectl_plugin.h"

const cachectl_engine *folder_plugin(uint32_t abi);

static const cachectl_engine *folder;
static cachectl_engine faulty;

static int is_fault(const char *name) {
  const char *fault = getenv("FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static void misbehave(void) {
  if (is_fault("segmentation")) *(volatile int *)8 = 1;
  if (is_fault("abort")) abort();
  if (is_fault("exit")) exit(3);
  if (is_fault("hang"))
    for (;;) pause();
}

static int32_t faulty_open(const cachectl_configuration *configuration, cachectl_store **store, cachectl_failure *failure) {
  misbehave();
  return folder->open(configuration, store, failure);
}

/* Forgets all batches but the first one of a store, or prints what looks like the result of a check. */
static int32_t faulty_apply(cachectl_store *store, const cachectl_batch *batch, cachectl_failure *failure) {
  if (is_fault("forget") && batch->operation_count > 1) return CACHECTL_OK;
  if (is_fault("print")) {
    puts("{\"name\":\"random-calls\",\"result\":\"passed\",\"message\":\"\"}\nhello");
    fflush(stdout);
  }
  return folder->apply(store, batch, failure);
}

static int32_t say_lost(cachectl_failure *failure) {
  snprintf(failure->message, sizeof failure->message, "%s", "server a: 1 of 2 parts cannot be reached (b)");
  failure->hint[0] = 0;
  return CACHECTL_UNREACHABLE;
}

static int32_t lost_scan(
  cachectl_store *store, const cachectl_scan_request *request, cachectl_visit_entry visit, cachectl_visit_text next,
  void *context, cachectl_failure *failure) {
  (void)store, (void)request, (void)visit, (void)next, (void)context;
  return say_lost(failure);
}

static int32_t lost_count(
  cachectl_store *store, cachectl_visit_count visit, void *context, uint64_t *storage_bytes, cachectl_failure *failure) {
  (void)store, (void)visit, (void)context, (void)storage_bytes;
  return say_lost(failure);
}

/* As an engine does that has its entries on two servers, one of which is lost. */
static void lose_server(void) {
  faulty.scan = lost_scan;
  faulty.count = lost_count;
}

const cachectl_engine *cachectl_plugin(uint32_t abi) {
  if (is_fault("load")) abort();
  if (is_fault("version")) return NULL;
  folder = folder_plugin(abi);
  faulty = *folder;
  faulty.name = is_fault("name") ? "other" : "faulty";
  faulty.open = faulty_open;
  faulty.apply = faulty_apply;
  if (is_fault("lost")) lose_server();
  return &faulty;
}
