/*
 * Limits on time: what five levels say, and what holds for one attempt (router-semantics 25, beyond 1 and 2).
 */
#ifndef WEIR_ENGINE_LIMITS_H
#define WEIR_ENGINE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/snapshot.h>

/* The clocks that may run on an attempt: which do is said by its state (tbl/stream.h). */
enum weir_clock {
    WEIR_CLOCK_TIMEOUT, /* until the first chunk of a stream, until the end of a plain answer */
    WEIR_CLOCK_TTFT,    /* until the first content of a stream, until the head of a plain answer */
    WEIR_CLOCK_IDLE,    /* since the first chunk, or the last content */
    WEIR_CLOCK_RATE,    /* when the speed is looked at next */
    WEIR_CLOCK_TAIL,    /* since the finish reason */
    WEIR_CLOCKS
};

/* What was found for an attempt. */
struct weir_attempt_limits {
    uint64_t timeout_ns; /* the lengths of clocks; WEIR_TIME_NEVER: off */
    uint64_t ttft_ns;
    uint64_t idle_ns;
    uint64_t call_deadline_ns;    /* since the call began; WEIR_TIME_NEVER: off */
    struct weir_stream_rate rate; /* tokens_per_s 0: off; window and grace are given */
    struct weir_stream_hold hold; /* tokens 0: no window */
    unsigned by_caller;           /* 1 << weir_clock of those that are the caller's own */
};

/* Takes what is not said yet from a level that may say it; returns a bit for each field of tbl/limit_fields.h
 * that was taken. */
unsigned weir_limits_take(struct weir_limits *limits, const struct weir_limits *from);

/*
 * Finds what holds: the hop's target (NULL: none) before the request before what is configured, which is a
 * deployment's limits with its group's and the router's in them, or the router's alone.
 */
void weir_limits_find(const struct weir_controls *hop, const struct weir_controls *request,
                      const struct weir_limits *configured, bool stream,
                      struct weir_attempt_limits *ret_limits);

/* How long a call may take before its first attempt says so: what the request says, else the router.
 * WEIR_TIME_NEVER: as long as it will. */
uint64_t weir_limits_call_deadline(const struct weir_limits *request, const struct weir_limits *router);

#endif
