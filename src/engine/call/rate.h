/*
 * The speed of a stream against the least speed that it must have (beyond 1).
 *
 * The time since the first content is cut into sixteenths of the window.  At the end of each, once the grace
 * is over, the sixteen that ended last must have brought the window's tokens; while less than a window has
 * passed, its part of them.  What comes at the very end of a sixteenth belongs to it.
 */
#ifndef WEIR_ENGINE_RATE_H
#define WEIR_ENGINE_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/snapshot.h>

enum { WEIR_RATE_BUCKETS = 16 };

struct weir_rate {
    double tokens_per_s; /* 0: no least speed, and the rest is unused */
    uint64_t start_ns;
    uint64_t grace_end_ns;
    uint64_t width_ns;                   /* of a bucket */
    uint64_t end_ns;                     /* of the bucket that is being filled */
    uint64_t sum;                        /* of the full ones */
    uint64_t current;                    /* tokens in the one being filled */
    uint64_t buckets[WEIR_RATE_BUCKETS]; /* the full ones */
    unsigned oldest;
};

/*
 * Begins to measure; a second time: anew.  limit: window and grace are given.  Returns when to look first
 * (weir_rate_look); WEIR_TIME_NEVER when there is no least speed.
 */
uint64_t weir_rate_begin(struct weir_rate *rate, const struct weir_stream_rate *limit, uint64_t now_ns);

/* Counts tokens.  A few stores; what it brings moves the next look later only when that look is taken. */
void weir_rate_count(struct weir_rate *rate, uint32_t tokens, uint64_t now_ns);

/* Whether the stream is too slow at the end of the latest bucket.  If not, tells when to look again: the
 * first time at which it would be, if nothing more came. */
bool weir_rate_look(struct weir_rate *rate, uint64_t now_ns, uint64_t *ret_next_ns);

#endif
