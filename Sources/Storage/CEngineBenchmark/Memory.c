// For O_TMPFILE.
#define _GNU_SOURCE

#include "CEngineBenchmark.h"

#include <fcntl.h>
#ifdef __GLIBC__
// Swift's module of the C library leaves this header out.
#include <malloc.h>
#endif
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void cenginebenchmark_trim_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Writes `count` bytes to a file without a name in `folder`, if the system has such files, and waits for the disk.
static void write_nameless(const char *folder, const void *bytes, size_t count) {
#ifdef O_TMPFILE
  int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, bytes, count) == (ssize_t)count) fdatasync(file);
  close(file);
#endif
}

void cenginebenchmark_do_reference_work(const char *folder) {
  enum { words = 1 << 19, steps = 1 << 18, written = 1 << 16 };
  // Not malloc, which could keep the memory, and it would count as the engine's.
  size_t size = words * sizeof(uint64_t);
  uint64_t *table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), number = 1;
  if (table == MAP_FAILED) return;
  for (int step = 0; step < steps; step++) {
    // The constants are Knuth's for MMIX.
    number = number * 6364136223846793005 + 1442695040888963407;
    table[number >> 45] += number;
  }
  // This read makes the compiler calculate the table.
  (void)*(volatile uint64_t *)table;
  if (folder) write_nameless(folder, table, written);
  munmap(table, size);
}
