/* The file of an entry: a line of numbers; the key, the content type and the attributes, each with its length; the
 * payload. It is text as far as the entry is, so that `head` and `grep` can read it. */
#ifndef ENTRY_FILE_H
#define ENTRY_FILE_H
#include "cachectl_plugin.h"

enum { OK = CACHECTL_OK, FILE_NAME = 17 };

/* An entry and the name of its file. The reader frees its memory, which is NULL where there is no file. */
struct record {
  cachectl_entry entry;
  size_t file_bytes;
  char name[FILE_NAME];
  char *memory;
};

/* Says what is wrong with the file `name`, and returns `code`; without a code, the one for what the system refused. */
int fail(cachectl_failure *failure, int code, const char *what, const char *name);

/* The name of the file of an entry: its key's hash. */
void name_file(cachectl_bytes key, char name[FILE_NAME]);

/* Reads the file `record->name` of `folder`, without the payload unless it is to be whole. That there is none is no
 * failure; that it holds anything but what was written is CACHECTL_DAMAGED. */
int read_file(int folder, int is_whole, struct record *record, cachectl_failure *failure);

/* Writes the file `name` of `folder`, and has it on disk where it is to be synced; an empty one without an entry. */
int write_file(int folder, const char *name, const cachectl_entry *entry, int is_synced, cachectl_failure *failure);
#endif
