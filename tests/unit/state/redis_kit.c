#include "redis_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "unit.h"

#include <uv.h>

#define HELLO(mode, role)                                                                                    \
    "*8\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:2\r\n$4\r\nmode\r\n" mode "$4\r\nrole\r\n" role

const char redis_kit_master[] = HELLO("$10\r\nstandalone\r\n", "$6\r\nmaster\r\n");
const char redis_kit_replica[] = HELLO("$10\r\nstandalone\r\n", "$7\r\nreplica\r\n");
const char redis_kit_cluster[] = HELLO("$7\r\ncluster\r\n", "$6\r\nmaster\r\n");
const char redis_kit_sentinel[] = HELLO("$8\r\nsentinel\r\n", "$6\r\nmaster\r\n");

static void on_state(void *user, const struct weir_redis_state *state)
{
    struct redis_kit *kit = user;
    struct redis_kit_state *told = &kit->states[kit->state_count++];

    assert_true(kit->state_count < REDIS_KIT_STATES_MAX && state->text.len < REDIS_KIT_TEXT_MAX);
    *told = (struct redis_kit_state){state->up, state->resting, state->deaf, state->cause, ""};
    memcpy(told->text, state->text.ptr, state->text.len);
}

static void copy(char *room, size_t size, struct weir_slice text)
{
    (void)snprintf(room, size, "%.*s", (int)text.len, text.len == 0 ? "" : text.ptr);
}

static void on_message(void *user, struct weir_slice payload)
{
    struct redis_kit *kit = user;

    copy(kit->message, sizeof(kit->message), payload);
    kit->message_count++;
}

static void on_done(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct redis_kit *kit = user;
    struct redis_kit_answer *answer = &kit->answers[kit->answer_count++];

    assert_true(kit->answer_count < REDIS_KIT_ANSWERS_MAX);
    *answer = (struct redis_kit_answer){.tag = tag, .lost = reply == NULL};
    if (reply == NULL)
        return;
    answer->kind = reply->kind;
    answer->number = reply->number;
    answer->count = reply->count;
    copy(answer->text, sizeof(answer->text), reply->text);
}

struct redis_kit *redis_kit_open(void)
{
    struct redis_kit *kit = calloc(1, sizeof(*kit));
    struct weir_resolver_config config = {.threads = 1};
    uint16_t port;

    assert_non_null(kit);
    test_mem_init(&kit->mem, 0);
    assert_int_equal(weir_loop_new(&kit->mem.mem, &kit->loop), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &config, &kit->resolver), 0);
    kit->listening = kit_listen(&port);
    kit->server = (struct weir_redis_address){WEIR_SLICE("127.0.0.1"), port};
    kit->spec = (struct weir_redis_spec){
        .loop = kit->loop,
        .resolver = kit->resolver,
        .servers = &kit->server,
        .server_count = 1,
        .timeout_ns = 2 * WEIR_NS_PER_S,
        .connect_timeout_ns = 2 * WEIR_NS_PER_S,
        .on_state = on_state,
        .on_message = on_message,
        .user = kit,
    };
    return kit;
}

void redis_kit_close(struct redis_kit *kit)
{
    weir_redis_free(kit->redis);
    weir_loop_free(kit->loop);
    weir_resolver_free(kit->resolver);
    if (kit->listening >= 0)
        (void)close(kit->listening);
    test_mem_assert_empty(&kit->mem);
    free(kit);
}

void redis_kit_start(struct redis_kit *kit)
{
    assert_int_equal(weir_redis_new(&kit->spec, &kit->redis), 0);
    assert_int_equal(kit->state_count, 0);
}

int redis_kit_serve_as(struct redis_kit *kit, const char *hello, const char *ping)
{
    int fd = kit_accept(kit->loop, kit->listening);

    kit->text.len = 0;
    kit->text.ended = false;
    kit_receive(kit->loop, fd, &kit->text, "PING\r\n");
    assert_non_null(strstr(kit->text.bytes, "HELLO\r\n$1\r\n2\r\n"));
    kit_send(kit->loop, fd, hello);
    kit_send(kit->loop, fd, ping);
    return fd;
}

int redis_kit_serve(struct redis_kit *kit)
{
    size_t before = kit->state_count;
    int fd = redis_kit_serve_as(kit, redis_kit_master, "+PONG\r\n");

    assert_true(redis_kit_state(kit, before + 1)->up);
    return fd;
}

static void wait_for(struct redis_kit *kit, const size_t *counter, size_t count)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;

    while (*counter < count) {
        assert_true(uv_hrtime() < end_ns);
        kit_turn(kit->loop);
    }
}

const struct redis_kit_state *redis_kit_state(struct redis_kit *kit, size_t count)
{
    wait_for(kit, &kit->state_count, count);
    return &kit->states[kit->state_count - 1];
}

void redis_kit_answers(struct redis_kit *kit, size_t count)
{
    wait_for(kit, &kit->answer_count, count);
}

void redis_kit_messages(struct redis_kit *kit, size_t count)
{
    wait_for(kit, &kit->message_count, count);
}

int redis_kit_send(struct redis_kit *kit, uint64_t tag, const char *a, const char *b, const char *c)
{
    struct weir_slice args[] = {weir_slice_str(a), weir_slice_str(b), weir_slice_str(c)};
    size_t count = b == NULL ? 1 : c == NULL ? 2 : 3;

    return weir_redis_send(kit->redis, args, count, (struct weir_redis_sink){on_done, kit, tag});
}
