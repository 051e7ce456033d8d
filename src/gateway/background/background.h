/*
 * One more thread, for what concerns all workers and no request: what processes share (sharing.h), probes,
 * alerts, spans of calls (span/exporter.h). It has a loop of its own and follows the gateway's setup as a
 * worker does.  Where a configuration needs nothing of it, there is none.
 *
 * Made and ended by the main thread.  Its services are made before the thread runs, and taken down by it
 * after its loop was left.
 */
#ifndef WEIR_GATEWAY_BACKGROUND_H
#define WEIR_GATEWAY_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

#include <weir/attr.h>

#include "gateway/health/prober.h"
#include "gateway/seat.h"
#include "gateway/span/exporter.h"
#include "net/loop.h"

#include <uv.h>

struct weir_alerter;
struct weir_gateway;
struct weir_sharing;

struct weir_background {
    struct weir_gateway *gateway; /* NULL: not attended */
    weir_loop *loop;              /* NULL: there is no thread */
    struct weir_seat seat;
    struct weir_prober prober;
    struct weir_sharing *sharing; /* NULL: nothing is shared */
    uv_prepare_t turn;            /* what a turn has caused is told before the next */
    struct weir_alerter *alerter;
    struct weir_exporter exporter;
    unsigned ending; /* services that have something to do still, once the thread shall end */
    struct weir_loop_task stop_task;
    pthread_t thread;
    bool running;
};

enum { WEIR_BACKGROUND_TEXT_MAX = 256 };

/* It cannot serve: text says why, for a person. */
#define WEIR_BACKGROUND_REFUSED 1

/*
 * Before the workers start: makes the thread and what it serves, if the gateway's setup needs it; a zeroed
 * one is expected.  0, WEIR_BACKGROUND_REFUSED with a NUL-terminated text, or negative;
 * weir_background_deinit is due in every case.
 */
WEIR_MUST_USE int weir_background_start(struct weir_background *background, struct weir_gateway *gateway,
                                        char text[WEIR_BACKGROUND_TEXT_MAX]);

/* The gateway has another setup: the thread is made now if that needs it and there is none.  Results as
 * above; does nothing before the start and after the end. */
WEIR_MUST_USE int weir_background_follow(struct weir_background *background,
                                         char text[WEIR_BACKGROUND_TEXT_MAX]);

/* Ends the thread and waits for it; after the workers have ended.  Accepts a zeroed one. */
void weir_background_deinit(struct weir_background *background);

/* A service has done what it does when the process ends; user is the background. */
void weir_background_ended(void *user);

/* For weir_router_share; user is the background. */
void weir_background_notify(void *user);

#endif
