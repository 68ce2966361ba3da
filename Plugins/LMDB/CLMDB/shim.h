#include <lmdb.h>

#include <linux/falloc.h>

// The system's header declares it for GNU sources only.
int fallocate(int fd, int mode, off_t offset, off_t count);
