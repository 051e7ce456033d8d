/*
 * The rules for a head that lie above its tokens: the start line, and what the fields say about the body and
 * the connection.  Used by http1_read.c; pure.
 */
#ifndef WEIR_WIRE_HTTP1_HEAD_H
#define WEIR_WIRE_HTTP1_HEAD_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "wire/http1_read.h"

/* Cuts the start line (without its CR LF) into head.  Each: NONE, or why the message is refused. */
WEIR_MUST_USE enum weir_http1_refusal
weir_http1_head_start(struct weir_http1_head *head, enum weir_http1_kind kind, struct weir_slice line);

/*
 * Trims the values of head's fields (count of them) and decides framing, keep_alive and the rest of head from
 * them.  The start line must have been cut.
 */
WEIR_MUST_USE enum weir_http1_refusal weir_http1_head_fields(struct weir_http1_head *head,
                                                             enum weir_http1_kind kind,
                                                             struct weir_http1_field *fields, size_t count);

#endif
