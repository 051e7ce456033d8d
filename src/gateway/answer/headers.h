/*
 * Header lines of answers (router-semantics 24): who served, after how many tries, and what the provider said
 * in its own head, under names of their own.
 *
 * Every line is "Name: value\r\n" and valid: a value that could not stand in a header is left out.
 */
#ifndef WEIR_GATEWAY_HEADERS_H
#define WEIR_GATEWAY_HEADERS_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"
#include "gateway/attempt/cost.h"

struct weir_http1_head;

enum { WEIR_CALL_ID_LEN = 36 };

/* What the lines of one answer are made from; empty slices leave their line out. */
struct weir_answer_facts {
    struct weir_slice id_line;        /* of the deployment, ready made */
    struct weir_slice base_line;      /* likewise */
    struct weir_slice provider_lines; /* see weir_headers_of_provider */
    struct weir_slice group;
    uint32_t retries;
    uint32_t max_retries; /* told after a retry only */
    uint32_t hops;
    uint32_t max_hops;
    uint64_t duration_ns;   /* from the request's head until now */
    uint64_t overhead_ns;   /* of it, what was not spent waiting for the provider */
    uint64_t limit_ns;      /* of the attempt whose failure is told; 0: none */
    struct weir_cost cost;  /* told where it is known when the head goes out */
    uint64_t retry_after_s; /* of failures by the gateway's own limits; 0: none */
};

/* The lines of an answer that a provider gave.  0 or the buffer's failure. */
WEIR_MUST_USE int weir_headers_of_success(const struct weir_answer_facts *facts, struct weir_buf *buf);

/* The lines of a failure: attempted-* and the provider's Retry-After are not told. */
WEIR_MUST_USE int weir_headers_of_failure(const struct weir_answer_facts *facts, struct weir_buf *buf);

/*
 * What a provider's head says, as lines for the caller: each field with "llm_provider-" in front, but those
 * that belong to its connection or its body's form; x-ratelimit-* also under their own name.  Of fields
 * beyond 16 KiB together the rest is left out.  Empty when there are none or the arena is full.
 */
struct weir_slice weir_headers_of_provider(const struct weir_http1_head *head, struct weir_arena *arena);

/* "Name: value\r\n", or nothing where the value is empty or cannot stand in a header. */
WEIR_MUST_USE int weir_headers_put(struct weir_buf *buf, struct weir_slice name, struct weir_slice value);
WEIR_MUST_USE int weir_headers_put_u64(struct weir_buf *buf, struct weir_slice name, uint64_t value);

/* A call's id in the form of a version 4 UUID, from 128 random bits. */
struct weir_slice weir_call_id(uint64_t high, uint64_t low, char room[WEIR_CALL_ID_LEN]);

#endif
