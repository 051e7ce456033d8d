/*
 * Calls that hang: a worker looks at what it has in hand now and then, so that a call costs nothing, and
 * tells of each that was not over when alerting_threshold had passed, once.
 *
 * For the worker's thread.
 */
#ifndef WEIR_GATEWAY_ALERT_WATCH_H
#define WEIR_GATEWAY_ALERT_WATCH_H

#include <stdint.h>

#include "net/timer.h"

struct weir_worker;

struct weir_alert_watch {
    struct weir_worker *worker;
    struct weir_timer timer;
    uint64_t looked_ns; /* when it did last */
};

/* The worker has its loop and its setup; it looks if the setup wants that. */
void weir_alert_watch_init(struct weir_alert_watch *ret_watch, struct weir_worker *worker);

/* The worker has another setup. */
void weir_alert_watch_follow(struct weir_alert_watch *watch);

/* Accepts a zeroed one. */
void weir_alert_watch_stop(struct weir_alert_watch *watch);

#endif
