/*
 * What all workers of a process share: the configuration, the router with its live state, the memory budget,
 * and the few services that are one for all.
 *
 * Made before the threads start and taken down after they have ended; in between it is only read, but for
 * what is atomic or locks by itself.
 */
#ifndef WEIR_GATEWAY_GATEWAY_H
#define WEIR_GATEWAY_GATEWAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/router.h>

#include "gateway/admission.h"
#include "gateway/attempt/upstream.h"
#include "gateway/budget.h"
#include "gateway/log/access_log.h"
#include "gateway/prompts.h"
#include "gateway/request/asked.h"
#include "net/proxy.h"
#include "net/resolve.h"
#include "net/server.h"

struct weir_config;

struct weir_gateway {
    const struct weir_mem *mem;
    struct weir_config *config;
    weir_router *router;
    struct weir_budget budget;
    struct weir_admission admission;
    struct weir_upstreams upstreams;
    struct weir_proxies proxies;
    weir_resolver *resolver;
    struct weir_server_shared connections;
    weir_access_log *log;
    struct weir_asked_rules rules;
    struct weir_prompts prompts;
    size_t workers;
    bool has_patterns;    /* some group's name holds a "*" */
    bool hedges;          /* some group does, or a request may */
    atomic_bool draining; /* readiness says no */
};

enum { WEIR_GATEWAY_TEXT_MAX = WEIR_UPSTREAMS_TEXT_MAX };

/* The process cannot serve: text says why, for a person. */
#define WEIR_GATEWAY_REFUSED 1

/*
 * Takes the configuration over, and adopts its snapshot; seed makes the router's choices.  0,
 * WEIR_GATEWAY_REFUSED with a NUL-terminated text, or negative; weir_gateway_deinit is due in every case.
 */
WEIR_MUST_USE int weir_gateway_init(struct weir_gateway *ret_gateway, struct weir_config *config,
                                    size_t workers, uint64_t seed, const struct weir_mem *mem,
                                    char text[WEIR_GATEWAY_TEXT_MAX]);

/* After the workers have ended.  Accepts a zeroed one. */
void weir_gateway_deinit(struct weir_gateway *gateway);

#endif
