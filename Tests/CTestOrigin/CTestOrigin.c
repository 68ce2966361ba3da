// accept4 and pipe2 are extensions of the C library, which Swift does not see. With accept and fcntl in their place, a
// program that another thread starts in between would inherit the descriptor.
#define _GNU_SOURCE
#include "CTestOrigin.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int ctestorigin_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int ctestorigin_listener6(void) {
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) == 0) return listener;
  close(listener);
  return -1;
}

int ctestorigin_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
