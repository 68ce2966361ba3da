#include "cidn.h"

#include <pthread.h>
#include <string.h>

#include "cloader.h"

// From idn2.h: compose the name first (NFC), and map it by UTS 46 without transitional processing.
enum { NFC_INPUT = 1, NONTRANSITIONAL = 8 };

static struct {
  int (*lookup)(const unsigned char *, unsigned char **, int);
  void (*free)(void *);
} libidn2;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cloader loader;

#ifdef __APPLE__
// Whole paths: a mere name is also looked for in the working folder.
static const char *const libraries[] = {"/opt/homebrew/lib/libidn2.dylib", "/usr/local/lib/libidn2.dylib", NULL};
#else
static const char *const libraries[] = {"libidn2.so.0", "libidn2.so", NULL};
#endif

static void load(void) {
  cloader_open(&loader, "libidn2", libraries);
  libidn2.lookup = cloader_find(&loader, "idn2_lookup_u8");
  libidn2.free = cloader_find(&loader, "idn2_free");
}

const char *cidn_load(void) {
  pthread_once(&once, load);
  return loader.failure[0] ? loader.failure : NULL;
}

int cidn_to_ascii(const char *name, char *ascii, size_t size) {
  unsigned char *found = NULL;
  if (libidn2.lookup((const unsigned char *)name, &found, NFC_INPUT | NONTRANSITIONAL) || !found) return 0;
  size_t length = strlen((const char *)found);
  int fits = length < size;
  if (fits) memcpy(ascii, found, length + 1);
  libidn2.free(found);
  return fits;
}
