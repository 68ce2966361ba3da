#include "CStorageBenchmark.h"

// Swift's module of the C library leaves this header out.
#include <malloc.h>

void cstoragebenchmark_trim_memory(void) { malloc_trim(0); }
