/*
 * Signals of the process as something that comes to a loop, one after the other, like anything else.
 *
 * They are blocked and read, never handled: no code of ours runs inside a handler, and none of them
 * interrupts a system call.
 */
#ifndef WEIR_NET_SIGNALS_H
#define WEIR_NET_SIGNALS_H

#include <signal.h>

#include <weir/attr.h>

#include "net/fd_watch.h"
#include "net/loop.h"

struct weir_signals {
    struct weir_fd_watch watch;
    void (*on_signal)(struct weir_signals *signals, int number);
};

/*
 * Blocks the set for the calling thread, and for those that it starts from then on: to be called before there
 * are any.  What comes meanwhile waits for weir_signals_start.
 */
void weir_signals_claim(const sigset_t *set);

/* 0 or WEIR_ERR_IO.  weir_signals_stop is due before the loop is freed. */
WEIR_MUST_USE int weir_signals_start(weir_loop *loop, struct weir_signals *ret_signals, const sigset_t *set,
                                     void (*on_signal)(struct weir_signals *signals, int number));

/* The signals stay blocked.  Accepts a zeroed one. */
void weir_signals_stop(struct weir_signals *signals);

#endif
