/*
 * One worker thread: a loop with a server for clients, a client for providers, and a pool of jobs.  Nothing
 * of it is shared with other workers but the gateway, and those who wait for a turn, by the gateway's lock.
 */
#ifndef WEIR_GATEWAY_WORKER_H
#define WEIR_GATEWAY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "base/rand.h"
#include "base/text.h"
#include "gateway/admission.h"
#include "gateway/alert/watch.h"
#include "gateway/attempt/model_memo.h"
#include "gateway/feed/feed.h"
#include "gateway/metrics/series.h"
#include "gateway/seat.h"
#include "net/client.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/server.h"

struct weir_asking;
struct weir_gateway;
struct weir_job;
struct weir_listening;

struct weir_worker {
    struct weir_gateway *gateway;
    size_t index;
    weir_loop *loop;
    weir_server *server;
    weir_client *client;
    struct weir_seat seat;   /* with the setup of requests that come now */
    struct weir_rand rand;   /* for call ids */
    struct weir_buf lines;   /* room to compose header lines in; valid within one callback */
    struct weir_buf scratch; /* likewise, for bytes of streams */
    struct weir_model_memo models;
    struct weir_series_cache series; /* that the worker counts in */
    struct weir_job *jobs;           /* in use */
    struct weir_job *spare_jobs;
    size_t spare_count;
    size_t spare_unused; /* see job.c */
    struct weir_timer rest_timer;
    struct weir_alert_watch alert_watch;
    struct weir_waiters waiters; /* see turns.h */
    struct weir_loop_task turn_task;
    struct weir_asking *askings; /* for a reload; see endpoint/reload.h */
    size_t checkups;             /* under way, see health/checkup.h */
    struct weir_feed_port feed_port;
    struct weir_text_clock clock;      /* of the events that were told */
    struct weir_listening *listenings; /* to the feed; see endpoint/events.c */
    uint64_t wall_due_ns;              /* when to tell the router the wall clock's time again */
    struct weir_loop_task drain_task;
    struct weir_loop_task hand_over_task;
    struct weir_loop_task stop_task;
    struct weir_loop_task beat_task; /* see weir_worker_beat */
    atomic_bool beat_due;
    struct weir_timer drain_timer;
    bool draining;
    bool clients_gone; /* while draining: no connection is left */
    pthread_t thread;
    bool running;
    atomic_bool ended;
};

/* Makes the worker and lets it listen; its thread is not started.  0 or negative; weir_worker_deinit is due
 * in every case. */
WEIR_MUST_USE int weir_worker_init(struct weir_worker *ret_worker, struct weir_gateway *gateway, size_t index,
                                   weir_listener *listener);

/* Runs the worker on a thread of its own.  0 or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_worker_start(struct weir_worker *worker);

/* From any thread: stops accepting and ends when the last call is over, or after the drain limit. */
void weir_worker_drain(struct weir_worker *worker);

/* From any thread, once: as a drain, but another process accepts on the same sockets. */
void weir_worker_hand_over(struct weir_worker *worker);

/* From the main thread: whether the worker's loop has turned since this was asked last, or the worker has
 * ended.  The first answer is yes. */
bool weir_worker_beat(struct weir_worker *worker);

/* From any thread: ends at once. */
void weir_worker_stop(struct weir_worker *worker);

/* Waits for the thread's end. */
void weir_worker_join(struct weir_worker *worker);

/* After join, or without a start.  Accepts a zeroed one. */
void weir_worker_deinit(struct weir_worker *worker);

/* A job has gone back: a worker that drains may be done. */
void weir_worker_job_ended(struct weir_worker *worker);

#endif
