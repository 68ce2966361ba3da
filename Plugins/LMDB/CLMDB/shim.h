#include <lmdb.h>

// On Linux no header that declares `struct stat`: the module that includes it first would own it.
#ifdef __linux__
#include <linux/falloc.h>

// The system's header declares this only for GNU sources.
int fallocate(int fd, int mode, off_t offset, off_t count);
#else
#include <errno.h>
#include <fcntl.h>
#endif

// Reserves disk space for the first `count` bytes of a file, whose size stays. 0, or -1 with errno set.
static inline int clmdb_reserve(int fd, off_t count) {
#ifdef __linux__
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, count);
#else
  // Space is added at the end of what the file has.
  fstore_t request = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = count};
  return fcntl(fd, F_PREALLOCATE, &request) == -1 ? -1 : 0;
#endif
}

// Gives the disk space of a part of a file back to the system; the part then reads as zeros. 0, or -1 with errno set:
// EOPNOTSUPP or ENOSYS if the file system cannot.
static inline int clmdb_punch_hole(int fd, off_t offset, off_t count) {
#ifdef __linux__
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
#else
  fpunchhole_t hole = {.fp_offset = offset, .fp_length = count};
  if (fcntl(fd, F_PUNCHHOLE, &hole) != -1) return 0;
  if (errno == ENOTSUP) errno = EOPNOTSUPP;
  return -1;
#endif
}
