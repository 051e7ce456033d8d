/*
 * Calls that are over, on their way from the workers to the one thread that makes spans of them.
 *
 * A worker only lays a call down, with its story and what its deployments were; it never waits.  What is
 * beyond the maximum of bytes is dropped and counted.
 */
#ifndef WEIR_GATEWAY_SPAN_CALLS_H
#define WEIR_GATEWAY_SPAN_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/mem.h>
#include <weir/slice.h>

#include "wire/trace_context.h"

struct weir_setup;
struct weir_story;
struct weir_trace;

/* Of more attempts the first ones have spans. */
enum { WEIR_SPAN_ATTEMPTS_MAX = 128 };

struct weir_span_call {
    struct weir_span_call *next;
    struct weir_story *story; /* a reference, as the next */
    struct weir_setup *setup; /* that the call went by */
    struct weir_trace_context context;
    uint64_t parent; /* the caller's span; 0: none */
    uint64_t spans;  /* that it is */
    size_t bytes;    /* of memory that it holds */
    size_t state_len;
    char state[];
};

/* What became of all spans that there were; they add up.  Read by any thread. */
struct weir_span_counts {
    atomic_ullong sent;     /* taken by the collector */
    atomic_ullong rejected; /* by the collector, of a batch that it took */
    atomic_ullong refused;  /* in batches that it refused, or could not be given in time */
    atomic_ullong dropped;  /* for want of room */
};

struct weir_span_calls {
    const struct weir_mem *mem;
    _Atomic(struct weir_span_call *) newest;
    atomic_size_t bytes;
    atomic_size_t max_bytes;
    struct weir_span_counts counts;
};

/* Takes nothing yet. */
void weir_span_calls_init(struct weir_span_calls *ret_calls, const struct weir_mem *mem);

/* From any thread: at most so many bytes from now on; 0: nobody takes any. */
void weir_span_calls_open(struct weir_span_calls *calls, size_t max_bytes);

/* Frees what lies there.  Accepts a zeroed one. */
void weir_span_calls_deinit(struct weir_span_calls *calls);

/* From any thread: takes references of its own. */
void weir_span_calls_put(struct weir_span_calls *calls, struct weir_story *story, struct weir_setup *setup,
                         const struct weir_trace *trace, uint64_t attempts);

/* From one thread at a time: all that there is, oldest first; the caller frees each. */
struct weir_span_call *weir_span_calls_take(struct weir_span_calls *calls);
void weir_span_call_free(struct weir_span_calls *calls, struct weir_span_call *call);

#endif
