/*
 * The answer of an attempt as a stream: events in, events out, and what the engine must know of them
 * (router-semantics 14; decisions 28, 29).
 */
#ifndef WEIR_GATEWAY_UPCALL_STREAM_H
#define WEIR_GATEWAY_UPCALL_STREAM_H

#include <weir/slice.h>

struct weir_upcall;

/* The next bytes; they are on loan for the call. */
void weir_upcall_stream_body(struct weir_upcall *upcall, struct weir_slice bytes);

/* The body is over. */
void weir_upcall_stream_done(struct weir_upcall *upcall);

#endif
