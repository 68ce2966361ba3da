/* The folder of a store, and calls that have it to themselves.
 *
 *   PATH/entries/HASH  an entry, as entry_file.h says
 *   PATH/batch/HASH    the file that a batch puts in its place; an empty one stands for a removal
 *   PATH/decided       is there once the batch counts, until all its files are in place
 *   PATH/lock          held by each call, so that there is one at a time, of all threads and processes */
#ifndef FOLDER_H
#define FOLDER_H
#include "entry_file.h"

/* How much is on disk when a call returns: nothing for sure, every file of a batch, its folders too. */
enum { RELAXED, NORMAL, FULL };

struct cachectl_store {
  int root, entries, batch, durability;
  int64_t (*now)(void *clock);
  void *clock;
};

/* An entry as a call sees it; one that is not there is to be removed, or was only asked for. */
struct item {
  struct record record;
  int is_there, is_changed;
};

/* A call that is under way, and all entries as it sees them. */
struct call {
  cachectl_store *store;
  cachectl_failure *failure;
  int lock;
  struct item *items;
  size_t count;
};

/* Opens the folder, and makes it and those above it where they are missing. */
int open_folder(cachectl_store *store, const char *path, cachectl_failure *failure);
void close_folder(cachectl_store *store);

/* Takes the lock, and finishes what a process that died has decided. `end` follows, and returns `code`. */
int begin(struct call *call, cachectl_store *store, cachectl_failure *failure);
int end(struct call *call, int code);

/* Reads all entries without their payloads, with room for `more`. Damage is passed to `visit`; without a `visit`, damage fails the call. */
int read_all(struct call *call, size_t more, cachectl_visit_issue visit, void *context);

/* Writes what has changed, decides it with one file, and puts it in place. */
int commit(struct call *call);
#endif
