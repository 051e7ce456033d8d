/*
 * The count of failures stops at the threshold, so that it tells the state as well: below it the breaker is
 * closed, at it open.
 */
#include "state/breaker.h"

#include "base/time.h"

enum { USUAL_THRESHOLD = 5, USUAL_RECOVERY_S = 60 };

#define PACE_FIRST_NS (100 * WEIR_NS_PER_MS)
#define PACE_LAST_NS  (5 * WEIR_NS_PER_S)

void weir_breaker_init(struct weir_breaker *breaker, unsigned threshold, uint64_t recovery_ns)
{
    *breaker = (struct weir_breaker){
        .threshold = threshold == 0 ? USUAL_THRESHOLD : threshold,
        .recovery_ns = recovery_ns == 0 ? USUAL_RECOVERY_S * WEIR_NS_PER_S : recovery_ns,
    };
}

bool weir_breaker_failed(struct weir_breaker *breaker, uint64_t now_ns)
{
    bool was_open = weir_breaker_is_open(breaker);

    if (!was_open)
        breaker->failures++;
    if (!weir_breaker_is_open(breaker))
        return false;
    breaker->open_till_ns = weir_time_add(now_ns, breaker->recovery_ns);
    return !was_open;
}

bool weir_breaker_succeeded(struct weir_breaker *breaker)
{
    bool was_open = weir_breaker_is_open(breaker);

    breaker->failures = 0;
    return was_open;
}

uint64_t weir_breaker_next_ns(const struct weir_breaker *breaker, struct weir_rand *rand, uint64_t now_ns)
{
    uint64_t pace_ns = PACE_FIRST_NS;

    if (weir_breaker_is_open(breaker))
        return breaker->open_till_ns;
    for (unsigned i = 1; i < breaker->failures && pace_ns < PACE_LAST_NS; i++)
        pace_ns *= 4;
    if (pace_ns > PACE_LAST_NS)
        pace_ns = PACE_LAST_NS;
    return weir_time_add(now_ns, pace_ns - weir_rand_below(rand, pace_ns / 2));
}
