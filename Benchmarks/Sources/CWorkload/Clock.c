#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "CWorkload.h"

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

workload_time workload_now(void) {
  return (workload_time){nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID)};
}

workload_time workload_since(workload_time begin) {
  workload_time now = workload_now();
  return (workload_time){now.elapsed - begin.elapsed, now.processor - begin.processor};
}

void workload_print(workload_time taken, int operations, uint64_t sum) {
  double count = operations;
  printf("%.2f %.2f %" PRIu64 "\n", (double)taken.elapsed / count, (double)taken.processor / count, sum);
}
