/*
 * Listening sockets that the process was started with, by the protocol of systemd's socket activation: the
 * descriptors from 3 on, their number in LISTEN_FDS, the process that they are for in LISTEN_PID, and perhaps
 * their names in LISTEN_FDNAMES.  A weir that starts its successor hands its sockets over in the same way.
 */
#ifndef WEIR_NET_INHERITED_H
#define WEIR_NET_INHERITED_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>

enum {
    WEIR_INHERITED_FIRST = 3, /* the descriptor of the first */
    WEIR_INHERITED_MAX = 8192,
    WEIR_INHERITED_TEXT_MAX = 256
};

struct weir_inherited {
    size_t count;
};

/* What was handed over is nothing to listen on: text says which, for a person. */
#define WEIR_INHERITED_REFUSED 1

/*
 * Takes what the variables tell of, and the variables away.  Nothing told, or to another process: none.  The
 * sockets are non-blocking afterwards and closed by an exec.  Before there are threads.  0, or
 * WEIR_INHERITED_REFUSED with a NUL-terminated text.
 */
WEIR_MUST_USE int weir_inherited_take(struct weir_inherited *ret_inherited,
                                      char text[WEIR_INHERITED_TEXT_MAX]);

/* Nobody from elsewhere reaches any of them. */
bool weir_inherited_loopback(const struct weir_inherited *inherited);

#endif
