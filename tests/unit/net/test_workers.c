/*
 * Several workers in one process, each with a server that forwards to the next worker's port by a client of
 * its own, one resolver and one listener between them: for ThreadSanitizer, and for what one thread cannot
 * show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "net/client.h"
#include "net/server.h"
#include "net_kit.h"
#include "wire/http1_read.h"

#include <arpa/inet.h>

#include <uv.h>

#include <cmocka.h>

enum { WORKERS = 3, ROUNDS = 20, CONNECTIONS = 12 };

/* /3 is answered by a fetch of /2 from the same listener, and so on; /0 with "end". */
struct worker {
    weir_loop *loop;
    weir_server *server;
    weir_client *client;
    weir_listener *listener;
    uv_thread_t thread;
    struct weir_loop_task drain;
};

struct call {
    struct weir_fetch fetch;
    struct weir_fetch_request request;
    weir_exchange *exchange;
    char target[2];
    struct weir_buf body;
};

static const char *look_up(void *user, const char *host, struct weir_addresses *ret_addresses)
{
    (void)user;
    (void)host;
    return weir_resolve_literal(WEIR_SLICE("127.0.0.1"), ret_addresses) == 0 ? NULL : "failed";
}

static void on_answer_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    (void)fetch;
    (void)head;
}

static void on_answer_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct call *call = fetch->user;

    if (weir_buf_append(&call->body, bytes) < 0)
        abort();
}

static void on_answer_done(struct weir_fetch *fetch)
{
    struct call *call = fetch->user;
    const struct weir_slice parts[] = {WEIR_SLICE_INIT("<"), weir_buf_slice(&call->body)};

    weir_exchange_respond(call->exchange, 200, WEIR_SLICE_EMPTY, parts, 2);
}

static void on_answer_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct call *call = fetch->user;

    weir_exchange_respond(call->exchange, 502, WEIR_SLICE_EMPTY, &failure->text, 1);
}

static const struct weir_fetch_events fetch_events = {on_answer_head, on_answer_body, on_answer_done,
                                                      on_answer_error};

static void on_head(void *user, weir_exchange *exchange)
{
    (void)user;
    (void)exchange;
}

static void forward(struct worker *worker, weir_exchange *exchange, char depth)
{
    struct call *call = calloc(1, sizeof(*call));

    if (call == NULL)
        abort();
    call->target[0] = '/';
    call->target[1] = (char)(depth - 1);
    call->exchange = exchange;
    call->fetch.events = &fetch_events;
    call->fetch.user = call;
    weir_buf_init(&call->body, weir_mem_libc(), 1024);
    call->request = (struct weir_fetch_request){.host = WEIR_SLICE("workers.test"),
                                                .port = weir_listener_port(worker->listener),
                                                .method = WEIR_SLICE("GET"),
                                                .target = {call->target, 2}};
    weir_exchange_set_user(exchange, call);
    weir_client_start(worker->client, &call->fetch, &call->request);
}

static void on_request(void *user, weir_exchange *exchange)
{
    struct weir_slice path = weir_exchange_head(exchange)->path;

    if (path.len == 2 && path.ptr[1] > '0' && path.ptr[1] <= '9')
        forward(user, exchange, path.ptr[1]);
    else
        weir_exchange_respond(exchange, 200, WEIR_SLICE_EMPTY, &WEIR_SLICE("end"), 1);
}

static void on_end(void *user, weir_exchange *exchange, enum weir_exchange_end end)
{
    struct call *call = weir_exchange_user(exchange);

    (void)user;
    (void)end;
    if (call == NULL)
        return;
    weir_fetch_cancel(&call->fetch);
    weir_buf_deinit(&call->body);
    free(call);
}

static void on_drained(void *user)
{
    struct worker *worker = user;

    weir_client_close(worker->client);
    weir_server_close(worker->server);
    weir_loop_stop(worker->loop);
}

static void on_drain(struct weir_loop_task *task)
{
    struct worker *worker = (struct worker *)(void *)((char *)task - offsetof(struct worker, drain));

    weir_server_drain(worker->server, on_drained, worker);
}

static void run_worker(void *arg)
{
    weir_loop_run(((struct worker *)arg)->loop);
}

static void start(struct worker *worker, size_t index, weir_listener *listener, weir_resolver *resolver,
                  struct weir_server_shared *shared)
{
    const struct weir_server_config config = {0};
    const struct weir_client_config client = {.resolver = resolver};
    const struct weir_server_handler handler = {worker, on_head, on_request, NULL, on_end, NULL};

    worker->listener = listener;
    worker->drain.run = on_drain;
    assert_int_equal(weir_loop_new(weir_mem_libc(), &worker->loop), 0);
    assert_int_equal(weir_client_new(worker->loop, &client, &worker->client), 0);
    assert_int_equal(weir_server_new(worker->loop, &config, &handler, shared, &worker->server), 0);
    assert_int_equal(weir_server_listen(worker->server, listener, index), 0);
    assert_int_equal(uv_thread_create(&worker->thread, run_worker, worker), 0);
}

static void workers_serve_and_drain_together(void **state)
{
    const struct weir_listener_config at = {WEIR_SLICE_INIT("127.0.0.1"), 0, 0, WORKERS};
    const struct weir_resolver_config resolver_config = {.lookup = look_up, .ttl_ns = WEIR_NS_PER_MS};
    static struct worker workers[WORKERS];
    static struct kit_text text;
    struct weir_server_shared shared = {0};
    char error[WEIR_LISTENER_TEXT_MAX];
    weir_listener *listener;
    weir_resolver *resolver;
    weir_loop *own;
    int fds[CONNECTIONS];

    (void)state;
    assert_int_equal(weir_loop_new(weir_mem_libc(), &own), 0);
    assert_int_equal(weir_listener_new(weir_mem_libc(), &at, error, &listener), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &resolver_config, &resolver), 0);
    for (size_t w = 0; w < WORKERS; w++)
        start(&workers[w], w, listener, resolver, &shared);
    for (size_t i = 0; i < CONNECTIONS; i++)
        fds[i] = kit_connect(weir_listener_port(listener));
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CONNECTIONS; i++)
            kit_send(own, fds[i], "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
        for (size_t i = 0; i < CONNECTIONS; i++) {
            text.len = 0;
            kit_receive(own, fds[i], &text, "<<<end");
        }
    }
    for (size_t w = 0; w < WORKERS; w++)
        weir_loop_post(workers[w].loop, &workers[w].drain);
    for (size_t w = 0; w < WORKERS; w++) {
        assert_int_equal(uv_thread_join(&workers[w].thread), 0);
        weir_loop_free(workers[w].loop);
    }
    assert_int_equal(atomic_load(&shared.connections), 0);
    for (size_t i = 0; i < CONNECTIONS; i++)
        (void)close(fds[i]);
    weir_resolver_free(resolver);
    weir_listener_free(listener);
    weir_loop_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_serve_and_drain_together),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
