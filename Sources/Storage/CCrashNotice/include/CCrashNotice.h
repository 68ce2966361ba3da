#ifndef CCRASHNOTICE_H
#define CCRASHNOTICE_H

/// The last words of a process. A program that trusts a mapped file dies if the file is damaged: this names the store,
/// leaves a mark next to it and ends the process with a status. Any other crash stays one.
///
/// An engine adds the stores that it has mapped. Only a program installs handlers; without them the table has no effect.
/// All functions can be called from any thread, and accept -1 for a store.

/// Adds a store that maps the open file `file`, wherever and as often as it likes.
///
/// `path` and `engine` name the store in the notice, and `mark` is the file to create. Returns the number of the store;
/// -1 if there is no room for it, and it is not noticed.
int ccrash_add(int file, const char *path, const char *engine, const char *mark);

/// Forgets `store`, before its file is closed.
void ccrash_remove(int store);

/// Says that the calling thread uses `store` until `ccrash_leave`. Cost: one access to a variable of the thread.
void ccrash_enter(int store);

/// Says that the calling thread uses no store any more.
void ccrash_leave(void);

/// The store whose damage has led to a fault of the calling thread at `address`; -1 if there is none. That is the store
/// whose file is mapped there, or within the 4 GiB before it if nothing is mapped there. For any other address, such as
/// that of a null pointer, it is the store that the thread uses. Cost: reads the process's list of mappings.
int ccrash_find(const void *address);

/// Ends the process because `store` is damaged. Returns if no handlers are installed.
void ccrash_end(int store);

/// Calls `install`, once, before the first store is added: a program that maps no file needs neither handlers nor their
/// texts. The calling thread can handle a signal even if its stack is full.
void ccrash_prepare(void (*install)(void));

/// Installs handlers for the signals of crashes, once. A notice is `before`, the path of the store, `between`, the name of
/// its engine and `after`, which must stay in memory. `status` is the exit status.
void ccrash_install(int status, const char *before, const char *between, const char *after);

/// Runs `program` with `arguments`, which end with NULL, in place of a notice: a program that does not open the store
/// then can do its work. Its environment variable _CRASHED_STORE says so, even if the mark could not be created, and
/// keeps it from being run another time. Both must stay in memory.
void ccrash_retry(const char *program, char *const *arguments);

/// Writes `line` to stderr in case of any other crash. It must stay in memory.
void ccrash_write_otherwise(const char *line);

#endif
