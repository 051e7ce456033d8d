/*
 * When to leave a server alone that does not answer (RS 22): after a number of failures in a row it is not
 * asked for a while; then one trial decides whether that goes on.  Beside it, how long to wait between two
 * trials while the breaker is closed.
 *
 * Pure: time and randomness are arguments.  One thread.
 */
#ifndef WEIR_STATE_BREAKER_H
#define WEIR_STATE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rand.h"

struct weir_breaker {
    unsigned threshold;    /* failures in a row that open it */
    uint64_t recovery_ns;  /* how long it stays open */
    unsigned failures;     /* in a row, up to the threshold */
    uint64_t open_till_ns; /* meaningful while failures == threshold */
};

/* 0 stands for the usual value: 5 failures, 60 s. */
void weir_breaker_init(struct weir_breaker *breaker, unsigned threshold, uint64_t recovery_ns);

/* Open, whether the time of the trial has come or not. */
static inline bool weir_breaker_is_open(const struct weir_breaker *breaker)
{
    return breaker->failures >= breaker->threshold;
}

/* Both return true when that opened or closed the breaker: for one line in the log.  A failure while it is
 * open, which is that of the trial, starts the time anew. */
bool weir_breaker_failed(struct weir_breaker *breaker, uint64_t now_ns);
bool weir_breaker_succeeded(struct weir_breaker *breaker);

/*
 * When the next trial may be made after a failure at now_ns: the end of the open time; or, while it is
 * closed, 0.1 s after the first failure and four times as much after each more, at most 5 s, each less a
 * random part of up to a half, so that a fleet does not come back in one moment.
 */
uint64_t weir_breaker_next_ns(const struct weir_breaker *breaker, struct weir_rand *rand, uint64_t now_ns);

#endif
