/// libcurl as Swift can call it, and loaded when it is first used.
///
/// libcurl brings some thirty other libraries along; to load them takes longer than everything else that a start takes.
/// So nothing is linked against it, and a process that makes no request never loads it. The functions here pass each
/// call on; where libcurl's is variadic, there is one for each type of argument. All but `ccurl_link` can be called only
/// after that has returned null.

#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Options that are younger than the headers of some systems: libcurl knows them from 7.85 and 7.87 on.
static const CURLoption CCURLOPT_PROTOCOLS_STR = (CURLoption)(CURLOPTTYPE_OBJECTPOINT + 318);
static const CURLoption CCURLOPT_QUICK_EXIT = (CURLoption)(CURLOPTTYPE_LONG + 322);

/// Finds the functions of the loaded `library`, a handle of dlopen(3), and prepares libcurl. Call it once.
///
/// Returns null, or what is wrong with the library: a text that is never freed.
const char *_Nullable ccurl_link(void *_Nonnull library);

CURL *_Nullable ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *_Nonnull easy);
CURLcode ccurl_easy_pause(CURL *_Nonnull easy, int bits);
const char *_Nonnull ccurl_easy_strerror(CURLcode code);

/// Sets an option that is a number, a flag or a time.
CURLcode ccurl_set_number(CURL *_Nonnull easy, CURLoption option, long value);
/// Sets an option that is a text, an object, or a function of the type that the option has in libcurl.
CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, const void *_Nullable value);
CURLcode ccurl_get_number(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value);
CURLcode ccurl_get_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value);

struct curl_slist *_Nullable ccurl_slist_append(struct curl_slist *_Nullable list, const char *_Nonnull text);
void ccurl_slist_free_all(struct curl_slist *_Nullable list);

CURLM *_Nullable ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *_Nonnull multi);
CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);
CURLMcode ccurl_multi_add_handle(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode ccurl_multi_remove_handle(CURLM *_Nonnull multi, CURL *_Nonnull easy);
CURLMcode ccurl_multi_perform(CURLM *_Nonnull multi);
/// Waits for the network, for a timer of libcurl or for `ccurl_multi_wakeup`.
CURLMcode ccurl_multi_poll(CURLM *_Nonnull multi);
/// Ends a wait in another thread, or the next one.
CURLMcode ccurl_multi_wakeup(CURLM *_Nonnull multi);
/// A transfer that has ended, and how; null where there is none that was not returned before.
CURL *_Nullable ccurl_multi_next_done(CURLM *_Nonnull multi, CURLcode *_Nonnull result);

/// Lets no signal interrupt the calling thread: they are for the program's own threads. A connection that has been
/// closed is an error of the write, and no signal.
void ccurl_block_signals(void);
