/*
 * How long an upstream asks to be left alone (EC 9, decisions 7).
 *
 * Zero, negative, past and unreadable values say nothing: they are "absent".  Caps are the caller's business.
 */
#ifndef WEIR_WIRE_RETRY_AFTER_H
#define WEIR_WIRE_RETRY_AFTER_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#define WEIR_RETRY_AFTER_ABSENT 1

/*
 * The value of a Retry-After field: seconds, which may have a fraction, or an HTTP date, of which wall_now_s
 * (seconds since 1970, of the wall clock) is subtracted.  0 with nanoseconds > 0, or WEIR_RETRY_AFTER_ABSENT.
 */
WEIR_MUST_USE int weir_retry_after_parse(struct weir_slice value, int64_t wall_now_s, uint64_t *ret_ns);

/* The value of a retry-after-ms field: milliseconds, which may have a fraction.  The same results. */
WEIR_MUST_USE int weir_retry_after_ms_parse(struct weir_slice value, uint64_t *ret_ns);

/*
 * Both fields of one response, empty where not sent: the milliseconds, being exact, are taken before the
 * seconds when they are readable.
 */
WEIR_MUST_USE int weir_retry_after_read(struct weir_slice ms_value, struct weir_slice value,
                                        int64_t wall_now_s, uint64_t *ret_ns);

#endif
