/*
 * A bare forwarder: net's server and client with nothing between them, to be measured beside nginx's
 * proxy_pass.
 *
 *     bench_forward PORT UPSTREAM_PORT
 *
 * Whole answers are held and sent at once; answers without a length are relayed piece by piece.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "net/client.h"
#include "net/server.h"
#include "wire/http1_read.h"

enum { ANSWER_MAX_BYTES = 64 * 1024 * 1024 };

#define FIELDS WEIR_SLICE("Content-Type: application/json\r\n")

struct forwarder {
    weir_client *client;
    uint16_t upstream_port;
};

struct call {
    struct weir_fetch fetch;
    struct weir_fetch_request request;
    struct weir_slice body;
    weir_exchange *exchange;
    struct weir_buf answer;
    unsigned status;
    bool streamed;
};

static void free_call(struct call *call)
{
    weir_buf_deinit(&call->answer);
    free(call);
}

static void on_answer_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct call *call = fetch->user;

    call->status = head->status;
    call->streamed = head->framing == WEIR_HTTP1_FRAMED_CHUNKED;
    if (call->streamed && weir_exchange_begin(call->exchange, (int)head->status, FIELDS, NULL, 0) < 0)
        weir_exchange_abort(call->exchange);
}

static void on_answer_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct call *call = fetch->user;
    int r;

    if (!call->streamed) {
        if (weir_buf_append(&call->answer, bytes) < 0)
            weir_exchange_abort(call->exchange);
        return;
    }
    r = weir_exchange_write(call->exchange, &bytes, 1);
    if (r == WEIR_EXCHANGE_FULL)
        weir_fetch_pause(fetch);
    else if (r < 0)
        weir_exchange_abort(call->exchange);
}

static void on_answer_done(struct weir_fetch *fetch)
{
    struct call *call = fetch->user;
    struct weir_slice body = weir_buf_slice(&call->answer);

    if (call->streamed)
        weir_exchange_end(call->exchange, NULL, 0);
    else
        weir_exchange_respond(call->exchange, (int)call->status, FIELDS, &body, 1);
}

static void on_answer_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct call *call = fetch->user;

    (void)fprintf(stderr, "%.*s\n", (int)failure->text.len, failure->text.ptr);
    weir_exchange_abort(call->exchange);
}

static const struct weir_fetch_events fetch_events = {on_answer_head, on_answer_body, on_answer_done,
                                                      on_answer_error};

static void on_head(void *user, weir_exchange *exchange)
{
    (void)user;
    (void)exchange;
}

static void on_request(void *user, weir_exchange *exchange)
{
    struct forwarder *forwarder = user;
    const struct weir_http1_head *head = weir_exchange_head(exchange);
    struct call *call = malloc(sizeof(*call));

    if (call == NULL) {
        weir_exchange_abort(exchange);
        return;
    }
    memset(call, 0, sizeof(*call));
    weir_buf_init(&call->answer, weir_mem_libc(), ANSWER_MAX_BYTES);
    call->exchange = exchange;
    call->body = weir_exchange_body(exchange);
    call->request = (struct weir_fetch_request){.host = WEIR_SLICE("127.0.0.1"),
                                                .port = forwarder->upstream_port,
                                                .method = head->method,
                                                .target = head->target,
                                                .fields = FIELDS,
                                                .parts = &call->body,
                                                .part_count = call->body.len > 0};
    call->fetch.events = &fetch_events;
    call->fetch.user = call;
    weir_exchange_set_user(exchange, call);
    weir_client_start(forwarder->client, &call->fetch, &call->request);
}

static void on_drain(void *user, weir_exchange *exchange)
{
    struct call *call = weir_exchange_user(exchange);

    (void)user;
    weir_fetch_resume(&call->fetch);
}

static void on_end(void *user, weir_exchange *exchange, enum weir_exchange_end end)
{
    struct call *call = weir_exchange_user(exchange);

    (void)user;
    (void)end;
    if (call == NULL)
        return;
    weir_fetch_cancel(&call->fetch);
    free_call(call);
}

static int serve(uint16_t port, uint16_t upstream_port)
{
    const struct weir_mem *mem = weir_mem_libc();
    const struct weir_listener_config at = {WEIR_SLICE_INIT("127.0.0.1"), port, 4096, 1};
    struct forwarder forwarder = {.upstream_port = upstream_port};
    const struct weir_server_handler handler = {&forwarder, on_head, on_request, on_drain, on_end, NULL};
    struct weir_server_shared shared = {0};
    struct weir_client_config client = {0};
    weir_loop *loop;
    weir_server *server;
    weir_listener *listener;
    char text[WEIR_LISTENER_TEXT_MAX];

    if (weir_listener_new(mem, &at, text, &listener) != 0) {
        (void)fprintf(stderr, "%s\n", text);
        return 1;
    }
    if (weir_resolver_new(mem, &(struct weir_resolver_config){0}, &client.resolver) < 0 ||
        weir_loop_new(mem, &loop) < 0 || weir_client_new(loop, &client, &forwarder.client) < 0 ||
        weir_server_new(loop, &(struct weir_server_config){0}, &handler, &shared, &server) < 0 ||
        weir_server_listen(server, listener, 0) < 0)
        return 1;
    weir_loop_run(loop);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t port;
    uint64_t upstream_port;

    if (argc != 3 || weir_slice_u64(weir_slice_str(argv[1]), &port) != 0 ||
        weir_slice_u64(weir_slice_str(argv[2]), &upstream_port) != 0 || port > UINT16_MAX ||
        upstream_port > UINT16_MAX) {
        (void)fprintf(stderr, "usage: bench_forward PORT UPSTREAM_PORT\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return serve((uint16_t)port, (uint16_t)upstream_port);
}
