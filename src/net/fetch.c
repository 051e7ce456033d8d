/*
 * From the upstream's bytes to an answer.
 *
 * weir_answer_take runs the reader over plain bytes until they are used up, the fetch is over, or it is
 * paused. Paused, the socket is not read, and what had been read is held: plain bytes of the message in
 * `held`, coded bytes of the body that were ahead of them in the decoding's `rest`.  Resuming takes `rest`,
 * then `held`, then reads on, in that order.
 *
 * Whoever called a callback looks at the connection's phase before it goes on: the callback may have
 * cancelled.
 */
#include <string.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "net/client_conn.h"
#include "wire/http_field.h"

/* A body that is coded several times is nobody's in this trade. */
#define IDENTITY WEIR_SLICE("identity")

static void free_decoding(struct weir_client_conn *conn)
{
    struct weir_decoding *decoding = conn->decoding;

    if (decoding == NULL)
        return;
    weir_inflate_deinit(&decoding->inflate);
    weir_buf_deinit(&decoding->rest);
    conn->client->mem->free(conn->client->mem->user, decoding, sizeof(*decoding));
    conn->decoding = NULL;
}

void weir_answer_reset(struct weir_client_conn *conn)
{
    bool to_head = weir_slice_eq(conn->fetch->request->method, WEIR_SLICE("HEAD"));

    weir_http1_reader_next(&conn->reader, to_head ? WEIR_HTTP1_RESPONSE_TO_HEAD : WEIR_HTTP1_RESPONSE);
    conn->ended = false;
    conn->torn = false;
    conn->keep_ns = WEIR_TIME_NEVER;
}

void weir_answer_deinit(struct weir_client_conn *conn)
{
    free_decoding(conn);
    weir_buf_deinit(&conn->held);
    weir_http1_reader_deinit(&conn->reader);
}

static void fail(struct weir_client_conn *conn, enum weir_fetch_failure_kind kind, struct weir_slice detail)
{
    weir_link_fail(conn, kind, detail);
}

static void fail_memory(struct weir_client_conn *conn)
{
    fail(conn, WEIR_FETCH_NOMEM, WEIR_SLICE("no memory is left"));
}

/* ---- the head ---- */

/* "Keep-Alive: timeout=5": we leave before the peer does. */
static uint64_t keep_time(const struct weir_http1_head *head)
{
    struct weir_slice value = weir_http1_value(head, WEIR_SLICE("Keep-Alive"));
    struct weir_slice timeout = weir_http_parameter(value, ',', WEIR_SLICE("timeout"));
    uint64_t seconds;

    if (timeout.len == 0 || weir_slice_u64(timeout, &seconds) != 0 || seconds > UINT32_MAX)
        return WEIR_TIME_NEVER;
    return seconds < 2 ? seconds * WEIR_NS_PER_S / 2 : (seconds - 1) * WEIR_NS_PER_S;
}

static bool begin_decoding(struct weir_client_conn *conn)
{
    struct weir_slice coding = weir_http1_value(&conn->reader.head, WEIR_SLICE("Content-Encoding"));
    const struct weir_mem *mem = conn->client->mem;
    enum weir_inflate_format format;

    if (coding.len == 0 || weir_slice_eq_ci(coding, IDENTITY) || weir_inflate_format_of(coding, &format) != 0)
        return true;
    conn->decoding = mem->alloc(mem->user, sizeof(*conn->decoding));
    if (conn->decoding == NULL)
        return false;
    weir_inflate_init(&conn->decoding->inflate, format, mem, UINT64_MAX,
                      conn->client->config.max_decoded_ratio);
    weir_buf_init(&conn->decoding->rest, mem, 2 * WEIR_LOOP_READ_BYTES);
    return true;
}

static void take_head(struct weir_client_conn *conn)
{
    conn->keep_ns = keep_time(&conn->reader.head);
    if (!begin_decoding(conn)) {
        fail_memory(conn);
        return;
    }
    conn->fetch->events->on_head(conn->fetch, &conn->reader.head);
}

/* ---- the body ---- */

static bool alive(const struct weir_client_conn *conn, const struct weir_fetch *fetch)
{
    return conn->phase == WEIR_LINK_BUSY && conn->fetch == fetch;
}

static void flush(struct weir_client_conn *conn, struct weir_fetch *fetch)
{
    if (alive(conn, fetch) && fetch->events->on_flush != NULL)
        fetch->events->on_flush(fetch);
}

/* Undoes the coding of a piece and delivers it, as far as the fetch lets it. */
static void decode(struct weir_client_conn *conn, struct weir_slice coded)
{
    struct weir_fetch *fetch = conn->fetch;
    struct weir_decoding *decoding = conn->decoding;
    char *room = weir_loop_decoded_room(conn->client->loop);
    int r = WEIR_INFLATE_MORE;

    while (r == WEIR_INFLATE_MORE) {
        size_t len;

        if (fetch->paused) {
            if (weir_buf_append(&decoding->rest, coded) < 0)
                fail_memory(conn);
            return;
        }
        r = weir_inflate_next(&decoding->inflate, &coded, room, WEIR_LOOP_DECODED_BYTES, &len);
        if (len > 0 && (r == 0 || r == WEIR_INFLATE_MORE))
            fetch->events->on_body(fetch, (struct weir_slice){room, len});
        flush(conn, fetch); /* the room is needed again */
        if (!alive(conn, fetch))
            return;
    }
    if (r == WEIR_INFLATE_BAD)
        fail(conn, WEIR_FETCH_ENCODING, WEIR_SLICE("the compressed body is damaged"));
    else if (r == WEIR_INFLATE_TOO_BIG)
        fail(conn, WEIR_FETCH_ENCODING, WEIR_SLICE("the compressed body grows beyond its limit"));
    else if (r < 0)
        fail_memory(conn);
}

static void take_body(struct weir_client_conn *conn, struct weir_slice body)
{
    if (conn->decoding != NULL)
        decode(conn, body);
    else
        conn->fetch->events->on_body(conn->fetch, body);
}

/* ---- the end ---- */

/* The answer is complete; rest are bytes after it. */
static void finish(struct weir_client_conn *conn, struct weir_slice rest, bool ended)
{
    struct weir_fetch *fetch = conn->fetch;
    bool again =
        conn->reader.head.keep_alive && conn->sent && rest.len == 0 && !ended && weir_link_is_clean(conn);

    if (!alive(conn, fetch))
        return;
    if (conn->decoding != NULL && !weir_inflate_complete(&conn->decoding->inflate)) {
        fail(conn, WEIR_FETCH_ENCODING, WEIR_SLICE("the compressed body is cut off"));
        return;
    }
    free_decoding(conn);
    if (conn->resume.next != NULL)
        weir_loop_unpost(conn->client->loop, &conn->resume);
    conn->fetch = NULL;
    fetch->conn = NULL;
    fetch->client = NULL;
    /* The head lives on the reader, which is reset when the connection serves again. */
    if (again)
        weir_client_pool(conn);
    else
        weir_link_close(conn);
    fetch->events->on_done(fetch);
}

static void take_bad(struct weir_client_conn *conn)
{
    enum weir_http1_refusal refusal = conn->reader.refusal;
    bool large = refusal == WEIR_HTTP1_REFUSED_LONG_HEAD || refusal == WEIR_HTTP1_REFUSED_MANY_FIELDS;

    fail(conn, large ? WEIR_FETCH_TOO_LARGE : WEIR_FETCH_FRAMING, weir_http1_refusal_text(refusal));
}

static void tell_end(struct weir_client_conn *conn)
{
    struct weir_fetch *fetch = conn->fetch;
    bool idle = weir_http1_reader_idle(&conn->reader);
    int r = conn->torn ? WEIR_HTTP1_BAD : weir_http1_finish(&conn->reader);

    if (r == WEIR_HTTP1_DONE)
        finish(conn, WEIR_SLICE_EMPTY, true);
    else if (idle && !conn->answered)
        fail(conn, WEIR_FETCH_RESET, WEIR_SLICE("the connection was closed without an answer"));
    else if (alive(conn, fetch))
        fail(conn, WEIR_FETCH_TRUNCATED, WEIR_SLICE("the connection was closed within the answer"));
}

void weir_answer_end(struct weir_client_conn *conn, bool torn)
{
    conn->ended = true;
    conn->torn = torn;
    if (!conn->fetch->paused)
        tell_end(conn);
}

/* ---- taking bytes ---- */

/* Takes one thing from the reader; false when it needs more bytes or the fetch is over. */
static bool take_next(struct weir_client_conn *conn, struct weir_slice *bytes)
{
    struct weir_slice body;

    switch (weir_http1_read(&conn->reader, bytes, &body)) {
    case 0:
        return false;
    case WEIR_HTTP1_HEAD:
        take_head(conn);
        return true;
    case WEIR_HTTP1_BODY:
        take_body(conn, body);
        return true;
    case WEIR_HTTP1_DONE:
        finish(conn, *bytes, false);
        return false;
    case WEIR_HTTP1_BAD:
        take_bad(conn);
        return false;
    default:
        fail_memory(conn);
        return false;
    }
}

static void hold(struct weir_client_conn *conn, struct weir_slice bytes)
{
    weir_stream_read_stop(&conn->stream);
    if (bytes.len > 0 && weir_buf_append(&conn->held, bytes) < 0)
        fail_memory(conn);
}

static void take_all(struct weir_client_conn *conn, struct weir_slice bytes)
{
    struct weir_fetch *fetch = conn->fetch;

    while (alive(conn, fetch) && !fetch->paused && take_next(conn, &bytes))
        continue;
    if (alive(conn, fetch) && fetch->paused)
        hold(conn, bytes);
    flush(conn, fetch);
}

void weir_answer_take(struct weir_client_conn *conn, struct weir_slice bytes)
{
    conn->answered = true;
    if (conn->fetch->paused || weir_buf_len(&conn->held) > 0)
        hold(conn, bytes);
    else
        take_all(conn, bytes);
}

/* ---- pause and resume ---- */

void weir_fetch_pause(struct weir_fetch *fetch)
{
    fetch->paused = true;
    if (fetch->conn != NULL && fetch->conn->phase == WEIR_LINK_BUSY && fetch->conn->answered)
        weir_stream_read_stop(&fetch->conn->stream);
}

static void take_rest(struct weir_client_conn *conn)
{
    struct weir_buf rest = conn->decoding->rest;

    weir_buf_init(&conn->decoding->rest, conn->client->mem, rest.max);
    decode(conn, weir_buf_slice(&rest));
    weir_buf_deinit(&rest);
}

static void take_held(struct weir_client_conn *conn)
{
    struct weir_buf held = conn->held;

    weir_buf_init(&conn->held, conn->client->mem, held.max);
    take_all(conn, weir_buf_slice(&held));
    weir_buf_deinit(&held);
}

static void run_resume(struct weir_loop_task *task)
{
    struct weir_client_conn *conn = WEIR_CONTAINER(task, struct weir_client_conn, resume);
    struct weir_fetch *fetch = conn->fetch;

    if (!fetch->paused && conn->decoding != NULL)
        take_rest(conn);
    if (alive(conn, fetch) && !fetch->paused)
        take_held(conn);
    if (!alive(conn, fetch) || fetch->paused)
        return;
    if (conn->ended)
        tell_end(conn);
    else
        weir_stream_read_start(&conn->stream);
}

void weir_fetch_resume(struct weir_fetch *fetch)
{
    struct weir_client_conn *conn = fetch->conn;

    if (!fetch->paused)
        return;
    fetch->paused = false;
    if (conn == NULL || conn->phase != WEIR_LINK_BUSY || conn->resume.next != NULL)
        return;
    /* Though nothing is held, the answer may be complete and nobody have been told: more need not come. */
    conn->resume.run = run_resume;
    weir_loop_post(conn->client->loop, &conn->resume);
}
