#define _GNU_SOURCE
#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

// The functions of libcurl that Swift cannot call, or of which it would not know whether they return null.
#define OTHER_FUNCTIONS(F) \
  F(curl_easy_getinfo)     \
  F(curl_easy_setopt)      \
  F(curl_easy_strerror)    \
  F(curl_global_init)      \
  F(curl_multi_info_read)  \
  F(curl_multi_setopt)

static struct ccurl_functions functions;
static struct {
  OTHER_FUNCTIONS(CCURL_POINTER)
} libcurl;

const char *ccurl_link(void *library) {
#define FIND(name) \
  if (!(functions.name = dlsym(library, #name))) return "has no function " #name;
  CCURL_FUNCTIONS(FIND)
#define FIND_OTHER(name) \
  if (!(libcurl.name = dlsym(library, #name))) return "has no function " #name;
  OTHER_FUNCTIONS(FIND_OTHER)
  CURLcode code = libcurl.curl_global_init(CURL_GLOBAL_ALL);
  return code ? libcurl.curl_easy_strerror(code) : NULL;
}

const struct ccurl_functions *ccurl_table(void) { return &functions; }

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

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return libcurl.curl_multi_setopt(multi, option, value);
}

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
