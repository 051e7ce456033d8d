/*
 * The answer of an attempt as a stream: events in, events out, and what the engine must know of them
 * (router-semantics 14; decisions 28, 29).
 */
#ifndef WEIR_GATEWAY_UPCALL_STREAM_H
#define WEIR_GATEWAY_UPCALL_STREAM_H

#include <weir/slice.h>

#include "provider/classify.h"

struct weir_upcall;

/* The next bytes; they are on loan for the call. */
void weir_upcall_stream_body(struct weir_upcall *upcall, struct weir_slice bytes);

/* The body is over. */
void weir_upcall_stream_done(struct weir_upcall *upcall);

/* No more can come, for that reason: the answer is complete by what was seen of it, or the attempt has
 * failed. */
void weir_upcall_stream_over(struct weir_upcall *upcall, weir_mishap mishap);

#endif
