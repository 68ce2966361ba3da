/// Random numbers that repeat themselves, drawn as `cachectl bench` draws them.
#pragma once
#include <stdint.h>

/// The next number of a sequence (SplitMix64; Steele, Lea and Flood 2014).
uint64_t random_next(uint64_t *state);

/// A number below `count`.
uint64_t random_below(uint64_t *state, uint64_t count);

/// A number from 0 up to 1, not itself reached.
double random_unit(uint64_t *state);

/// A number below `count`, drawn as YCSB's scrambled zipfian distribution does, with an exponent of 0.99.
uint64_t random_zipfian(uint64_t *state, uint64_t count);
