/*
 * What a client asked for: one look at the body of a request and at the fields of its head that speak of
 * routing (router-semantics 2.7, 6, 12, 18, 20; decisions 14, 18, 19, 21).
 *
 * The body is walked once; its top-level members stay known, so that nobody looks for them again when the
 * body is spliced for a provider.
 */
#ifndef WEIR_GATEWAY_ASKED_H
#define WEIR_GATEWAY_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "gateway/problem.h"
#include "wire/json_scan.h"

struct weir_http1_head;
struct weir_http1_field;

enum { WEIR_ASKED_MEMBERS_MAX = 1024, WEIR_ASKED_TARGETS_MAX = 64 };

/* What the configuration lets callers do. */
struct weir_asked_rules {
    unsigned max_depth;           /* of the body's nesting */
    bool mock_flags;              /* dangerously_allow_mock_testing_request_params */
    uint32_t overrides;           /* WEIR_OVERRIDE_BIT of what `weir` may set (beyond.md) */
    uint32_t caller_places;       /* WEIR_PLACE_BIT of what some deployment lets callers say (decisions 19) */
    struct weir_slice tag_prefix; /* `tag_routing_prefix` */
    bool parameters;              /* somebody looks at what parameters ask of a model */
    bool web_search;              /* some deployment has no tool for searching the web */
    bool user_agent;              /* some deployment is chosen by it (`tag_regex`) */
};

struct weir_asked {
    struct weir_slice body;
    struct weir_json_item *members; /* of the top level, in their order */
    size_t member_count;
    struct weir_request request; /* for the engine: model, controls, lists */
    uint32_t places;             /* WEIR_PLACE_BIT of what the request says; the deployment must allow it */
    bool include_fallback_errors;
    bool explain;                 /* the answer is to say how it came about (beyond 7) */
    uint64_t mock_delay_ns;       /* delays a mocked answer */
    struct weir_tag *tags;        /* those of request; room for WEIR_ASKED_TAGS_MAX once there is one */
    struct weir_slice user_agent; /* "User-Agent: VALUE", where the rules want it and there is one */
    bool bad_lar1; /* `metadata.lar1` is not valid, so its defaults hold (router-semantics 6.7) */
    /* `keepalive_seconds`, for deployments that let callers choose; 0: never, WEIR_UNSET_NS: not said. */
    uint64_t keepalive_ns;
};

/*
 * Reads the request.  path_model is the name in the path, decoded; it beats the body's; empty: none.  Slices
 * of *ret_asked are parts of body and head or live in the arena.  0, WEIR_REFUSED with *ret_problem, or
 * negative.
 */
WEIR_MUST_USE int weir_asked_read(const struct weir_asked_rules *rules, const struct weir_http1_head *head,
                                  struct weir_slice body, struct weir_slice path_model,
                                  struct weir_arena *arena, struct weir_asked *ret_asked,
                                  struct weir_problem *ret_problem);

#endif
