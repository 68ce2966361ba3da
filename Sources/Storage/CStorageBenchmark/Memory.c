// For O_TMPFILE.
#define _GNU_SOURCE

#include "CStorageBenchmark.h"

#include <fcntl.h>
// Swift's module of the C library leaves this header out.
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void cstoragebenchmark_trim_memory(void) { malloc_trim(0); }

void cstoragebenchmark_do_reference_work(const char *folder) {
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
  // What is read through this pointer has to be calculated.
  (void)*(volatile uint64_t *)table;
  int file = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    if (write(file, table, written) == written) fdatasync(file);
    close(file);
  }
  munmap(table, size);
}
