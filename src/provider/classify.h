/*
 * What a failed attempt is: kind, status and Retry-After (error-classification.md), and the provider's own
 * words.
 *
 * The order is that of section 14 there; every rule is a row of tbl/classify.h, every failure without an HTTP
 * answer a row of tbl/mishaps.h.  Texts are looked for in the first 64 KiB of a body.
 */
#ifndef WEIR_PROVIDER_CLASSIFY_H
#define WEIR_PROVIDER_CLASSIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/failure.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "provider/provider.h"

struct weir_http1_head;

/* How the attempt failed. */
typedef enum weir_mishap {
#define X(mishap, kind, status, text, families, other_kind, other_status) WEIR_MISHAP_##mishap,
#include "provider/tbl/mishaps.h"
#undef X
    WEIR_MISHAPS
} weir_mishap;

struct weir_mishap_report {
    const struct weir_provider *provider;
    weir_mishap mishap;
    int status;                         /* of the answer; 0: there was none */
    const struct weir_http1_head *head; /* of the answer; NULL: there was none */
    struct weir_slice body;             /* of the answer, decoded; or the text of weir_chunk.error */
    struct weir_slice secret;           /* the key that was used: blotted out wherever the text shows it */
    int64_t wall_now_s;                 /* for a Retry-After that is a date */
};

/* Slices are parts of the arena, the body, or live for ever. */
struct weir_verdict {
    struct weir_failure failure; /* origin PROVIDER */
    /* The provider's words, or ours where it said nothing; UTF-8, at most 2,000 bytes. */
    struct weir_slice text;
    struct weir_slice type;        /* `error.type` for the caller (router-semantics 25) */
    struct weir_slice param;       /* the provider's `error.param`; empty: none */
    struct weir_slice inner_error; /* JSON of the inner error of a content-policy failure; empty: none */
};

/* 0, WEIR_ERR_NOMEM, or WEIR_ERR_INVALID for a mishap that is none. */
WEIR_MUST_USE int weir_classify(const struct weir_mishap_report *report, struct weir_arena *arena,
                                struct weir_verdict *ret_verdict);

#endif
