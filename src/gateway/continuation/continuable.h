/*
 * Whether a broken answer to a request may be continued at all (decisions 32): a streamed chat with one
 * choice, no log probabilities, no audio, no forced tool and no constrained output.
 *
 * What the answer then holds is looked at as it comes; this is about what the request makes of it.
 */
#ifndef WEIR_GATEWAY_CONTINUABLE_H
#define WEIR_GATEWAY_CONTINUABLE_H

#include <stdbool.h>

#include <weir/slice.h>

#include "gateway/request/asked.h"
#include "provider/route.h"

/* The members decide, each of them: a name that stands twice must be right twice. */
bool weir_continuable(weir_route route, const struct weir_asked *asked);

/* The same for what configuration or a target of a chain adds to a request: a JSON object, or nothing. */
bool weir_continuable_with(struct weir_slice params);

#endif
