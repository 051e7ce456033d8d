/*
 * The client against real servers: what a scripted one cannot vouch for.  Left out where there is no
 * redis-server.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "redis_kit.h"
#include "redis_process.h"
#include "unit.h"

#include <uv.h>

enum { SKIPPED = 77 };

struct bench {
    struct redis_process server;
    struct redis_kit *kit;
};

static void open_bench(struct bench *bench, const char *config)
{
    redis_process_start(&bench->server, 0, config, false);
    bench->kit = redis_kit_open();
    bench->kit->server.port = bench->server.port;
    bench->kit->spec.breaker_recovery_ns = 100 * WEIR_NS_PER_MS;
}

static void close_bench(struct bench *bench)
{
    redis_kit_close(bench->kit);
    redis_process_end(&bench->server);
}

static void start(struct bench *bench)
{
    redis_kit_start(bench->kit);
    assert_true(redis_kit_state(bench->kit, 1)->up);
}

/* Sends one command and waits for its answer. */
static const struct redis_kit_answer *ask(struct redis_kit *kit, const char *a, const char *b, const char *c)
{
    size_t before = kit->answer_count;

    assert_int_equal(redis_kit_send(kit, 0, a, b, c), 0);
    redis_kit_answers(kit, before + 1);
    return &kit->answers[before];
}

static void commands_and_what_is_published_come_through(void **state)
{
    struct bench bench;
    uint64_t before_ns;

    (void)state;
    open_bench(&bench, "");
    bench.kit->spec.channel = WEIR_SLICE("team:weir:cooldown");
    start(&bench);
    assert_string_equal(ask(bench.kit, "SET", "k", "v")->text, "OK");
    assert_string_equal(ask(bench.kit, "GET", "k", NULL)->text, "v");
    assert_int_equal(ask(bench.kit, "INCRBY", "n", "5")->number, 5);
    assert_int_equal(ask(bench.kit, "INCR", "k", NULL)->kind, WEIR_REPLY_ERROR);
    assert_int_equal(ask(bench.kit, "MGET", "k", "nothing")->count, 2);
    while (!weir_redis_listens(bench.kit->redis))
        kit_turn(bench.kit->loop);
    before_ns = uv_hrtime();
    assert_int_equal(ask(bench.kit, "PUBLISH", "team:weir:cooldown", "d1")->number, 1);
    redis_kit_messages(bench.kit, 1);
    assert_string_equal(bench.kit->message, "d1");
    assert_true(uv_hrtime() - before_ns < 500 * WEIR_NS_PER_MS);
    close_bench(&bench);
}

static void a_password_and_a_user_are_asked_for_and_taken(void **state)
{
    static const struct {
        const char *username;
        const char *password;
        bool up;
    } rows[] = {
        {"", "", false},           {"", "wrong", false},       {"", "secret", true},
        {"fleet", "wrong", false}, {"fleet", "secret2", true}, {"nobody", "secret", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;

        open_bench(&bench, "requirepass secret\nuser fleet on >secret2 ~deployment:* &* -@all +get +set");
        bench.kit->spec.login =
            (struct weir_redis_login){weir_slice_str(rows[i].username), weir_slice_str(rows[i].password)};
        redis_kit_start(bench.kit);
        assert_int_equal(redis_kit_state(bench.kit, 1)->up, rows[i].up);
        assert_int_equal(bench.kit->states[0].cause, rows[i].up ? WEIR_REDIS_NONE : WEIR_REDIS_PASSWORD);
        assert_null(strstr(bench.kit->states[0].text, "secret"));
        close_bench(&bench);
    }
}

static void what_a_user_may_not_is_an_answer(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, "user fleet on >p ~deployment:* &* -@all +get +set");
    bench.kit->spec.login = (struct weir_redis_login){WEIR_SLICE("fleet"), WEIR_SLICE("p")};
    start(&bench);
    assert_string_equal(ask(bench.kit, "SET", "deployment:d1:cooldown", "x")->text, "OK");
    assert_int_equal(ask(bench.kit, "SET", "other", "x")->kind, WEIR_REPLY_ERROR);
    assert_true(weir_redis_is_up(bench.kit->redis));
    close_bench(&bench);
}

static void databases_are_apart(void **state)
{
    struct bench bench;
    struct redis_kit *other = redis_kit_open();

    (void)state;
    open_bench(&bench, "");
    other->server.port = bench.server.port;
    other->spec.database = 3;
    start(&bench);
    redis_kit_start(other);
    assert_true(redis_kit_state(other, 1)->up);
    assert_string_equal(ask(other, "SET", "k", "v")->text, "OK");
    assert_int_equal(ask(bench.kit, "GET", "k", NULL)->kind, WEIR_REPLY_NIL);
    assert_string_equal(ask(other, "GET", "k", NULL)->text, "v");
    redis_kit_close(other);
    close_bench(&bench);
}

static void a_database_that_there_is_not_is_told(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, "");
    bench.kit->spec.database = 99;
    redis_kit_start(bench.kit);
    assert_int_equal(redis_kit_state(bench.kit, 1)->cause, WEIR_REDIS_DATABASE);
    close_bench(&bench);
}

static void a_cluster_is_refused_by_name(void **state)
{
    struct bench bench;
    char config[64];
    uint16_t bus;

    (void)state;
    /* Its own port and ten thousand is not always one. */
    (void)close(kit_listen(&bus));
    (void)snprintf(config, sizeof(config), "cluster-enabled yes\ncluster-port %u", bus);
    open_bench(&bench, config);
    bench.kit->spec.database = 1;
    redis_kit_start(bench.kit);
    assert_int_equal(redis_kit_state(bench.kit, 1)->cause, WEIR_REDIS_CLUSTER);
    assert_non_null(strstr(bench.kit->states[0].text, "Redis Cluster is not supported"));
    close_bench(&bench);
}

static void a_server_that_hangs_is_left_and_found_again(void **state)
{
    struct bench bench;

    (void)state;
    open_bench(&bench, "");
    bench.kit->spec.timeout_ns = 100 * WEIR_NS_PER_MS;
    bench.kit->spec.connect_timeout_ns = 200 * WEIR_NS_PER_MS;
    start(&bench);
    redis_process_signal(&bench.server, SIGSTOP);
    assert_true(ask(bench.kit, "GET", "k", NULL)->lost);
    assert_int_equal(redis_kit_state(bench.kit, 2)->cause, WEIR_REDIS_SLOW);
    kit_for(bench.kit->loop, 300 * WEIR_NS_PER_MS);
    redis_process_signal(&bench.server, SIGCONT);
    while (!weir_redis_is_up(bench.kit->redis))
        kit_turn(bench.kit->loop);
    assert_int_equal(ask(bench.kit, "GET", "k", NULL)->kind, WEIR_REPLY_NIL);
    close_bench(&bench);
}

static void a_server_that_is_killed_and_started_anew_is_found_again(void **state)
{
    struct bench bench;
    uint16_t port;

    (void)state;
    open_bench(&bench, "");
    start(&bench);
    port = bench.server.port;
    redis_process_end(&bench.server);
    assert_false(redis_kit_state(bench.kit, 2)->up);
    redis_process_start(&bench.server, port, "", false);
    while (!weir_redis_is_up(bench.kit->redis))
        kit_turn(bench.kit->loop);
    assert_string_equal(ask(bench.kit, "SET", "k", "v")->text, "OK");
    close_bench(&bench);
}

/* A master, a replica and one Sentinel that decides alone. */
static void a_failover_of_real_sentinels_is_followed(void **state)
{
    struct bench bench;
    struct redis_process replica, sentinel;
    struct weir_redis_address address = {.host = WEIR_SLICE("127.0.0.1")};
    char config[512];

    (void)state;
    open_bench(&bench, "repl-diskless-sync-delay 0");
    (void)snprintf(config, sizeof(config), "replicaof 127.0.0.1 %u", bench.server.port);
    redis_process_start(&replica, 0, config, false);
    (void)snprintf(config, sizeof(config),
                   "sentinel monitor mymaster 127.0.0.1 %u 1\nsentinel down-after-milliseconds mymaster 300\n"
                   "sentinel failover-timeout mymaster 2000",
                   bench.server.port);
    redis_process_start(&sentinel, 0, config, true);
    address.port = sentinel.port;
    bench.kit->spec.servers = &address;
    bench.kit->spec.service = WEIR_SLICE("mymaster");
    start(&bench);
    /* The Sentinel must have heard of the replica, which it asks the master for. */
    while (ask(bench.kit, "WAIT", "1", "100")->number != 1)
        (void)ask(bench.kit, "SET", "k", "v");
    kit_for(bench.kit->loop, 1500 * WEIR_NS_PER_MS);
    redis_process_end(&bench.server);
    assert_false(redis_kit_state(bench.kit, 2)->up);
    for (unsigned i = 0; i < 3 && !weir_redis_is_up(bench.kit->redis); i++)
        (void)kit_for(bench.kit->loop, 5 * WEIR_NS_PER_S);
    assert_true(weir_redis_is_up(bench.kit->redis));
    assert_string_equal(ask(bench.kit, "SET", "k", "w")->text, "OK");
    redis_process_end(&sentinel);
    redis_process_end(&replica);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_and_what_is_published_come_through),
        cmocka_unit_test(a_password_and_a_user_are_asked_for_and_taken),
        cmocka_unit_test(what_a_user_may_not_is_an_answer),
        cmocka_unit_test(databases_are_apart),
        cmocka_unit_test(a_database_that_there_is_not_is_told),
        cmocka_unit_test(a_cluster_is_refused_by_name),
        cmocka_unit_test(a_server_that_hangs_is_left_and_found_again),
        cmocka_unit_test(a_server_that_is_killed_and_started_anew_is_found_again),
        cmocka_unit_test(a_failover_of_real_sentinels_is_followed),
    };

    if (!redis_process_is_possible()) {
        printf("redis-server is not installed (scripts/deps test): nothing is tested\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
