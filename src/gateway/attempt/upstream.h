/*
 * What the gateway keeps for each deployment beside its endpoint: how to verify its certificate, the header
 * lines that name it in answers, and the count that makes a simulated one fail by turns.
 *
 * Made at start for all deployments and reached through weir_endpoint.user; only what is atomic ever changes.
 */
#ifndef WEIR_GATEWAY_UPSTREAM_H
#define WEIR_GATEWAY_UPSTREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "net/client.h"
#include "net/tls.h"

struct weir_config;
struct weir_endpoint;
struct weir_settings;
struct weir_trust;
struct weir_upstream_request;

/* What a provider says is left of its limits. */
enum weir_remaining { WEIR_REMAINING_REQUESTS, WEIR_REMAINING_TOKENS, WEIR_REMAININGS };

struct weir_upstream {
    struct weir_slice id;
    const struct weir_endpoint *endpoint;
    weir_tls_context *tls;          /* NULL: by default, see weir_upstreams_tls */
    struct weir_slice id_line;      /* "x-litellm-model-id: d1\r\n" */
    struct weir_slice base_line;    /* "x-litellm-model-api-base: http://...\r\n"; empty: it has none */
    atomic_uint_fast64_t simulated; /* calls that sim or mock answered */
    atomic_bool failing;            /* its newest attempt has failed */
    atomic_int_fast64_t remaining[WEIR_REMAININGS]; /* as its newest answer said; negative: none did */
};

/* All of a configuration. */
struct weir_upstreams {
    const struct weir_mem *mem;
    const struct weir_settings *settings;
    struct weir_trust *trust;
    struct weir_arena arena;
    struct weir_upstream *list; /* one for each deployment, in the configuration's order */
    size_t count;
    pthread_mutex_t lock;          /* of default_tls, once threads run */
    weir_tls_context *default_tls; /* by the settings of the process; NULL: not needed so far */
    uint32_t caller_places;        /* what at least one of them lets callers say */
};

enum { WEIR_UPSTREAMS_TEXT_MAX = 512 };

/* A file of certificates cannot be used; text says which. */
#define WEIR_UPSTREAMS_UNREADABLE 1

/* Makes them and points each endpoint's user at its own; trust outlives them.  0, WEIR_UPSTREAMS_UNREADABLE
 * with a NUL-terminated text, or negative; ret_upstreams must be deinited in every case. */
WEIR_MUST_USE int weir_upstreams_init(struct weir_upstreams *ret_upstreams, const struct weir_config *config,
                                      struct weir_trust *trust, const struct weir_mem *mem,
                                      char text[WEIR_UPSTREAMS_TEXT_MAX]);

/* Accepts a zeroed one. */
void weir_upstreams_deinit(struct weir_upstreams *upstreams);

/* The context for a call of the upstream; NULL when none can be made.  Thread-safe; may read files the first
 * time.  Lives as long as the upstreams. */
weir_tls_context *weir_upstreams_tls(struct weir_upstreams *upstreams, const struct weir_upstream *upstream);

/* What another setup has seen of the same deployment holds here too; it may change meanwhile. */
void weir_upstream_inherit(struct weir_upstream *upstream, const struct weir_upstream *before);

/* The one that a prepared endpoint belongs to. */
struct weir_upstream *weir_upstream_of(const struct weir_endpoint *endpoint);

/* What the client is to fetch for a request that a provider's dialect built, which it points into.  0, or
 * WEIR_ERR_IO where the place wants TLS and no context can be had.  Thread-safe. */
WEIR_MUST_USE int weir_upstreams_request(struct weir_upstreams *upstreams,
                                         const struct weir_upstream *upstream,
                                         const struct weir_upstream_request *built,
                                         struct weir_fetch_request *ret_request);

#endif
