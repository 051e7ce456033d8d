/*
 * The kinds of call that weir routes, and what each looks like upstream: one row of tbl/routes.h each.
 */
#ifndef WEIR_PROVIDER_ROUTE_H
#define WEIR_PROVIDER_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

typedef enum weir_route {
#define X(route, suffix, object, chunk_object, items, streams, usage) WEIR_ROUTE_##route,
#include "provider/tbl/routes.h"
#undef X
    WEIR_ROUTES
} weir_route;

struct weir_route_row {
    struct weir_slice suffix;       /* of the path, after the base: "/chat/completions" */
    struct weir_slice object;       /* `object` of a plain answer */
    struct weir_slice chunk_object; /* `object` of a stream's chunk; empty: never streamed */
    struct weir_slice items;        /* the array that makes an answer one: "choices", "data" */
    bool streams;                   /* `stream: true` means something */
    bool stream_usage;              /* `stream_options.include_usage` is known to the protocol */
};

/* Of a set of routes. */
#define WEIR_ROUTE_BIT(route) (UINT64_C(1) << (route))

/* Never NULL.  Lives for ever. */
const struct weir_route_row *weir_route_row(weir_route route);

/* The mode is none of tbl/modes.h. */
#define WEIR_ROUTE_MODE_UNKNOWN 1

/* The routes that a model of the mode serves (router-semantics 4).  0 or WEIR_ROUTE_MODE_UNKNOWN. */
WEIR_MUST_USE int weir_route_of_mode(struct weir_slice mode, uint64_t *ret_routes);

#endif
