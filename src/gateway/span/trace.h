/*
 * The trace that a call is a part of: the caller's, by the request's traceparent, or one that begins here
 * where traces are sent on (config/otlp.h).
 *
 * Where they are, the call is a span of the trace and each attempt a span below it, which the provider is
 * told as its parent.  Where they are not, what the caller sent goes on to providers as it came, since weir
 * is then no part of the trace.  `forward_traceparent_to_llm_provider: false` keeps either from providers.
 */
#ifndef WEIR_GATEWAY_TRACE_H
#define WEIR_GATEWAY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "wire/trace_context.h"

struct weir_http1_head;
struct weir_job;

struct weir_trace {
    bool known;    /* the call is a part of one; else nothing of it is set */
    bool recorded; /* its spans are sent on */
    bool forwards; /* providers are told */
    struct weir_trace_context
        context;             /* span: the call's own, or the caller's where traces are not sent on */
    uint64_t parent;         /* the caller's span; 0: the trace begins here */
    struct weir_slice state; /* the caller's tracestate, in the job's arena; may be empty */
    char id_room[WEIR_TRACE_ID_LEN];
};

/* From the head of the job's request, before its call begins. */
void weir_trace_begin(struct weir_job *job, const struct weir_http1_head *head);

/* The span of an attempt of the call; the same whenever it is asked for. */
uint64_t weir_trace_attempt_span(const struct weir_trace_context *context, uint32_t attempt);

/* Of a trace that providers are told of: header lines for one, with those of the trace behind them, in the
 * job's arena.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_trace_lines(struct weir_job *job, uint32_t attempt, struct weir_slice *lines);

#endif
