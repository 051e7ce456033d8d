/*
 * The header fields traceparent and tracestate of the W3C's Trace Context: which trace a request is a part
 * of, and which span of it has sent the request.
 *
 * Pure.  Reading is strict: what is no valid traceparent is none, and its tracestate with it.
 */
#ifndef WEIR_WIRE_TRACE_CONTEXT_H
#define WEIR_WIRE_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#define WEIR_TRACE_SAMPLED UINT8_C(0x01)
#define WEIR_TRACE_RANDOM  UINT8_C(0x02) /* the trace's id is random: level 2 of the recommendation */

struct weir_trace_context {
    uint64_t trace_high; /* the trace's id, as the number that its digits are; never both 0 */
    uint64_t trace_low;
    uint64_t span; /* likewise; never 0 */
    uint8_t flags; /* those above */
};

enum { WEIR_TRACEPARENT_LEN = 55, WEIR_TRACE_ID_LEN = 32, WEIR_TRACESTATE_MAX = 8192 };

/* The text is no traceparent that weir understands. */
#define WEIR_TRACE_BAD 1

/*
 * The value of a traceparent field: version 00, exactly; of a later version the part that 00 has (its flags
 * are those that 00 knows). 0 or WEIR_TRACE_BAD: another length, digits that are no lower-case hexadecimal
 * ones, version ff, an id of zeros.
 */
WEIR_MUST_USE int weir_traceparent_parse(struct weir_slice value, struct weir_trace_context *ret_context);

/* The value for a traceparent field, of version 00. */
struct weir_slice weir_traceparent_write(const struct weir_trace_context *context,
                                         char room[WEIR_TRACEPARENT_LEN]);

/* The digits of the trace's id. */
struct weir_slice weir_trace_id_write(const struct weir_trace_context *context, char room[WEIR_TRACE_ID_LEN]);

/* The value of a tracestate field may be carried on: printable, and not longer than WEIR_TRACESTATE_MAX.  Its
 * members are the business of those who wrote them. */
bool weir_tracestate_ok(struct weir_slice value);

#endif
