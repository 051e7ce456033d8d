/*
 * Tells the service manager that the process is alive, as long as it is: while the main loop turns, and the
 * loop of each worker does.  When one hangs nothing is told any more, and the manager ends the process.
 */
#ifndef WEIR_GATEWAY_WATCHDOG_H
#define WEIR_GATEWAY_WATCHDOG_H

#include "gateway/process/notify.h"
#include "net/loop.h"
#include "net/timer.h"

struct weir_crew;

struct weir_watchdog {
    weir_loop *loop;
    struct weir_crew *crew;
    const struct weir_notify *notify;
    struct weir_timer timer;
    uint64_t every_ns;
};

/* Begins, if the manager wants to be told (weir_notify_watchdog_ns).  crew and notify outlive it. */
void weir_watchdog_start(struct weir_watchdog *ret_watchdog, weir_loop *loop, struct weir_crew *crew,
                         const struct weir_notify *notify);

/* Accepts a zeroed or stopped one. */
void weir_watchdog_stop(struct weir_watchdog *watchdog);

#endif
