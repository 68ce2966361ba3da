#include <lmdb.h>

#include <linux/falloc.h>

// The system's header declares this only for GNU sources.
int fallocate(int fd, int mode, off_t offset, off_t count);
