/*
 * One timer serves three limits, of which one holds at a time: the login's; the next answer's, which is that
 * of the oldest command; or, when nothing waits, the time to ask whether the server is there.
 *
 * A loop that was kept from running finds the timer due before it has looked at its sockets.  So a late
 * answer is given one more turn: the timer is set once more, and only if nothing came by then is it late.
 *
 * Every call out may close the link: `open` is looked at afterwards.  The reader, whose reply is being told
 * then, goes when the reading is over.
 */
#include "state/redis_link.h"

#include <assert.h>
#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "state/command.h"
#include "state/redis_login.h"

enum { OUT_KEEP_BYTES = 64 * 1024, ONE_MORE_TURN_MS = 2 };

/* ---- the end ---- */

static void note_detail(struct weir_redis_link *link, struct weir_slice detail)
{
    detail = weir_slice_sub(detail, 0, sizeof(link->detail));
    for (size_t i = 0; i < detail.len; i++)
        link->detail[i] = detail.ptr[i] >= ' ' && detail.ptr[i] < 0x7f ? detail.ptr[i] : '?';
    link->detail_len = detail.len;
}

static void drop_reader(struct weir_redis_link *link)
{
    weir_reply_reader_free(link->reader);
    link->reader = NULL;
}

void weir_redis_link_close(struct weir_redis_link *link)
{
    if (!link->open)
        return;
    link->open = false;
    link->ready = false;
    weir_loop_cancel(link->spec.loop, &link->timer);
    if (link->flushing)
        weir_loop_unpost(link->spec.loop, &link->flush);
    link->flushing = false;
    weir_channel_close(&link->channel);
    weir_buf_deinit(&link->out);
    if (!link->reading)
        drop_reader(link);
    while (link->pending.count > 0) {
        struct weir_redis_sink sink = weir_pending_take(&link->pending).sink;

        if (sink.done != NULL)
            sink.done(sink.user, sink.tag, NULL);
    }
    weir_pending_deinit(&link->pending);
}

static void end(struct weir_redis_link *link, enum weir_redis_cause cause, struct weir_slice detail)
{
    note_detail(link, detail);
    weir_redis_link_close(link);
    link->spec.events->on_end(link, cause, (struct weir_slice){link->detail, link->detail_len});
}

/* ---- time ---- */

static void arm(struct weir_redis_link *link)
{
    const struct weir_pending_item *first = weir_pending_first(&link->pending);
    uint64_t at_ns = link->ready_by_ns;

    if (link->ready && first != NULL)
        at_ns = first->by_ns;
    else if (link->ready)
        at_ns = weir_time_add(weir_loop_now(link->spec.loop), link->spec.idle_ns);
    weir_loop_arm(link->spec.loop, &link->timer, at_ns);
}

static int take_command(struct weir_redis_link *link, const struct weir_slice *args, size_t count,
                        struct weir_redis_sink sink)
{
    int r = weir_pending_reserve(&link->pending);

    if (r == 0)
        r = weir_command_write(&link->out, args, count);
    if (r < 0)
        return r;
    weir_pending_put(&link->pending,
                     (struct weir_pending_item){
                         sink, weir_time_add(weir_loop_now(link->spec.loop), link->spec.timeout_ns)});
    if (!link->flushing)
        weir_loop_post(link->spec.loop, &link->flush);
    link->flushing = true;
    if (link->pending.count == 1)
        arm(link);
    return 0;
}

static void look(struct weir_redis_link *link)
{
    struct weir_slice ping = WEIR_SLICE("PING");

    if (take_command(link, &ping, 1, (struct weir_redis_sink){0}) < 0)
        end(link, WEIR_REDIS_NOMEM, WEIR_SLICE_EMPTY);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_redis_link *link = WEIR_CONTAINER(timer, struct weir_redis_link, timer);
    uint64_t now_ns = weir_loop_now(link->spec.loop);

    if (link->ready && link->pending.count == 0) {
        look(link);
    } else if (!link->late) {
        link->late = true;
        weir_loop_arm(link->spec.loop, &link->timer,
                      weir_time_add(now_ns, ONE_MORE_TURN_MS * WEIR_NS_PER_MS));
    } else {
        end(link, WEIR_REDIS_SLOW, WEIR_SLICE_EMPTY);
    }
}

/* ---- writing ---- */

static void on_flush(struct weir_loop_task *task)
{
    struct weir_redis_link *link = WEIR_CONTAINER(task, struct weir_redis_link, flush);
    int r = weir_channel_write(&link->channel, weir_buf_slice(&link->out));

    link->flushing = false;
    /* A broken connection is told by its reading side. */
    if (r < 0)
        end(link, WEIR_REDIS_NOMEM, WEIR_SLICE_EMPTY);
    else if (link->out.cap > OUT_KEEP_BYTES)
        weir_buf_deinit(&link->out);
    else
        weir_buf_clear(&link->out);
}

int weir_redis_link_send(struct weir_redis_link *link, const struct weir_slice *args, size_t count,
                         struct weir_redis_sink sink)
{
    int r;

    assert(link->ready);
    if (weir_channel_waiting(&link->channel) + weir_buf_len(&link->out) > link->spec.max_queue_bytes)
        return WEIR_REDIS_FULL;
    r = take_command(link, args, count, sink);
    return r == WEIR_ERR_LIMIT ? WEIR_REDIS_FULL : r;
}

/* ---- reading ---- */

static bool is_message(const struct weir_redis_link *link, const struct weir_reply *reply)
{
    return link->spec.role == WEIR_REDIS_ROLE_LISTENER && reply->kind == WEIR_REPLY_LIST &&
           reply->count == 3 && weir_slice_eq(reply->items[0].text, WEIR_SLICE("message"));
}

static uint64_t took_ns(const struct weir_redis_link *link, const struct weir_pending_item *item)
{
    uint64_t begun_ns = item->by_ns - link->spec.timeout_ns, now_ns = weir_loop_now(link->spec.loop);

    return now_ns > begun_ns ? now_ns - begun_ns : 0;
}

static void take_answer(struct weir_redis_link *link, const struct weir_reply *reply)
{
    struct weir_slice detail = WEIR_SLICE_EMPTY;
    enum weir_redis_cause cause = link->ready ? weir_redis_answer_judge(reply, &detail) : WEIR_REDIS_NONE;
    bool was_ready = link->ready;
    struct weir_pending_item item;

    if (link->pending.count == 0) {
        end(link, WEIR_REDIS_GARBAGE, WEIR_SLICE("an answer that nobody asked for"));
        return;
    }
    item = weir_pending_take(&link->pending);
    if (item.sink.done != NULL)
        item.sink.done(item.sink.user, item.sink.tag, reply);
    if (!link->open)
        return;
    if (cause != WEIR_REDIS_NONE)
        end(link, cause, detail);
    else if (was_ready)
        link->spec.events->on_answer(link, took_ns(link, &item));
}

/* 0: the link is still open, or was closed by whom it told; else why it must end. */
static enum weir_redis_cause take_bytes(struct weir_redis_link *link, struct weir_slice bytes)
{
    const struct weir_reply *reply;
    int r = weir_reply_reader_feed(link->reader, bytes);

    while (r == 0) {
        r = weir_reply_reader_next(link->reader, &reply);
        if (r != 0)
            break;
        if (is_message(link, reply))
            link->spec.events->on_message(link, reply->items[2].text);
        else
            take_answer(link, reply);
        if (!link->open)
            return WEIR_REDIS_NONE;
    }
    if (r < 0)
        return WEIR_REDIS_NOMEM;
    if (r == WEIR_REPLY_LARGE)
        return WEIR_REDIS_LARGE;
    return r == WEIR_REPLY_GARBAGE ? WEIR_REDIS_GARBAGE : WEIR_REDIS_NONE;
}

static void on_read(struct weir_channel *channel, struct weir_slice bytes)
{
    struct weir_redis_link *link = WEIR_CONTAINER(channel, struct weir_redis_link, channel);
    enum weir_redis_cause cause;

    link->late = false;
    link->reading = true;
    cause = take_bytes(link, bytes);
    link->reading = false;
    if (!link->open)
        drop_reader(link);
    else if (cause != WEIR_REDIS_NONE)
        end(link, cause, WEIR_SLICE_EMPTY);
    else
        arm(link);
}

static enum weir_redis_cause cause_of(enum weir_channel_end how)
{
    switch (how) {
    case WEIR_CHANNEL_NAME:
        return WEIR_REDIS_NAME;
    case WEIR_CHANNEL_UNREACHABLE:
        return WEIR_REDIS_UNREACHABLE;
    case WEIR_CHANNEL_TIMEOUT:
        return WEIR_REDIS_SLOW;
    case WEIR_CHANNEL_TLS:
        return WEIR_REDIS_TLS;
    case WEIR_CHANNEL_NOMEM:
        return WEIR_REDIS_NOMEM;
    case WEIR_CHANNEL_CLOSED:
        break;
    }
    return WEIR_REDIS_CLOSED;
}

static void on_end(struct weir_channel *channel, enum weir_channel_end how, struct weir_slice detail)
{
    end(WEIR_CONTAINER(channel, struct weir_redis_link, channel), cause_of(how), detail);
}

/* ---- becoming ready ---- */

static void become_ready(struct weir_redis_link *link)
{
    link->ready = true;
    arm(link);
    link->spec.events->on_ready(link);
}

static void on_step(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_redis_link *link = user;
    struct weir_slice detail = WEIR_SLICE_EMPTY;
    enum weir_redis_cause cause;

    if (reply == NULL)
        return;
    cause = weir_redis_step_judge((enum weir_redis_step)tag, reply, &detail);
    if (cause != WEIR_REDIS_NONE)
        end(link, cause, detail);
    else if (--link->steps_left == 0)
        become_ready(link);
}

static void on_channel_ready(struct weir_channel *channel)
{
    struct weir_redis_link *link = WEIR_CONTAINER(channel, struct weir_redis_link, channel);
    struct weir_redis_question question;
    int r = 0;

    weir_loop_arm(link->spec.loop, &link->timer, link->ready_by_ns);
    for (unsigned step = 0; step < WEIR_REDIS_STEPS && r == 0; step++) {
        weir_redis_step_ask(&link->spec, (enum weir_redis_step)step, &question);
        if (question.count == 0)
            continue;
        r = take_command(link, question.args, question.count, (struct weir_redis_sink){on_step, link, step});
        link->steps_left++;
    }
    if (r < 0)
        end(link, WEIR_REDIS_NOMEM, WEIR_SLICE_EMPTY);
    else if (link->steps_left == 0)
        become_ready(link);
}

static const struct weir_channel_events channel_events = {
    .on_ready = on_channel_ready, .on_read = on_read, .on_end = on_end};

/* A connection that failed at once is told as one that failed later. */
static void on_failed_at_once(struct weir_timer *timer)
{
    struct weir_redis_link *link = WEIR_CONTAINER(timer, struct weir_redis_link, timer);

    end(link, link->failed_at_once, (struct weir_slice){link->detail, link->detail_len});
}

static void open_channel(struct weir_redis_link *link)
{
    const struct weir_redis_link_spec *spec = &link->spec;
    struct weir_channel_spec channel_spec = {
        .events = &channel_events,
        .loop = spec->loop,
        .resolver = spec->resolver,
        .host = spec->host,
        .port = spec->port,
        .tls = spec->tls,
        .by_ns = link->ready_by_ns,
        .max_queue_bytes = 2 * spec->max_queue_bytes, /* what TLS adds, and what is put to the last of it */
    };
    enum weir_channel_end how;
    const char *detail;

    if (weir_channel_open(&link->channel, &channel_spec, &how, &detail) == 0)
        return;
    note_detail(link, weir_slice_str(detail));
    link->failed_at_once = cause_of(how);
    weir_timer_init(&link->timer, on_failed_at_once);
    weir_loop_arm(spec->loop, &link->timer, weir_loop_now(spec->loop));
}

int weir_redis_link_open(struct weir_redis_link *link, const struct weir_redis_link_spec *spec)
{
    const struct weir_mem *mem = weir_loop_mem(spec->loop);
    weir_reply_reader *reader;
    int r = weir_reply_reader_new(mem, spec->reply_limits, &reader);

    if (r < 0)
        return r;
    assert(!link->open);
    *link = (struct weir_redis_link){.spec = *spec, .reader = reader, .open = true};
    link->flush.run = on_flush;
    weir_timer_init(&link->timer, on_timer);
    weir_pending_init(&link->pending, mem, spec->max_pending);
    weir_buf_init(&link->out, mem, spec->max_queue_bytes);
    link->ready_by_ns = weir_time_add(weir_loop_now(spec->loop), spec->connect_timeout_ns);
    open_channel(link);
    return 0;
}
