#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// XXH3, 64 bits, of `count` bytes, continuing from `seed`: so that several pieces make one checksum.
uint64_t cchecksum_xxh3(const void *bytes, size_t count, uint64_t seed);

#endif
