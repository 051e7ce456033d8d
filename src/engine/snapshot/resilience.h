/*
 * How the load of failure is shared: what the levels say, and what holds (beyond 4).
 */
#ifndef WEIR_ENGINE_RESILIENCE_H
#define WEIR_ENGINE_RESILIENCE_H

#include <stdbool.h>

#include <weir/snapshot.h>

/* Takes what is not said yet from a level that may say it. */
void weir_resilience_take(struct weir_resilience *resilience, const struct weir_resilience *from);

/* What is still not said is off. */
void weir_resilience_settle(struct weir_resilience *resilience);

/* Of one that is said: whether an attempt may get others beside it. */
static inline bool weir_hedge_is_on(const struct weir_hedge *hedge)
{
    return hedge->after_ns > 0 && hedge->max > 0;
}

/* Whether all its numbers are finite. */
bool weir_resilience_is_valid(const struct weir_resilience *resilience);

#endif
