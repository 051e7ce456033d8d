/*
 * How failures are shown: the class, the type and the status that clients of LiteLLM know, and the text of
 * the message.
 */
#ifndef WEIR_PROVIDER_MESSAGE_H
#define WEIR_PROVIDER_MESSAGE_H

#include <weir/attr.h>
#include <weir/failure.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"

/* The status of a kind that brought none of its own. */
int weir_failure_status(weir_kind kind);

/* `error.type` of a failure without words of a provider: by its status.  Lives for ever. */
struct weir_slice weir_failure_type(const struct weir_failure *failure);

/* The exception class of a failure as clients know it: "RateLimitError".  Lives for ever. */
struct weir_slice weir_failure_class(weir_kind kind);

/*
 * Appends the message that clients see: "litellm.RateLimitError: RateLimitError: OpenAIException - TEXT", and
 * the longer form of the two kinds of EC 1.  An empty display (no provider was asked) leaves "XException - "
 * out. 0, WEIR_ERR_LIMIT or WEIR_ERR_NOMEM of the buffer.
 */
WEIR_MUST_USE int weir_failure_message(weir_kind kind, struct weir_slice display, struct weir_slice text,
                                       struct weir_buf *buf);

/*
 * The text without a secret that it may quote, and without what stands behind "Bearer "; the text itself when
 * there is nothing to hide.  0 or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_blot_out(struct weir_slice text, struct weir_slice secret, struct weir_arena *arena,
                                struct weir_slice *ret_text);

#endif
