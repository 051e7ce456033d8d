/*
 * It is a job whose stream is fed from the feed.  It takes what there is in pieces of limited size, so
 * that neither a reader that has come far behind nor many of them hold up the worker; what is left is taken
 * in the next turn.  One whose client is slow takes nothing until that has drained, and so holds no more than
 * the queue of any stream.
 */
#include "gateway/endpoint/events.h"

#include "base/container.h"
#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/feed/feed.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/request/auth.h"
#include "gateway/request/parameter.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

#define PING_EVERY_NS (15 * WEIR_NS_PER_S)

/* One turn writes so much at most, and what it takes to tell one more event. */
enum { PIECE_BYTES = 64 * 1024 };

struct weir_listening {
    struct weir_listening *next; /* of the worker's */
    struct weir_job *job;
    struct weir_feed_reader reader;
    struct weir_timer ping_timer;
    bool full; /* the client does not take what there is */
};

static struct weir_feed *feed_of(const struct weir_job *job)
{
    return &job->worker->gateway->feed;
}

/* ---- ending ---- */

void weir_events_leave(struct weir_job *job)
{
    struct weir_worker *worker = job->worker;
    struct weir_listening **at = &worker->listenings;

    if (job->listening == NULL)
        return;
    while (*at != job->listening)
        at = &(*at)->next;
    *at = job->listening->next;
    weir_loop_cancel(worker->loop, &job->listening->ping_timer);
    weir_feed_leave(feed_of(job), &worker->feed_port);
    job->listening = NULL;
}

static void end(struct weir_job *job)
{
    weir_job_enter(job);
    weir_events_leave(job);
    if (job->exchange != NULL)
        weir_exchange_end(job->exchange, NULL, 0);
    weir_job_leave(job);
}

void weir_events_end(struct weir_worker *worker)
{
    while (worker->listenings != NULL)
        end(worker->listenings->job);
}

/* ---- writing ---- */

/* Behind the data, "data: {...}": "\nid: 7\nevent: Retry\n\n". */
static int put_facts(struct weir_buf *buf, const struct weir_feed_item *item)
{
    char digits[WEIR_TEXT_U64_MAX];

    return WEIR_BUF_APPEND(buf, WEIR_SLICE("\nid: "), weir_text_u64(item->id, digits),
                           WEIR_SLICE("\nevent: "), weir_feed_kind_name(item->kind), WEIR_SLICE("\n\n"));
}

static int put_lost(struct weir_buf *buf, uint64_t lost)
{
    char digits[WEIR_TEXT_U64_MAX];

    return WEIR_BUF_APPEND(buf, WEIR_SLICE("data: {\"events\":"), weir_text_u64(lost, digits),
                           WEIR_SLICE("}\nevent: Dropped\n\n"));
}

/* Appends the next event; WEIR_FEED_NONE when there is none. */
static int put_next(struct weir_listening *listening, struct weir_buf *buf)
{
    struct weir_feed_item item;
    int found = weir_feed_take(feed_of(listening->job), &listening->reader, WEIR_SLICE("data: "), buf, &item);
    int r = 0;

    if (found == WEIR_FEED_EVENT)
        r = put_facts(buf, &item);
    else if (found == WEIR_FEED_LOST)
        r = put_lost(buf, item.lost);
    return r < 0 ? r : found;
}

/* What there is, up to a piece; returns whether there may be more. */
static bool write_piece(struct weir_listening *listening)
{
    struct weir_job *job = listening->job;
    struct weir_buf *piece = &job->worker->scratch;
    struct weir_slice bytes;
    int found = WEIR_FEED_EVENT;
    int r;

    weir_buf_clear(piece);
    while (found > WEIR_FEED_NONE && weir_buf_len(piece) < PIECE_BYTES)
        found = put_next(listening, piece);
    bytes = weir_buf_slice(piece);
    r = found < 0 ? found : bytes.len == 0 ? 0 : weir_exchange_write(job->exchange, &bytes, 1);
    if (r < 0) {
        weir_exchange_abort(job->exchange);
        return false;
    }
    listening->full = r == WEIR_EXCHANGE_FULL;
    return found > WEIR_FEED_NONE && !listening->full;
}

/*
 * A stream may last for days: it must neither keep alive the setup that it began with, nor outlive the key
 * that it was opened with.  Returns whether it goes on.
 */
static bool follow(struct weir_job *job)
{
    struct weir_seat *seat = &job->worker->seat;
    struct weir_setup *before = job->setup;

    if (before == seat->setup)
        return true;
    if (!weir_auth_allows(weir_exchange_head(job->exchange), seat->setup->config->settings.master_key)) {
        end(job);
        return false;
    }
    job->setup = weir_seat_hold(seat);
    weir_seat_release(seat, before);
    return true;
}

/* Returns whether there may be more. */
static bool pump(struct weir_listening *listening)
{
    struct weir_job *job = listening->job;
    bool more = false;

    weir_job_enter(job);
    if (job->exchange != NULL && follow(job) && !listening->full)
        more = write_piece(listening);
    weir_job_leave(job);
    return more;
}

void weir_events_run(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, feed_port.task);
    struct weir_feed *feed = &worker->gateway->feed;
    struct weir_listening *next;
    bool more = false;

    weir_feed_begin(feed, &worker->feed_port);
    for (struct weir_listening *listening = worker->listenings; listening != NULL; listening = next) {
        next = listening->next;
        more |= pump(listening);
    }
    if (more)
        weir_feed_again(feed, &worker->feed_port);
}

void weir_events_resume(struct weir_job *job)
{
    if (job->listening == NULL)
        return;
    job->listening->full = false;
    weir_feed_again(feed_of(job), &job->worker->feed_port);
}

static void on_ping(struct weir_timer *timer)
{
    struct weir_listening *listening = WEIR_CONTAINER(timer, struct weir_listening, ping_timer);
    struct weir_job *job = listening->job;
    const struct weir_slice ping = WEIR_SLICE(": ping\n\n");

    weir_job_enter(job);
    weir_loop_arm(job->worker->loop, timer, weir_time_add(weir_job_now(job), PING_EVERY_NS));
    if (job->exchange != NULL && weir_exchange_queued(job->exchange) == 0 &&
        weir_exchange_write(job->exchange, &ping, 1) < 0)
        weir_exchange_abort(job->exchange);
    weir_job_leave(job);
}

/* ---- beginning ---- */

/* All, or those that are named with commas between them; 0, WEIR_REFUSED or negative. */
static int read_kinds(struct weir_job *job, uint64_t *ret_wanted, struct weir_problem *ret_problem)
{
    static const char all[] = "'; there are of calls:"
#define X(event, name, prose) " " name
#include <weir/tbl/events.h>
#undef X
                              "; outside of them:"
#define X(event, name, prose) " " name
#include <weir/tbl/router_events.h>
#undef X
        ;
    const struct weir_slice kind = WEIR_SLICE("kind");
    struct weir_slice names, name;
    uint64_t wanted = 0;
    bool done = false;
    int r = weir_parameter(job, kind, &names, ret_problem);

    if (r == WEIR_PARAMETER_ABSENT) {
        *ret_wanted = UINT64_MAX;
        return 0;
    }
    while (r == 0 && weir_slice_cut(&names, ',', &done, &name)) {
        uint64_t kinds = weir_feed_kinds_named(name);

        wanted |= kinds;
        if (kinds == 0)
            r = WEIR_REFUSE(ret_problem, &job->arena, 400, kind,
                            WEIR_SLICE("there are no events of the kind '"), name, weir_slice_str(all));
    }
    if (r == 0)
        *ret_wanted = wanted;
    return r;
}

static int join(struct weir_job *job, uint64_t wanted)
{
    struct weir_worker *worker = job->worker;
    struct weir_listening *listening = weir_arena_zalloc(&job->arena, 1, sizeof(*listening));
    int r = listening == NULL ? WEIR_ERR_NOMEM
                              : weir_feed_join(feed_of(job), &worker->feed_port, wanted, &listening->reader);

    if (r != 0)
        return r;
    listening->job = job;
    listening->next = worker->listenings;
    worker->listenings = listening;
    weir_timer_init(&listening->ping_timer, on_ping);
    weir_loop_arm(worker->loop, &listening->ping_timer, weir_time_add(weir_job_now(job), PING_EVERY_NS));
    job->listening = listening;
    return 0;
}

void weir_events_begin(struct weir_job *job)
{
    const struct weir_http1_head *head = weir_exchange_head(job->exchange);
    const struct weir_slice hello = WEIR_SLICE(": weir\n\n");
    bool headed = weir_slice_eq(head->method, WEIR_SLICE("HEAD"));
    struct weir_problem problem;
    uint64_t wanted;
    int r = read_kinds(job, &wanted, &problem);

    if (r != 0) {
        weir_reply_refusal(job, r, &problem);
        return;
    }
    if (job->worker->draining) {
        weir_reply_status(job, 503, WEIR_SLICE("weir is ending"));
        return;
    }
    r = headed ? 0 : join(job, wanted);
    if (r > 0) {
        weir_reply_status(job, 503, WEIR_SLICE("too many listen to the events already"));
        return;
    }
    if (r < 0) {
        weir_reply_no_memory(job);
        return;
    }
    r = weir_reply_open(job, WEIR_SLICE("text/event-stream; charset=utf-8"), &hello, 1);
    if (r < 0)
        weir_exchange_abort(job->exchange);
    else if (headed)
        weir_exchange_end(job->exchange, NULL, 0);
}

/* Not at once: the seat is at it. */
void weir_events_follow(struct weir_worker *worker)
{
    weir_feed_again(&worker->gateway->feed, &worker->feed_port);
}
