/*
 * The errors of the hops that failed before one served, for callers who asked for them where
 * `expose_fallback_errors_to_caller` allows it (router-semantics 2.7, `include_fallback_errors`).
 */
#ifndef WEIR_GATEWAY_FALLBACK_ERRORS_H
#define WEIR_GATEWAY_FALLBACK_ERRORS_H

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/slice.h>

struct weir_buf;
struct weir_job;

/* Appends the header line x-litellm-fallback-errors to lines, if there is anything to tell.  0 or the
 * buffer's failure. */
WEIR_MUST_USE int weir_fallback_errors_line(struct weir_job *job, const struct weir_summary *summary,
                                            struct weir_buf *lines);

/* The chunk of a stream that tells the same; empty when there is nothing to tell.  In the job's arena. */
struct weir_slice weir_fallback_errors_event(struct weir_job *job, const struct weir_summary *summary);

#endif
