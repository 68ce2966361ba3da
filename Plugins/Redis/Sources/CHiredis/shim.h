#include <hiredis/hiredis.h>

/// The words of the last error of a connection. Swift sees the array in the structure as a tuple.
static inline const char *chiredis_message(const redisContext *context) { return context->errstr; }
