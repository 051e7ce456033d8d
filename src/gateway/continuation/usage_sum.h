/*
 * What several attempts used for one answer, as one `usage` object (decisions 32, beyond 3).
 */
#ifndef WEIR_GATEWAY_USAGE_SUM_H
#define WEIR_GATEWAY_USAGE_SUM_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

/*
 * Appends the last attempt's usage, a JSON object, with what the attempts before it used: numbers called
 * `..._tokens` and those in objects called `..._details` are added up, and what only the earlier ones told is
 * put at the end.  Anything else stays as the last one told it; so does a sum that is no whole number.
 * earlier may be empty.  0 or the failure of the buffer; out is as it was then.
 */
WEIR_MUST_USE int weir_usage_sum(struct weir_slice earlier, struct weir_slice last, struct weir_buf *out);

#endif
