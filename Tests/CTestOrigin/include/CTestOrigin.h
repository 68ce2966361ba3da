#ifndef CTESTORIGIN_H
#define CTESTORIGIN_H

/// accept4(2) with SOCK_CLOEXEC, without the address of the peer: the connection, or -1 and an error number.
int ctestorigin_accept(int listener);

/// A socket, closed on exec, that is bound to a free port of the loopback interface of IPv6; or -1 and an error number.
int ctestorigin_listener6(void);

/// pipe2(2) with O_CLOEXEC: 0 and the ends, or -1 and an error number.
int ctestorigin_pipe(int ends[2]);

#endif
