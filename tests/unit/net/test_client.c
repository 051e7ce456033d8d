/* The client over real sockets on loopback, its upstreams played by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "fetch_kit.h"

#include <zlib.h>

#include <cmocka.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

/* A kit and one upstream. */
struct pair {
    struct fetch_kit *kit;
    uint16_t port;
    int listening;
};

static struct pair open_pair(const struct weir_client_config *config)
{
    struct pair pair = {.kit = fetch_kit_open(config)};

    pair.listening = kit_listen(&pair.port);
    return pair;
}

static void close_pair(struct pair *pair)
{
    (void)close(pair->listening);
    fetch_kit_close(pair->kit);
}

/* Starts a fetch and receives its request on a new connection. */
static int begin(struct pair *pair)
{
    int fd;

    fetch_kit_post(pair->kit, pair->port);
    fd = kit_accept(pair->kit->loop, pair->listening);
    fetch_kit_hear(pair->kit, fd);
    return fd;
}

static void answer(struct pair *pair, int fd, const char *text)
{
    kit_send(pair->kit->loop, fd, text);
}

static void a_request_is_sent_as_it_should_look(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);
    char expected[256];

    (void)state;
    (void)snprintf(expected, sizeof(expected),
                   "POST /v1/x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: text/plain\r\n"
                   "Content-Length: 5\r\n\r\nhello",
                   (unsigned)pair.port);
    assert_string_equal(pair.kit->heard.bytes, expected);
    answer(&pair, fd, OK_HELLO);
    fetch_kit_expect_body(pair.kit, "hello");
    assert_int_equal(pair.kit->status, 200);
    (void)close(fd);
    close_pair(&pair);
}

static void a_connection_serves_again(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    for (int i = 0; i < 3; i++) {
        answer(&pair, fd, OK_HELLO);
        fetch_kit_expect_body(pair.kit, "hello");
        assert_int_equal(weir_client_idle(pair.kit->client), 1);
        fetch_kit_post(pair.kit, pair.port);
        assert_true(weir_fetch_reused(&pair.kit->fetch));
        fetch_kit_hear(pair.kit, fd);
    }
    answer(&pair, fd, OK_HELLO);
    fetch_kit_wait(pair.kit);
    assert_int_equal(weir_client_connections(pair.kit->client), 1);
    (void)close(fd);
    close_pair(&pair);
}

static bool none_is_idle(void *user)
{
    return weir_client_idle(user) == 0;
}

static void an_idle_connection_is_dropped_at_its_end_and_at_any_byte(void **state)
{
    struct pair pair = open_pair(NULL);

    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = begin(&pair);

        answer(&pair, fd, OK_HELLO);
        fetch_kit_wait(pair.kit);
        assert_int_equal(weir_client_idle(pair.kit->client), 1);
        if (i == 0)
            assert_int_equal(shutdown(fd, SHUT_WR), 0);
        else
            answer(&pair, fd, "H");
        kit_until(pair.kit->loop, none_is_idle, pair.kit->client);
        (void)close(fd);
    }
    close_pair(&pair);
}

static void a_stale_connection_is_replaced_once(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd, OK_HELLO);
    fetch_kit_wait(pair.kit);
    /* The loop is not turned between the reset and the next request, as when both come in one turn. */
    kit_reset(fd);
    fd = begin(&pair);
    answer(&pair, fd, OK_HELLO);
    fetch_kit_expect_body(pair.kit, "hello");
    (void)close(fd);
    close_pair(&pair);
}

static void a_reused_connection_that_fails_after_the_request_is_a_failure(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd, OK_HELLO);
    fetch_kit_wait(pair.kit);
    fetch_kit_post(pair.kit, pair.port);
    fetch_kit_hear(pair.kit, fd);
    (void)close(fd);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_RESET);
    assert_true(pair.kit->sent);
    close_pair(&pair);
}

static void a_reused_connection_is_replaced_when_the_body_was_not_wholly_written(void **state)
{
    const size_t size = 16u * 1024 * 1024;
    struct pair pair = open_pair(NULL);
    char *body = calloc(1, size);
    int fd = begin(&pair);

    (void)state;
    assert_non_null(body);
    answer(&pair, fd, OK_HELLO);
    fetch_kit_wait(pair.kit);
    pair.kit->body[0] = (struct weir_slice){body, size};
    pair.kit->request.part_count = 1;
    fetch_kit_start(pair.kit);
    kit_receive(pair.kit->loop, fd, &pair.kit->heard, "\r\n\r\n");
    kit_reset(fd);
    fd = kit_accept(pair.kit->loop, pair.listening);
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    fetch_kit_expect_body(pair.kit, "ok");
    /* The request was not wholly written: the connection cannot serve again. */
    assert_int_equal(weir_client_idle(pair.kit->client), 0);
    free(body);
    (void)close(fd);
    close_pair(&pair);
}

static void a_keep_alive_timeout_is_honoured(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0, max=5\r\nContent-Length: 0\r\n\r\n");
    fetch_kit_expect_body(pair.kit, "");
    assert_int_equal(weir_client_idle(pair.kit->client), 0);
    (void)close(fd);
    fd = begin(&pair);
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n");
    fetch_kit_wait(pair.kit);
    assert_int_equal(weir_client_idle(pair.kit->client), 1);
    kit_until(pair.kit->loop, none_is_idle, pair.kit->client);
    (void)close(fd);
    close_pair(&pair);
}

static void the_pool_keeps_to_its_size_and_time(void **state)
{
    const struct weir_client_config config = {.max_idle_per_upstream = 1,
                                              .idle_timeout_ns = 30 * WEIR_NS_PER_MS};
    struct pair pair = open_pair(&config);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd, OK_HELLO);
    fetch_kit_wait(pair.kit);
    assert_int_equal(weir_client_idle(pair.kit->client), 1);
    kit_until(pair.kit->loop, none_is_idle, pair.kit->client);
    (void)close(fd);
    close_pair(&pair);
}

static void connection_close_ends_a_connection(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", OK_HELLO "X", /* more than was said */
    };
    struct pair pair = open_pair(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        int fd = begin(&pair);

        answer(&pair, fd, answers[i]);
        fetch_kit_expect_body(pair.kit, "hello");
        assert_int_equal(weir_client_idle(pair.kit->client), 0);
        (void)close(fd);
    }
    close_pair(&pair);
}

/* ---- ways to fail ---- */

struct bad_answer {
    const char *text;
    enum weir_fetch_failure_kind kind;
};

static const struct bad_answer bad_answers[] = {
    {"", WEIR_FETCH_RESET},
    {"HTTP/1.1 200", WEIR_FETCH_TRUNCATED},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", WEIR_FETCH_TRUNCATED},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", WEIR_FETCH_TRUNCATED},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", WEIR_FETCH_TRUNCATED},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX", WEIR_FETCH_FRAMING},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", WEIR_FETCH_FRAMING},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", WEIR_FETCH_FRAMING},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello", WEIR_FETCH_FRAMING},
    {"\x01\x02garbage\r\n\r\n", WEIR_FETCH_FRAMING},
    {"SSH-2.0-OpenSSH_9.2\r\n\r\n", WEIR_FETCH_FRAMING},
};

static void broken_answers_fail_by_their_kind(void **state)
{
    struct pair pair = open_pair(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(bad_answers) / sizeof(bad_answers[0]); i++) {
        int fd = begin(&pair);

        answer(&pair, fd, bad_answers[i].text);
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        fetch_kit_expect_error(pair.kit, bad_answers[i].kind);
        assert_true(pair.kit->sent);
        (void)close(fd);
    }
    close_pair(&pair);
}

static void a_reset_is_told_from_a_cut(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    kit_reset(fd);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_RESET);
    fd = begin(&pair);
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    kit_for(pair.kit->loop, 5 * WEIR_NS_PER_MS);
    kit_reset(fd);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_TRUNCATED);
    close_pair(&pair);
}

static void a_refused_connection_is_told_so(void **state)
{
    struct pair pair = open_pair(NULL);

    (void)state;
    (void)close(pair.listening);
    pair.listening = -1;
    fetch_kit_post(pair.kit, pair.port);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_REFUSED);
    assert_false(pair.kit->sent);
    assert_non_null(strstr(pair.kit->text.bytes, "http://127.0.0.1:"));
    close_pair(&pair);
}

static void a_head_beyond_its_limit_is_too_large(void **state)
{
    const struct weir_client_config config = {.max_head_bytes = 128};
    struct pair pair = open_pair(&config);
    int fd = begin(&pair);
    char head[300];

    (void)state;
    (void)snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nX: %0200d\r\n\r\n", 1);
    answer(&pair, fd, head);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_TOO_LARGE);
    (void)close(fd);
    close_pair(&pair);
}

static void a_connection_that_is_not_made_in_time_fails(void **state)
{
    struct pair pair = open_pair(NULL);
    uint16_t port;
    int full = kit_listen(&port);
    int first;

    (void)state;
    /* A listener whose queue is full answers nothing. */
    assert_int_equal(listen(full, 0), 0);
    first = kit_connect(port);
    pair.kit->request = (struct weir_fetch_request){.host = WEIR_SLICE("127.0.0.1"),
                                                    .port = port,
                                                    .method = WEIR_SLICE("GET"),
                                                    .target = WEIR_SLICE("/"),
                                                    .connect_timeout_ns = 50 * WEIR_NS_PER_MS};
    fetch_kit_start(pair.kit);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_CONNECT_TIMEOUT);
    (void)close(first);
    (void)close(full);
    close_pair(&pair);
}

static void a_request_that_cannot_be_written_fails(void **state)
{
    struct pair pair = open_pair(NULL);

    (void)state;
    fetch_kit_prepare(pair.kit, pair.port);
    pair.kit->request.target = WEIR_SLICE("/a b");
    fetch_kit_start(pair.kit);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_REQUEST);
    close_pair(&pair);
}

/* ---- bodies ---- */

static void one_byte_chunks_and_bytes_arrive_whole(void **state)
{
    static const char text[] =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n";
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        kit_send_bytes(pair.kit->loop, fd, text + i, 1);
        kit_turn(pair.kit->loop);
    }
    fetch_kit_expect_body(pair.kit, "hello");
    assert_int_equal(weir_client_idle(pair.kit->client), 1);
    (void)close(fd);
    close_pair(&pair);
}

static void a_body_may_end_with_the_connection(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd, "HTTP/1.1 200 OK\r\n\r\nhello");
    (void)close(fd);
    fetch_kit_expect_body(pair.kit, "hello");
    close_pair(&pair);
}

static void a_body_of_64_mebibytes_passes_in_both_directions(void **state)
{
    const size_t size = 64u * 1024 * 1024;
    struct pair pair = open_pair(NULL);
    char *body = calloc(1, size);
    size_t received = 0;
    int fd;

    (void)state;
    assert_non_null(body);
    fetch_kit_prepare(pair.kit, pair.port);
    pair.kit->body[0] = (struct weir_slice){body, size};
    pair.kit->request.part_count = 1;
    pair.kit->keep_body = false;
    fetch_kit_start(pair.kit);
    fd = kit_accept(pair.kit->loop, pair.listening);
    while (kit_discard(pair.kit->loop, fd, &pair.kit->heard) == 0)
        continue;
    received = pair.kit->heard.len;
    while (received < size)
        received += kit_discard(pair.kit->loop, fd, &pair.kit->heard);
    kit_send(pair.kit->loop, fd, "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n");
    kit_send_bytes(pair.kit->loop, fd, body, size);
    fetch_kit_wait(pair.kit);
    assert_int_equal(pair.kit->dones, 1);
    assert_int_equal(pair.kit->body_bytes, size);
    assert_int_equal(weir_client_idle(pair.kit->client), 1);
    free(body);
    (void)close(fd);
    close_pair(&pair);
}

static void an_answer_before_the_request_is_written_ends_the_connection(void **state)
{
    const size_t size = 16u * 1024 * 1024;
    struct pair pair = open_pair(NULL);
    char *body = calloc(1, size);
    int fd;

    (void)state;
    assert_non_null(body);
    fetch_kit_prepare(pair.kit, pair.port);
    pair.kit->body[0] = (struct weir_slice){body, size};
    pair.kit->request.part_count = 1;
    fetch_kit_start(pair.kit);
    fd = kit_accept(pair.kit->loop, pair.listening);
    while (kit_discard(pair.kit->loop, fd, &pair.kit->heard) == 0)
        continue;
    answer(&pair, fd, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge");
    fetch_kit_expect_body(pair.kit, "large");
    assert_int_equal(pair.kit->status, 413);
    assert_int_equal(weir_client_idle(pair.kit->client), 0);
    free(body);
    (void)close(fd);
    close_pair(&pair);
}

/* Compresses size bytes of c; returns the length of the message with its head. */
static size_t gzip_answer(char *out, size_t out_bytes, char c, size_t size, int window_bits)
{
    z_stream stream = {0};
    char head[128];
    char *body = malloc(size);
    size_t head_len;

    assert_non_null(body);
    memset(body, c, size);
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)body;
    stream.avail_in = (unsigned)size;
    stream.next_out = (unsigned char *)out + sizeof(head);
    stream.avail_out = (unsigned)(out_bytes - sizeof(head));
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    head_len = (size_t)snprintf(head, sizeof(head),
                                "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %lu\r\n\r\n",
                                window_bits > 15 ? "gzip" : "deflate", stream.total_out);
    memmove(out + head_len, out + sizeof(head), stream.total_out);
    memcpy(out, head, head_len);
    head_len += stream.total_out;
    (void)deflateEnd(&stream);
    free(body);
    return head_len;
}

static void compressed_bodies_are_read(void **state)
{
    static char message[128 * 1024];

    (void)state;
    for (int bits = -15; bits <= 31; bits += 15) {
        struct pair pair = open_pair(NULL);
        size_t len = gzip_answer(message, sizeof(message), 'x', 50000,
                                 bits == 0    ? 15
                                 : bits == 15 ? 31
                                              : bits);
        int fd = begin(&pair);

        kit_send_bytes(pair.kit->loop, fd, message, len);
        fetch_kit_wait(pair.kit);
        assert_int_equal(pair.kit->dones, 1);
        assert_int_equal(pair.kit->body_bytes, 50000);
        assert_int_equal(weir_client_idle(pair.kit->client), 1);
        (void)close(fd);
        close_pair(&pair);
    }
}

static void a_damaged_or_cut_compressed_body_fails(void **state)
{
    static char message[64 * 1024];
    struct pair pair = open_pair(NULL);
    size_t len = gzip_answer(message, sizeof(message), 'x', 50000, 31);
    int fd = begin(&pair);

    (void)state;
    message[len - 6] ^= 1;
    kit_send_bytes(pair.kit->loop, fd, message, len);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_ENCODING);
    (void)close(fd);
    fd = begin(&pair);
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08");
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_ENCODING);
    (void)close(fd);
    close_pair(&pair);
}

static void a_gzip_bomb_is_stopped(void **state)
{
    static char message[512 * 1024];
    struct pair pair = open_pair(NULL);
    size_t len = gzip_answer(message, sizeof(message), 0, 64u * 1024 * 1024, 31);
    int fd = begin(&pair);

    (void)state;
    pair.kit->keep_body = false;
    kit_send_bytes(pair.kit->loop, fd, message, len);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_ENCODING);
    assert_true(pair.kit->body_bytes < 32u * 1024 * 1024);
    (void)close(fd);
    close_pair(&pair);
}

static void a_paused_fetch_stops_its_upstream(void **state)
{
    static char block[64 * 1024];
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);
    size_t sent = 0;

    (void)state;
    pair.kit->keep_body = false;
    pair.kit->pause_on_body = true;
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
    for (int quiet = 0; quiet < 50;) {
        ssize_t n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);

        quiet = n > 0 ? 0 : quiet + 1;
        sent += n > 0 ? (size_t)n : 0;
        kit_turn(pair.kit->loop);
    }
    assert_true(sent < 16u * 1024 * 1024);
    assert_int_equal(pair.kit->pieces, 1);
    pair.kit->pause_on_body = false;
    weir_fetch_resume(&pair.kit->fetch);
    while (sent < 33554432) {
        size_t part = 33554432 - sent < sizeof(block) ? 33554432 - sent : sizeof(block);

        kit_send_bytes(pair.kit->loop, fd, block, part);
        sent += part;
    }
    fetch_kit_wait(pair.kit);
    assert_int_equal(pair.kit->dones, 1);
    assert_int_equal(pair.kit->body_bytes, 33554432);
    (void)close(fd);
    close_pair(&pair);
}

/* Resumes until the fetch is over, one piece at a time. */
static void sip(struct fetch_kit *kit)
{
    while (kit->dones + kit->errors == 0) {
        size_t before = kit->pieces;

        kit_turn(kit->loop);
        if (kit->pieces == before)
            weir_fetch_resume(&kit->fetch);
    }
}

static void a_fetch_that_was_paused_at_its_last_byte_ends_when_it_goes_on(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    pair.kit->pause_on_body = true;
    answer(&pair, fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    while (pair.kit->pieces == 0)
        kit_turn(pair.kit->loop);
    assert_int_equal(pair.kit->dones, 0);
    weir_fetch_resume(&pair.kit->fetch);
    fetch_kit_expect_body(pair.kit, "hello");
    (void)close(fd);
    close_pair(&pair);
}

static void pieces_of_one_read_are_followed_by_one_flush(void **state)
{
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    answer(&pair, fd,
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           "1\r\nh\r\n2\r\nel\r\n1\r\nl\r\n");
    while (pair.kit->flushes == 0)
        kit_turn(pair.kit->loop);
    assert_int_equal(pair.kit->pieces, 3);
    assert_int_equal(pair.kit->flushes, 1);
    answer(&pair, fd, "1\r\no\r\n0\r\n\r\n");
    fetch_kit_wait(pair.kit);
    fetch_kit_expect_body(pair.kit, "hello");
    assert_int_equal(pair.kit->flushes, 1); /* the end says it too */
    (void)close(fd);
    close_pair(&pair);
}

static void pausing_at_each_piece_loses_nothing(void **state)
{
    static char message[64 * 1024];
    struct pair pair = open_pair(NULL);
    int fd = begin(&pair);

    (void)state;
    pair.kit->pause_on_body = true;
    answer(&pair, fd,
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
           "1\r\nh\r\n2\r\nel\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n");
    sip(pair.kit);
    fetch_kit_expect_body(pair.kit, "hello");
    assert_int_equal(pair.kit->pieces, 4);
    fetch_kit_post(pair.kit, pair.port);
    fetch_kit_hear(pair.kit, fd);
    kit_send_bytes(pair.kit->loop, fd, message, gzip_answer(message, sizeof(message), 'x', 200000, 31));
    sip(pair.kit);
    assert_int_equal(pair.kit->dones, 1);
    assert_int_equal(pair.kit->body_bytes, 200000);
    assert_true(pair.kit->pieces > 10);
    fetch_kit_post(pair.kit, pair.port);
    fetch_kit_hear(pair.kit, fd);
    answer(&pair, fd, "HTTP/1.1 200 OK\r\n\r\nhello");
    (void)close(fd);
    sip(pair.kit);
    fetch_kit_expect_body(pair.kit, "hello");
    close_pair(&pair);
}

/* ---- cancelling ---- */

static void a_fetch_may_be_cancelled_in_each_phase(void **state)
{
    struct pair pair = open_pair(NULL);
    struct fetch_kit *kit = pair.kit;
    int fd;

    (void)state;
    fetch_kit_post(kit, pair.port);
    weir_fetch_cancel(&kit->fetch);
    weir_fetch_cancel(&kit->fetch);
    kit_for(kit->loop, 5 * WEIR_NS_PER_MS);
    (void)close(kit_accept(kit->loop, pair.listening));
    for (int phase = 0; phase < 3; phase++) {
        fd = begin(&pair);
        kit->cancel_on_head = phase == 1;
        kit->cancel_on_body = phase == 2;
        answer(&pair, fd, phase == 0 ? "HTTP/1.1 2" : OK_HELLO);
        kit_for(kit->loop, 5 * WEIR_NS_PER_MS);
        weir_fetch_cancel(&kit->fetch);
        kit_expect_end(kit->loop, fd, &kit->heard);
        (void)close(fd);
        assert_int_equal(kit->dones + kit->errors, 0);
        assert_int_equal(kit->heads, phase > 0);
        assert_int_equal(weir_client_idle(kit->client), 0);
    }
    close_pair(&pair);
}

static void a_failure_that_is_still_to_be_told_may_be_cancelled(void **state)
{
    struct fetch_kit *kit = fetch_kit_open(NULL);

    (void)state;
    fetch_kit_prepare(kit, 1);
    kit->request.host = WEIR_SLICE("");
    fetch_kit_start(kit);
    weir_fetch_cancel(&kit->fetch);
    kit_for(kit->loop, 5 * WEIR_NS_PER_MS);
    assert_int_equal(kit->errors, 0);
    fetch_kit_start(kit);
    fetch_kit_expect_error(kit, WEIR_FETCH_DNS);
    fetch_kit_close(kit);
}

/* ---- addresses and proxies ---- */

static const char *two_addresses(void *user, const char *host, struct weir_addresses *ret_addresses)
{
    (void)user;
    (void)host;
    if (strcmp(host, "two.test") != 0)
        return "no such host";
    assert_int_equal(weir_resolve_literal(WEIR_SLICE("localhost"), ret_addresses), 0);
    /* The first of them, where nobody listens. */
    ret_addresses->list[0].in.sin_addr.s_addr = htonl(0x7f0a0a0a);
    ret_addresses->list[2] = ret_addresses->list[1];
    ret_addresses->list[1].in = (struct sockaddr_in){.sin_family = AF_INET};
    ret_addresses->list[1].in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ret_addresses->count = 3;
    return NULL;
}

static void the_next_address_is_tried_when_one_fails(void **state)
{
    const struct weir_resolver_config resolver_config = {.threads = 1, .lookup = two_addresses};
    struct weir_client_config config = {0};
    struct pair pair;
    int fd;

    (void)state;
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &resolver_config, &config.resolver), 0);
    pair = open_pair(&config);
    fetch_kit_prepare(pair.kit, pair.port);
    pair.kit->request.host = WEIR_SLICE("two.test");
    fetch_kit_start(pair.kit);
    fd = kit_accept(pair.kit->loop, pair.listening);
    fetch_kit_hear(pair.kit, fd);
    assert_non_null(strstr(pair.kit->heard.bytes, "Host: two.test:"));
    answer(&pair, fd, OK_HELLO);
    fetch_kit_expect_body(pair.kit, "hello");
    pair.kit->request.host = WEIR_SLICE("none.test");
    fetch_kit_start(pair.kit);
    fetch_kit_expect_error(pair.kit, WEIR_FETCH_DNS);
    assert_non_null(strstr(pair.kit->text.bytes, "no such host"));
    (void)close(fd);
    fetch_kit_close(pair.kit);
    (void)close(pair.listening);
    weir_resolver_free(config.resolver);
}

static const char *silent_first(void *user, const char *host, struct weir_addresses *ret_addresses)
{
    (void)user;
    (void)host;
    ret_addresses->count = 2;
    ret_addresses->list[0].in = (struct sockaddr_in){.sin_family = AF_INET};
    ret_addresses->list[0].in.sin_addr.s_addr = htonl(0x7f000002);
    ret_addresses->list[1].in = (struct sockaddr_in){.sin_family = AF_INET};
    ret_addresses->list[1].in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return NULL;
}

static void the_next_address_is_tried_beside_a_silent_one(void **state)
{
    const struct weir_resolver_config resolver_config = {.threads = 1, .lookup = silent_first};
    struct weir_client_config config = {0};
    struct sockaddr_in silent = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002)};
    struct pair pair;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd;

    (void)state;
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &resolver_config, &config.resolver), 0);
    pair = open_pair(&config);
    /* A listener on the same port of another address, whose queue is full, answers nothing. */
    silent.sin_port = htons(pair.port);
    assert_int_equal(bind(listening, (struct sockaddr *)&silent, sizeof(silent)), 0);
    assert_int_equal(listen(listening, 0), 0);
    assert_int_equal(connect(first, (struct sockaddr *)&silent, sizeof(silent)), 0);
    fetch_kit_prepare(pair.kit, pair.port);
    pair.kit->request.host = WEIR_SLICE("silent.test");
    fetch_kit_start(pair.kit);
    fd = kit_accept(pair.kit->loop, pair.listening);
    fetch_kit_hear(pair.kit, fd);
    answer(&pair, fd, OK_HELLO);
    fetch_kit_expect_body(pair.kit, "hello");
    (void)close(fd);
    (void)close(first);
    (void)close(listening);
    close_pair(&pair);
    weir_resolver_free(config.resolver);
}

static void a_plain_proxy_gets_the_whole_url(void **state)
{
    struct weir_proxies proxies;
    const struct weir_client_config config = {.proxies = &proxies};
    uint16_t port;
    int listening = kit_listen(&port);
    char url[64];
    struct fetch_kit *kit;
    int fd;

    (void)state;
    (void)snprintf(url, sizeof(url), "http://user:p%%40ss@127.0.0.1:%u", (unsigned)port);
    assert_int_equal(weir_proxies_init(&proxies, weir_mem_libc(),
                                       &(struct weir_proxies_values){.http = weir_slice_str(url)}),
                     0);
    kit = fetch_kit_open(&config);
    fetch_kit_prepare(kit, 8080);
    kit->request.host = WEIR_SLICE("upstream.test");
    fetch_kit_start(kit);
    fd = kit_accept(kit->loop, listening);
    fetch_kit_hear(kit, fd);
    assert_memory_equal(kit->heard.bytes, "POST http://upstream.test:8080/v1/x?y=1 HTTP/1.1\r\n", 50);
    assert_non_null(strstr(kit->heard.bytes, "\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n"));
    assert_non_null(strstr(kit->heard.bytes, "\r\nHost: upstream.test:8080\r\n"));
    kit_send(kit->loop, fd, OK_HELLO);
    fetch_kit_expect_body(kit, "hello");
    (void)close(fd);
    (void)close(listening);
    fetch_kit_close(kit);
    weir_proxies_deinit(&proxies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_sent_as_it_should_look),
        cmocka_unit_test(a_connection_serves_again),
        cmocka_unit_test(an_idle_connection_is_dropped_at_its_end_and_at_any_byte),
        cmocka_unit_test(a_stale_connection_is_replaced_once),
        cmocka_unit_test(a_reused_connection_that_fails_after_the_request_is_a_failure),
        cmocka_unit_test(a_reused_connection_is_replaced_when_the_body_was_not_wholly_written),
        cmocka_unit_test(a_keep_alive_timeout_is_honoured),
        cmocka_unit_test(the_pool_keeps_to_its_size_and_time),
        cmocka_unit_test(connection_close_ends_a_connection),
        cmocka_unit_test(broken_answers_fail_by_their_kind),
        cmocka_unit_test(a_reset_is_told_from_a_cut),
        cmocka_unit_test(a_refused_connection_is_told_so),
        cmocka_unit_test(a_head_beyond_its_limit_is_too_large),
        cmocka_unit_test(a_connection_that_is_not_made_in_time_fails),
        cmocka_unit_test(a_request_that_cannot_be_written_fails),
        cmocka_unit_test(one_byte_chunks_and_bytes_arrive_whole),
        cmocka_unit_test(a_body_may_end_with_the_connection),
        cmocka_unit_test(a_body_of_64_mebibytes_passes_in_both_directions),
        cmocka_unit_test(an_answer_before_the_request_is_written_ends_the_connection),
        cmocka_unit_test(compressed_bodies_are_read),
        cmocka_unit_test(a_damaged_or_cut_compressed_body_fails),
        cmocka_unit_test(a_gzip_bomb_is_stopped),
        cmocka_unit_test(a_paused_fetch_stops_its_upstream),
        cmocka_unit_test(a_fetch_that_was_paused_at_its_last_byte_ends_when_it_goes_on),
        cmocka_unit_test(pieces_of_one_read_are_followed_by_one_flush),
        cmocka_unit_test(pausing_at_each_piece_loses_nothing),
        cmocka_unit_test(a_fetch_may_be_cancelled_in_each_phase),
        cmocka_unit_test(a_failure_that_is_still_to_be_told_may_be_cancelled),
        cmocka_unit_test(the_next_address_is_tried_when_one_fails),
        cmocka_unit_test(the_next_address_is_tried_beside_a_silent_one),
        cmocka_unit_test(a_plain_proxy_gets_the_whole_url),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
