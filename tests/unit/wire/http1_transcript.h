/*
 * What a reader tells of an input, as text: one line for a head, its fields, the body, and how it ended. The
 * same input must give the same text however it is cut.
 */
#ifndef HTTP1_TRANSCRIPT_H
#define HTTP1_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "base/buf.h"
#include "base/rand.h"
#include "wire/http1_read.h"

/*
 * Reads all messages of the input, then its end; pieces as chunks.h says (rand NULL and max_bytes 0: one
 * piece).
 *
 *     POST /a ? b 1.1 length 3 keep
 *     Host=x
 *     <abc>
 *     end
 *
 * A refusal ends the text with "refused NAME"; an end of input in the middle is one. The text is the
 * buffer's.
 */
struct weir_slice http1_transcript(struct weir_buf *out, enum weir_http1_kind kind, struct weir_slice input,
                                   struct weir_rand *rand, size_t max_bytes, struct weir_http1_limits limits);

/* The name of a refusal as in its table. */
const char *http1_refusal_name(enum weir_http1_refusal refusal);

#endif
