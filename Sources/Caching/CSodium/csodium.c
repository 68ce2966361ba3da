#define _GNU_SOURCE
#include "csodium.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef unsigned char byte;
typedef unsigned long long count;

static struct {
  int (*init)(void);
  int (*seal)(byte *, count *, const byte *, count, const byte *, count, const byte *, const byte *, const byte *);
  int (*open)(byte *, count *, byte *, const byte *, count, const byte *, count, const byte *, const byte *);
  int (*hash)(byte *, size_t, const byte *, count, const byte *, size_t);
} libsodium;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

#ifdef __APPLE__
// Whole paths: a mere name is also looked for in the working folder.
static const char *const libraries[] = {"/opt/homebrew/lib/libsodium.dylib", "/usr/local/lib/libsodium.dylib"};
#else
static const char *const libraries[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so"};
#endif

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function && !failure[0]) snprintf(failure, sizeof failure, "libsodium is too old: it has no function %s", name);
  return function;
}

static void load(void) {
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s cannot be loaded", libraries[0]);
    return;
  }
  libsodium.init = find(library, "sodium_init");
  libsodium.seal = find(library, "crypto_aead_xchacha20poly1305_ietf_encrypt");
  libsodium.open = find(library, "crypto_aead_xchacha20poly1305_ietf_decrypt");
  libsodium.hash = find(library, "crypto_generichash");
  if (failure[0]) return;
  if (libsodium.init() < 0) snprintf(failure, sizeof failure, "libsodium cannot be used: it fails to initialize");
}

const char *csodium_load(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

void csodium_seal(
    byte *sealed, const byte *message, size_t size, const byte *context, size_t context_size, const byte *nonce,
    const byte *key) {
  count written;
  libsodium.seal(sealed, &written, message, size, context, context_size, NULL, nonce, key);
}

int csodium_open(
    byte *message, const byte *sealed, size_t size, const byte *context, size_t context_size, const byte *nonce,
    const byte *key) {
  count written;
  return libsodium.open(message, &written, NULL, sealed, size, context, context_size, nonce, key);
}

void csodium_hash(byte *hash, const byte *text, size_t size, const byte *key) {
  libsodium.hash(hash, 16, text, size, key, csodium_key_bytes);
}
