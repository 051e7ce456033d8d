/*
 * From bytes to requests.
 *
 * weir_conn_advance is a loop over the reader's answers that ends when the bytes are used up or the request's
 * answer is awaited.  An answer that is given from inside a callback only changes the phase, and the loop
 * goes on with the next request: pipelines need no recursion.  Bytes that come while an answer is awaited are
 * kept (bounded), since reading has to go on: its end is how a client that leaves is noticed.
 *
 * A body of known length is read by the kernel into its final place: weir_conn_body_room lends that place to
 * the next read, and the reader's slices then lie where they belong.  Memory follows what has come, never
 * what was announced.
 */
#include <weir/error.h>

#include "base/slice.h"
#include "net/server_conn.h"

/* A body up to this is given its announced size at once; a larger one grows by doubling as it comes. */
enum { TRUSTED_BYTES = 1024 * 1024 };

#define CONTINUE WEIR_SLICE("HTTP/1.1 100 Continue\r\n\r\n")

static void fail_body(struct weir_exchange *conn)
{
    weir_conn_refuse(conn, 503, WEIR_SLICE("no memory is left for the request's body"));
}

static void refuse_size(struct weir_exchange *conn)
{
    weir_conn_refuse(conn, 413, WEIR_SLICE("the request's body is too large"));
}

static void ask(struct weir_exchange *conn)
{
    weir_server *server = conn->server;

    conn->phase = WEIR_CONN_ASKED;
    weir_loop_cancel(server->loop, &conn->timer);
    server->handler.on_request(server->handler.user, conn);
}

/* The body is wanted: makes its buffer, and says so where the client waits for it. */
static void begin_body(struct weir_exchange *conn)
{
    const struct weir_http1_head *head = &conn->reader.head;
    struct weir_slice go_on = CONTINUE;
    size_t max = conn->server->config.max_body_bytes;
    size_t first = 0;
    char *room;

    if (head->framing == WEIR_HTTP1_FRAMED_LENGTH) {
        if (head->content_length > max) {
            refuse_size(conn);
            return;
        }
        max = (size_t)head->content_length;
        first = max < TRUSTED_BYTES ? max : TRUSTED_BYTES;
    }
    weir_buf_init(&conn->body, conn->server->config.body_mem, max);
    if (first > 0 && weir_buf_reserve(&conn->body, first, &room) < 0) {
        fail_body(conn);
        return;
    }
    if (!head->expects_continue)
        return;
    conn->accepted += go_on.len;
    if (weir_stream_write(&conn->stream, &go_on, 1) != 0)
        weir_conn_close(conn, WEIR_EXCHANGE_GONE);
}

static void take_head(struct weir_exchange *conn, struct weir_slice *input)
{
    weir_server *server = conn->server;
    struct weir_slice body;

    conn->phase = WEIR_CONN_BODY;
    conn->active = true;
    conn->whole = false;
    conn->chunked = false;
    conn->bodiless = false;
    conn->told_full = false;
    conn->user = NULL;
    conn->begun_ns = weir_loop_now(server->loop);
    conn->requests++;
    /* Without a body the request is whole already, which an early answer has to know. */
    if (conn->reader.head.framing == WEIR_HTTP1_FRAMED_NONE)
        conn->whole = weir_http1_read(&conn->reader, input, &body) == WEIR_HTTP1_DONE;
    server->handler.on_head(server->handler.user, conn);
    if (conn->phase != WEIR_CONN_BODY)
        return;
    if (conn->whole)
        ask(conn);
    else
        begin_body(conn);
}

static void take_body(struct weir_exchange *conn, struct weir_slice bytes)
{
    struct weir_buf *body = &conn->body;

    if (bytes.len > conn->server->config.max_body_bytes - weir_buf_len(body))
        refuse_size(conn);
    else if (body->ptr != NULL && bytes.ptr == body->ptr + body->end)
        weir_buf_commit(body, bytes.len);
    else if (weir_buf_append(body, bytes) < 0)
        fail_body(conn);
}

size_t weir_conn_body_room(struct weir_exchange *conn, char **ret_room)
{
    const struct weir_http1_head *head = &conn->reader.head;
    struct weir_buf *body = &conn->body;
    size_t left;
    size_t wanted;

    if (conn->phase != WEIR_CONN_BODY || head->framing != WEIR_HTTP1_FRAMED_LENGTH)
        return 0;
    left = (size_t)head->content_length - weir_buf_len(body);
    wanted = left < WEIR_LOOP_READ_BYTES ? left : WEIR_LOOP_READ_BYTES;
    if (weir_buf_reserve(body, wanted, ret_room) < 0)
        return 0;
    return body->cap - body->end < left ? body->cap - body->end : left;
}

static void take_bad(struct weir_exchange *conn)
{
    enum weir_http1_refusal refusal = conn->reader.refusal;

    weir_conn_refuse(conn, weir_http1_refusal_status(refusal), weir_http1_refusal_text(refusal));
}

static bool reads(const struct weir_exchange *conn)
{
    return conn->phase <= WEIR_CONN_BODY;
}

/* Takes one thing from the reader; false when it needs more bytes. */
static bool take_next(struct weir_exchange *conn, struct weir_slice *input)
{
    struct weir_slice body;
    int r = weir_http1_read(&conn->reader, input, &body);

    switch (r) {
    case 0:
        return false;
    case WEIR_HTTP1_HEAD:
        take_head(conn, input);
        break;
    case WEIR_HTTP1_BODY:
        take_body(conn, body);
        break;
    case WEIR_HTTP1_DONE:
        conn->whole = true;
        ask(conn);
        break;
    case WEIR_HTTP1_BAD:
        take_bad(conn);
        break;
    default:
        weir_conn_refuse(conn, 503, WEIR_SLICE("no memory is left for the request's head"));
        break;
    }
    return true;
}

/* Bytes that came before their turn.  Reading stops when the next read might not fit. */
static void keep_ahead(struct weir_exchange *conn, struct weir_slice bytes)
{
    if (bytes.len == 0)
        return;
    if (weir_buf_append(&conn->ahead, bytes) < 0)
        weir_conn_close(conn, WEIR_EXCHANGE_GONE);
    else if (weir_buf_len(&conn->ahead) > WEIR_CONN_AHEAD_BYTES - WEIR_LOOP_READ_BYTES)
        weir_stream_read_stop(&conn->stream);
}

/* After the loop: which limit of time holds now. */
static void settle(struct weir_exchange *conn, bool moved)
{
    if (conn->phase == WEIR_CONN_IDLE && !weir_http1_reader_idle(&conn->reader)) {
        conn->phase = WEIR_CONN_HEAD;
        /* On a new connection the limit runs from its beginning. */
        if (conn->requests > 0)
            conn->since_ns = weir_loop_now(conn->server->loop);
        weir_conn_set_timer(conn);
    } else if (conn->phase == WEIR_CONN_BODY || (conn->phase == WEIR_CONN_IDLE && moved)) {
        weir_conn_set_timer(conn);
    }
}

void weir_conn_advance(struct weir_exchange *conn, struct weir_slice input)
{
    bool moved = false;

    conn->advancing = true;
    while (reads(conn) && take_next(conn, &input))
        moved = true;
    conn->advancing = false;
    if (conn->phase >= WEIR_CONN_ASKED && conn->phase <= WEIR_CONN_SENDING)
        keep_ahead(conn, input);
    settle(conn, moved);
}

void weir_conn_next_request(struct weir_exchange *conn)
{
    struct weir_buf held = conn->ahead;

    conn->phase = WEIR_CONN_IDLE;
    conn->since_ns = weir_loop_now(conn->server->loop);
    weir_http1_reader_next(&conn->reader, WEIR_HTTP1_REQUEST);
    if (conn->advancing)
        return;
    weir_stream_read_start(&conn->stream);
    weir_conn_set_timer(conn);
    if (weir_buf_len(&held) == 0)
        return;
    weir_buf_init(&conn->ahead, conn->server->mem, WEIR_CONN_AHEAD_BYTES);
    weir_conn_advance(conn, weir_buf_slice(&held));
    weir_buf_deinit(&held);
}
