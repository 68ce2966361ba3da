#define _GNU_SOURCE
#include "CCrashNotice.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <libproc.h>
#endif

enum { capacity = 64, path_size = 4096 };
enum { unused, changing, used };

static struct {
  atomic_int state;
  int file;
  char link[32], engine[32], path[path_size], mark[path_size];
} stores[capacity];

static struct {
  int status;
  const char *before, *between, *after;
} notice;
static struct {
  const char *program;
  char *const *arguments;
  char **environment;
} retry;
extern char **environ;
static atomic_bool is_installed, is_retried, is_ending;
static _Atomic(const char *) otherwise;
static _Atomic(void (*)(void)) preparation;

// The store that the thread uses, plus one. A handler reads it: so it must be there without being allocated.
static _Thread_local int entered
#ifdef __linux__
    __attribute__((tls_model("initial-exec")))
#endif
    ;

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP};
enum { count = sizeof signals / sizeof *signals };
static struct sigaction former[count];

int ccrash_add(int file, const char *path, const char *engine, const char *mark) {
  void (*install)(void) = atomic_exchange(&preparation, NULL);
  if (install) install();
  if (strlen(mark) >= path_size || strlen(path) >= path_size) return -1;
  for (int store = 0; store < capacity; store++) {
    int state = unused;
    if (!atomic_compare_exchange_strong(&stores[store].state, &state, changing)) continue;
    stores[store].file = file;
    snprintf(stores[store].link, sizeof stores[store].link, "/proc/self/fd/%d", file);
    snprintf(stores[store].engine, sizeof stores[store].engine, "%s", engine);
    strcpy(stores[store].path, path);
    strcpy(stores[store].mark, mark);
    // A terminal and a JSON string can take the rest.
    for (char *byte = stores[store].path; *byte; byte++) {
      if ((unsigned char)*byte < ' ' || *byte == 127 || *byte == '"' || *byte == '\\') *byte = '?';
    }
    atomic_store(&stores[store].state, used);
    return store;
  }
  return -1;
}

void ccrash_remove(int store) {
  if (store >= 0) atomic_store(&stores[store].state, unused);
}

void ccrash_enter(int store) { entered = store + 1; }

void ccrash_leave(void) { entered = 0; }

// From here on, only what signal-safety(7) allows, and strtoull and strchr, which use no more than their arguments.

static int is_file(int store, const char *path) {
  char file[path_size];
#ifdef __APPLE__
  return fcntl(stores[store].file, F_GETPATH, file) == 0 && strcmp(file, path) == 0;
#else
  ssize_t length = readlink(stores[store].link, file, sizeof file);
  return length > 0 && (size_t)length == strlen(path) && memcmp(file, path, (size_t)length) == 0;
#endif
}

static int store_of(const char *path) {
  for (int store = 0; path && store < capacity; store++) {
    if (atomic_load(&stores[store].state) == used && is_file(store, path)) return store;
  }
  return -1;
}

#ifdef __APPLE__
static int mapped_store(uintptr_t address) {
  char path[path_size];
  return proc_regionfilename(getpid(), address, path, path_size) > 0 ? store_of(path) : -1;
}
#else
// The store in whose map `address` is, or whose map is the nearest before it, if nothing else is mapped there.
static int mapped_store(uintptr_t address) {
  // A damaged page can tell LMDB to read so far behind it, in 16 bits of offset and 32 of length.
  const uintptr_t reach = (1ULL << 32) + (1 << 16);
  char piece[1024], line[path_size];
  int found = -1, is_mapped = 0, length = 0, file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t size; !is_mapped && (size = read(file, piece, sizeof piece)) > 0;) {
    for (char *byte = piece; !is_mapped && byte < piece + size; byte++) {
      line[length] = *byte == '\n' ? 0 : *byte;
      if (*byte != '\n') {
        if (length < path_size - 1) length++;
        continue;
      }
      length = 0;
      // "START-END rwxp OFFSET DEVICE INODE   PATH"
      char *rest;
      uintptr_t start = strtoull(line, &rest, 16), end = strtoull(rest + 1, NULL, 16);
      is_mapped = start <= address && address < end;
      int store = address >= start && address < end + reach ? store_of(strchr(line, '/')) : -1;
      if (is_mapped || store >= 0) found = store;
    }
  }
  if (file >= 0) close(file);
  return found;
}
#endif

// A damaged page can lead a library anywhere: LMDB follows a null pointer if an entry seems to have several values.
static int entered_store(void) {
  int store = entered - 1;
  return store >= 0 && atomic_load(&stores[store].state) == used ? store : -1;
}

int ccrash_find(const void *address) {
  int found = mapped_store((uintptr_t)address);
  return found >= 0 ? found : entered_store();
}

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

void ccrash_end(int store) {
  if (store < 0 || !atomic_load(&is_installed)) return;
  // Another thread has come first, and ends the process.
  while (atomic_exchange(&is_ending, 1)) pause();
  (void)!open(stores[store].mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (atomic_load(&is_retried)) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(retry.program, retry.arguments, retry.environment);
  }
  say(notice.before);
  say(stores[store].path);
  say(notice.between);
  say(stores[store].engine);
  say(notice.after);
  _exit(notice.status);
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  // Another process can send these signals too, and then there is no address.
  int is_fault = info->si_code > 0;
  if (is_fault && (number == SIGSEGV || number == SIGBUS)) ccrash_end(ccrash_find(info->si_addr));
  // A library that uses a damaged page can also write over the memory of the process, which ends itself then.
  if (number == SIGABRT && info->si_pid == getpid()) ccrash_end(entered_store());
  const char *line = atomic_exchange(&otherwise, NULL);
  if (line) say(line);
  for (int index = 0; index < count; index++) {
    if (signals[index] == number) sigaction(number, &former[index], NULL);
  }
  // A fault repeats itself when the handler returns, and goes to the former handler, or ends the process.
  if (!is_fault || number == SIGTRAP) raise(number);
}

// For a thread that has no room on its stack. Other threads use their own.
static void set_stack(void) {
  static char room[1 << 16];
  static atomic_bool is_taken;
  if (atomic_exchange(&is_taken, 1)) return;
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  sigaltstack(&stack, NULL);
}

void ccrash_prepare(void (*install)(void)) {
  set_stack();
  atomic_store(&preparation, install);
}

void ccrash_install(int status, const char *before, const char *between, const char *after) {
  notice.status = status;
  notice.before = before;
  notice.between = between;
  notice.after = after;
  if (atomic_exchange(&is_installed, 1)) return;
  set_stack();
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int index = 0; index < count; index++) sigaction(signals[index], &action, &former[index]);
}

void ccrash_retry(const char *program, char *const *arguments) {
  static char variable[] = "_CRASHED_STORE=1";
  if (getenv("_CRASHED_STORE")) return;
  size_t size = 0;
  while (environ[size]) size++;
  retry.environment = calloc(size + 2, sizeof *environ);
  if (!retry.environment) return;
  memcpy(retry.environment, environ, size * sizeof *environ);
  retry.environment[size] = variable;
  retry.program = program;
  retry.arguments = arguments;
  atomic_store(&is_retried, 1);
}

void ccrash_write_otherwise(const char *line) { atomic_store(&otherwise, line); }
