/*
 * Background health checks: each deployment is asked once in an interval whether it answers, and the router
 * is told what came of it (RS 17).
 *
 * Where several processes share one Redis, and are told to share this too, the one with the duty asks
 * (duty.h).
 *
 * It works by the setup of its seat: a new one changes who is asked, and keeps when those who stay were asked
 * last.  What is under way goes on by the setup that it began with.  Everything is for the loop's thread.
 */
#ifndef WEIR_GATEWAY_PROBER_H
#define WEIR_GATEWAY_PROBER_H

#include <stddef.h>

#include <weir/attr.h>

#include "gateway/health/duty.h"
#include "gateway/health/rota.h"
#include "gateway/seat.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/timer.h"

struct weir_gateway;
struct weir_probing;
struct weir_sharing;

struct weir_prober {
    struct weir_gateway *gateway;
    weir_loop *loop;
    weir_client *client;
    struct weir_seat *seat;
    struct weir_rota rota;
    const weir_deployment **targets; /* by the rota's numbers; of the setup that was followed last */
    struct weir_probing *under_way;
    struct weir_timer timer;
    struct weir_sharing *sharing; /* NULL: nothing is shared */
    struct weir_duty duty;        /* NONE: who asks is not shared */
    struct weir_timer duty_timer;
};

/* On the seat's loop; both outlive it.  0 or WEIR_ERR_NOMEM; weir_prober_deinit is due in every case. */
WEIR_MUST_USE int weir_prober_init(struct weir_prober *ret_prober, struct weir_gateway *gateway,
                                   struct weir_seat *seat);

/* Before the first follow: by whom this process talks to others; it lives as long as the prober. */
void weir_prober_share(struct weir_prober *prober, struct weir_sharing *sharing);

/* Cancels what is under way, and gives the duty back.  Accepts a zeroed one, and one that has ended. */
void weir_prober_deinit(struct weir_prober *prober);

/* Begins to ask, or goes on by another setup that the seat has; the one before lives until the call
 * returns. */
void weir_prober_follow(struct weir_prober *prober);

#endif
