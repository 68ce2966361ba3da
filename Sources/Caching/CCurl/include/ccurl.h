/// libcurl, in a form that Swift can call, and loaded at its first use.
///
/// libcurl brings about thirty other libraries along; loading them takes longer than everything else at a start. So
/// nothing is linked against it, and a process that makes no request never loads it. Swift calls its functions by their
/// pointers, and the variadic ones by a function here for each type of argument. All but `ccurl_link` can be called
/// only after that has returned null.

#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Options that are younger than the headers of some systems: libcurl knows them from 7.85 and 7.87 on.
static const CURLoption CCURLOPT_PROTOCOLS_STR = (CURLoption)(CURLOPTTYPE_OBJECTPOINT + 318);
static const CURLoption CCURLOPT_QUICK_EXIT = (CURLoption)(CURLOPTTYPE_LONG + 322);

#define CCURL_FUNCTIONS(F)    \
  F(curl_easy_cleanup)        \
  F(curl_easy_init)           \
  F(curl_easy_pause)          \
  F(curl_multi_add_handle)    \
  F(curl_multi_cleanup)       \
  F(curl_multi_init)          \
  F(curl_multi_perform)       \
  F(curl_multi_poll)          \
  F(curl_multi_remove_handle) \
  F(curl_multi_wakeup)        \
  F(curl_slist_append)        \
  F(curl_slist_free_all)

/// The functions that Swift calls, each with the type that libcurl's header gives it.
struct ccurl_functions {
#define CCURL_POINTER(name) __typeof__(name) *_Nonnull name;
  CCURL_FUNCTIONS(CCURL_POINTER)
};

/// Finds the functions of the loaded `library`, a handle of dlopen(3), and prepares libcurl. Call it once.
///
/// Returns null, or the problem of the library: a text that is never freed.
const char *_Nullable ccurl_link(void *_Nonnull library);

const struct ccurl_functions *_Nonnull ccurl_table(void);

const char *_Nonnull ccurl_easy_strerror(CURLcode code);

/// Sets an option that is a number, a flag or a time.
CURLcode ccurl_set_number(CURL *_Nonnull easy, CURLoption option, long value);
/// Sets an option that is a text, an object, or a function of the type that the option has in libcurl.
CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, const void *_Nullable value);
CURLcode ccurl_get_number(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value);
CURLcode ccurl_get_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value);
CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);

/// A transfer that has ended, and how; null if there is none that was not returned before.
CURL *_Nullable ccurl_multi_next_done(CURLM *_Nonnull multi, CURLcode *_Nonnull result);

/// Lets no signal interrupt the calling thread: they are for the program's own threads. A connection that has been
/// closed is an error of the write, and no signal.
void ccurl_block_signals(void);
