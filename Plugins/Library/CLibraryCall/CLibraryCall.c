#include "CLibraryCall.h"

_Thread_local void *library_call_in_progress;
