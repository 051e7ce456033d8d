/*
 * What happens becomes numbers: routing metrics from the events of calls alone, the rest from what the log
 * line of a request tells when it is over.
 *
 * On the thread of the job's worker, but for what the router says beside any call.  Nothing here fails.
 */
#ifndef WEIR_GATEWAY_METRICS_COUNT_H
#define WEIR_GATEWAY_METRICS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/event.h>
#include <weir/failure.h>
#include <weir/shared.h>
#include <weir/slice.h>

struct weir_access;
struct weir_http1_head;
struct weir_job;
struct weir_metrics;
struct weir_setup;
struct weir_upstream;
struct weir_worker;

/* Where an attempt is counted; cells as in registry.h. */
struct weir_attempt_cells {
    uint32_t number; /* 0: nothing is remembered */
    _Atomic uint64_t *attempts;
    _Atomic uint64_t *served;
    struct weir_upstream *upstream;
};

/* What is remembered of a call until it is over; zeroed when it begins. */
struct weir_call_counts {
    struct weir_attempt_cells attempt; /* of the newest one */
    struct weir_slice hop;             /* the group that was gone to and has not answered yet; empty: none */
    struct weir_failure hop_cause;     /* why */
    uint64_t first_content_ns;         /* since the attempt that succeeded began; 0: no stream */
    uint32_t bad_chunk; /* the attempt whose stream held one, until an event tells its end; 0: none */
};

/* Each event of the job's call. */
void weir_count_event(struct weir_job *job, const struct weir_event *event);

/* The job is over, and one of those that are told of. */
void weir_count_end(struct weir_job *job);

/* A request that never became a job. */
void weir_count_headless(struct weir_worker *worker, const struct weir_access *access);

/*
 * What the router has told beside any call.  setup: that knows the deployment, if any does.  From any thread,
 * but one at a time: it counts in the last seat.
 */
void weir_count_router(struct weir_metrics *metrics, const struct weir_setup *setup,
                       const struct weir_router_event *event);

/* A command of Redis was answered after so long, or failed.  From the background thread alone, which has the
 * last seat but one. */
void weir_count_redis(struct weir_metrics *metrics, uint64_t took_ns, bool answered);

/* What a provider's head says is left of its limits. */
void weir_count_remaining(struct weir_upstream *upstream, const struct weir_http1_head *head);

#endif
