/*
 * Connections are objects in a list, each with one timer whose meaning is the phase's: so arming costs
 * nothing per request, and what is armed is seen from the phase.
 *
 * Too many connections: up to REJECTS_MAX above the maximum are answered 503 and lingered with, so that the
 * client can read why; those above that are closed at once.
 */
#include "net/server.h"

#include <string.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "net/server_conn.h"

enum {
    DEFAULT_CONNECTIONS = 10000,
    DEFAULT_BODY_BYTES = 64 * 1024 * 1024,
    DEFAULT_REQUESTS = 1000000,
    DEFAULT_HIGH_WATER = 256 * 1024,
    DEFAULT_QUEUE = 1024 * 1024,
    DEFAULT_HEAD_S = 15,
    DEFAULT_BODY_S = 30,
    DEFAULT_IDLE_S = 75,
    DEFAULT_SEND_S = 60,
    DEFAULT_LINGER_S = 5,
    LINGER_ROUNDS = 6, /* as long as bytes come, lingering lasts so many times its limit */
    REJECTS_MAX = 256
};

/* A connection that is idle for so long gives its buffers back. */
#define RELEASE_AFTER_NS WEIR_NS_PER_S

/* While the server drains a new connection has so long to show that it was made for a request. */
#define DRAIN_GRACE_NS WEIR_NS_PER_S

/* While another process takes over there is no hurry. */
#define HAND_OVER_QUIET_NS (5 * WEIR_NS_PER_S)

static struct weir_exchange *conn_of(struct weir_stream *stream)
{
    return WEIR_CONTAINER(stream, struct weir_exchange, stream);
}

static size_t or_size(size_t value, size_t fallback)
{
    return value == 0 ? fallback : value;
}

static uint64_t or_seconds(uint64_t value_ns, uint64_t fallback_s)
{
    return value_ns == 0 ? fallback_s * WEIR_NS_PER_S : value_ns;
}

/* ---- the server's end ---- */

void weir_server_maybe_free(weir_server *server)
{
    if (!server->closing || server->open_handles > 0)
        return;
    if (server->sockets != NULL)
        server->mem->free(server->mem->user, server->sockets, server->sockets_max * sizeof(*server->sockets));
    server->mem->free(server->mem->user, server, sizeof(*server));
}

static void maybe_drained(weir_server *server)
{
    void (*drained)(void *user) = server->drained;

    if (!server->draining || server->connections > 0 || drained == NULL)
        return;
    server->drained = NULL;
    drained(server->drained_user);
}

/* ---- connections ---- */

static void link_conn(weir_server *server, struct weir_exchange *conn)
{
    conn->prev = NULL;
    conn->next = server->first;
    if (server->first != NULL)
        server->first->prev = conn;
    server->first = conn;
    server->connections++;
    server->open_handles++;
    (void)atomic_fetch_add_explicit(&server->shared->connections, 1, memory_order_relaxed);
}

static void unlink_conn(weir_server *server, struct weir_exchange *conn)
{
    if (conn->prev != NULL)
        conn->prev->next = conn->next;
    else
        server->first = conn->next;
    if (conn->next != NULL)
        conn->next->prev = conn->prev;
    server->connections--;
    (void)atomic_fetch_sub_explicit(&server->shared->connections, 1, memory_order_relaxed);
}

void weir_conn_end_exchange(struct weir_exchange *conn, enum weir_exchange_end end)
{
    weir_server *server = conn->server;

    if (!conn->active)
        return;
    conn->active = false;
    server->handler.on_end(server->handler.user, conn, end);
    conn->user = NULL;
    weir_buf_deinit(&conn->body);
}

/* A client of an answer that ends with its connection must not take a broken one for the whole. */
static bool must_reset(const struct weir_exchange *conn)
{
    bool begun = conn->phase == WEIR_CONN_STREAMING || conn->phase == WEIR_CONN_SENDING;

    return begun && !conn->chunked && !conn->bodiless;
}

void weir_conn_close(struct weir_exchange *conn, enum weir_exchange_end end)
{
    bool reset = end != WEIR_EXCHANGE_SENT && must_reset(conn);

    if (conn->phase == WEIR_CONN_CLOSED)
        return;
    conn->phase = WEIR_CONN_CLOSED;
    weir_loop_cancel(conn->server->loop, &conn->timer);
    weir_conn_end_exchange(conn, end);
    if (reset)
        weir_stream_reset(&conn->stream);
    else
        weir_stream_close(&conn->stream);
}

static void on_closed(struct weir_stream *stream)
{
    struct weir_exchange *conn = conn_of(stream);
    weir_server *server = conn->server;

    unlink_conn(server, conn);
    server->open_handles--;
    weir_http1_reader_deinit(&conn->reader);
    weir_buf_deinit(&conn->body);
    weir_buf_deinit(&conn->ahead);
    server->mem->free(server->mem->user, conn, sizeof(*conn));
    if (server->closing)
        weir_server_maybe_free(server);
    else
        maybe_drained(server);
}

static void on_eof(struct weir_stream *stream, bool broken)
{
    (void)broken;
    weir_conn_close(conn_of(stream), WEIR_EXCHANGE_GONE);
}

static void on_read(struct weir_stream *stream, struct weir_slice bytes)
{
    struct weir_exchange *conn = conn_of(stream);

    if (conn->phase == WEIR_CONN_LINGER)
        weir_conn_set_timer(conn);
    else
        weir_conn_advance(conn, bytes);
}

static void on_flushed(struct weir_stream *stream, bool broken)
{
    struct weir_exchange *conn = conn_of(stream);

    if (broken)
        weir_conn_close(conn, WEIR_EXCHANGE_GONE);
    else
        weir_conn_flushed(conn);
}

static size_t on_room(struct weir_stream *stream, char **ret_room)
{
    return weir_conn_body_room(conn_of(stream), ret_room);
}

static const struct weir_stream_events conn_events = {.on_read = on_read,
                                                      .on_eof = on_eof,
                                                      .on_flushed = on_flushed,
                                                      .on_closed = on_closed,
                                                      .on_room = on_room};

/* ---- time ---- */

/* When a connection without a request is closed.  A new one is waited for as for the rest of a head. */
static uint64_t idle_close(const struct weir_exchange *conn)
{
    const weir_server *server = conn->server;
    const struct weir_server_config *c = &server->config;
    uint64_t end_ns =
        weir_time_add(conn->since_ns, conn->requests == 0 ? c->head_timeout_ns : c->idle_timeout_ns);
    uint64_t grace_end_ns = weir_time_add(conn->since_ns, DRAIN_GRACE_NS);

    if (!server->draining)
        return end_ns;
    if (grace_end_ns < server->quiet_until_ns)
        grace_end_ns = server->quiet_until_ns;
    return end_ns < grace_end_ns ? end_ns : grace_end_ns;
}

static void on_idle_timer(struct weir_exchange *conn)
{
    weir_server *server = conn->server;
    uint64_t end_ns = idle_close(conn);

    if (weir_loop_now(server->loop) >= end_ns) {
        weir_conn_close(conn, WEIR_EXCHANGE_SENT);
        return;
    }
    weir_http1_reader_release(&conn->reader);
    weir_buf_deinit(&conn->ahead);
    weir_loop_arm(server->loop, &conn->timer, end_ns);
}

static void on_send_timer(struct weir_exchange *conn)
{
    uint64_t sent = conn->accepted - weir_stream_waiting(&conn->stream);

    if (sent == conn->sent_before)
        weir_conn_close(conn, WEIR_EXCHANGE_LATE);
    else
        weir_conn_set_timer(conn);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_exchange *conn = WEIR_CONTAINER(timer, struct weir_exchange, timer);

    switch (conn->phase) {
    case WEIR_CONN_IDLE:
        on_idle_timer(conn);
        break;
    case WEIR_CONN_HEAD:
        weir_conn_refuse(conn, 408, WEIR_SLICE("the request's head did not come in time"));
        break;
    case WEIR_CONN_BODY:
        weir_conn_refuse(conn, 408, WEIR_SLICE("the request's body did not come in time"));
        break;
    case WEIR_CONN_STREAMING:
    case WEIR_CONN_SENDING:
        on_send_timer(conn);
        break;
    case WEIR_CONN_ASKED:
    case WEIR_CONN_LINGER:
    case WEIR_CONN_CLOSED:
        weir_conn_close(conn, WEIR_EXCHANGE_SENT);
        break;
    }
}

static uint64_t idle_end(const struct weir_exchange *conn)
{
    uint64_t close_ns = idle_close(conn);
    uint64_t release_ns = weir_time_add(conn->since_ns, RELEASE_AFTER_NS);

    return close_ns < release_ns ? close_ns : release_ns;
}

void weir_conn_set_timer(struct weir_exchange *conn)
{
    const struct weir_server_config *c = &conn->server->config;
    weir_loop *loop = conn->server->loop;
    uint64_t now_ns = weir_loop_now(loop);
    uint64_t at_ns = WEIR_TIME_NEVER;

    switch (conn->phase) {
    case WEIR_CONN_IDLE:
        at_ns = idle_end(conn);
        break;
    case WEIR_CONN_HEAD:
        at_ns = weir_time_add(conn->since_ns, c->head_timeout_ns);
        break;
    case WEIR_CONN_BODY:
        at_ns = weir_time_add(now_ns, c->body_timeout_ns);
        break;
    case WEIR_CONN_STREAMING:
    case WEIR_CONN_SENDING:
        conn->sent_before = conn->accepted - weir_stream_waiting(&conn->stream);
        if (conn->sent_before != conn->accepted)
            at_ns = weir_time_add(now_ns, c->send_timeout_ns);
        break;
    case WEIR_CONN_LINGER:
        at_ns = weir_time_add(now_ns, c->linger_ns);
        if (at_ns > conn->since_ns + LINGER_ROUNDS * c->linger_ns)
            at_ns = conn->since_ns + LINGER_ROUNDS * c->linger_ns;
        break;
    case WEIR_CONN_ASKED:
    case WEIR_CONN_CLOSED:
        break;
    }
    weir_loop_arm(loop, &conn->timer, at_ns);
}

/* ---- beginnings ---- */

static struct weir_exchange *new_conn(weir_server *server)
{
    struct weir_exchange *conn = server->mem->alloc(server->mem->user, sizeof(*conn));
    const struct weir_server_config *c = &server->config;
    struct weir_http1_limits limits = {c->max_head_bytes, c->max_target_bytes, c->max_headers};

    if (conn == NULL)
        return NULL;
    memset(conn, 0, sizeof(*conn));
    if (weir_stream_init(&conn->stream, server->loop, &conn_events, c->max_queue_bytes) < 0) {
        server->mem->free(server->mem->user, conn, sizeof(*conn));
        return NULL;
    }
    conn->server = server;
    conn->since_ns = weir_loop_now(server->loop);
    weir_timer_init(&conn->timer, on_timer);
    weir_http1_reader_init(&conn->reader, WEIR_HTTP1_REQUEST, server->mem, limits);
    weir_buf_init(&conn->ahead, server->mem, WEIR_CONN_AHEAD_BYTES);
    link_conn(server, conn);
    return conn;
}

static void welcome(struct weir_exchange *conn)
{
    struct weir_server_shared *shared = conn->server->shared;
    size_t open = atomic_load_explicit(&shared->connections, memory_order_relaxed);
    size_t max =
        or_size(atomic_load_explicit(&shared->max_connections, memory_order_relaxed), DEFAULT_CONNECTIONS);

    if (open > max + REJECTS_MAX) {
        weir_conn_close(conn, WEIR_EXCHANGE_REFUSED);
        return;
    }
    weir_stream_read_start(&conn->stream);
    if (open > max)
        weir_conn_refuse(conn, 503, WEIR_SLICE("too many connections are open"));
    else
        weir_conn_set_timer(conn);
}

void weir_conn_open(weir_server *server, int fd, const struct sockaddr *peer)
{
    struct weir_exchange *conn = new_conn(server);

    if (conn == NULL) {
        (void)close(fd);
        return;
    }
    conn->peer_len = weir_address_text(peer, conn->peer).len;
    if (weir_stream_adopt(&conn->stream, fd) == 0)
        welcome(conn);
    else
        weir_conn_close(conn, WEIR_EXCHANGE_GONE);
}

/* ---- the server ---- */

void weir_server_configure(weir_server *server, const struct weir_server_config *config)
{
    struct weir_server_config *c = &server->config;

    *c = *config;
    c->max_head_bytes = or_size(c->max_head_bytes, WEIR_HTTP1_MAX_HEAD_BYTES);
    c->max_target_bytes = or_size(c->max_target_bytes, WEIR_HTTP1_MAX_TARGET_BYTES);
    c->max_headers = or_size(c->max_headers, WEIR_HTTP1_MAX_FIELDS);
    c->max_body_bytes = or_size(c->max_body_bytes, DEFAULT_BODY_BYTES);
    c->max_requests = or_size(c->max_requests, DEFAULT_REQUESTS);
    c->high_water_bytes = or_size(c->high_water_bytes, DEFAULT_HIGH_WATER);
    c->max_queue_bytes = or_size(c->max_queue_bytes, DEFAULT_QUEUE);
    c->head_timeout_ns = or_seconds(c->head_timeout_ns, DEFAULT_HEAD_S);
    c->body_timeout_ns = or_seconds(c->body_timeout_ns, DEFAULT_BODY_S);
    c->idle_timeout_ns = or_seconds(c->idle_timeout_ns, DEFAULT_IDLE_S);
    c->send_timeout_ns = or_seconds(c->send_timeout_ns, DEFAULT_SEND_S);
    c->linger_ns = or_seconds(c->linger_ns, DEFAULT_LINGER_S);
    if (c->body_mem == NULL)
        c->body_mem = server->mem;
}

int weir_server_new(weir_loop *loop, const struct weir_server_config *config,
                    const struct weir_server_handler *handler, struct weir_server_shared *shared,
                    weir_server **ret_server)
{
    const struct weir_mem *mem = weir_loop_mem(loop);
    weir_server *server = mem->alloc(mem->user, sizeof(*server));

    if (server == NULL)
        return WEIR_ERR_NOMEM;
    memset(server, 0, sizeof(*server));
    server->loop = loop;
    server->mem = mem;
    server->handler = *handler;
    server->shared = shared;
    weir_server_configure(server, config);
    weir_server_accept_init(server);
    *ret_server = server;
    return 0;
}

static void begin_drain(weir_server *server, void (*drained)(void *user), void *user)
{
    server->draining = true;
    server->drained = drained;
    server->drained_user = user;
}

void weir_server_drain(weir_server *server, void (*drained)(void *user), void *user)
{
    begin_drain(server, drained, user);
    server->quiet_until_ns = 0;
    weir_server_accept_rest(server);
    weir_server_stop_accepting(server);
    /* One whose request is in the socket already is served. */
    for (struct weir_exchange *conn = server->first; conn != NULL; conn = conn->next) {
        if (conn->phase != WEIR_CONN_IDLE || !weir_stream_is_quiet(&conn->stream))
            continue;
        if (conn->requests > 0)
            weir_conn_close(conn, WEIR_EXCHANGE_SENT);
        else
            weir_conn_set_timer(conn);
    }
    maybe_drained(server);
}

void weir_server_hand_over(weir_server *server, void (*drained)(void *user), void *user)
{
    begin_drain(server, drained, user);
    server->quiet_until_ns = weir_time_add(weir_loop_now(server->loop), HAND_OVER_QUIET_NS);
    weir_server_stop_accepting(server);
    for (struct weir_exchange *conn = server->first; conn != NULL; conn = conn->next)
        if (conn->phase == WEIR_CONN_IDLE)
            weir_conn_set_timer(conn);
    maybe_drained(server);
}

void weir_server_close(weir_server *server)
{
    if (server == NULL)
        return;
    server->closing = true;
    server->draining = true;
    server->drained = NULL;
    weir_server_stop_accepting(server);
    for (struct weir_exchange *conn = server->first; conn != NULL; conn = conn->next)
        weir_conn_close(conn, WEIR_EXCHANGE_ABORTED);
    weir_server_maybe_free(server);
}
