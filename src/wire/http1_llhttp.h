/*
 * llhttp seen through pulling: its callbacks note what they are told in the reader, and stop it where there
 * is something to tell.  Used by http1_read.c only.
 */
#ifndef WEIR_WIRE_HTTP1_LLHTTP_H
#define WEIR_WIRE_HTTP1_LLHTTP_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "wire/http1_read.h"

/* Splits the fields of a whole head into reader->fields, which has room for every line of it. */
WEIR_MUST_USE enum weir_http1_refusal weir_http1_llhttp_head(struct weir_http1_reader *reader,
                                                             struct weir_slice bytes);

/*
 * Goes on into the body until a chunk's line is over (reader->at_chunk), a piece of the body is at hand
 * (reader->body, empty before), the message is over (reader->whole), or input is used up.  At most one piece
 * a call; with it a refusal may come, for what follows the piece.  Takes what was read off *input.
 */
WEIR_MUST_USE enum weir_http1_refusal weir_http1_llhttp_body(struct weir_http1_reader *reader,
                                                             struct weir_slice *input);

#endif
