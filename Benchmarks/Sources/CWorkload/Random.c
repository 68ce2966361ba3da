#include "Random.h"

#include <math.h>

uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t count) {
  return (uint64_t)((unsigned __int128)random_next(state) * count >> 64);
}

double random_unit(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

/// The hash by which YCSB scatters numbers: FNV-1a of the eight bytes, without its sign.
static uint64_t scattered(uint64_t number) {
  uint64_t hash = 0xCBF29CE484222325;
  for (int i = 0; i < 8; i++, number >>= 8) hash = (hash ^ (number & 0xFF)) * 0x100000001B3;
  return (int64_t)hash < 0 ? 0 - hash : hash;
}

/// The method of Gray et al. (SIGMOD 1994) over ten thousand million numbers, whose sum `zeta` YCSB has as a constant.
uint64_t random_zipfian(uint64_t *state, uint64_t count) {
  const double theta = 0.99, drawn = 1e10, zeta = 26.46902820178302;
  const double zeta_of_two = 1 + pow(0.5, theta);
  const double eta = (1 - pow(2 / drawn, 1 - theta)) / (1 - zeta_of_two / zeta);
  double uniform = random_unit(state), scaled = uniform * zeta;
  uint64_t number = 0;
  if (scaled >= zeta_of_two) {
    number = (uint64_t)(drawn * pow(eta * uniform - eta + 1, 1 / (1 - theta)));
  } else if (scaled >= 1) {
    number = 1;
  }
  return scattered(number) % count;
}
