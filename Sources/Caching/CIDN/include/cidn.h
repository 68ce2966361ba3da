/// What the names of servers need of libidn2, loaded when the first one is met that is not ASCII.
///
/// Hardly any program meets one, so nothing is linked against the library. The functions are declared in the source,
/// because their interface has not changed since 2.0, and a build then needs no header of libidn2.

#pragma once

#include <stddef.h>

/// Loads libidn2, once for the process.
///
/// Returns null, or why that is not possible: a text that stays unchanged.
const char *_Nullable cidn_load(void);

/// Writes the ASCII form of the domain name `name`, which is UTF-8, into `ascii`, which has room for `size` bytes, and
/// ends it with a zero (ToASCII of UTS 46, without transitional processing). Returns whether there is one.
///
/// It may be called only after `cidn_load` has returned null.
int cidn_to_ascii(const char *_Nonnull name, char *_Nonnull ascii, size_t size);
