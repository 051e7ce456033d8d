/*
 * Memory runs out at each allocation in turn, while a request goes through a server, a client and a server
 * again: everybody gets an answer or an end, and everything comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "net/client.h"
#include "net/server.h"
#include "net_kit.h"
#include "test_mem.h"
#include "wire/http1_read.h"

#include <cmocka.h>

struct relay {
    weir_client *client;
    weir_listener *listener;
    struct weir_fetch fetch;
    struct weir_fetch_request request;
    struct weir_slice body;
    weir_exchange *exchange;
    bool active;
};

static void on_answer_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    (void)fetch;
    (void)head;
}

static void on_answer_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    (void)fetch;
    (void)bytes;
}

static void on_answer_done(struct weir_fetch *fetch)
{
    struct relay *relay = fetch->user;

    weir_exchange_respond(relay->exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("relayed"), 1);
}

static void on_answer_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct relay *relay = fetch->user;

    weir_exchange_respond(relay->exchange, 502, WEIR_SLICE_EMPTY, &failure->text, 1);
}

static const struct weir_fetch_events fetch_events = {on_answer_head, on_answer_body, on_answer_done,
                                                      on_answer_error};

static void on_head(void *user, weir_exchange *exchange)
{
    (void)user;
    (void)exchange;
}

static void answer_compressed(weir_exchange *exchange)
{
    /* "hello" as a stored block. */
    static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x05\0\xfa\xffhello\x86\xa6\x10\x36\x05\0\0";
    struct weir_slice part = {gzip, sizeof(gzip) - 1};

    weir_exchange_respond(exchange, 200, WEIR_SLICE("Content-Encoding: gzip\r\n"), &part, 1);
}

static void on_request(void *user, weir_exchange *exchange)
{
    struct relay *relay = user;

    if (!weir_slice_eq(weir_exchange_head(exchange)->path, WEIR_SLICE("/relay"))) {
        answer_compressed(exchange);
        return;
    }
    relay->exchange = exchange;
    relay->active = true;
    relay->body = weir_exchange_body(exchange);
    relay->fetch.events = &fetch_events;
    relay->fetch.user = relay;
    relay->request = (struct weir_fetch_request){.host = WEIR_SLICE("127.0.0.1"),
                                                 .port = weir_listener_port(relay->listener),
                                                 .method = WEIR_SLICE("POST"),
                                                 .target = WEIR_SLICE("/answer"),
                                                 .parts = &relay->body,
                                                 .part_count = 1};
    weir_client_start(relay->client, &relay->fetch, &relay->request);
}

static void on_end(void *user, weir_exchange *exchange, enum weir_exchange_end end)
{
    struct relay *relay = user;

    (void)end;
    if (!relay->active || relay->exchange != exchange)
        return;
    relay->active = false;
    weir_fetch_cancel(&relay->fetch);
}

/* Sends one request and waits for its answer or its end. */
static void play(weir_loop *loop, uint16_t port)
{
    static struct kit_text text;
    int fd = kit_connect(port);

    text = (struct kit_text){0};
    kit_send(loop, fd,
             "POST /relay HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
    kit_expect_end(loop, fd, &text);
    (void)close(fd);
}

static void run_once(const struct weir_mem *mem, weir_listener *listener, weir_resolver *resolver)
{
    const struct weir_server_config server_config = {0};
    const struct weir_client_config client_config = {.resolver = resolver};
    struct relay relay = {.listener = listener};
    const struct weir_server_handler handler = {&relay, on_head, on_request, NULL, on_end, NULL};
    struct weir_server_shared shared = {0};
    weir_server *server = NULL;
    weir_loop *loop = NULL;

    if (weir_loop_new(mem, &loop) < 0)
        return;
    if (weir_client_new(loop, &client_config, &relay.client) == 0 &&
        weir_server_new(loop, &server_config, &handler, &shared, &server) == 0 &&
        weir_server_listen(server, listener, 0) == 0)
        play(loop, weir_listener_port(listener));
    weir_server_close(server);
    weir_client_close(relay.client);
    weir_loop_free(loop);
}

static void every_allocation_may_fail(void **state)
{
    const struct weir_listener_config at = {WEIR_SLICE_INIT("127.0.0.1"), 0, 0, 1};
    char text[WEIR_LISTENER_TEXT_MAX];
    weir_resolver *resolver;
    size_t n = 0;
    struct test_mem mem;

    (void)state;
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &(struct weir_resolver_config){0}, &resolver), 0);
    do {
        weir_listener *listener = NULL;

        assert_int_equal(weir_listener_new(weir_mem_libc(), &at, text, &listener), 0);
        test_mem_init(&mem, ++n);
        run_once(&mem.mem, listener, resolver);
        test_mem_assert_empty(&mem);
        weir_listener_free(listener);
    } while (mem.failed);
    assert_true(n > 10);
    weir_resolver_free(resolver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
