#define _GNU_SOURCE
#include "folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders above `path` that are missing, for the user alone. */
static void make_parents(const char *path) {
  char parent[4096];
  for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    if (snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) < (int)sizeof parent) mkdir(parent, 0700);
  }
}

static int open_inside(int folder, const char *name) {
  if (mkdirat(folder, name, 0700) != 0 && errno != EEXIST) return -1;
  return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int open_folder(cachectl_store *store, const char *path, cachectl_failure *failure) {
  make_parents(path);
  store->root = open_inside(AT_FDCWD, path);
  store->entries = store->root < 0 ? -1 : open_inside(store->root, "entries");
  store->batch = store->entries < 0 ? -1 : open_inside(store->root, "batch");
  if (store->batch >= 0) return OK;
  int code = fail(failure, OK, "the store cannot be made", path);
  close_folder(store);
  return code == CACHECTL_IO_FAILED ? CACHECTL_CANNOT_CREATE : code;
}

void close_folder(cachectl_store *store) {
  int files[] = {store->batch, store->entries, store->root};
  for (int i = 0; i < 3; i++) {
    if (files[i] >= 0) close(files[i]);
  }
}

/* Puts the files of a batch in place if it is decided, and removes what is left of any other. */
static int settle(cachectl_store *store, cachectl_failure *failure) {
  int is_decided = faccessat(store->root, "decided", F_OK, 0) == 0, code = OK;
  struct dirent **files;
  int count = scandirat(store->batch, ".", &files, NULL, NULL);
  if (count < 0) return fail(failure, OK, "a folder of the store cannot be read", "batch");
  for (int i = 0; i < count; free(files[i++])) {
    const char *name = files[i]->d_name;
    struct stat status;
    if (name[0] == '.' || code != OK) continue;
    int is_done = fstatat(store->batch, name, &status, 0) == 0;
    if (is_done && is_decided && status.st_size > 0) is_done = renameat(store->batch, name, store->entries, name) == 0;
    else if (is_done && is_decided) is_done = unlinkat(store->entries, name, 0) == 0 || errno == ENOENT;
    if (is_done && unlinkat(store->batch, name, 0) != 0) is_done = errno == ENOENT;
    if (!is_done) code = fail(failure, OK, "a file cannot be moved or removed", name);
  }
  free(files);
  if (code != OK || !is_decided) return code;
  int is_synced = store->durability < FULL || (fsync(store->entries) == 0 && fsync(store->batch) == 0);
  return is_synced && unlinkat(store->root, "decided", 0) == 0 ? OK : fail(failure, OK, "a batch stays open", "decided");
}

int begin(struct call *call, cachectl_store *store, cachectl_failure *failure) {
  *call = (struct call){.store = store, .failure = failure};
  call->lock = openat(store->root, "lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (call->lock < 0) return fail(failure, OK, "a file cannot be made", "lock");
  while (flock(call->lock, LOCK_EX) != 0)
    if (errno != EINTR) return fail(failure, OK, "a file cannot be locked", "lock");
  return faccessat(store->root, "decided", F_OK, 0) == 0 ? settle(store, failure) : OK;
}

int end(struct call *call, int code) {
  for (size_t i = 0; i < call->count; i++) free(call->items[i].record.memory);
  free(call->items);
  close(call->lock);
  return code;
}

int read_all(struct call *call, size_t more, cachectl_visit_issue visit, void *context) {
  struct dirent **files;
  int total = scandirat(call->store->entries, ".", &files, NULL, NULL), code = OK;
  if (total < 0) return fail(call->failure, OK, "a folder of the store cannot be read", "entries");
  call->items = calloc((size_t)total + more, sizeof *call->items);
  if (call->items == NULL) code = fail(call->failure, CACHECTL_FAILED, "there is no memory for", "entries");
  for (int i = 0; i < total; free(files[i++])) {
    if (code != OK || strlen(files[i]->d_name) >= FILE_NAME || files[i]->d_name[0] == '.') continue;
    struct item *item = &call->items[call->count];
    strcpy(item->record.name, files[i]->d_name);
    code = read_file(call->store->entries, 0, &item->record, call->failure);
    if (code == CACHECTL_DAMAGED && visit != NULL)
      code = visit(context, &(cachectl_issue){sizeof(cachectl_issue), {0}, "undecodable", call->failure->message});
    item->is_there = item->record.memory != NULL;
    call->count += (size_t)item->is_there;
  }
  free(files);
  return code;
}

int commit(struct call *call) {
  cachectl_store *store = call->store;
  int is_synced = store->durability > RELAXED, is_changed = 0, code = settle(store, call->failure);
  for (size_t i = 0; i < call->count && code == OK; i++) {
    struct item *item = &call->items[i];
    if (!item->is_changed) continue;
    is_changed = 1;
    const cachectl_entry *entry = item->is_there ? &item->record.entry : NULL;
    code = write_file(store->batch, item->record.name, entry, is_synced, call->failure);
  }
  if (code == OK && is_synced && fsync(store->batch) != 0) code = fail(call->failure, OK, "not on disk", "batch");
  if (code == OK && is_changed) code = write_file(store->root, "decided", NULL, is_synced, call->failure);
  if (code == OK && store->durability == FULL && fsync(store->root) != 0) {
    code = fail(call->failure, OK, "not on disk", "decided");
    unlinkat(store->root, "decided", 0);
  }
  cachectl_failure later; /* What is decided and cannot be put in place yet will be by the next call. */
  settle(store, &later);
  return code;
}
