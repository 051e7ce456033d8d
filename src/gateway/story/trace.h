/*
 * The value of the header x-weir-trace (beyond 7): what a call has done so far, on one line, oldest first.
 */
#ifndef WEIR_GATEWAY_STORY_TRACE_H
#define WEIR_GATEWAY_STORY_TRACE_H

#include <stdint.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "gateway/story/draft.h"

/* What is longer ends with "; ..." there. */
enum { WEIR_TRACE_MAX = 4 * 1024 };

/*
 * Appends the value: items with "; " between them, as docs/routes.md tells them.  Whatever groups and
 * deployments are called, it holds printable ASCII only, and a ";" or a blank only between items and their
 * parts.  serving is the attempt whose answer begins at now_ns; 0: none.  0 or the failure of the buffer.
 */
WEIR_MUST_USE int weir_trace_write(const struct weir_draft *draft, uint32_t serving, uint64_t now_ns,
                                   struct weir_buf *buf);

#endif
