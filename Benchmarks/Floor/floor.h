/// What the floor programs share with the Swift driver: which keys are read in which order, and how time is taken.
/// Sources/PointReads has the same in Swift.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEY_SIZE = 16 };

/// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Keys "bench/0000000000" onwards, in a random order: `reads` of them, one after another in memory.
static char *random_keys(int entries, int reads) {
  uint64_t state = 42;
  char *keys = malloc((size_t)reads * KEY_SIZE + 1);
  if (!keys) exit(1);
  for (int i = 0; i < reads; i++)
    snprintf(keys + (size_t)i * KEY_SIZE, KEY_SIZE + 1, "bench/%010d", (int)(next_random(&state) % (uint64_t)entries));
  return keys;
}

/// Seconds of processor time that this process has used: other processes on the machine do not count.
static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/// Reads all keys once to warm up and once for the measurement, and prints nanoseconds a read and a sum over the bytes.
static void measure(int reads, uint64_t (*read_all)(int reads)) {
  uint64_t sum = read_all(reads);
  double start = processor_seconds();
  sum += read_all(reads);
  printf("%.2f %llu\n", (processor_seconds() - start) * 1e9 / reads, (unsigned long long)sum);
}
