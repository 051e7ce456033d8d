/*
 * The way of an alert from a worker to the background thread, and what became of all of them.
 *
 * A worker that has something to tell puts a signal into a queue of fixed size under a lock that is held for
 * a copy, and only where somebody wants to know: else it looks at one number.  What finds no room is counted.
 * The alerter (alerter.h) takes the signals, decides and sends.
 *
 * Lives as long as the gateway.  All functions from any thread, but where they say otherwise.
 */
#ifndef WEIR_GATEWAY_ALERTS_H
#define WEIR_GATEWAY_ALERTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/mem.h>
#include <weir/shared.h>

#include "gateway/alert/signal.h"
#include "net/loop.h"

struct weir_job;

enum { WEIR_ALERT_SIGNALS_MAX = 256 };

typedef enum weir_alert_outcome {
#define X(outcome, name, prose) WEIR_ALERT_OUTCOME_##outcome,
#include "gateway/alert/tbl/alert_outcomes.h"
#undef X
    WEIR_ALERT_OUTCOMES
} weir_alert_outcome;

struct weir_alerts {
    const struct weir_mem *mem;
    atomic_uint wanted; /* WEIR_ALERT_BIT of each weir_alert_type that somebody wants to know of */
    atomic_uint_fast64_t threshold_ns;
    atomic_uint_fast64_t counts[WEIR_ALERT_KINDS][WEIR_ALERT_OUTCOMES];
    pthread_mutex_t lock; /* of all below */
    struct weir_alert_signal *signals;
    size_t first;
    size_t count;
    weir_loop *loop; /* whom to wake; NULL: nobody takes signals */
    struct weir_loop_task *task;
    bool posted; /* the task is, and has not begun to run */
    bool missed; /* a cooldown found no room */
};

void weir_alerts_init(struct weir_alerts *ret_alerts, const struct weir_mem *mem);

/* After the last thread that uses it.  Accepts a zeroed one. */
void weir_alerts_deinit(struct weir_alerts *alerts);

/* What workers see: an event of the job's call; its end, with job->access complete. */
void weir_alerts_event(struct weir_job *job, const struct weir_event *event);
void weir_alerts_end(struct weir_job *job);

/* What happened outside of any call. */
void weir_alerts_router(struct weir_alerts *alerts, const struct weir_router_event *event);

/* Puts a signal into the queue, if its type is wanted. */
void weir_alerts_tell(struct weir_alerts *alerts, const struct weir_alert_signal *signal);

/* How many alerts of that kind had that end; only grows. */
uint64_t weir_alerts_count(const struct weir_alerts *alerts, weir_alert_kind kind,
                           weir_alert_outcome outcome);

/* The sum over all kinds. */
uint64_t weir_alerts_total(const struct weir_alerts *alerts, weir_alert_outcome outcome);

/* For the alerter: the task is posted to the loop when there is something to take, until it is detached; it
 * begins with weir_alerts_begin and takes all there is.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_alerts_attach(struct weir_alerts *alerts, weir_loop *loop,
                                     struct weir_loop_task *task);
void weir_alerts_detach(struct weir_alerts *alerts);
void weir_alerts_want(struct weir_alerts *alerts, uint32_t types, uint64_t threshold_ns);
void weir_alerts_begin(struct weir_alerts *alerts);
/* The oldest; false when there is none. */
bool weir_alerts_take(struct weir_alerts *alerts, struct weir_alert_signal *ret_signal);
/* Whether a cooldown has found no room since this was asked last.  Asked when there is nothing more to take:
 * what finds no room later comes with another run of the task. */
bool weir_alerts_missed(struct weir_alerts *alerts);
void weir_alerts_note(struct weir_alerts *alerts, weir_alert_kind kind, weir_alert_outcome outcome);

#endif
