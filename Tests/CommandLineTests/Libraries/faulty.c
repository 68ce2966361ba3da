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

const cachectl_engine *cachectl_plugin(uint32_t abi) {
  if (is_fault("load")) abort();
  if (is_fault("version")) return NULL;
  folder = folder_plugin(abi);
  faulty = *folder;
  faulty.name = is_fault("name") ? "other" : "faulty";
  faulty.open = faulty_open;
  faulty.apply = faulty_apply;
  return &faulty;
}
