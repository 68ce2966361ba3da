#include "csodium.h"

#include <pthread.h>
#include <stdio.h>

#include "cloader.h"

typedef unsigned char byte;
typedef unsigned long long count;

static struct {
  int (*init)(void);
  int (*seal)(byte *, count *, const byte *, count, const byte *, count, const byte *, const byte *, const byte *);
  int (*open)(byte *, count *, byte *, const byte *, count, const byte *, count, const byte *, const byte *);
  int (*hash)(byte *, size_t, const byte *, count, const byte *, size_t);
} libsodium;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cloader loader;

#ifdef __APPLE__
// Whole paths: a mere name is also looked for in the working folder.
static const char *const libraries[] = {"/opt/homebrew/lib/libsodium.dylib", "/usr/local/lib/libsodium.dylib", NULL};
#else
static const char *const libraries[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so", NULL};
#endif

static void load(void) {
  cloader_open(&loader, "libsodium", libraries);
  libsodium.init = cloader_find(&loader, "sodium_init");
  libsodium.seal = cloader_find(&loader, "crypto_aead_xchacha20poly1305_ietf_encrypt");
  libsodium.open = cloader_find(&loader, "crypto_aead_xchacha20poly1305_ietf_decrypt");
  libsodium.hash = cloader_find(&loader, "crypto_generichash");
  if (!loader.failure[0] && libsodium.init() < 0)
    snprintf(loader.failure, sizeof loader.failure, "libsodium cannot be used: it fails to initialize");
}

const char *csodium_load(void) {
  pthread_once(&once, load);
  return loader.failure[0] ? loader.failure : NULL;
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
