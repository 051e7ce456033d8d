/*
 * Spans on their way to a collector: gathered into batches, sent one batch at a time, tried again where that
 * may help, dropped and counted where it does not.
 *
 * Knows neither a clock nor a connection: whoever does asks what is due, sends it, and says what came of it.
 *
 *   add ... -> due -> take -> (it is sent) -> done -> due ...
 */
#ifndef WEIR_GATEWAY_SPAN_BATCHES_H
#define WEIR_GATEWAY_SPAN_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "base/rand.h"

struct weir_span_counts;

/* A batch is full with so many spans or bytes; the spans of one call stay together. */
enum { WEIR_BATCH_SPANS = 512, WEIR_BATCH_BYTES = 1024 * 1024 };

/* The largest that the spans of one call may be. */
enum { WEIR_SPAN_CALL_BYTES_MAX = 4 * 1024 * 1024 };

/* How often a batch is sent at most, and how long it waits before it is sent again. */
enum { WEIR_BATCH_TRIES = 6, WEIR_BATCH_WAIT_S = 1, WEIR_BATCH_WAIT_MAX_S = 60 };

struct weir_span_batch {
    struct weir_span_batch *next;
    struct weir_buf bytes; /* spans, encoded as span/encode.h does */
    uint32_t spans;
    uint64_t begun_ns;
};

struct weir_span_batches {
    const struct weir_mem *mem;
    struct weir_span_counts *counts;
    struct weir_rand rand; /* for waits */
    uint64_t interval_ns;
    size_t max_bytes;
    struct weir_span_batch *first; /* the oldest: sent next, or under way */
    struct weir_span_batch *last;  /* to which is added, unless it is full or under way */
    size_t bytes;                  /* of all spans that wait */
    struct weir_buf spare;         /* room of a batch that is gone, for the next one */
    bool under_way;
    bool ending;
    unsigned tries; /* of the first */
    uint64_t not_before_ns;
};

/* counts outlives it. */
void weir_span_batches_init(struct weir_span_batches *ret_batches, struct weir_span_counts *counts,
                            uint64_t seed, const struct weir_mem *mem);

/* What waits counts as refused.  Nothing may be under way.  Accepts a zeroed one. */
void weir_span_batches_deinit(struct weir_span_batches *batches);

/* How long spans are gathered, and how many bytes of them may wait. */
void weir_span_batches_configure(struct weir_span_batches *batches, uint64_t interval_ns, size_t max_bytes);

/* The spans of one call; what finds no room is dropped and counted. */
void weir_span_batches_add(struct weir_span_batches *batches, struct weir_slice spans, uint32_t count,
                           uint64_t now_ns);

/* When there is something to send; WEIR_TIME_NEVER: nothing is there, or something is under way. */
uint64_t weir_span_batches_due(const struct weir_span_batches *batches);

/* The batch that is due, which is under way from now on; it lives until weir_span_batches_done. */
const struct weir_span_batch *weir_span_batches_take(struct weir_span_batches *batches);

/* What came of it. */
struct weir_batch_outcome {
    unsigned status; /* of the answer; 0: there was none */
    uint64_t retry_after_ns;
    uint64_t rejected; /* spans that the collector did not take, of a batch that it took */
};

void weir_span_batches_done(struct weir_span_batches *batches, const struct weir_batch_outcome *outcome,
                            uint64_t now_ns);

/* The last moments: all is due at once, and nothing is tried again. */
void weir_span_batches_end(struct weir_span_batches *batches);

static inline bool weir_span_batches_empty(const struct weir_span_batches *batches)
{
    return batches->first == NULL;
}

#endif
