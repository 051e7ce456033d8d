/* The server over real sockets on loopback, its clients played by hand. */
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
#include "net/server.h"
#include "net_kit.h"
#include "wire/http1_read.h"

#include <cmocka.h>

enum mode { ECHO, WAIT, STREAM, REFUSE_EARLY };

/* A server whose handler does what `mode` says, and remembers what it was told. */
struct bench {
    weir_loop *loop;
    weir_server *server;
    weir_listener *listener;
    struct weir_server_shared shared;
    uint16_t port;
    enum mode mode;
    weir_exchange *exchange; /* the last that asked */
    struct weir_slice answer;
    size_t heads;
    size_t requests;
    size_t ends;
    size_t drains;
    enum weir_exchange_end last_end;
    size_t last_body;
    const void *problem_user; /* of the last problem's exchange */
    struct kit_text text;
};

static void on_head(void *user, weir_exchange *x)
{
    struct bench *b = user;

    b->heads++;
    weir_exchange_set_user(x, b);
    if (b->mode == REFUSE_EARLY)
        weir_exchange_respond(x, 401, WEIR_SLICE("X-Why: no key\r\n"), &WEIR_SLICE("who are you"), 1);
}

static void on_request(void *user, weir_exchange *x)
{
    struct bench *b = user;
    struct weir_slice parts[3] = {WEIR_SLICE_INIT("["), weir_exchange_body(x), WEIR_SLICE_INIT("]")};

    b->requests++;
    b->exchange = x;
    b->last_body = parts[1].len;
    if (b->mode == ECHO)
        weir_exchange_respond(x, 200, WEIR_SLICE("Content-Type: text/plain\r\n"), parts, 3);
    else if (b->mode == STREAM)
        assert_true(weir_exchange_begin(x, 200, WEIR_SLICE_EMPTY, parts, 3) >= 0);
}

static void on_drain(void *user, weir_exchange *x)
{
    (void)x;
    ((struct bench *)user)->drains++;
}

static void on_end(void *user, weir_exchange *x, enum weir_exchange_end end)
{
    struct bench *b = user;

    b->ends++;
    b->last_end = end;
    if (b->exchange == x)
        b->exchange = NULL;
}

static void write_problem(void *user, const weir_exchange *exchange, int status, struct weir_slice reason,
                          struct weir_buf *fields, struct weir_buf *body)
{
    struct bench *b = user;

    (void)status;
    b->problem_user = weir_exchange_user(exchange);
    assert_int_equal(weir_buf_append(fields, WEIR_SLICE("Content-Type: application/json\r\n")), 0);
    assert_int_equal(weir_buf_append(body, WEIR_SLICE("{\"error\":\"")), 0);
    assert_int_equal(weir_buf_append(body, reason), 0);
    assert_int_equal(weir_buf_append(body, WEIR_SLICE("\"}")), 0);
}

static void open_with(struct bench *b, enum mode mode, const struct weir_server_config *config)
{
    const struct weir_server_handler handler = {b, on_head, on_request, on_drain, on_end, write_problem};
    const struct weir_listener_config at = {WEIR_SLICE_INIT("127.0.0.1"), 0, 0, 1};
    char text[WEIR_LISTENER_TEXT_MAX];

    memset(b, 0, sizeof(*b));
    b->mode = mode;
    assert_int_equal(weir_loop_new(weir_mem_libc(), &b->loop), 0);
    assert_int_equal(weir_listener_new(weir_mem_libc(), &at, text, &b->listener), 0);
    assert_int_equal(weir_server_new(b->loop, config, &handler, &b->shared, &b->server), 0);
    assert_int_equal(weir_server_listen(b->server, b->listener, 0), 0);
    b->port = weir_listener_port(b->listener);
}

static struct bench *open_bench(enum mode mode)
{
    const struct weir_server_config config = {0};
    struct bench *b = malloc(sizeof(*b));

    assert_non_null(b);
    open_with(b, mode, &config);
    return b;
}

static struct bench *open_limited(enum mode mode, const struct weir_server_config *config)
{
    struct bench *b = malloc(sizeof(*b));

    assert_non_null(b);
    open_with(b, mode, config);
    return b;
}

static void close_bench(struct bench *b)
{
    weir_server_close(b->server);
    weir_loop_free(b->loop);
    weir_listener_free(b->listener);
    assert_int_equal(b->heads, b->ends);
    assert_int_equal(atomic_load(&b->shared.connections), 0);
    free(b);
}

static bool asked(void *user)
{
    return ((struct bench *)user)->exchange != NULL;
}

static bool ended(void *user)
{
    return ((struct bench *)user)->ends > 0;
}

static bool drained_once(void *user)
{
    return ((struct bench *)user)->drains > 0;
}

#define GET "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

static void requests_follow_each_other_on_one_connection(void **state)
{
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_receive(b->loop, fd, &b->text, "[]");
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(b->text.bytes, "Content-Length: 2\r\n"));
    assert_non_null(strstr(b->text.bytes, "Date: "));
    assert_null(strstr(b->text.bytes, "Connection:"));
    b->text.len = 0;
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    kit_receive(b->loop, fd, &b->text, "[hello]");
    assert_int_equal(b->ends, 2);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_SENT);
    (void)close(fd);
    close_bench(b);
}

static void a_pipeline_is_answered_in_its_order(void **state)
{
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd,
             GET
             "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
             "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n" GET);
    kit_receive(b->loop, fd, &b->text, "[two]HTTP/1.1 200 OK");
    assert_true(strstr(b->text.bytes, "[]") < strstr(b->text.bytes, "[one]"));
    assert_true(strstr(b->text.bytes, "[one]") < strstr(b->text.bytes, "[two]"));
    assert_int_equal(b->requests, 4);
    (void)close(fd);
    close_bench(b);
}

static void a_pipeline_waits_for_a_late_answer(void **state)
{
    struct bench *b = open_bench(WAIT);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET GET GET);
    for (size_t i = 1; i <= 3; i++) {
        kit_until(b->loop, asked, b);
        kit_for(b->loop, 5 * WEIR_NS_PER_MS);
        assert_int_equal(b->requests, i);
        weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("late"), 1);
    }
    kit_receive(b->loop, fd, &b->text, "late");
    assert_int_equal(b->ends, 3);
    (void)close(fd);
    close_bench(b);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    static const char request[] = "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                                  "chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n";
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        kit_send_bytes(b->loop, fd, request + i, 1);
        kit_turn(b->loop);
    }
    kit_receive(b->loop, fd, &b->text, "[hello]");
    (void)close(fd);
    close_bench(b);
}

static void a_body_of_64_mebibytes_is_taken_and_no_more(void **state)
{
    const size_t size = 64u * 1024 * 1024;
    struct bench *b = open_bench(WAIT);
    char *body = calloc(1, size);
    char head[128];
    int fd = kit_connect(b->port);

    (void)state;
    assert_non_null(body);
    (void)snprintf(head, sizeof(head), "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    kit_send(b->loop, fd, head);
    kit_send_bytes(b->loop, fd, body, size);
    kit_until(b->loop, asked, b);
    assert_int_equal(b->last_body, size);
    weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("ok"), 1);
    kit_receive(b->loop, fd, &b->text, "ok");
    b->text.len = 0;
    (void)snprintf(head, sizeof(head), "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                   size + 1);
    kit_send(b->loop, fd, head);
    kit_send_bytes(b->loop, fd, body, size);
    kit_receive(b->loop, fd, &b->text, "too large\"}");
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 413 "));
    assert_int_equal(b->last_end, WEIR_EXCHANGE_REFUSED);
    free(body);
    (void)close(fd);
    close_bench(b);
}

static void a_body_may_be_taken_from_its_exchange(void **state)
{
    struct bench *b = open_bench(WAIT);
    struct weir_buf body = {0};
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    kit_until(b->loop, asked, b);
    weir_exchange_take_body(b->exchange, &body);
    (void)close(fd);
    kit_until(b->loop, ended, b);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_GONE);
    assert_true(weir_slice_eq(weir_buf_slice(&body), WEIR_SLICE("hello")));
    weir_buf_deinit(&body);
    close_bench(b);
}

static void a_chunked_body_over_the_limit_is_413(void **state)
{
    const struct weir_server_config config = {.max_body_bytes = 8};
    struct bench *b = open_limited(ECHO, &config);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd,
             "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n4\r\nmore\r\n");
    kit_expect_end(b->loop, fd, &b->text);
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 413 "));
    assert_false(b->text.reset);
    (void)close(fd);
    close_bench(b);
}

static void an_early_refusal_reaches_a_client_that_still_sends(void **state)
{
    const size_t size = 8u * 1024 * 1024;
    struct bench *b = open_bench(REFUSE_EARLY);
    char *body = calloc(1, size);
    int fd = kit_connect(b->port);

    (void)state;
    assert_non_null(body);
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n");
    kit_send_bytes(b->loop, fd, body, size);
    kit_expect_end(b->loop, fd, &b->text);
    assert_false(b->text.reset);
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 401 "));
    assert_non_null(strstr(b->text.bytes, "Connection: close\r\n"));
    assert_non_null(strstr(b->text.bytes, "who are you"));
    assert_int_equal(b->requests, 0);
    free(body);
    (void)close(fd);
    close_bench(b);
}

static void an_early_refusal_without_a_body_keeps_the_connection(void **state)
{
    struct bench *b = open_bench(REFUSE_EARLY);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET GET);
    kit_receive(b->loop, fd, &b->text, "who are youHTTP/1.1 401");
    kit_receive(b->loop, fd, &b->text, "you");
    assert_false(b->text.ended);
    (void)close(fd);
    close_bench(b);
}

static void an_expected_continue_is_answered_when_the_body_is_wanted(void **state)
{
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    kit_receive(b->loop, fd, &b->text, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(b->requests, 0);
    kit_send(b->loop, fd, "hello");
    kit_receive(b->loop, fd, &b->text, "[hello]");
    (void)close(fd);
    close_bench(b);
}

static void an_expected_continue_is_not_answered_to_a_refused_body(void **state)
{
    const struct weir_server_config config = {.max_body_bytes = 4};
    struct bench *b = open_limited(ECHO, &config);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    kit_expect_end(b->loop, fd, &b->text);
    assert_null(strstr(b->text.bytes, "100 Continue"));
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 413 "));
    (void)close(fd);
    close_bench(b);
}

static void bad_framing_is_answered_in_the_hosts_words_and_closed(void **state)
{
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd,
             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd" GET);
    kit_expect_end(b->loop, fd, &b->text);
    assert_memory_equal(b->text.bytes, "HTTP/1.1 400 ", 13);
    assert_non_null(strstr(b->text.bytes, "{\"error\":"));
    assert_int_equal(b->requests, 0);
    (void)close(fd);
    close_bench(b);
}

static void a_problem_has_a_user_only_while_its_request_is_under_way(void **state)
{
    const struct weir_server_config config = {.max_body_bytes = 8};
    struct bench *b = open_limited(ECHO, &config);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    kit_expect_end(b->loop, fd, &b->text);
    assert_memory_equal(b->text.bytes, "HTTP/1.1 413 ", 13);
    assert_ptr_equal(b->problem_user, b);
    (void)close(fd);

    b->text = (struct kit_text){0};
    fd = kit_connect(b->port);
    kit_send(b->loop, fd, GET "nonsense\r\n\r\n");
    kit_expect_end(b->loop, fd, &b->text);
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 400 "));
    assert_null(b->problem_user);
    assert_int_equal(b->ends, 2);
    (void)close(fd);
    close_bench(b);
}

static void a_stream_is_chunked_for_http_1_1(void **state)
{
    struct bench *b = open_bench(STREAM);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_receive(b->loop, fd, &b->text, "2\r\n[]\r\n");
    assert_non_null(strstr(b->text.bytes, "Transfer-Encoding: chunked\r\n"));
    assert_int_equal(weir_exchange_write(b->exchange, &WEIR_SLICE("more"), 1), 0);
    assert_int_equal(weir_exchange_write(b->exchange, NULL, 0), 0);
    kit_receive(b->loop, fd, &b->text, "4\r\nmore\r\n");
    weir_exchange_end(b->exchange, &WEIR_SLICE("last"), 1);
    kit_receive(b->loop, fd, &b->text, "4\r\nlast\r\n0\r\n\r\n");
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    weir_exchange_end(b->exchange, NULL, 0);
    (void)close(fd);
    close_bench(b);
}

static void a_stream_ends_with_the_connection_for_http_1_0(void **state)
{
    struct bench *b = open_bench(STREAM);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    kit_until(b->loop, asked, b);
    weir_exchange_end(b->exchange, &WEIR_SLICE("last"), 1);
    kit_expect_end(b->loop, fd, &b->text);
    assert_false(b->text.reset);
    assert_null(strstr(b->text.bytes, "chunked"));
    assert_non_null(strstr(b->text.bytes, "\r\n\r\n[]last"));
    (void)close(fd);
    close_bench(b);
}

static void an_aborted_stream_has_no_last_chunk(void **state)
{
    struct bench *b = open_bench(STREAM);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_receive(b->loop, fd, &b->text, "[]\r\n");
    weir_exchange_abort(b->exchange);
    kit_expect_end(b->loop, fd, &b->text);
    assert_null(strstr(b->text.bytes, "0\r\n\r\n"));
    assert_int_equal(b->last_end, WEIR_EXCHANGE_ABORTED);
    (void)close(fd);
    close_bench(b);
}

static void an_aborted_stream_resets_an_http_1_0_client(void **state)
{
    struct bench *b = open_bench(STREAM);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "GET / HTTP/1.0\r\n\r\n");
    kit_receive(b->loop, fd, &b->text, "[]");
    weir_exchange_abort(b->exchange);
    kit_expect_end(b->loop, fd, &b->text);
    assert_true(b->text.reset);
    (void)close(fd);
    close_bench(b);
}

static void a_client_that_leaves_is_noticed_while_it_is_served(void **state)
{
    struct bench *b = open_bench(WAIT);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    kit_until(b->loop, ended, b);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_GONE);
    (void)close(fd);
    close_bench(b);
}

static void a_slow_reader_fills_the_queue_to_its_mark_and_drains_it(void **state)
{
    const struct weir_server_config config = {.high_water_bytes = 64 * 1024, .max_queue_bytes = 256 * 1024};
    struct bench *b = open_limited(STREAM, &config);
    static char block[16 * 1024];
    const struct weir_slice part = {block, sizeof(block)};
    int fd = kit_connect(b->port);
    size_t sent = 0;
    size_t received = 0;
    int r = 0;

    (void)state;
    memset(block, 'x', sizeof(block));
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    while ((r = weir_exchange_write(b->exchange, &part, 1)) == 0)
        sent += part.len;
    sent += part.len;
    assert_int_equal(r, WEIR_EXCHANGE_FULL);
    assert_true(weir_exchange_queued(b->exchange) > config.high_water_bytes);
    assert_true(weir_exchange_queued(b->exchange) < config.high_water_bytes + 2 * sizeof(block));
    while (!drained_once(b))
        received += kit_discard(b->loop, fd, &b->text);
    weir_exchange_end(b->exchange, &WEIR_SLICE("last"), 1);
    while (strstr(b->text.bytes, "last\r\n0\r\n\r\n") == NULL)
        received += kit_discard(b->loop, fd, &b->text);
    assert_true(received > sent);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_SENT);
    (void)close(fd);
    close_bench(b);
}

static void a_handler_that_ignores_the_mark_is_stopped(void **state)
{
    const struct weir_server_config config = {.high_water_bytes = 64 * 1024, .max_queue_bytes = 128 * 1024};
    struct bench *b = open_limited(STREAM, &config);
    static char block[16 * 1024];
    const struct weir_slice part = {block, sizeof(block)};
    int fd = kit_connect(b->port);
    int r = 0;

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    while (r >= 0)
        r = weir_exchange_write(b->exchange, &part, 1);
    weir_exchange_abort(b->exchange);
    (void)close(fd);
    close_bench(b);
}

static void a_large_answer_is_lent_until_it_is_sent(void **state)
{
    const size_t size = 32u * 1024 * 1024;
    struct bench *b = open_bench(WAIT);
    char *body = calloc(1, size);
    int fd = kit_connect(b->port);
    size_t received = 0;

    (void)state;
    assert_non_null(body);
    memset(body, 'x', size);
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &(struct weir_slice){body, size}, 1);
    assert_int_equal(b->ends, 0);
    while (b->ends == 0 || received < size)
        received += kit_discard(b->loop, fd, &b->text);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_SENT);
    free(body);
    (void)close(fd);
    close_bench(b);
}

static void a_client_that_takes_nothing_is_given_up(void **state)
{
    const struct weir_server_config config = {.send_timeout_ns = 50 * WEIR_NS_PER_MS};
    const size_t size = 32u * 1024 * 1024;
    struct bench *b = open_limited(WAIT, &config);
    char *body = calloc(1, size);
    int fd = kit_connect(b->port);

    (void)state;
    assert_non_null(body);
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &(struct weir_slice){body, size}, 1);
    kit_until(b->loop, ended, b);
    assert_int_equal(b->last_end, WEIR_EXCHANGE_LATE);
    free(body);
    (void)close(fd);
    close_bench(b);
}

static void late_heads_and_bodies_are_answered_408(void **state)
{
    const struct weir_server_config config = {.head_timeout_ns = 20 * WEIR_NS_PER_MS,
                                              .body_timeout_ns = 20 * WEIR_NS_PER_MS};
    static const char *const starts[] = {"GET / HTT",
                                         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench *b = open_limited(ECHO, &config);
        int fd = kit_connect(b->port);

        kit_send(b->loop, fd, starts[i]);
        kit_expect_end(b->loop, fd, &b->text);
        assert_memory_equal(b->text.bytes, "HTTP/1.1 408 ", 13);
        (void)close(fd);
        close_bench(b);
    }
}

static void an_idle_connection_is_closed_in_its_time(void **state)
{
    const struct weir_server_config config = {.idle_timeout_ns = 20 * WEIR_NS_PER_MS};
    struct bench *b = open_limited(ECHO, &config);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_expect_end(b->loop, fd, &b->text);
    assert_non_null(strstr(b->text.bytes, "[]"));
    assert_false(b->text.reset);
    (void)close(fd);
    close_bench(b);
}

static void the_last_request_of_a_connection_says_so(void **state)
{
    const struct weir_server_config config = {.max_requests = 2};
    struct bench *b = open_limited(ECHO, &config);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET GET GET);
    kit_expect_end(b->loop, fd, &b->text);
    assert_int_equal(b->requests, 2);
    assert_non_null(strstr(b->text.bytes, "Connection: close"));
    (void)close(fd);
    close_bench(b);
}

static void a_connection_too_many_is_told_so(void **state)
{
    struct bench *b = open_bench(ECHO);
    int first;
    int second;

    (void)state;
    b->shared.max_connections = 1;
    first = kit_connect(b->port);
    kit_send(b->loop, first, GET);
    kit_receive(b->loop, first, &b->text, "[]");
    b->text.len = 0;
    second = kit_connect(b->port);
    kit_send(b->loop, second, GET);
    kit_expect_end(b->loop, second, &b->text);
    assert_memory_equal(b->text.bytes, "HTTP/1.1 503 ", 13);
    assert_int_equal(b->requests, 1);
    (void)close(first);
    (void)close(second);
    close_bench(b);
}

static void count(void *user)
{
    (*(size_t *)user)++;
}

static bool counted(void *user)
{
    return *(size_t *)user > 0;
}

static void draining_lets_exchanges_end_and_takes_no_more(void **state)
{
    struct bench *b = open_bench(WAIT);
    size_t drained = 0;
    int busy = kit_connect(b->port);
    int idle = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, idle, GET);
    kit_until(b->loop, asked, b);
    weir_exchange_respond(b->exchange, 204, WEIR_SLICE_EMPTY, NULL, 0);
    kit_send(b->loop, busy, GET);
    kit_until(b->loop, asked, b);
    weir_server_drain(b->server, count, &drained);
    kit_expect_end(b->loop, idle, &b->text);
    assert_non_null(strstr(b->text.bytes, "HTTP/1.1 204 No Content"));
    assert_null(strstr(b->text.bytes, "Content-Length"));
    assert_int_equal(drained, 0);
    b->text = (struct kit_text){0};
    weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("done"), 1);
    kit_expect_end(b->loop, busy, &b->text);
    assert_non_null(strstr(b->text.bytes, "Connection: close"));
    kit_until(b->loop, counted, &drained);
    assert_int_equal(drained, 1);
    (void)close(busy);
    (void)close(idle);
    close_bench(b);
}

static void draining_waits_a_moment_for_connections_that_are_new(void **state)
{
    struct bench *b = open_bench(WAIT);
    size_t drained = 0;
    int silent = kit_connect(b->port);
    int asking = kit_connect(b->port);

    (void)state;
    weir_server_drain(b->server, count, &drained);
    kit_send(b->loop, asking, GET);
    kit_until(b->loop, asked, b);
    weir_exchange_respond(b->exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("done"), 1);
    kit_expect_end(b->loop, silent, &b->text);
    assert_int_equal(b->text.len, 0);
    kit_expect_end(b->loop, asking, &b->text);
    kit_until(b->loop, counted, &drained);
    (void)close(silent);
    (void)close(asking);
    close_bench(b);
}

static void a_head_request_gets_a_length_and_no_body(void **state)
{
    struct bench *b = open_bench(ECHO);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" GET);
    kit_receive(b->loop, fd, &b->text, "[]");
    assert_non_null(strstr(b->text.bytes, "Content-Length: 2\r\n\r\nHTTP/1.1 200 OK"));
    (void)close(fd);
    close_bench(b);
}

static void the_peer_is_named(void **state)
{
    struct bench *b = open_bench(WAIT);
    int fd = kit_connect(b->port);

    (void)state;
    kit_send(b->loop, fd, GET);
    kit_until(b->loop, asked, b);
    assert_true(weir_slice_starts(weir_exchange_peer(b->exchange), WEIR_SLICE("127.0.0.1:")));
    (void)close(fd);
    close_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_follow_each_other_on_one_connection),
        cmocka_unit_test(a_pipeline_is_answered_in_its_order),
        cmocka_unit_test(a_pipeline_waits_for_a_late_answer),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(a_body_of_64_mebibytes_is_taken_and_no_more),
        cmocka_unit_test(a_body_may_be_taken_from_its_exchange),
        cmocka_unit_test(a_chunked_body_over_the_limit_is_413),
        cmocka_unit_test(an_early_refusal_reaches_a_client_that_still_sends),
        cmocka_unit_test(an_early_refusal_without_a_body_keeps_the_connection),
        cmocka_unit_test(an_expected_continue_is_answered_when_the_body_is_wanted),
        cmocka_unit_test(an_expected_continue_is_not_answered_to_a_refused_body),
        cmocka_unit_test(bad_framing_is_answered_in_the_hosts_words_and_closed),
        cmocka_unit_test(a_problem_has_a_user_only_while_its_request_is_under_way),
        cmocka_unit_test(a_stream_is_chunked_for_http_1_1),
        cmocka_unit_test(a_stream_ends_with_the_connection_for_http_1_0),
        cmocka_unit_test(an_aborted_stream_has_no_last_chunk),
        cmocka_unit_test(an_aborted_stream_resets_an_http_1_0_client),
        cmocka_unit_test(a_client_that_leaves_is_noticed_while_it_is_served),
        cmocka_unit_test(a_slow_reader_fills_the_queue_to_its_mark_and_drains_it),
        cmocka_unit_test(a_handler_that_ignores_the_mark_is_stopped),
        cmocka_unit_test(a_large_answer_is_lent_until_it_is_sent),
        cmocka_unit_test(a_client_that_takes_nothing_is_given_up),
        cmocka_unit_test(late_heads_and_bodies_are_answered_408),
        cmocka_unit_test(an_idle_connection_is_closed_in_its_time),
        cmocka_unit_test(the_last_request_of_a_connection_says_so),
        cmocka_unit_test(a_connection_too_many_is_told_so),
        cmocka_unit_test(draining_lets_exchanges_end_and_takes_no_more),
        cmocka_unit_test(draining_waits_a_moment_for_connections_that_are_new),
        cmocka_unit_test(a_head_request_gets_a_length_and_no_body),
        cmocka_unit_test(the_peer_is_named),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
