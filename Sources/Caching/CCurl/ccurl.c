#define _GNU_SOURCE
#include "ccurl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>

// The functions that are used, each with the type that libcurl's header gives it.
#define FUNCTIONS(F)          \
  F(curl_easy_cleanup)        \
  F(curl_easy_getinfo)        \
  F(curl_easy_init)           \
  F(curl_easy_pause)          \
  F(curl_easy_setopt)         \
  F(curl_easy_strerror)       \
  F(curl_global_init)         \
  F(curl_multi_add_handle)    \
  F(curl_multi_cleanup)       \
  F(curl_multi_info_read)     \
  F(curl_multi_init)          \
  F(curl_multi_perform)       \
  F(curl_multi_poll)          \
  F(curl_multi_remove_handle) \
  F(curl_multi_setopt)        \
  F(curl_multi_wakeup)        \
  F(curl_slist_append)        \
  F(curl_slist_free_all)

#define POINTER(name) __typeof__(name) *name;
static struct {
  FUNCTIONS(POINTER)
} libcurl;

const char *ccurl_link(void *library) {
#define FIND(name) \
  if (!(libcurl.name = dlsym(library, #name))) return "has no function " #name;
  FUNCTIONS(FIND)
  CURLcode code = libcurl.curl_global_init(CURL_GLOBAL_ALL);
  return code ? libcurl.curl_easy_strerror(code) : NULL;
}

CURL *ccurl_easy_init(void) { return libcurl.curl_easy_init(); }

void ccurl_easy_cleanup(CURL *easy) { libcurl.curl_easy_cleanup(easy); }

CURLcode ccurl_easy_pause(CURL *easy, int bits) { return libcurl.curl_easy_pause(easy, bits); }

const char *ccurl_easy_strerror(CURLcode code) { return libcurl.curl_easy_strerror(code); }

_Static_assert(sizeof(long) == sizeof(curl_off_t), "one function is for numbers of both types");

CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
  return libcurl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return libcurl.curl_easy_setopt(easy, option, value);
}

CURLcode ccurl_get_number(CURL *easy, CURLINFO info, long *value) {
  return libcurl.curl_easy_getinfo(easy, info, value);
}

CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return libcurl.curl_easy_getinfo(easy, info, value);
}

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) {
  return libcurl.curl_slist_append(list, text);
}

void ccurl_slist_free_all(struct curl_slist *list) { libcurl.curl_slist_free_all(list); }

CURLM *ccurl_multi_init(void) { return libcurl.curl_multi_init(); }

CURLMcode ccurl_multi_cleanup(CURLM *multi) { return libcurl.curl_multi_cleanup(multi); }

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return libcurl.curl_multi_setopt(multi, option, value);
}

CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *easy) { return libcurl.curl_multi_add_handle(multi, easy); }

CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *easy) {
  return libcurl.curl_multi_remove_handle(multi, easy);
}

CURLMcode ccurl_multi_perform(CURLM *multi) {
  int running;
  return libcurl.curl_multi_perform(multi, &running);
}

CURLMcode ccurl_multi_poll(CURLM *multi) { return libcurl.curl_multi_poll(multi, NULL, 0, INT_MAX, NULL); }

CURLMcode ccurl_multi_wakeup(CURLM *multi) { return libcurl.curl_multi_wakeup(multi); }

CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result) {
  int left;
  CURLMsg *message;
  while ((message = libcurl.curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

void ccurl_block_signals(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}
