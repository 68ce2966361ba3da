#define _GNU_SOURCE
#include "CCrashNotice.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { capacity = 64 };
enum { unused, changing, used };

static struct {
  atomic_int state;
  atomic_uintptr_t start;
  atomic_size_t length;
  char *path, *engine, *mark;
} stores[capacity];

static struct {
  int status;
  const char *before, *between, *after;
} notice;
static atomic_bool is_installed, is_ending;
static _Atomic(const char *) otherwise;

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP};
enum { count = sizeof signals / sizeof *signals };
static struct sigaction former[count];

// A copy that a terminal and a JSON string can take.
static char *plain(const char *text) {
  char *copy = strdup(text);
  for (char *byte = copy; byte && *byte; byte++) {
    if ((unsigned char)*byte < ' ' || *byte == 127 || *byte == '"' || *byte == '\\') *byte = '?';
  }
  return copy;
}

static void release(int store) {
  free(stores[store].path);
  free(stores[store].engine);
  free(stores[store].mark);
  atomic_store(&stores[store].state, unused);
}

int ccrash_add(const void *map, size_t length, const char *path, const char *engine, const char *mark) {
  for (int store = 0; store < capacity; store++) {
    int state = unused;
    if (!atomic_compare_exchange_strong(&stores[store].state, &state, changing)) continue;
    stores[store].path = plain(path);
    stores[store].engine = plain(engine);
    stores[store].mark = strdup(mark);
    if (!stores[store].path || !stores[store].engine || !stores[store].mark) {
      release(store);
      return -1;
    }
    ccrash_move(store, map, length);
    atomic_store(&stores[store].state, used);
    return store;
  }
  return -1;
}

void ccrash_move(int store, const void *map, size_t length) {
  if (store < 0) return;
  atomic_store(&stores[store].length, 0);
  atomic_store(&stores[store].start, (uintptr_t)map);
  atomic_store(&stores[store].length, length);
}

void ccrash_remove(int store) {
  if (store < 0) return;
  atomic_store(&stores[store].state, changing);
  release(store);
}

int ccrash_find(const void *address) {
  for (int store = 0; store < capacity; store++) {
    if (atomic_load(&stores[store].state) != used) continue;
    if ((uintptr_t)address - atomic_load(&stores[store].start) < atomic_load(&stores[store].length)) return store;
  }
  return -1;
}

// From here on, only what signal-safety(7) allows.

static void say(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

void ccrash_end(int store) {
  if (store < 0 || !atomic_load(&is_installed)) return;
  // Another thread has come first, and ends the process.
  while (atomic_exchange(&is_ending, 1)) pause();
  int file = open(stores[store].mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  say(notice.before);
  say(stores[store].path);
  say(notice.between);
  say(stores[store].engine);
  say(notice.after);
  _exit(notice.status);
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  // Another process may send these signals too, and then there is no address.
  int is_fault = info->si_code > 0;
  if (is_fault && (number == SIGSEGV || number == SIGBUS)) ccrash_end(ccrash_find(info->si_addr));
  const char *line = atomic_exchange(&otherwise, NULL);
  if (line) say(line);
  for (int index = 0; index < count; index++) {
    if (signals[index] == number) sigaction(number, &former[index], NULL);
  }
  // A fault repeats itself when the handler returns, and goes to the former handler, or ends the process.
  if (!is_fault || number == SIGTRAP) raise(number);
}

void ccrash_install(int status, const char *before, const char *between, const char *after) {
  notice.status = status;
  notice.before = before;
  notice.between = between;
  notice.after = after;
  if (atomic_exchange(&is_installed, 1)) return;
  // For a thread that has no room on its stack. Other threads than this one use their own.
  static char room[1 << 16];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int index = 0; index < count; index++) sigaction(signals[index], &action, &former[index]);
}

void ccrash_write_otherwise(const char *line) { atomic_store(&otherwise, line); }
