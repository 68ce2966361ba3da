// accept4 and pipe2 are extensions of the C library, which Swift does not see. With accept and fcntl in their place, a
// program that another thread starts in between would inherit the descriptor.
#define _GNU_SOURCE
#include "CTestOrigin.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int ctestorigin_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int ctestorigin_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
