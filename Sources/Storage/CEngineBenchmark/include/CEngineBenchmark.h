#ifndef CENGINEBENCHMARK_H
#define CENGINEBENCHMARK_H

/// Gives memory that is free, but still held by the process, back to the system.
void cenginebenchmark_trim_memory(void);

/// Does the same work in each call, some milliseconds of it: calculates, reads and writes memory beyond the processor's
/// nearer caches, and gets the memory from the system. With a folder it also writes a nameless file there and waits for
/// the disk, if the file system can do that.
void cenginebenchmark_do_reference_work(const char *_Nullable folder);

#endif
