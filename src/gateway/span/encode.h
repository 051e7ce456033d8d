/*
 * The spans of a call, as OTLP has them (opentelemetry-proto, trace.proto): one for the call, one below it
 * for each attempt, with the attributes of OpenTelemetry's conventions for generative AI and weir's own.
 *
 * Made of the call's story; nothing of a prompt, an answer or a key is in it.  Pure.
 */
#ifndef WEIR_GATEWAY_SPAN_ENCODE_H
#define WEIR_GATEWAY_SPAN_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>

#include "base/buf.h"

struct weir_config_otlp;
struct weir_span_call;

/* Of more events the first ones are told. */
enum { WEIR_SPAN_EVENTS_MAX = 128 };

/*
 * Appends the spans, as fields of a ScopeSpans message, and tells how many they are.  0, or the failure of
 * the buffer: then what it holds behind its former end is a torso.
 */
WEIR_MUST_USE int weir_span_encode(const struct weir_span_call *call, struct weir_buf *buf,
                                   uint32_t *ret_spans);

/*
 * Appends a request to a collector (ExportTraceServiceRequest) up to the spans, which were encoded as above,
 * are so many bytes, and follow: who sends it.  0 or the failure of the buffer.
 */
WEIR_MUST_USE int weir_span_request(const struct weir_config_otlp *otlp, size_t spans_bytes,
                                    struct weir_buf *buf);

/* How many spans the collector's answer (ExportTraceServiceResponse) says that it has rejected; 0 also for
 * what is no such answer. */
uint64_t weir_span_rejected(struct weir_slice answer);

#endif
