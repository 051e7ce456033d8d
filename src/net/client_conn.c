/*
 * One connection to an upstream, from the connected socket to its end.
 *
 * Writing.  In the clear, the head (composed in the loop's shared buffer) and the caller's parts leave in one
 * call, and what is left of the parts is lent to the stream.  Under TLS the parts are gathered into records
 * of up to GATHER_BYTES, and enciphering pauses while more than AHEAD_BYTES wait for the socket.
 *
 * A write that fails is not a failure yet: the upstream may have answered before it closed, and the reading
 * side will tell.  Until then `sent` stays false, by which a stale connection is known.
 */
#include <stdio.h>
#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "net/client_conn.h"
#include "wire/http1_write.h"

enum {
    GATHER_BYTES = WEIR_LOOP_PLAIN_BYTES,
    AHEAD_BYTES = 64 * 1024,
    QUEUE_BYTES = 512 * 1024,
    HELD_BYTES = 256 * 1024
};

static struct weir_client_conn *conn_of(struct weir_stream *stream)
{
    return WEIR_CONTAINER(stream, struct weir_client_conn, stream);
}

/* ---- the end ---- */

static void on_closed(struct weir_stream *stream)
{
    struct weir_client_conn *conn = conn_of(stream);
    weir_client *client = conn->client;

    weir_answer_deinit(conn);
    weir_tls_free(conn->tls);
    conn->upstream->users--;
    client->connections--;
    client->mem->free(client->mem->user, conn, sizeof(*conn));
    weir_client_settle(client);
}

void weir_link_close(struct weir_client_conn *conn)
{
    weir_loop *loop = conn->client->loop;

    if (conn->phase == WEIR_LINK_CLOSED)
        return;
    if (conn->phase == WEIR_LINK_IDLE)
        weir_client_unpool(conn);
    if (conn->fetch != NULL)
        conn->fetch->conn = NULL;
    conn->fetch = NULL;
    conn->phase = WEIR_LINK_CLOSED;
    weir_loop_cancel(loop, &conn->timer);
    if (conn->resume.next != NULL)
        weir_loop_unpost(loop, &conn->resume);
    weir_stream_close(&conn->stream);
}

void weir_link_fail(struct weir_client_conn *conn, enum weir_fetch_failure_kind kind,
                    struct weir_slice detail)
{
    struct weir_fetch *fetch = conn->fetch;
    struct weir_upstream *upstream = conn->upstream;
    bool stale = conn->reused && !conn->sent && !conn->answered;
    bool sent = conn->sent;

    weir_link_close(conn);
    if (fetch == NULL)
        return;
    if (stale && !fetch->replaced) {
        fetch->replaced = true;
        weir_client_dial_start(fetch, upstream);
        return;
    }
    weir_fetch_fail(fetch, kind, detail, sent);
}

static void fail_tls(struct weir_client_conn *conn, int r)
{
    if (r < 0)
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
    else
        weir_link_fail(conn, r == WEIR_TLS_UNVERIFIED ? WEIR_FETCH_TLS_UNVERIFIED : WEIR_FETCH_TLS_BROKEN,
                       weir_tls_reason(conn->tls));
}

/* ---- writing ---- */

/* Sends what TLS has produced; a broken socket is for the reader to tell. */
static void flush_tls(struct weir_client_conn *conn)
{
    struct weir_buf *output = weir_tls_output(conn->tls);
    struct weir_slice bytes = weir_buf_slice(output);

    if (bytes.len == 0)
        return;
    if (weir_stream_write(&conn->stream, &bytes, 1) < 0) {
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
        return;
    }
    weir_buf_deinit(output);
}

/* Takes up to GATHER_BYTES off the parts; a single piece is not copied. */
static struct weir_slice gather(struct weir_client_conn *conn, size_t *at)
{
    char *room = weir_loop_plain_room(conn->client->loop);
    size_t len = 0;

    while (*at < conn->part_count && len < GATHER_BYTES) {
        struct weir_slice *part = &conn->parts[*at];
        size_t count = part->len < GATHER_BYTES - len ? part->len : GATHER_BYTES - len;

        if (count > 0)
            memcpy(room + len, part->ptr, count);
        len += count;
        *part = weir_slice_sub(*part, count, part->len);
        if (part->len == 0)
            (*at)++;
    }
    return (struct weir_slice){room, len};
}

/* Enciphers the next of the parts, until all are or the socket is behind. */
static void push_tls(struct weir_client_conn *conn)
{
    size_t at = 0;

    while (at < conn->part_count && weir_stream_waiting(&conn->stream) < AHEAD_BYTES &&
           weir_buf_len(weir_tls_output(conn->tls)) < AHEAD_BYTES) {
        int r = weir_tls_write(conn->tls, gather(conn, &at));

        if (r != 0) {
            fail_tls(conn, r);
            return;
        }
    }
    memmove(conn->parts, conn->parts + at, (conn->part_count - at) * sizeof(conn->parts[0]));
    conn->part_count -= at;
    flush_tls(conn);
}

static void push_tls_all(struct weir_client_conn *conn)
{
    size_t before;

    do {
        before = conn->part_count;
        push_tls(conn);
    } while (conn->phase == WEIR_LINK_BUSY && conn->part_count > 0 && !conn->stream.broken &&
             weir_stream_waiting(&conn->stream) < AHEAD_BYTES && before > 0);
    if (conn->phase == WEIR_LINK_BUSY && conn->part_count == 0 && !conn->stream.broken &&
        weir_stream_waiting(&conn->stream) == 0)
        conn->sent = true;
}

static void on_flushed(struct weir_stream *stream, bool broken)
{
    struct weir_client_conn *conn = conn_of(stream);

    if (broken || conn->phase != WEIR_LINK_BUSY)
        return;
    if (conn->tls != NULL)
        push_tls_all(conn);
    else
        conn->sent = true;
}

static bool has_body(const struct weir_fetch_request *request)
{
    return request->part_count > 0 || !(weir_slice_eq(request->method, WEIR_SLICE("GET")) ||
                                        weir_slice_eq(request->method, WEIR_SLICE("HEAD")));
}

static int write_authorization(const struct weir_proxy *proxy, struct weir_buf *buf)
{
    if (proxy->authorization.len == 0)
        return 0;
    return weir_http1_write_field(buf, WEIR_SLICE("Proxy-Authorization"), proxy->authorization);
}

/* Through a proxy in the clear, the target is the whole URL. */
static int write_start(const struct weir_upstream *upstream, const struct weir_fetch_request *request,
                       struct weir_buf *buf)
{
    int r;

    if (upstream->proxy == NULL || upstream->tls)
        return weir_http1_write_request(buf, request->method, request->target);
    /* Checked by the same function, then written again in the longer form. */
    r = weir_http1_write_request(buf, request->method, request->target);
    weir_buf_clear(buf);
    if (r == 0)
        r = WEIR_BUF_APPEND(buf, request->method, WEIR_SLICE(" http://"), upstream->authority,
                            request->target, WEIR_SLICE(" HTTP/1.1\r\n"));
    return r == 0 ? write_authorization(upstream->proxy, buf) : r;
}

static int write_head(const struct weir_upstream *upstream, const struct weir_fetch_request *request,
                      struct weir_buf *buf)
{
    uint64_t total = 0;
    int r = write_start(upstream, request, buf);

    for (size_t i = 0; i < request->part_count; i++)
        total += request->parts[i].len;
    if (r == 0)
        r = weir_http1_write_field(buf, WEIR_SLICE("Host"), upstream->authority);
    if (r == 0)
        r = weir_buf_append(buf, request->fields);
    if (r == 0 && has_body(request))
        r = weir_http1_write_length(buf, total);
    return r == 0 ? weir_http1_write_head_end(buf) : r;
}

/* Head and body in the clear. */
static void send_plain(struct weir_client_conn *conn, const struct weir_fetch_request *request,
                       struct weir_slice head)
{
    int r;

    for (size_t i = 0; i < request->part_count; i++)
        conn->parts[i] = request->parts[i];
    r = weir_stream_lend(&conn->stream, head, conn->parts, request->part_count);
    if (r < 0)
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
    else
        conn->sent = r == 0;
}

static void send_tls(struct weir_client_conn *conn, const struct weir_fetch_request *request,
                     struct weir_slice head)
{
    conn->parts[0] = head;
    for (size_t i = 0; i < request->part_count; i++)
        conn->parts[i + 1] = request->parts[i];
    conn->part_count = request->part_count + 1;
    /* The head is in a buffer that is lent for this call only: it leaves with the first records, which are
     * enciphered at once, since nothing waits yet and a head is smaller than AHEAD_BYTES. */
    push_tls_all(conn);
}

void weir_link_send(struct weir_client_conn *conn, struct weir_fetch *fetch)
{
    const struct weir_fetch_request *request = fetch->request;
    struct weir_buf *head = weir_loop_head_room(conn->client->loop);

    conn->phase = WEIR_LINK_BUSY;
    conn->fetch = fetch;
    fetch->conn = conn;
    conn->sent = false;
    conn->answered = false;
    weir_answer_reset(conn);
    if (write_head(conn->upstream, request, head) < 0) {
        weir_link_close(conn);
        weir_fetch_fail_later(fetch, WEIR_FETCH_REQUEST, "the request cannot be written");
        return;
    }
    if (conn->tls != NULL)
        send_tls(conn, request, weir_buf_slice(head));
    else
        send_plain(conn, request, weir_buf_slice(head));
}

/* ---- becoming ready ---- */

static void shake(struct weir_client_conn *conn)
{
    int r = weir_tls_shake(conn->tls);

    flush_tls(conn);
    if (conn->phase != WEIR_LINK_SHAKING || r == WEIR_TLS_WANT)
        return;
    if (r != 0) {
        fail_tls(conn, r == WEIR_TLS_CLOSED ? WEIR_TLS_BROKEN : r);
        return;
    }
    weir_loop_cancel(conn->client->loop, &conn->timer);
    weir_link_send(conn, conn->fetch);
}

static void begin_shaking(struct weir_client_conn *conn)
{
    struct weir_upstream *u = conn->upstream;

    conn->phase = WEIR_LINK_SHAKING;
    if (weir_tls_new(u->tls_context, conn->client->mem, u->host, &u->session, &conn->tls) < 0) {
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("TLS could not be set up"));
        return;
    }
    shake(conn);
}

static int write_connect(const struct weir_upstream *upstream, struct weir_buf *buf)
{
    struct weir_slice port = upstream->port != 443 ? WEIR_SLICE_EMPTY : WEIR_SLICE(":443");
    int r = WEIR_BUF_APPEND(buf, WEIR_SLICE("CONNECT "), upstream->authority, port,
                            WEIR_SLICE(" HTTP/1.1\r\nHost: "), upstream->authority, port, WEIR_SLICE("\r\n"));

    if (r == 0)
        r = write_authorization(upstream->proxy, buf);
    return r == 0 ? weir_http1_write_head_end(buf) : r;
}

static void begin_tunnel(struct weir_client_conn *conn)
{
    struct weir_buf *head = weir_loop_head_room(conn->client->loop);
    struct weir_slice bytes;

    conn->phase = WEIR_LINK_TUNNEL;
    weir_http1_reader_next(&conn->reader, WEIR_HTTP1_RESPONSE_TO_CONNECT);
    if (write_connect(conn->upstream, head) < 0) {
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
        return;
    }
    bytes = weir_buf_slice(head);
    if (weir_stream_write(&conn->stream, &bytes, 1) < 0)
        weir_link_fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
}

void weir_link_established(struct weir_client_conn *conn, struct weir_fetch *fetch)
{
    conn->fetch = fetch;
    fetch->conn = conn;
    weir_stream_read_start(&conn->stream);
    if (!conn->upstream->tls) {
        weir_link_send(conn, fetch);
        return;
    }
    weir_loop_arm(conn->client->loop, &conn->timer, fetch->connect_by_ns);
    if (conn->upstream->proxy != NULL)
        begin_tunnel(conn);
    else
        begin_shaking(conn);
}

/* ---- reading ---- */

static void read_tunnel(struct weir_client_conn *conn, struct weir_slice bytes)
{
    char detail[64];
    struct weir_slice body;
    unsigned status;
    int r = weir_http1_read(&conn->reader, &bytes, &body);

    if (r == 0)
        return;
    if (r != WEIR_HTTP1_HEAD) {
        weir_link_fail(conn, WEIR_FETCH_PROXY, WEIR_SLICE("the proxy's answer is no HTTP"));
        return;
    }
    status = conn->reader.head.status;
    if (status < 200 || status > 299) {
        (void)snprintf(detail, sizeof(detail), "the proxy refused the tunnel with status %u", status);
        weir_link_fail(conn, WEIR_FETCH_PROXY, weir_slice_str(detail));
        return;
    }
    if (weir_http1_read(&conn->reader, &bytes, &body) != WEIR_HTTP1_DONE || bytes.len > 0) {
        weir_link_fail(conn, WEIR_FETCH_PROXY, WEIR_SLICE("the proxy's answer to CONNECT has a body"));
        return;
    }
    begin_shaking(conn);
}

/* Under TLS there may be tickets and key updates, but no data and no end. */
bool weir_link_is_clean(struct weir_client_conn *conn)
{
    char *room = weir_loop_plain_room(conn->client->loop);
    size_t count;
    int r;

    if (conn->tls == NULL)
        return true;
    r = weir_tls_read(conn->tls, room, GATHER_BYTES, &count);
    flush_tls(conn);
    return r == WEIR_TLS_WANT;
}

static void read_idle(struct weir_client_conn *conn, struct weir_slice bytes)
{
    if (conn->tls != NULL) {
        weir_tls_feed(conn->tls, bytes);
        if (weir_link_is_clean(conn))
            return;
    }
    weir_link_close(conn);
}

static void end_tls(struct weir_client_conn *conn, int r)
{
    flush_tls(conn);
    if (conn->phase != WEIR_LINK_BUSY || r == WEIR_TLS_WANT)
        return;
    if (r == WEIR_TLS_CLOSED)
        weir_answer_end(conn, false);
    else
        fail_tls(conn, r);
}

static void read_tls(struct weir_client_conn *conn, struct weir_slice bytes)
{
    char *room = weir_loop_plain_room(conn->client->loop);
    size_t count;
    int r = WEIR_TLS_WANT;

    weir_tls_feed(conn->tls, bytes);
    if (conn->phase == WEIR_LINK_SHAKING)
        shake(conn);
    while (conn->phase == WEIR_LINK_BUSY) {
        r = weir_tls_read(conn->tls, room, GATHER_BYTES, &count);
        if (r != 0) {
            end_tls(conn, r);
            return;
        }
        weir_answer_take(conn, (struct weir_slice){room, count});
    }
}

static void on_read(struct weir_stream *stream, struct weir_slice bytes)
{
    struct weir_client_conn *conn = conn_of(stream);

    switch (conn->phase) {
    case WEIR_LINK_TUNNEL:
        read_tunnel(conn, bytes);
        break;
    case WEIR_LINK_IDLE:
        read_idle(conn, bytes);
        break;
    case WEIR_LINK_SHAKING:
        read_tls(conn, bytes);
        break;
    case WEIR_LINK_BUSY:
        if (conn->tls != NULL)
            read_tls(conn, bytes);
        else
            weir_answer_take(conn, bytes);
        break;
    case WEIR_LINK_CONNECTING:
    case WEIR_LINK_CLOSED:
        break;
    }
}

static void on_eof(struct weir_stream *stream, bool broken)
{
    struct weir_client_conn *conn = conn_of(stream);

    switch (conn->phase) {
    case WEIR_LINK_TUNNEL:
        weir_link_fail(conn, WEIR_FETCH_PROXY, WEIR_SLICE("the proxy closed the connection"));
        break;
    case WEIR_LINK_SHAKING:
        weir_link_fail(conn, WEIR_FETCH_TLS_BROKEN,
                       WEIR_SLICE("the connection was closed in the TLS handshake"));
        break;
    case WEIR_LINK_BUSY:
        /* Under TLS only a closing alert makes an end orderly. */
        weir_answer_end(conn, broken || conn->tls != NULL);
        break;
    case WEIR_LINK_IDLE:
    case WEIR_LINK_CONNECTING:
    case WEIR_LINK_CLOSED:
        weir_link_close(conn);
        break;
    }
}

static void on_connect(struct weir_stream *stream, int error)
{
    weir_dial_connected(&conn_of(stream)->attempt, error);
}

static const struct weir_stream_events conn_events = {.on_read = on_read,
                                                      .on_eof = on_eof,
                                                      .on_flushed = on_flushed,
                                                      .on_connect = on_connect,
                                                      .on_closed = on_closed};

static void on_timer(struct weir_timer *timer)
{
    struct weir_client_conn *conn = WEIR_CONTAINER(timer, struct weir_client_conn, timer);

    if (conn->phase == WEIR_LINK_IDLE)
        weir_link_close(conn);
    else
        weir_link_fail(conn, WEIR_FETCH_CONNECT_TIMEOUT, WEIR_SLICE("not ready in time"));
}

struct weir_client_conn *weir_link_new(weir_client *client, struct weir_upstream *upstream)
{
    const struct weir_client_config *c = &client->config;
    struct weir_http1_limits limits = {c->max_head_bytes, WEIR_HTTP1_MAX_TARGET_BYTES, c->max_headers};
    struct weir_client_conn *conn;

    if (client->connections >= c->max_connections)
        return NULL;
    conn = client->mem->alloc(client->mem->user, sizeof(*conn));
    if (conn == NULL)
        return NULL;
    memset(conn, 0, sizeof(*conn));
    if (weir_stream_init(&conn->stream, client->loop, &conn_events, QUEUE_BYTES) < 0) {
        client->mem->free(client->mem->user, conn, sizeof(*conn));
        return NULL;
    }
    conn->attempt.stream = &conn->stream;
    conn->client = client;
    conn->upstream = upstream;
    conn->phase = WEIR_LINK_CONNECTING;
    weir_timer_init(&conn->timer, on_timer);
    weir_http1_reader_init(&conn->reader, WEIR_HTTP1_RESPONSE, client->mem, limits);
    weir_buf_init(&conn->held, client->mem, HELD_BYTES);
    client->connections++;
    upstream->users++;
    return conn;
}
