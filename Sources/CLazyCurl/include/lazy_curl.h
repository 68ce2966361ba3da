/// libcurl, loaded when it is first used and not when the program starts.
///
/// Foundation's URLSession is linked against libcurl, which brings some thirty other libraries along: to load them takes
/// longer than everything else that a start takes, also where nothing is fetched. In a program that is linked
/// statically the functions that URLSession calls are those of this target, which pass each call on.

#pragma once

/// Loads libcurl, if that has not been done yet. Every other function of libcurl may be called only after this one.
///
/// Returns null, or why it cannot be loaded: a text that stays as it is.
const char *_Nullable lazy_curl_load(void);
