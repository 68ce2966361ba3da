#define _GNU_SOURCE
#include "cidn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// From idn2.h: compose the name first (NFC), and map it by UTS 46 without transitional processing.
enum { NFC_INPUT = 1, NONTRANSITIONAL = 8 };

static struct {
  int (*lookup)(const unsigned char *, unsigned char **, int);
  void (*free)(void *);
} libidn2;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

#ifdef __APPLE__
// Whole paths: a mere name is also looked for in the working folder.
static const char *const libraries[] = {"/opt/homebrew/lib/libidn2.dylib", "/usr/local/lib/libidn2.dylib"};
#else
static const char *const libraries[] = {"libidn2.so.0", "libidn2.so"};
#endif

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function && !failure[0]) snprintf(failure, sizeof failure, "libidn2 is too old: it has no function %s", name);
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
  libidn2.lookup = find(library, "idn2_lookup_u8");
  libidn2.free = find(library, "idn2_free");
}

const char *cidn_load(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
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
