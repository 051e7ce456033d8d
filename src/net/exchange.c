/*
 * Answers.
 *
 * A head is composed in the loop's shared buffer and leaves in the same call as the first bytes of the body.
 * The parts of a whole answer are lent to the stream; those of a streamed one are copied only where the
 * socket is full.  `accepted` counts what was given to the stream, so that a client that takes nothing is
 * told from one that is slow.
 *
 * An answer is over when the kernel has all of it.  Then either the next request is read, or the connection
 * ends: at once when the request was read whole, else (an early answer) after lingering, since closing with
 * unread bytes would reset the connection and destroy the answer on its way.
 */
#include <assert.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "net/server_conn.h"
#include "wire/http1_write.h"

enum { PROBLEM_MAX_BYTES = 64 * 1024 };

/* ---- the end of an answer ---- */

static void linger(struct weir_exchange *conn)
{
    conn->phase = WEIR_CONN_LINGER;
    conn->since_ns = weir_loop_now(conn->server->loop);
    if (weir_stream_waiting(&conn->stream) == 0)
        weir_stream_shutdown(&conn->stream);
    weir_stream_read_start(&conn->stream);
    weir_conn_set_timer(conn);
}

static void finish(struct weir_exchange *conn)
{
    bool whole = conn->whole;

    conn->told_full = false;
    weir_conn_end_exchange(conn, WEIR_EXCHANGE_SENT);
    if (conn->phase == WEIR_CONN_CLOSED)
        return;
    if (!whole)
        linger(conn);
    else if (conn->close_after)
        weir_conn_close(conn, WEIR_EXCHANGE_SENT);
    else
        weir_conn_next_request(conn);
}

/* The answer is complete on this side. */
static void finish_when_sent(struct weir_exchange *conn)
{
    conn->phase = WEIR_CONN_SENDING;
    if (weir_stream_waiting(&conn->stream) == 0)
        finish(conn);
    else
        weir_conn_set_timer(conn);
}

void weir_conn_flushed(struct weir_exchange *conn)
{
    weir_server *server = conn->server;

    if (conn->phase == WEIR_CONN_LINGER) {
        weir_stream_shutdown(&conn->stream);
    } else if (conn->phase == WEIR_CONN_SENDING) {
        finish(conn);
    } else if (conn->phase == WEIR_CONN_STREAMING) {
        weir_loop_cancel(server->loop, &conn->timer);
        if (conn->told_full && server->handler.on_drain != NULL) {
            conn->told_full = false;
            server->handler.on_drain(server->handler.user, conn);
        }
    }
}

/* ---- heads ---- */

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

static int write_connection(const struct weir_exchange *conn, struct weir_buf *buf)
{
    if (conn->close_after)
        return weir_buf_append(buf, WEIR_SLICE("Connection: close\r\n"));
    if (conn->reader.head.minor == 0)
        return weir_buf_append(buf, WEIR_SLICE("Connection: keep-alive\r\n"));
    return 0;
}

static int write_start(const struct weir_exchange *conn, struct weir_buf *buf, int status,
                       struct weir_slice fields)
{
    int r = weir_http1_write_status(buf, (unsigned)status);

    if (r == 0)
        r = WEIR_BUF_APPEND(buf, WEIR_SLICE("Date: "), weir_loop_http_date(conn->server->loop),
                            WEIR_SLICE("\r\n"), fields);
    if (r == 0)
        r = write_connection(conn, buf);
    return r;
}

static int write_whole_head(const struct weir_exchange *conn, struct weir_buf *buf, int status,
                            struct weir_slice fields, size_t body_bytes)
{
    int r = write_start(conn, buf, status, fields);

    if (r == 0 && !has_no_body(status))
        r = weir_http1_write_length(buf, body_bytes);
    if (r == 0)
        r = weir_http1_write_head_end(buf);
    return r;
}

static int write_stream_head(const struct weir_exchange *conn, struct weir_buf *buf, int status,
                             struct weir_slice fields)
{
    int r = write_start(conn, buf, status, fields);

    if (r == 0 && conn->chunked)
        r = weir_buf_append(buf, WEIR_SLICE("Transfer-Encoding: chunked\r\n"));
    if (r == 0)
        r = weir_http1_write_head_end(buf);
    return r;
}

static size_t total_of(const struct weir_slice *parts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += parts[i].len;
    return total;
}

/* What every answer decides at its head. */
static void begin_answer(struct weir_exchange *conn, int status)
{
    const struct weir_server *server = conn->server;
    const struct weir_http1_head *head = &conn->reader.head;

    conn->close_after = !head->keep_alive || !conn->whole || server->draining ||
                        conn->requests >= server->config.max_requests;
    conn->bodiless = has_no_body(status) || weir_slice_eq(head->method, WEIR_SLICE("HEAD"));
}

/* ---- whole answers ---- */

void weir_exchange_respond(weir_exchange *exchange, int status, struct weir_slice fields,
                           const struct weir_slice *parts, size_t count)
{
    struct weir_buf *head = weir_loop_head_room(exchange->server->loop);
    size_t total = total_of(parts, count);
    int r;

    assert(exchange->active && !weir_exchange_begun(exchange) && count <= WEIR_EXCHANGE_PARTS_MAX);
    begin_answer(exchange, status);
    r = write_whole_head(exchange, head, status, fields, total);
    if (r < 0) {
        weir_conn_close(exchange, WEIR_EXCHANGE_ABORTED);
        return;
    }
    count = exchange->bodiless ? 0 : count;
    for (size_t i = 0; i < count; i++)
        exchange->loan[i] = parts[i];
    exchange->phase = WEIR_CONN_SENDING;
    exchange->chunked = true; /* a length or a last chunk ends it: a cut is seen */
    exchange->accepted += weir_buf_len(head) + (exchange->bodiless ? 0 : total);
    r = weir_stream_lend(&exchange->stream, weir_buf_slice(head), exchange->loan, count);
    if (r == 0)
        finish(exchange);
    else if (r == WEIR_STREAM_WAITS)
        weir_conn_set_timer(exchange);
    else
        weir_conn_close(exchange, WEIR_EXCHANGE_GONE);
}

/* ---- streams ---- */

static int send_parts(struct weir_exchange *conn, const struct weir_slice *parts, size_t count)
{
    const struct weir_server_config *config = &conn->server->config;
    size_t waiting;
    int r;

    conn->accepted += total_of(parts, count);
    r = weir_stream_write(&conn->stream, parts, count);
    if (r != 0)
        return r < 0 ? r : WEIR_ERR_IO;
    waiting = weir_stream_waiting(&conn->stream);
    if (waiting == 0)
        return 0;
    if (!weir_timer_armed(&conn->timer))
        weir_conn_set_timer(conn);
    conn->told_full = conn->told_full || waiting > config->high_water_bytes;
    return waiting > config->high_water_bytes ? WEIR_EXCHANGE_FULL : 0;
}

/* Frames the caller's parts: head (may be empty), size line, parts, end; returns how many pieces. */
static size_t frame(const struct weir_exchange *conn, struct weir_slice *pieces, struct weir_slice head,
                    const struct weir_slice *parts, size_t count, char *size_line)
{
    size_t total = conn->bodiless ? 0 : total_of(parts, count);
    size_t n = 0;

    if (head.len > 0)
        pieces[n++] = head;
    if (total == 0)
        return n;
    if (conn->chunked)
        pieces[n++] = weir_http1_chunk_head(total, size_line);
    for (size_t i = 0; i < count; i++)
        pieces[n++] = parts[i];
    if (conn->chunked)
        pieces[n++] = WEIR_HTTP1_CHUNK_END;
    return n;
}

int weir_exchange_begin(weir_exchange *exchange, int status, struct weir_slice fields,
                        const struct weir_slice *parts, size_t count)
{
    struct weir_buf *head = weir_loop_head_room(exchange->server->loop);
    struct weir_slice pieces[WEIR_STREAM_PARTS_MAX];
    char size_line[WEIR_HTTP1_CHUNK_HEAD_MAX];
    int r;

    assert(exchange->active && !weir_exchange_begun(exchange) && count <= WEIR_EXCHANGE_PARTS_MAX);
    begin_answer(exchange, status);
    exchange->chunked = exchange->reader.head.minor > 0 && !exchange->bodiless;
    exchange->close_after = exchange->close_after || (!exchange->chunked && !exchange->bodiless);
    r = write_stream_head(exchange, head, status, fields);
    if (r < 0)
        return r;
    exchange->phase = WEIR_CONN_STREAMING;
    weir_loop_cancel(exchange->server->loop, &exchange->timer);
    return send_parts(exchange, pieces,
                      frame(exchange, pieces, weir_buf_slice(head), parts, count, size_line));
}

int weir_exchange_write(weir_exchange *exchange, const struct weir_slice *parts, size_t count)
{
    struct weir_slice pieces[WEIR_STREAM_PARTS_MAX];
    char size_line[WEIR_HTTP1_CHUNK_HEAD_MAX];

    assert(exchange->phase == WEIR_CONN_STREAMING && count <= WEIR_EXCHANGE_PARTS_MAX);
    return send_parts(exchange, pieces, frame(exchange, pieces, WEIR_SLICE_EMPTY, parts, count, size_line));
}

void weir_exchange_end(weir_exchange *exchange, const struct weir_slice *parts, size_t count)
{
    struct weir_slice pieces[WEIR_STREAM_PARTS_MAX];
    char size_line[WEIR_HTTP1_CHUNK_HEAD_MAX];
    size_t n;

    assert(exchange->phase == WEIR_CONN_STREAMING && count <= WEIR_EXCHANGE_PARTS_MAX);
    n = frame(exchange, pieces, WEIR_SLICE_EMPTY, parts, count, size_line);
    if (exchange->chunked)
        pieces[n++] = WEIR_HTTP1_LAST_CHUNK;
    if (send_parts(exchange, pieces, n) < 0)
        weir_conn_close(exchange, WEIR_EXCHANGE_GONE);
    else
        finish_when_sent(exchange);
}

void weir_exchange_abort(weir_exchange *exchange)
{
    weir_conn_close(exchange, WEIR_EXCHANGE_ABORTED);
}

/* ---- refusals ---- */

static int write_problem(struct weir_exchange *conn, struct weir_buf *head, struct weir_buf *body,
                         unsigned status, struct weir_slice reason)
{
    const struct weir_server_handler *handler = &conn->server->handler;
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf fields;

    weir_buf_init(&fields, conn->server->mem, PROBLEM_MAX_BYTES);
    if (handler->write_problem != NULL)
        handler->write_problem(handler->user, conn, (int)status, reason, &fields, body);
    return write_whole_head(conn, head, (int)status, weir_buf_slice(&fields), weir_buf_len(body));
}

void weir_conn_refuse(struct weir_exchange *conn, unsigned status, struct weir_slice reason)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf body;
    struct weir_buf *head = weir_loop_head_room(conn->server->loop);
    struct weir_slice parts[2];
    bool sent;

    weir_buf_init(&body, conn->server->mem, PROBLEM_MAX_BYTES);
    conn->close_after = true;
    sent = write_problem(conn, head, &body, status, reason) == 0;
    parts[0] = weir_buf_slice(head);
    parts[1] = weir_buf_slice(&body);
    sent = sent && weir_stream_write(&conn->stream, parts, 2) == 0;
    conn->phase = WEIR_CONN_LINGER;
    weir_conn_end_exchange(conn, WEIR_EXCHANGE_REFUSED);
    if (conn->phase == WEIR_CONN_CLOSED)
        return;
    if (sent)
        linger(conn);
    else
        weir_conn_close(conn, WEIR_EXCHANGE_REFUSED);
}

/* ---- what the handler may ask ---- */

const struct weir_http1_head *weir_exchange_head(const weir_exchange *exchange)
{
    return &exchange->reader.head;
}

struct weir_slice weir_exchange_body(const weir_exchange *exchange)
{
    return weir_buf_slice(&exchange->body);
}

void weir_exchange_take_body(weir_exchange *exchange, struct weir_buf *ret_body)
{
    *ret_body = exchange->body;
    weir_buf_init(&exchange->body, exchange->server->config.body_mem, 0);
}

struct weir_slice weir_exchange_peer(const weir_exchange *exchange)
{
    return (struct weir_slice){exchange->peer, exchange->peer_len};
}

uint64_t weir_exchange_begun_ns(const weir_exchange *exchange)
{
    return exchange->begun_ns;
}

void weir_exchange_set_user(weir_exchange *exchange, void *user)
{
    exchange->user = user;
}

void *weir_exchange_user(const weir_exchange *exchange)
{
    return exchange->user;
}

size_t weir_exchange_queued(const weir_exchange *exchange)
{
    return weir_stream_waiting(&exchange->stream);
}

bool weir_exchange_begun(const weir_exchange *exchange)
{
    return exchange->phase >= WEIR_CONN_STREAMING;
}
