/*
 * The inside of a router: the slots of live state by deployment id, and what makes calls repeatable.
 */
#ifndef WEIR_ENGINE_ROUTER_H
#define WEIR_ENGINE_ROUTER_H

#include <stdatomic.h>
#include <stdint.h>

#include <weir/mem.h>
#include <weir/router.h>
#include <weir/shared.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/spin.h"
#include "engine/live/live.h"

enum { WEIR_ROUTER_EVENTS_MAX = 256 };

struct weir_router {
    const struct weir_mem *mem;
    uint64_t seed;
    _Atomic uint64_t calls; /* begun so far */
    struct weir_live live;
    struct weir_arena arena; /* of ids and names */
    /* Behind the lock, as is the writing of the names in live state of those who cool by hand. */
    struct weir_spin lock;
    struct weir_router_event events[WEIR_ROUTER_EVENTS_MAX];
    uint32_t event_first;
    uint32_t event_count;
    /* Touched by adopting threads only. */
    struct weir_map slots;   /* struct weir_slot by id */
    struct weir_map budgets; /* struct weir_budget by the name of the group */
    struct weir_map groups;  /* names of groups, each as a slice by itself */
};

/* Seeds a call's randomness: another for each call, the same for the same call of a router of that seed. */
void weir_router_seed_call(weir_router *router, struct weir_rand *ret_rand);

/* An event about the deployment, and telling it.  Any thread. */
struct weir_router_event weir_router_event_about(weir_router_event_kind kind,
                                                 const weir_deployment *deployment, uint64_t now_ns);
void weir_router_tell(weir_router *router, const struct weir_router_event *event);

#endif
