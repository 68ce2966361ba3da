#include "lazy_curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

// The functions stay inside the program: where URLSession is a shared library, it goes on to use the libcurl that it is
// linked against.
#define INSIDE __attribute__((visibility("hidden")))

// Each function that URLSession calls, by the kinds of its result and parameters. The declarations of libcurl's own
// headers are not needed: every argument is a pointer or an integer, and all pointers are alike.
#define FUNCTIONS(F0, F1, F2, F3, F4, FV)                                                  \
  F1(void, curl_easy_cleanup, void *)                                                      \
  FV(int, curl_easy_getinfo, void *, int)                                                  \
  F0(void *, curl_easy_init)                                                               \
  F2(int, curl_easy_pause, void *, int)                                                    \
  FV(int, curl_easy_setopt, void *, int)                                                   \
  F1(const char *, curl_easy_strerror, int)                                                \
  F1(void, curl_free, void *)                                                              \
  F1(int, curl_global_init, long)                                                          \
  F2(int, curl_multi_add_handle, void *, void *)                                           \
  F3(int, curl_multi_assign, void *, int, void *)                                          \
  F1(int, curl_multi_cleanup, void *)                                                      \
  F2(void *, curl_multi_info_read, void *, int *)                                          \
  F0(void *, curl_multi_init)                                                              \
  F2(int, curl_multi_remove_handle, void *, void *)                                        \
  FV(int, curl_multi_setopt, void *, int)                                                  \
  F4(int, curl_multi_socket_action, void *, int, int, int *)                               \
  F2(void *, curl_slist_append, void *, const char *)                                      \
  F1(void, curl_slist_free_all, void *)                                                    \
  F0(void *, curl_url)                                                                     \
  F4(int, curl_url_get, const void *, int, char **, unsigned)                              \
  F4(int, curl_url_set, void *, int, const char *, unsigned)                               \
  F0(const char *, curl_version)                                                           \
  F1(void *, curl_version_info, int)

// Where the functions are, once libcurl is loaded.
#define POINTER0(R, name) R (*name)(void);
#define POINTER1(R, name, A) R (*name)(A);
#define POINTER2(R, name, A, B) R (*name)(A, B);
#define POINTER3(R, name, A, B, C) R (*name)(A, B, C);
#define POINTER4(R, name, A, B, C, D) R (*name)(A, B, C, D);
#define POINTERV(R, name, A, B) R (*name)(A, B, ...);
static struct {
  FUNCTIONS(POINTER0, POINTER1, POINTER2, POINTER3, POINTER4, POINTERV)
} functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

static void *find(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function && !failure[0]) snprintf(failure, sizeof failure, "libcurl has no function %s", name);
  return function;
}

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(failure, sizeof failure, "%s", reason ? reason : "libcurl.so.4 cannot be loaded");
    return;
  }
#define FIND(R, name, ...) functions.name = find(library, #name);
  FUNCTIONS(FIND, FIND, FIND, FIND, FIND, FIND)
}

const char *lazy_curl_load(void) {
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

// The functions themselves. A variadic one of libcurl takes exactly one more argument: a pointer, a long or a
// curl_off_t, which are passed alike on every platform that is supported.
#define CALL0(R, name) INSIDE R name(void) { return functions.name(); }
#define CALL1(R, name, A) INSIDE R name(A a) { return functions.name(a); }
#define CALL2(R, name, A, B) INSIDE R name(A a, B b) { return functions.name(a, b); }
#define CALL3(R, name, A, B, C) INSIDE R name(A a, B b, C c) { return functions.name(a, b, c); }
#define CALL4(R, name, A, B, C, D) INSIDE R name(A a, B b, C c, D d) { return functions.name(a, b, c, d); }
#define CALLV(R, name, A, B)                 \
  INSIDE R name(A a, B b, ...) {             \
    va_list list;                            \
    va_start(list, b);                       \
    void *argument = va_arg(list, void *);   \
    va_end(list);                            \
    return functions.name(a, b, argument);   \
  }
_Static_assert(sizeof(long) == sizeof(void *), "a long is passed like a pointer");
FUNCTIONS(CALL0, CALL1, CALL2, CALL3, CALL4, CALLV)
