/*
 * Telling the service manager how the process is: systemd's protocol, datagrams to the socket that
 * NOTIFY_SOCKET names, without its library.
 *
 * Where nobody listens every function does nothing.  For the main thread; a manager that does not take what
 * it is told holds it up for a second at most.
 */
#ifndef WEIR_GATEWAY_NOTIFY_H
#define WEIR_GATEWAY_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>
#include <sys/un.h>

struct weir_notify {
    int fd;
    struct sockaddr_un address;
    socklen_t address_len; /* 0: nobody is told */
};

enum { WEIR_NOTIFY_TEXT_MAX = 512 };

/* By the variable NOTIFY_SOCKET: a path, or a name of the abstract space with '@'. */
void weir_notify_init(struct weir_notify *ret_notify);

static inline bool weir_notify_heard(const struct weir_notify *notify)
{
    return notify->address_len > 0;
}

/* Accepts a zeroed or closed one. */
void weir_notify_close(struct weir_notify *notify);

/* Lines of NAME=value, formatted as by printf; what is longer than WEIR_NOTIFY_TEXT_MAX is cut. */
__attribute__((format(printf, 2, 3))) void weir_notify_send(const struct weir_notify *notify,
                                                            const char *format, ...);

/* How often the manager wants to hear that the process is alive: WATCHDOG_USEC, if WATCHDOG_PID says that it
 * is meant for this one.  0: not at all. */
uint64_t weir_notify_watchdog_ns(void);

#endif
