/*
 * A file descriptor that something may come to read from: signals, changes of files, the end of a process.
 *
 * Everything belongs to the loop's thread.
 */
#ifndef WEIR_NET_FD_WATCH_H
#define WEIR_NET_FD_WATCH_H

#include <stdbool.h>

#include <weir/attr.h>

#include "net/loop.h"

#include <uv.h>

/* Embedded by who watches, alive until weir_loop_free has returned, or the turn of the loop after the stop.
 */
struct weir_fd_watch {
    uv_poll_t poll;
    void (*ready)(struct weir_fd_watch *watch);
    int fd;
    bool open;
};

/*
 * Calls ready from the loop whenever there is something to read; it reads all of it.  The descriptor must be
 * non-blocking; it is closed with the stop.  0, or WEIR_ERR_IO, and then it is the caller's still.
 */
WEIR_MUST_USE int weir_fd_watch_start(weir_loop *loop, struct weir_fd_watch *ret_watch, int fd,
                                      void (*ready)(struct weir_fd_watch *watch));

/* Accepts a zeroed or stopped one. */
void weir_fd_watch_stop(struct weir_fd_watch *watch);

#endif
