/*
 * The answer of a Sentinel ends its connection, which must not be opened again from inside of its own
 * callbacks; so each step to the next Sentinel, and the outcome, comes from a timer that is due at once.
 *
 * What is told when nobody names a master: that nobody does, with what the last one said or suffered.
 */
#include "state/sentinel.h"

#include <string.h>

#include "base/container.h"
#include "base/slice.h"

static struct weir_sentinel *of(struct weir_redis_link *link)
{
    return WEIR_CONTAINER(link, struct weir_sentinel, link);
}

static void go_on(struct weir_sentinel *sentinel, enum weir_redis_cause cause, struct weir_slice detail)
{
    sentinel->cause = cause;
    detail = weir_slice_sub(detail, 0, sizeof(sentinel->detail));
    if (detail.len > 0)
        memcpy(sentinel->detail, detail.ptr, detail.len);
    sentinel->detail_len = detail.len;
    weir_redis_link_close(&sentinel->link);
    weir_loop_arm(sentinel->spec.loop, &sentinel->next, weir_loop_now(sentinel->spec.loop));
}

/* ["10.0.0.7", "6379"] */
static bool read_master(struct weir_sentinel *sentinel, const struct weir_reply *reply)
{
    struct weir_slice host;
    uint64_t port;

    if (reply->kind != WEIR_REPLY_LIST || reply->count != 2)
        return false;
    host = reply->items[0].text;
    if (host.len == 0 || host.len > WEIR_RESOLVE_HOST_MAX ||
        weir_slice_u64(reply->items[1].text, &port) != 0 || port == 0 || port > UINT16_MAX)
        return false;
    memcpy(sentinel->host, host.ptr, host.len);
    sentinel->master = (struct weir_redis_address){{sentinel->host, host.len}, (uint16_t)port};
    return true;
}

static void on_master(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sentinel *sentinel = user;

    (void)tag;
    if (reply == NULL) /* on_end tells why */
        return;
    if (read_master(sentinel, reply))
        go_on(sentinel, WEIR_REDIS_NONE, WEIR_SLICE_EMPTY);
    else
        go_on(sentinel, WEIR_REDIS_MASTER,
              reply->kind == WEIR_REPLY_ERROR ? reply->text : WEIR_SLICE("the service is unknown"));
}

static void on_ready(struct weir_redis_link *link)
{
    struct weir_slice question[] = {WEIR_SLICE("SENTINEL"), WEIR_SLICE("GET-MASTER-ADDR-BY-NAME"),
                                    of(link)->service};

    if (weir_redis_link_send(link, question, 3, (struct weir_redis_sink){on_master, of(link), 0}) != 0)
        go_on(of(link), WEIR_REDIS_NOMEM, WEIR_SLICE_EMPTY);
}

static void on_end(struct weir_redis_link *link, enum weir_redis_cause cause, struct weir_slice detail)
{
    go_on(of(link), cause, detail.len > 0 ? detail : weir_redis_cause_text(cause));
}

static void on_answer(struct weir_redis_link *link, uint64_t took_ns)
{
    (void)took_ns;
    (void)link;
}

static const struct weir_redis_link_events link_events = {
    .on_ready = on_ready, .on_answer = on_answer, .on_end = on_end};

static void finish(struct weir_sentinel *sentinel)
{
    struct weir_slice detail = {sentinel->detail, sentinel->detail_len};

    if (sentinel->cause == WEIR_REDIS_NONE)
        sentinel->first = (sentinel->first + sentinel->asked - 1) % sentinel->count;
    sentinel->asked = 0;
    sentinel->done(sentinel, sentinel->cause == WEIR_REDIS_NONE ? WEIR_REDIS_NONE : WEIR_REDIS_MASTER,
                   detail);
}

static void ask_next(struct weir_sentinel *sentinel)
{
    const struct weir_redis_address *server =
        &sentinel->servers[(sentinel->first + sentinel->asked) % sentinel->count];

    sentinel->asked++;
    sentinel->spec.host = server->host;
    sentinel->spec.port = server->port;
    if (weir_redis_link_open(&sentinel->link, &sentinel->spec) < 0)
        go_on(sentinel, WEIR_REDIS_NOMEM, weir_redis_cause_text(WEIR_REDIS_NOMEM));
}

static void on_next(struct weir_timer *timer)
{
    struct weir_sentinel *sentinel = WEIR_CONTAINER(timer, struct weir_sentinel, next);

    if (sentinel->cause != WEIR_REDIS_NONE && sentinel->asked < sentinel->count)
        ask_next(sentinel);
    else
        finish(sentinel);
}

void weir_sentinel_init(struct weir_sentinel *sentinel)
{
    sentinel->spec.role = WEIR_REDIS_ROLE_SENTINEL;
    sentinel->spec.events = &link_events;
    sentinel->first = 0;
    sentinel->asked = 0;
    weir_timer_init(&sentinel->next, on_next);
}

void weir_sentinel_ask(struct weir_sentinel *sentinel)
{
    sentinel->asked = 0;
    go_on(sentinel, WEIR_REDIS_MASTER, WEIR_SLICE_EMPTY);
}

void weir_sentinel_stop(struct weir_sentinel *sentinel)
{
    if (sentinel->spec.loop == NULL)
        return;
    weir_loop_cancel(sentinel->spec.loop, &sentinel->next);
    weir_redis_link_close(&sentinel->link);
}
