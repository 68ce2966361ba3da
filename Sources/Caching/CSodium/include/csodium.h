/// What the transform `sealed` uses of libsodium, loaded when it is first used.
///
/// Few programs seal what they store, so nothing is linked against the library. The functions are declared here, because
/// their interface has not changed since 2013 and a build then needs no header of libsodium. All but `csodium_load` may be
/// called only after that has returned null.

#pragma once

#include <stddef.h>

/// The sizes, in bytes, of XChaCha20-Poly1305.
static const size_t csodium_key_bytes = 32;
static const size_t csodium_nonce_bytes = 24;
static const size_t csodium_tag_bytes = 16;

/// Loads libsodium and prepares it, once for the process.
///
/// Returns null, or why that is not possible: a text that stays as it is.
const char *_Nullable csodium_load(void);

/// Encrypts `size` bytes of `message` into `sealed`, which has room for `csodium_tag_bytes` more. `context` is
/// authenticated with it.
void csodium_seal(
    unsigned char *_Nonnull sealed, const unsigned char *_Nullable message, size_t size,
    const unsigned char *_Nullable context, size_t context_size, const unsigned char *_Nonnull nonce,
    const unsigned char *_Nonnull key);

/// Decrypts `size` bytes of `sealed` into `message`. Returns 0, or -1 if the message was not sealed with this key, nonce
/// and context.
int csodium_open(
    unsigned char *_Nullable message, const unsigned char *_Nonnull sealed, size_t size,
    const unsigned char *_Nullable context, size_t context_size, const unsigned char *_Nonnull nonce,
    const unsigned char *_Nonnull key);

/// Writes the 16 bytes of BLAKE2b of `text` under `key`.
void csodium_hash(
    unsigned char *_Nonnull hash, const unsigned char *_Nullable text, size_t size, const unsigned char *_Nonnull key);
