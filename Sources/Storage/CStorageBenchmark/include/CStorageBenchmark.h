#ifndef CSTORAGEBENCHMARK_H
#define CSTORAGEBENCHMARK_H

#include <stddef.h>

/// The number of workload files inside the program. All of them are constant and there as long as it runs.
ptrdiff_t cstoragebenchmark_workload_count(void);

/// The name of the file at `index`, which is below the count, without ".json".
const char *_Nonnull cstoragebenchmark_workload_name(ptrdiff_t index);

/// The text of the file at `index`, with a zero at its end.
const char *_Nonnull cstoragebenchmark_workload_text(ptrdiff_t index);

/// Gives memory that is free, but still held by the process, back to the system.
void cstoragebenchmark_trim_memory(void);

/// Does the same work in each call, some milliseconds of it: calculates, reads and writes memory beyond the processor's
/// nearer caches, and gets the memory from the system. With a folder it also writes a nameless file there and waits for
/// the disk, where the file system can do that.
void cstoragebenchmark_do_reference_work(const char *_Nullable folder);

#endif
