/*
 * The client is a small machine around two links:
 *
 *        +------------- timer: weir_breaker_next_ns -------------+
 *        v                                                       |
 *     ASKING (the Sentinels, if any) --> OPENING --> UP --> WAITING
 *        |                                 |                     ^
 *        +---------------------------------+---------------------+
 *
 * What counts as a failure is a trial that did not come to UP, and the loss of a connection that was.  What
 * counts as a success is the answer to a command, not the login alone: so a server that lets everybody in
 * and serves nobody opens the breaker too.  While the breaker rests a master, the Sentinels are still asked
 * now and then; when they name another one, the rest is over.
 *
 * The listener is a second link to the same server, open only while the first is up, with a pace of its own:
 * without it news come later, but nothing is lost.  That it cannot listen is told at its second failure in a
 * row; the first is mostly the end of both connections, told by this one a moment before the other.
 */
#include "state/redis.h"

#include <string.h>

#include <weir/error.h>

#include "base/arena.h"
#include "base/container.h"
#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "state/breaker.h"
#include "state/redis_link.h"
#include "state/sentinel.h"

enum {
    TIMEOUT_MS = 100,
    CONNECT_FACTOR = 10,
    IDLE_S = 5,
    MAX_PENDING = 65536,
    MAX_QUEUE_BYTES = 8 * 1024 * 1024,
    MAX_REPLY_BYTES = 8 * 1024 * 1024,
    MAX_REPLY_ITEMS = 65536,
    SPEC_BLOCK_BYTES = 512,
    SPEC_MAX_BYTES = 64 * 1024, /* of the texts of a spec */
    LISTEN_AGAIN_S = 1,
    ASK_WHILE_RESTING_S = 5,
    DEAF_AT = 2 /* failures of the listener in a row */
};

struct weir_redis {
    const struct weir_mem *mem;
    struct weir_arena arena; /* the texts of the spec */
    struct weir_redis_spec spec;
    struct weir_breaker breaker;
    struct weir_rand rand;
    struct weir_timer trial; /* armed while WAITING */
    struct weir_timer listen;
    struct weir_redis_link link;
    struct weir_redis_link listener;
    struct weir_sentinel sentinel;
    struct weir_redis_address server; /* the one that is tried, or was last */
    char server_host[WEIR_RESOLVE_HOST_MAX + 1];
    unsigned listener_failures; /* in a row */
    struct weir_redis_state told;
    bool telling; /* something was told before */
    struct weir_redis_counts counts;
};

struct weir_slice weir_redis_cause_text(enum weir_redis_cause cause)
{
    static const struct weir_slice texts[WEIR_REDIS_CAUSES] = {
#define X(name, text) WEIR_SLICE_INIT(text),
#include "state/tbl/redis_causes.h"
#undef X
    };

    return texts[cause];
}

/* ---- telling ---- */

/* A text that is cut where its room ends, and shows nothing that is no character. */
struct line {
    char text[WEIR_REDIS_STATE_TEXT_MAX];
    size_t len;
};

static void put(struct line *line, struct weir_slice bytes)
{
    for (size_t i = 0; i < bytes.len && line->len < sizeof(line->text); i++)
        line->text[line->len++] = bytes.ptr[i] >= ' ' && bytes.ptr[i] < 0x7f ? bytes.ptr[i] : '?';
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    put(line, weir_text_u64(number, digits));
}

/* "Redis at 127.0.0.1:6379"; before the Sentinels have named anyone, "Redis (the master mymaster)". */
static void put_name(struct line *line, const weir_redis *redis)
{
    if (redis->server.port == 0) {
        put(line, WEIR_SLICE("Redis (the master "));
        put(line, redis->spec.service);
        put(line, WEIR_SLICE(")"));
        return;
    }
    put(line, WEIR_SLICE("Redis at "));
    put(line, redis->server.host);
    put(line, WEIR_SLICE(":"));
    put_number(line, redis->server.port);
}

static void write_line(const weir_redis *redis, const struct weir_redis_state *state,
                       struct weir_slice detail, struct line *line)
{
    put_name(line, redis);
    if (state->up && !state->deaf) {
        put(line, WEIR_SLICE(" answers"));
        return;
    }
    put(line, state->up ? WEIR_SLICE(" answers, but ") : WEIR_SLICE(" is away: "));
    put(line, weir_redis_cause_text(state->up ? WEIR_REDIS_CHANNEL : state->cause));
    if (detail.len > 0) {
        put(line, WEIR_SLICE(" ("));
        put(line, detail);
        put(line, WEIR_SLICE(")"));
    }
    if (state->resting) {
        put(line, WEIR_SLICE("; it is left alone for "));
        put_number(line, redis->breaker.recovery_ns / WEIR_NS_PER_S);
        put(line, WEIR_SLICE(" s"));
    }
}

static void tell(weir_redis *redis, enum weir_redis_cause cause, struct weir_slice detail)
{
    struct weir_redis_state state = {
        .up = redis->link.ready,
        .resting = !redis->link.ready && weir_breaker_is_open(&redis->breaker),
        .deaf = redis->link.ready && redis->listener_failures >= DEAF_AT,
        .cause = cause,
    };
    struct line line = {.len = 0};

    if (redis->telling && state.up == redis->told.up && state.resting == redis->told.resting &&
        state.deaf == redis->told.deaf && state.cause == redis->told.cause)
        return;
    redis->telling = true;
    redis->told = state;
    if (redis->spec.on_state == NULL)
        return;
    write_line(redis, &state, detail, &line);
    state.text = (struct weir_slice){line.text, line.len};
    redis->spec.on_state(redis->spec.user, &state);
}

/* ---- trials ---- */

static const struct weir_redis_link_events link_events;
static const struct weir_redis_link_events listener_events;

static struct weir_redis_link_spec link_spec(const weir_redis *redis)
{
    const struct weir_redis_spec *spec = &redis->spec;

    return (struct weir_redis_link_spec){
        .events = &link_events,
        .role = WEIR_REDIS_ROLE_SERVER,
        .loop = spec->loop,
        .resolver = spec->resolver,
        .tls = spec->tls,
        .host = redis->server.host,
        .port = redis->server.port,
        .login = spec->login,
        .database = spec->database,
        .channel = spec->channel,
        .timeout_ns = spec->timeout_ns,
        .connect_timeout_ns = spec->connect_timeout_ns,
        .idle_ns = spec->idle_ns,
        .max_pending = spec->max_pending,
        .max_queue_bytes = spec->max_queue_bytes,
        .reply_limits = {spec->max_reply_bytes, spec->max_reply_items},
    };
}

static void stop_listening(weir_redis *redis)
{
    weir_loop_cancel(redis->spec.loop, &redis->listen);
    weir_redis_link_close(&redis->listener);
}

/* With Sentinels, a rest is short: they may name another master meanwhile. */
static void wait_for_trial(weir_redis *redis)
{
    uint64_t now_ns = weir_loop_now(redis->spec.loop);
    uint64_t at_ns = weir_breaker_next_ns(&redis->breaker, &redis->rand, now_ns);
    uint64_t ask_ns = weir_time_add(now_ns, ASK_WHILE_RESTING_S * WEIR_NS_PER_S);

    if (redis->spec.service.len > 0 && ask_ns < at_ns)
        at_ns = ask_ns;
    weir_loop_arm(redis->spec.loop, &redis->trial, at_ns);
}

static void tell_command(const weir_redis *redis, uint64_t took_ns, bool answered)
{
    if (redis->spec.on_command != NULL)
        redis->spec.on_command(redis->spec.user, took_ns, answered);
}

static void failed(weir_redis *redis, enum weir_redis_cause cause, struct weir_slice detail)
{
    tell_command(redis, 0, false);
    redis->counts.failures++;
    (void)weir_breaker_failed(&redis->breaker, weir_loop_now(redis->spec.loop));
    redis->listener_failures = 0;
    stop_listening(redis);
    wait_for_trial(redis);
    tell(redis, cause, detail);
}

static void open_link(weir_redis *redis)
{
    struct weir_redis_link_spec spec = link_spec(redis);

    redis->counts.trials++;
    if (weir_redis_link_open(&redis->link, &spec) < 0)
        failed(redis, WEIR_REDIS_NOMEM, WEIR_SLICE_EMPTY);
}

static void on_trial(struct weir_timer *timer)
{
    weir_redis *redis = WEIR_CONTAINER(timer, weir_redis, trial);

    if (redis->spec.service.len > 0)
        weir_sentinel_ask(&redis->sentinel);
    else
        open_link(redis);
}

static bool is_other(const weir_redis *redis, const struct weir_redis_address *master)
{
    return redis->server.port != master->port || !weir_slice_eq(redis->server.host, master->host);
}

static void on_master(struct weir_sentinel *sentinel, enum weir_redis_cause cause, struct weir_slice detail)
{
    weir_redis *redis = WEIR_CONTAINER(sentinel, weir_redis, sentinel);
    const struct weir_redis_address *master = &sentinel->master;
    bool rests = weir_breaker_is_open(&redis->breaker) &&
                 weir_loop_now(redis->spec.loop) < redis->breaker.open_till_ns;

    if (cause != WEIR_REDIS_NONE && !rests) {
        failed(redis, cause, detail);
    } else if (rests && (cause != WEIR_REDIS_NONE || !is_other(redis, master))) {
        wait_for_trial(redis);
    } else {
        if (is_other(redis, master))
            (void)weir_breaker_succeeded(&redis->breaker);
        memcpy(redis->server_host, master->host.ptr, master->host.len);
        redis->server = (struct weir_redis_address){{redis->server_host, master->host.len}, master->port};
        open_link(redis);
    }
}

/* ---- the link ---- */

static void listen_at(weir_redis *redis, uint64_t at_ns)
{
    if (redis->spec.channel.len > 0)
        weir_loop_arm(redis->spec.loop, &redis->listen, at_ns);
}

static void on_ready(struct weir_redis_link *link)
{
    weir_redis *redis = WEIR_CONTAINER(link, weir_redis, link);

    listen_at(redis, weir_loop_now(redis->spec.loop));
    tell(redis, WEIR_REDIS_NONE, WEIR_SLICE_EMPTY);
}

static void on_answer(struct weir_redis_link *link, uint64_t took_ns)
{
    weir_redis *redis = WEIR_CONTAINER(link, weir_redis, link);

    tell_command(redis, took_ns, true);
    (void)weir_breaker_succeeded(&redis->breaker);
}

static void on_end(struct weir_redis_link *link, enum weir_redis_cause cause, struct weir_slice detail)
{
    failed(WEIR_CONTAINER(link, weir_redis, link), cause, detail);
}

static const struct weir_redis_link_events link_events = {
    .on_ready = on_ready, .on_answer = on_answer, .on_end = on_end};

/* ---- the listener ---- */

static void listener_failed(weir_redis *redis, struct weir_slice detail)
{
    uint64_t pace_ns = LISTEN_AGAIN_S * WEIR_NS_PER_S;

    if (redis->listener_failures < DEAF_AT)
        redis->listener_failures++;
    listen_at(redis, weir_time_add(weir_loop_now(redis->spec.loop),
                                   pace_ns / 2 + weir_rand_below(&redis->rand, pace_ns)));
    tell(redis, WEIR_REDIS_NONE, detail);
}

static void on_listen(struct weir_timer *timer)
{
    weir_redis *redis = WEIR_CONTAINER(timer, weir_redis, listen);
    struct weir_redis_link_spec spec = link_spec(redis);

    spec.role = WEIR_REDIS_ROLE_LISTENER;
    spec.events = &listener_events;
    if (weir_redis_link_open(&redis->listener, &spec) < 0)
        listener_failed(redis, weir_redis_cause_text(WEIR_REDIS_NOMEM));
}

static void on_listening(struct weir_redis_link *link)
{
    weir_redis *redis = WEIR_CONTAINER(link, weir_redis, listener);

    redis->listener_failures = 0;
    tell(redis, WEIR_REDIS_NONE, WEIR_SLICE_EMPTY);
}

static void on_listener_answer(struct weir_redis_link *link, uint64_t took_ns)
{
    (void)took_ns;
    (void)link; /* its own question whether the server is there */
}

static void on_message(struct weir_redis_link *link, struct weir_slice payload)
{
    weir_redis *redis = WEIR_CONTAINER(link, weir_redis, listener);

    redis->counts.messages++;
    redis->spec.on_message(redis->spec.user, payload);
}

static void on_listener_end(struct weir_redis_link *link, enum weir_redis_cause cause,
                            struct weir_slice detail)
{
    listener_failed(WEIR_CONTAINER(link, weir_redis, listener),
                    detail.len > 0 ? detail : weir_redis_cause_text(cause));
}

static const struct weir_redis_link_events listener_events = {.on_ready = on_listening,
                                                              .on_answer = on_listener_answer,
                                                              .on_message = on_message,
                                                              .on_end = on_listener_end};

/* ---- commands ---- */

int weir_redis_send(weir_redis *redis, const struct weir_slice *args, size_t count,
                    struct weir_redis_sink sink)
{
    int r = WEIR_REDIS_AWAY;

    if (redis->link.ready)
        r = weir_redis_link_send(&redis->link, args, count, sink);
    if (r == 0) {
        redis->counts.commands++;
    } else {
        redis->counts.refused++;
        tell_command(redis, 0, false);
    }
    return r;
}

bool weir_redis_is_up(const weir_redis *redis)
{
    return redis->link.ready;
}

bool weir_redis_listens(const weir_redis *redis)
{
    return redis->listener.ready;
}

size_t weir_redis_pending(const weir_redis *redis)
{
    return redis->link.ready ? redis->link.pending.count : 0;
}

void weir_redis_counts(const weir_redis *redis, struct weir_redis_counts *ret_counts)
{
    *ret_counts = redis->counts;
}

/* ---- making and freeing ---- */

static void copy_login(struct weir_arena *arena, struct weir_redis_login *login)
{
    login->username = weir_arena_copy(arena, login->username);
    login->password = weir_arena_copy(arena, login->password);
}

static void set_usual(struct weir_redis_spec *spec)
{
    if (spec->timeout_ns == 0)
        spec->timeout_ns = TIMEOUT_MS * WEIR_NS_PER_MS;
    if (spec->connect_timeout_ns == 0)
        spec->connect_timeout_ns = spec->timeout_ns * CONNECT_FACTOR;
    if (spec->idle_ns == 0)
        spec->idle_ns = IDLE_S * WEIR_NS_PER_S;
    if (spec->max_pending == 0)
        spec->max_pending = MAX_PENDING;
    if (spec->max_queue_bytes == 0)
        spec->max_queue_bytes = MAX_QUEUE_BYTES;
    if (spec->max_reply_bytes == 0)
        spec->max_reply_bytes = MAX_REPLY_BYTES;
    if (spec->max_reply_items == 0)
        spec->max_reply_items = MAX_REPLY_ITEMS;
}

/* Makes the spec the client's own; false when memory is short. */
static bool own_spec(weir_redis *redis)
{
    struct weir_arena *arena = &redis->arena;
    struct weir_redis_spec *spec = &redis->spec;
    struct weir_redis_address *servers = weir_arena_zalloc(arena, spec->server_count, sizeof(*servers));

    for (size_t i = 0; i < spec->server_count && servers != NULL; i++)
        servers[i] =
            (struct weir_redis_address){weir_arena_copy(arena, spec->servers[i].host), spec->servers[i].port};
    spec->servers = servers;
    spec->service = weir_arena_copy(arena, spec->service);
    spec->channel = weir_arena_copy(arena, spec->channel);
    copy_login(arena, &spec->login);
    copy_login(arena, &spec->sentinel_login);
    if (spec->tls != NULL)
        spec->tls = weir_tls_context_ref(spec->tls);
    if (spec->sentinel_tls != NULL)
        spec->sentinel_tls = weir_tls_context_ref(spec->sentinel_tls);
    return !weir_arena_failed(arena);
}

static void set_sentinel(weir_redis *redis)
{
    struct weir_sentinel *sentinel = &redis->sentinel;

    sentinel->spec = link_spec(redis);
    sentinel->spec.login = redis->spec.sentinel_login;
    sentinel->spec.tls = redis->spec.sentinel_tls;
    sentinel->servers = redis->spec.servers;
    sentinel->count = redis->spec.server_count;
    sentinel->service = redis->spec.service;
    sentinel->done = on_master;
    weir_sentinel_init(sentinel);
}

int weir_redis_new(const struct weir_redis_spec *spec, weir_redis **ret_redis)
{
    const struct weir_mem *mem = weir_loop_mem(spec->loop);
    weir_redis *redis;

    if (spec->server_count == 0 || spec->server_count > WEIR_REDIS_SENTINELS_MAX)
        return WEIR_ERR_INVALID;
    redis = mem->alloc(mem->user, sizeof(*redis));
    if (redis == NULL)
        return WEIR_ERR_NOMEM;
    memset(redis, 0, sizeof(*redis));
    redis->mem = mem;
    redis->spec = *spec;
    weir_arena_init(&redis->arena, mem, SPEC_BLOCK_BYTES, SPEC_MAX_BYTES);
    weir_timer_init(&redis->trial, on_trial);
    weir_timer_init(&redis->listen, on_listen);
    weir_breaker_init(&redis->breaker, spec->breaker_threshold, spec->breaker_recovery_ns);
    weir_rand_init(&redis->rand, spec->seed);
    set_usual(&redis->spec);
    if (!own_spec(redis)) {
        weir_redis_free(redis);
        return WEIR_ERR_NOMEM;
    }
    if (spec->service.len > 0)
        set_sentinel(redis);
    else
        redis->server = redis->spec.servers[0];
    weir_loop_arm(spec->loop, &redis->trial, weir_loop_now(spec->loop));
    *ret_redis = redis;
    return 0;
}

void weir_redis_free(weir_redis *redis)
{
    if (redis == NULL)
        return;
    weir_loop_cancel(redis->spec.loop, &redis->trial);
    stop_listening(redis);
    weir_sentinel_stop(&redis->sentinel);
    weir_redis_link_close(&redis->link);
    weir_tls_context_unref(redis->spec.tls);
    weir_tls_context_unref(redis->spec.sentinel_tls);
    weir_arena_deinit(&redis->arena);
    redis->mem->free(redis->mem->user, redis, sizeof(*redis));
}
