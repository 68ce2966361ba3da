#ifndef CLIBRARYCALL_H
#define CLIBRARYCALL_H

/* The call of a library's function that is in progress on this thread; NULL if there is none. Swift has no variable of a
 * thread, and pthread_getspecific takes longer than all the rest of a callback. */
extern _Thread_local void *library_call_in_progress;

static inline void *library_call(void) { return library_call_in_progress; }

/* Sets the call, and returns the one that was in progress before it. */
static inline void *library_call_begin(void *call) {
  void *outer = library_call_in_progress;
  library_call_in_progress = call;
  return outer;
}
#endif
