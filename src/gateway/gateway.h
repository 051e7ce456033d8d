/*
 * What all threads of a process share and what outlives a configuration: the router with its live state, the
 * memory budget, and the few services that are one for all; and the setup of the configuration that is.
 *
 * Made before the threads start and taken down after they have ended.  In between the main thread may give it
 * another setup; for all others it is only read, but for what is atomic or locks by itself.
 */
#ifndef WEIR_GATEWAY_GATEWAY_H
#define WEIR_GATEWAY_GATEWAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/router.h>

#include "gateway/admission.h"
#include "gateway/alert/alerts.h"
#include "gateway/attempt/trust.h"
#include "gateway/background/background.h"
#include "gateway/budget.h"
#include "gateway/feed/feed.h"
#include "gateway/health/board.h"
#include "gateway/log/log.h"
#include "gateway/metrics/registry.h"
#include "gateway/seat.h"
#include "gateway/setup.h"
#include "gateway/span/calls.h"
#include "gateway/story/stories.h"
#include "net/proxy.h"
#include "net/resolve.h"
#include "net/server.h"

struct weir_config;
struct weir_reload;

struct weir_gateway {
    const struct weir_mem *mem;
    struct weir_setup *setup; /* the current one; the main thread's, others have a seat */
    struct weir_seat *seats;  /* likewise */
    size_t seats_taken;
    size_t seats_max;
    struct weir_graves graves;
    struct weir_trust trust;
    weir_router *router;
    struct weir_budget budget;
    struct weir_admission admission;
    struct weir_proxies proxies;
    weir_resolver *resolver;
    struct weir_stories stories;       /* of the newest calls */
    struct weir_span_calls span_calls; /* whose spans are to be sent */
    struct weir_server_shared connections;
    weir_log *log;
    struct weir_feed feed;         /* of routing events */
    pthread_mutex_t router_events; /* held by who tells them (observe.h) */
    atomic_bool redis_up;          /* as far as the background thread knows */
    struct weir_alerts alerts;
    struct weir_metrics metrics;       /* a seat for each worker, and two: see metrics/count.h */
    uint64_t started_wall_ns;          /* since 1970 */
    struct weir_board board;           /* of health checks */
    struct weir_background background; /* the crew's, which starts and ends it */
    bool shares;                       /* the router does, with other processes; since the start */
    size_t workers;
    atomic_bool draining;       /* readiness says no */
    struct weir_reload *reload; /* whom workers ask to reload; NULL: nobody */
};

enum { WEIR_GATEWAY_TEXT_MAX = WEIR_SETUP_TEXT_MAX };

/* The process cannot serve: text says why, for a person. */
#define WEIR_GATEWAY_REFUSED 1

/*
 * Takes the configuration over and makes the first setup; seed makes the router's choices.  home is the main
 * thread's loop, which outlives the gateway; it may be NULL.  0, WEIR_GATEWAY_REFUSED with a NUL-terminated
 * text, or negative; weir_gateway_deinit is due in every case.
 */
WEIR_MUST_USE int weir_gateway_init(struct weir_gateway *ret_gateway, struct weir_config *config,
                                    size_t workers, uint64_t seed, weir_loop *home,
                                    const struct weir_mem *mem, char text[WEIR_GATEWAY_TEXT_MAX]);

/*
 * From the main thread: makes a setup of the configuration, which it takes over in every case, and gives it
 * to all seats.  Requests that come from then on are served by it, those under way by the one before.  0,
 * WEIR_GATEWAY_REFUSED with a text, or negative; then nothing is changed.
 */
WEIR_MUST_USE int weir_gateway_adopt(struct weir_gateway *gateway, struct weir_config *config,
                                     char text[WEIR_GATEWAY_TEXT_MAX]);

/*
 * Whether the variables HTTP_PROXY and its kin, as the configuration sees them, say what they said at the
 * start: another proxy needs a restart.  0, WEIR_GATEWAY_REFUSED with a text when one is wrong, or negative.
 */
WEIR_MUST_USE int weir_gateway_same_proxies(const struct weir_gateway *gateway, struct weir_config *config,
                                            bool *ret_same, char text[WEIR_GATEWAY_TEXT_MAX]);

/* From the main thread, before the seat's thread starts and after it has ended: what weir_seat_init and
 * weir_seat_deinit do, for a seat that follows the gateway's setup. */
void weir_gateway_join(struct weir_gateway *gateway, struct weir_seat *ret_seat, weir_loop *loop,
                       weir_seat_changed_fn *changed);
void weir_gateway_leave(struct weir_gateway *gateway, struct weir_seat *seat);

/* After the workers have ended and all seats are left.  Accepts a zeroed one. */
void weir_gateway_deinit(struct weir_gateway *gateway);

#endif
