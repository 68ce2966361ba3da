// The hash is compiled in from the library's header, which is faster than its shared object and adds nothing to load.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "CChecksum.h"

uint64_t cchecksum_xxh3(const void *bytes, size_t count, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}
