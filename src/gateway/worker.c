/*
 * A worker ends in one of two ways.  Draining, it stops accepting and waits until the last connection is gone
 * and the last call over (a plain call may outlive its client), at most for the drain limit.  Stopping, it
 * ends at once.  In both the loop is left first; exchanges, calls and connections are taken down afterwards
 * on the same thread, so no callback finds things half gone.
 */
#include "gateway/worker.h"

#include <signal.h>
#include <sys/random.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/endpoint/events.h"
#include "gateway/endpoint/reload.h"
#include "gateway/front.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/turns.h"

enum { LINES_MAX = 128 * 1024, HEAD_AND_READ_MAX = 256 * 1024, SCRATCH_MAX = 32 * 1024 * 1024 };

static void stop_when_idle(struct weir_worker *worker)
{
    if (worker->draining && worker->clients_gone && worker->jobs == NULL)
        weir_loop_stop(worker->loop);
}

void weir_worker_job_ended(struct weir_worker *worker)
{
    stop_when_idle(worker);
}

static void on_drained(void *user)
{
    struct weir_worker *worker = user;

    worker->clients_gone = true;
    stop_when_idle(worker);
}

static void on_drain_limit(struct weir_timer *timer)
{
    struct weir_worker *worker = WEIR_CONTAINER(timer, struct weir_worker, drain_timer);

    weir_loop_stop(worker->loop);
}

/* A drain may follow a handing over; the limit counts from the first. */
static void begin_drain(struct weir_worker *worker)
{
    uint64_t limit = worker->seat.setup->config->settings.drain_timeout_ns;

    if (!worker->draining)
        weir_loop_arm(worker->loop, &worker->drain_timer, weir_time_add(weir_loop_now(worker->loop), limit));
    worker->draining = true;
    weir_events_end(worker);
}

static void run_drain(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, drain_task);

    begin_drain(worker);
    weir_server_drain(worker->server, on_drained, worker);
}

static void run_hand_over(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, hand_over_task);

    begin_drain(worker);
    weir_server_hand_over(worker->server, on_drained, worker);
}

static void run_beat(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, beat_task);

    atomic_store_explicit(&worker->beat_due, false, memory_order_release);
}

static void run_stop(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, stop_task);

    weir_loop_stop(worker->loop);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What may be written before a pause is felt: the answer, or the start of a stream, that was held and is let
 * go at once; of a stream under way two events; and beside it a head and what one read brought. */
static size_t most_queued(const struct weir_settings *settings)
{
    uint64_t held =
        larger(settings->max_response_bytes, settings->stream_hold_max_bytes + settings->max_event_bytes);

    return (size_t)(larger(held, 2 * settings->max_event_bytes) + settings->stream_buffer_bytes +
                    HEAD_AND_READ_MAX);
}

static struct weir_server_config server_config(const struct weir_worker *worker)
{
    const struct weir_settings *settings = &worker->seat.setup->config->settings;

    return (struct weir_server_config){.max_head_bytes = (size_t)settings->max_head_bytes,
                                       .max_headers = settings->max_header_count,
                                       .max_body_bytes = (size_t)settings->max_body_bytes,
                                       .high_water_bytes = (size_t)settings->stream_buffer_bytes,
                                       .max_queue_bytes = most_queued(settings),
                                       .head_timeout_ns = settings->header_timeout_ns,
                                       .body_timeout_ns = settings->body_timeout_ns,
                                       .idle_timeout_ns = settings->idle_timeout_ns,
                                       .send_timeout_ns = settings->client_write_timeout_ns,
                                       .body_mem = weir_budget_mem(&worker->gateway->budget)};
}

static int make_server(struct weir_worker *worker, weir_listener *listener)
{
    const struct weir_server_handler handler = weir_front_handler(worker);
    const struct weir_server_config config = server_config(worker);
    int r = weir_server_new(worker->loop, &config, &handler, &worker->gateway->connections, &worker->server);

    return r == 0 ? weir_server_listen(worker->server, listener, worker->index) : r;
}

static struct weir_client_config client_config(const struct weir_worker *worker)
{
    const struct weir_settings *settings = &worker->seat.setup->config->settings;

    return (struct weir_client_config){.resolver = worker->gateway->resolver,
                                       .proxies = &worker->gateway->proxies,
                                       .max_connections = settings->max_upstream_connections,
                                       .max_idle_per_upstream = settings->max_idle_per_upstream,
                                       .max_head_bytes = (size_t)settings->max_head_bytes,
                                       .max_headers = settings->max_header_count,
                                       .idle_timeout_ns = settings->upstream_idle_timeout_ns};
}

static int make_client(struct weir_worker *worker)
{
    const struct weir_client_config config = client_config(worker);

    return weir_client_new(worker->loop, &config, &worker->client);
}

/* What serves all setups goes on by the limits of the new one. */
static void on_setup(struct weir_seat *seat)
{
    struct weir_worker *worker = WEIR_CONTAINER(seat, struct weir_worker, seat);
    const struct weir_server_config server = server_config(worker);
    const struct weir_client_config client = client_config(worker);

    weir_model_memo_forget(&worker->models);
    weir_series_forget(&worker->series);
    weir_server_configure(worker->server, &server);
    weir_client_configure(worker->client, &client);
    weir_events_follow(worker);
    weir_alert_watch_follow(&worker->alert_watch);
}

static int seed_rand(struct weir_worker *worker)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return WEIR_ERR_IO;
    weir_rand_init(&worker->rand, seed);
    return 0;
}

int weir_worker_init(struct weir_worker *ret_worker, struct weir_gateway *gateway, size_t index,
                     weir_listener *listener)
{
    struct weir_worker *worker = ret_worker;
    int r;

    *worker = (struct weir_worker){.gateway = gateway,
                                   .index = index,
                                   .drain_task.run = run_drain,
                                   .hand_over_task.run = run_hand_over,
                                   .stop_task.run = run_stop,
                                   .beat_task.run = run_beat};
    atomic_init(&worker->beat_due, false);
    atomic_init(&worker->ended, false);
    weir_timer_init(&worker->drain_timer, on_drain_limit);
    weir_timer_init(&worker->rest_timer, weir_job_on_rest);
    weir_buf_init(&worker->lines, gateway->mem, LINES_MAX);
    weir_buf_init(&worker->scratch, gateway->mem, SCRATCH_MAX);
    weir_model_memo_init(&worker->models, gateway->mem);
    weir_series_init(&worker->series, &gateway->metrics, index);
    r = seed_rand(worker);
    if (r == 0)
        r = weir_loop_new(gateway->mem, &worker->loop);
    if (r < 0)
        return r;
    weir_feed_port_init(&worker->feed_port, worker->loop, weir_events_run);
    weir_gateway_join(gateway, &worker->seat, worker->loop, on_setup);
    weir_turns_init(worker);
    weir_alert_watch_init(&worker->alert_watch, worker);
    r = make_client(worker);
    if (r == 0)
        r = make_server(worker, listener);
    return r;
}

/* On the worker's own thread, after its loop was left. */
static void take_down(struct weir_worker *worker)
{
    struct weir_job *job;

    weir_loop_cancel(worker->loop, &worker->drain_timer);
    weir_alert_watch_stop(&worker->alert_watch);
    weir_server_close(worker->server);
    worker->server = NULL;
    while ((job = worker->jobs) != NULL)
        weir_job_kill(job);
    weir_turns_close(worker);
    weir_client_close(worker->client);
    worker->client = NULL;
    weir_loop_cancel(worker->loop, &worker->rest_timer); /* the last jobs may have armed it */
}

static void *worker_main(void *user)
{
    struct weir_worker *worker = user;

    weir_loop_run(worker->loop);
    take_down(worker);
    atomic_store_explicit(&worker->ended, true, memory_order_release);
    return NULL;
}

int weir_worker_start(struct weir_worker *worker)
{
    sigset_t all;
    sigset_t before;
    int r;

    /* Signals are for the main thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&worker->thread, NULL, worker_main, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker->running = r == 0;
    return r == 0 ? 0 : WEIR_ERR_IO;
}

void weir_worker_drain(struct weir_worker *worker)
{
    if (worker->running)
        weir_loop_post(worker->loop, &worker->drain_task);
}

void weir_worker_hand_over(struct weir_worker *worker)
{
    if (worker->running)
        weir_loop_post(worker->loop, &worker->hand_over_task);
}

bool weir_worker_beat(struct weir_worker *worker)
{
    if (!worker->running || atomic_load_explicit(&worker->ended, memory_order_acquire))
        return true;
    if (atomic_load_explicit(&worker->beat_due, memory_order_acquire))
        return false;
    atomic_store_explicit(&worker->beat_due, true, memory_order_relaxed);
    weir_loop_post(worker->loop, &worker->beat_task);
    return true;
}

void weir_worker_stop(struct weir_worker *worker)
{
    if (worker->running)
        weir_loop_post(worker->loop, &worker->stop_task);
}

void weir_worker_join(struct weir_worker *worker)
{
    if (worker->running)
        (void)pthread_join(worker->thread, NULL);
    worker->running = false;
}

void weir_worker_deinit(struct weir_worker *worker)
{
    struct weir_job *job;

    if (worker->loop != NULL)
        take_down(worker);
    while ((job = worker->spare_jobs) != NULL) {
        worker->spare_jobs = job->next;
        weir_job_free(job);
    }
    weir_loop_free(worker->loop);
    weir_reload_drop(worker);
    if (worker->seat.setup != NULL)
        weir_gateway_leave(worker->gateway, &worker->seat);
    weir_buf_deinit(&worker->lines);
    weir_buf_deinit(&worker->scratch);
    weir_model_memo_deinit(&worker->models);
    weir_series_deinit(&worker->series);
}
