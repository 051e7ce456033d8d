/*
 * Where a stream goes on that broke after the caller had a part of it (reliability.md, Streams;
 * router-semantics 14.3, 14.4; decisions 31, 32; beyond 3).
 */
#ifndef WEIR_ENGINE_CONTINUATION_H
#define WEIR_ENGINE_CONTINUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/call/call.h"
#include "engine/pick/filter.h"

struct weir_attempt;

/*
 * Deals with an attempt that was cut: the call goes on in WEIR_CALL_CONTINUE if it may, and else ends with
 * the first break.
 */
void weir_continuation_begin(struct weir_call *call, const struct weir_attempt *cut);

/* Deals with an attempt of a continuation that broke before its first content. */
void weir_continuation_lose(struct weir_call *call, const struct weir_attempt *broken);

#endif
