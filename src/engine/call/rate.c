/*
 * A ring of full buckets with their running sum, and the one being filled.  Nothing is computed for a token
 * but its bucket: tokens only put the end off, so a look that was taken early finds the next one.
 *
 * Invariant: end_ns - start_ns is a multiple of width_ns; sum is that of the ring.
 */
#include "engine/call/rate.h"

#include "base/time.h"

/* Closes all buckets that end up to that time, which is at least the end of the current one. */
static void roll(struct weir_rate *r, uint64_t time_ns)
{
    uint64_t passed = (time_ns - r->end_ns) / r->width_ns + 1;

    for (uint64_t i = 0; i < passed && i <= WEIR_RATE_BUCKETS; i++) {
        r->sum += r->current - r->buckets[r->oldest];
        r->buckets[r->oldest] = r->current;
        r->oldest = (r->oldest + 1) % WEIR_RATE_BUCKETS;
        r->current = 0;
    }
    r->end_ns = weir_time_add(r->end_ns, passed * r->width_ns);
}

/* How many tokens must have come in the window that ends then. */
static double need_at(const struct weir_rate *r, uint64_t border_ns)
{
    uint64_t window_ns = r->width_ns * WEIR_RATE_BUCKETS, passed_ns = border_ns - r->start_ns;

    return r->tokens_per_s * weir_time_to_s(passed_ns < window_ns ? passed_ns : window_ns);
}

/* The first end of a bucket after the grace at which the stream is too slow if nothing more comes. */
static uint64_t next_look(const struct weir_rate *r)
{
    uint64_t left = r->sum + r->current, border_ns = r->end_ns;

    for (unsigned i = 0; i < WEIR_RATE_BUCKETS; i++) {
        left -= r->buckets[(r->oldest + i) % WEIR_RATE_BUCKETS];
        if (border_ns >= r->grace_end_ns && (double)left < need_at(r, border_ns))
            return border_ns;
        border_ns = weir_time_add(border_ns, r->width_ns);
    }
    /* The tokens of the current bucket have left the window too. */
    if (border_ns < r->grace_end_ns)
        border_ns =
            weir_time_add(border_ns, ((r->grace_end_ns - border_ns - 1) / r->width_ns + 1) * r->width_ns);
    return border_ns;
}

uint64_t weir_rate_begin(struct weir_rate *rate, const struct weir_stream_rate *limit, uint64_t now_ns)
{
    uint64_t width_ns = limit->window_ns / WEIR_RATE_BUCKETS;

    *rate = (struct weir_rate){.tokens_per_s = limit->tokens_per_s,
                               .start_ns = now_ns,
                               .grace_end_ns = weir_time_add(now_ns, limit->grace_ns),
                               .width_ns = width_ns > 0 ? width_ns : 1};
    rate->end_ns = weir_time_add(now_ns, rate->width_ns);
    return rate->tokens_per_s > 0 ? next_look(rate) : WEIR_TIME_NEVER;
}

void weir_rate_count(struct weir_rate *rate, uint32_t tokens, uint64_t now_ns)
{
    if (!(rate->tokens_per_s > 0))
        return;
    if (now_ns > rate->end_ns)
        roll(rate, now_ns - 1);
    rate->current += tokens;
}

bool weir_rate_look(struct weir_rate *rate, uint64_t now_ns, uint64_t *ret_next_ns)
{
    uint64_t border_ns;

    if (now_ns >= rate->end_ns)
        roll(rate, now_ns);
    border_ns = rate->end_ns - rate->width_ns;
    if (border_ns >= rate->grace_end_ns && (double)rate->sum < need_at(rate, border_ns))
        return true;
    *ret_next_ns = next_look(rate);
    return false;
}
