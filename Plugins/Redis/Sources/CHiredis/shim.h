#include <hiredis/hiredis.h>

/// The text of a connection's last error. Swift would see the structure's array as a tuple.
static inline const char *chiredis_message(const redisContext *context) { return context->errstr; }
