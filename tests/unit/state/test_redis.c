/*
 * The client of Redis against a server that is played by hand: pipelines, and every way in which a connection
 * can go wrong.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "redis_kit.h"
#include "unit.h"

#include <uv.h>

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" has no \"%s\"", text, part);
}

static void answers_come_in_the_order_of_the_commands(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    char line[32];
    int fd;

    (void)state;
    redis_kit_start(kit);
    assert_int_equal(redis_kit_send(kit, 0, "GET", "early", NULL), WEIR_REDIS_AWAY);
    fd = redis_kit_serve(kit);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(redis_kit_send(kit, i, "INCR", "k", NULL), 0);
    assert_int_equal(weir_redis_pending(kit->redis), 1000);
    assert_int_equal(kit->answer_count, 0);
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(line, sizeof(line), ":%u\r\n", i);
        kit_send(kit->loop, fd, line);
    }
    redis_kit_answers(kit, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(kit->answers[i].tag, i);
        assert_int_equal(kit->answers[i].number, i);
    }
    assert_int_equal(weir_redis_pending(kit->redis), 0);
    (void)close(fd);
    redis_kit_close(kit);
}

static void an_error_of_one_command_is_its_answer(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    assert_int_equal(redis_kit_send(kit, 1, "INCR", "k", NULL), 0);
    assert_int_equal(redis_kit_send(kit, 2, "GET", "k", NULL), 0);
    kit_send(kit->loop, fd, "-WRONGTYPE Operation against a key\r\n$1\r\nv\r\n");
    redis_kit_answers(kit, 2);
    assert_int_equal(kit->answers[0].kind, WEIR_REPLY_ERROR);
    assert_string_equal(kit->answers[1].text, "v");
    assert_true(weir_redis_is_up(kit->redis));
    (void)close(fd);
    redis_kit_close(kit);
}

static void closed_in_the_middle_of_a_pipeline_every_command_ends_once(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(redis_kit_send(kit, i, "INCR", "k", NULL), 0);
    kit_receive(kit->loop, fd, &kit->text, "INCR");
    kit_send(kit->loop, fd, ":1\r\n:2\r\n:3\r\n:4\r\n$5\r\nhal");
    (void)close(fd);
    redis_kit_answers(kit, 10);
    kit_for(kit->loop, 20 * WEIR_NS_PER_MS);
    assert_int_equal(kit->answer_count, 10);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(kit->answers[i].tag, i);
        assert_int_equal(kit->answers[i].lost, i >= 4);
    }
    assert_int_equal(redis_kit_state(kit, 2)->cause, WEIR_REDIS_CLOSED);
    (void)close(redis_kit_serve(kit));
    redis_kit_close(kit);
}

static void a_late_answer_loses_the_connection_and_all_that_waits(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.timeout_ns = 30 * WEIR_NS_PER_MS;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    assert_int_equal(redis_kit_send(kit, 1, "GET", "a", NULL), 0);
    assert_int_equal(redis_kit_send(kit, 2, "GET", "b", NULL), 0);
    redis_kit_answers(kit, 2);
    assert_true(kit->answers[0].lost && kit->answers[1].lost);
    assert_int_equal(redis_kit_state(kit, 2)->cause, WEIR_REDIS_SLOW);
    assert_int_equal(redis_kit_send(kit, 3, "GET", "c", NULL), WEIR_REDIS_AWAY);
    (void)close(fd);
    redis_kit_close(kit);
}

/* Nothing turns the loop for longer than the limit; the answer lies in the socket. */
static void an_answer_that_this_process_was_too_busy_to_read_is_not_late(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.timeout_ns = 20 * WEIR_NS_PER_MS;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(redis_kit_send(kit, i, "GET", "a", NULL), 0);
        (void)uv_run(weir_loop_uv(kit->loop), UV_RUN_NOWAIT);
        assert_int_equal(write(fd, "$-1\r\n", 5), 5);
        (void)usleep(40000);
        redis_kit_answers(kit, i + 1);
        assert_false(kit->answers[i].lost);
    }
    (void)close(fd);
    redis_kit_close(kit);
}

static void freed_with_commands_under_way_each_is_told(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(redis_kit_send(kit, i, "INCR", "k", NULL), 0);
    weir_redis_free(kit->redis);
    kit->redis = NULL;
    assert_int_equal(kit->answer_count, 3);
    assert_int_equal(kit->state_count, 1);
    (void)close(fd);
    redis_kit_close(kit);
}

static void beyond_a_maximum_commands_are_refused_at_once(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    static char large[70000];
    int fd;

    (void)state;
    memset(large, 'x', sizeof(large) - 1);
    kit->spec.max_pending = 4;
    kit->spec.max_queue_bytes = 65536;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    assert_int_equal(redis_kit_send(kit, 0, "SET", "k", large), WEIR_REDIS_FULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(redis_kit_send(kit, i, "GET", "k", NULL), 0);
    assert_int_equal(redis_kit_send(kit, 4, "GET", "k", NULL), WEIR_REDIS_FULL);
    kit_send(kit->loop, fd, "$-1\r\n$-1\r\n$-1\r\n$-1\r\n");
    redis_kit_answers(kit, 4);
    assert_int_equal(redis_kit_send(kit, 5, "GET", "k", NULL), 0);
    kit_send(kit->loop, fd, "$-1\r\n");
    redis_kit_answers(kit, 5);
    (void)close(fd);
    redis_kit_close(kit);
}

/* What a server says instead of an answer, and what is told of it. */
static void answers_that_are_none_end_the_connection(void **state)
{
    static const struct {
        const char *bytes;
        enum weir_redis_cause cause;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", WEIR_REDIS_GARBAGE},
        {"\xff\xfe\x01\x02\r\n", WEIR_REDIS_GARBAGE},
        {"$-1\r\n$-1\r\n", WEIR_REDIS_GARBAGE},
        {"*2000000000\r\n", WEIR_REDIS_LARGE},
        {"-MOVED 3999 127.0.0.1:6381\r\n", WEIR_REDIS_CLUSTER},
        {"-CLUSTERDOWN Hash slot not served\r\n", WEIR_REDIS_CLUSTER},
        {"-READONLY You can't write against a read only replica.\r\n", WEIR_REDIS_READ_ONLY},
        {"-LOADING Redis is loading the dataset in memory\r\n", WEIR_REDIS_LOADING},
        {"-NOAUTH Authentication required.\r\n", WEIR_REDIS_PASSWORD},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct redis_kit *kit = redis_kit_open();
        int fd;

        redis_kit_start(kit);
        fd = redis_kit_serve(kit);
        assert_int_equal(redis_kit_send(kit, 1, "GET", "a", NULL), 0);
        kit_send(kit->loop, fd, rows[i].bytes);
        assert_int_equal(redis_kit_state(kit, 2)->cause, rows[i].cause);
        assert_int_equal(kit->answer_count, 1);
        assert_int_equal(redis_kit_send(kit, 2, "GET", "a", NULL), WEIR_REDIS_AWAY);
        (void)close(fd);
        redis_kit_close(kit);
    }
}

static void a_huge_answer_is_refused_before_it_is_held(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    static char piece[65536];
    int fd;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    kit->spec.max_reply_bytes = 100000;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    assert_int_equal(redis_kit_send(kit, 1, "GET", "a", NULL), 0);
    kit_send(kit->loop, fd, "$500000000\r\n");
    for (unsigned i = 0; i < 20 && kit->state_count < 2; i++)
        kit_send_bytes(kit->loop, fd, piece, sizeof(piece));
    assert_int_equal(redis_kit_state(kit, 2)->cause, WEIR_REDIS_LARGE);
    assert_true(kit->answers[0].lost);
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_server_that_must_not_be_used_is_named_for_what_it_is(void **state)
{
    static const struct {
        const char *hello;
        const char *ping;
        enum weir_redis_cause cause;
        const char *text;
    } rows[] = {
        {redis_kit_cluster, "+PONG\r\n", WEIR_REDIS_CLUSTER, "Redis Cluster is not supported"},
        {redis_kit_sentinel, "+PONG\r\n", WEIR_REDIS_SENTINEL, "sentinel_nodes"},
        {redis_kit_replica, "+PONG\r\n", WEIR_REDIS_READ_ONLY, "replica"},
        {redis_kit_master, "-LOADING Redis is loading\r\n", WEIR_REDIS_LOADING, "loading"},
        {"-NOAUTH HELLO must be called with the client already authenticated\r\n", "-NOAUTH no\r\n",
         WEIR_REDIS_PASSWORD, "NOAUTH"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct redis_kit *kit = redis_kit_open();
        int fd;

        redis_kit_start(kit);
        fd = redis_kit_serve_as(kit, rows[i].hello, rows[i].ping);
        assert_int_equal(redis_kit_state(kit, 1)->cause, rows[i].cause);
        assert_false(kit->states[0].up);
        assert_has(kit->states[0].text, rows[i].text);
        (void)close(fd);
        redis_kit_close(kit);
    }
}

/* It knows neither HELLO nor who may run PING. */
static void an_old_server_and_a_narrow_user_are_good_enough(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    redis_kit_start(kit);
    fd = redis_kit_serve_as(kit, "-ERR unknown command `HELLO`\r\n",
                            "-NOPERM no permissions to run 'ping'\r\n");
    assert_true(redis_kit_state(kit, 1)->up);
    (void)close(fd);
    redis_kit_close(kit);
}

static void the_login_comes_first_and_its_secrets_stay_out_of_every_text(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.login = (struct weir_redis_login){WEIR_SLICE("fleet"), WEIR_SLICE("hunter2")};
    kit->spec.database = 3;
    redis_kit_start(kit);
    fd = kit_accept(kit->loop, kit->listening);
    kit_receive(kit->loop, fd, &kit->text, "PING\r\n");
    assert_string_equal(kit->text.bytes, "*3\r\n$4\r\nAUTH\r\n$5\r\nfleet\r\n$7\r\nhunter2\r\n"
                                         "*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n"
                                         "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
                                         "*1\r\n$4\r\nPING\r\n");
    kit_send(kit->loop, fd,
             "-ERR unknown command `AUTH`, with args beginning with: `fleet`, `hunter2`, \r\n");
    assert_int_equal(redis_kit_state(kit, 1)->cause, WEIR_REDIS_PASSWORD);
    assert_null(strstr(kit->states[0].text, "hunter2"));
    assert_null(strstr(kit->states[0].text, "fleet"));
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_database_that_does_not_exist_is_told(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.database = 99;
    redis_kit_start(kit);
    fd = redis_kit_serve_as(kit, redis_kit_master, "-ERR DB index is out of range\r\n+PONG\r\n");
    assert_int_equal(redis_kit_state(kit, 1)->cause, WEIR_REDIS_DATABASE);
    assert_has(kit->states[0].text, "(ERR DB index is out of range)");
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_refused_connection_is_told_and_tried_at_a_pace(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    struct weir_redis_counts counts;

    (void)state;
    (void)close(kit->listening);
    kit->listening = -1;
    kit->spec.breaker_threshold = 3;
    kit->spec.breaker_recovery_ns = 3600 * WEIR_NS_PER_S;
    redis_kit_start(kit);
    assert_int_equal(redis_kit_state(kit, 1)->cause, WEIR_REDIS_UNREACHABLE);
    assert_has(kit->states[0].text, "is away: it cannot be reached (connection refused)");
    assert_false(kit->states[0].resting);
    assert_true(redis_kit_state(kit, 2)->resting);
    assert_has(kit->states[1].text, "it is left alone for 3600 s");
    kit_for(kit->loop, 100 * WEIR_NS_PER_MS);
    weir_redis_counts(kit->redis, &counts);
    assert_int_equal(counts.trials, 3);
    assert_int_equal(counts.failures, 3);
    assert_int_equal(kit->state_count, 2);
    redis_kit_close(kit);
}

static void a_hung_server_is_given_up_and_told(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.connect_timeout_ns = 30 * WEIR_NS_PER_MS;
    redis_kit_start(kit);
    assert_int_equal(redis_kit_state(kit, 1)->cause, WEIR_REDIS_SLOW);
    fd = kit_accept(kit->loop, kit->listening);
    kit_expect_end(kit->loop, fd, &kit->text);
    (void)close(fd);
    redis_kit_close(kit);
}

static void after_the_rest_one_trial_brings_it_back(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.breaker_threshold = 1;
    kit->spec.breaker_recovery_ns = 50 * WEIR_NS_PER_MS;
    redis_kit_start(kit);
    fd = redis_kit_serve_as(kit, "garbage\r\n", "");
    assert_true(redis_kit_state(kit, 1)->resting);
    (void)close(fd);
    fd = redis_kit_serve(kit);
    assert_string_equal(strstr(kit->states[1].text, " answers"), " answers");
    (void)close(fd);
    redis_kit_close(kit);
}

/* It lets everybody in, and never answers a command. */
static void a_server_that_only_lets_in_opens_the_breaker(void **state)
{
    struct redis_kit *kit = redis_kit_open();

    (void)state;
    kit->spec.breaker_threshold = 2;
    kit->spec.breaker_recovery_ns = 3600 * WEIR_NS_PER_S;
    redis_kit_start(kit);
    (void)close(redis_kit_serve(kit));
    assert_false(redis_kit_state(kit, 2)->resting);
    (void)close(redis_kit_serve(kit));
    assert_true(redis_kit_state(kit, 4)->resting);
    redis_kit_close(kit);
}

static void a_silent_server_is_asked_whether_it_is_there(void **state)
{
    struct redis_kit *kit = redis_kit_open();
    int fd;

    (void)state;
    kit->spec.idle_ns = 10 * WEIR_NS_PER_MS;
    kit->spec.timeout_ns = 50 * WEIR_NS_PER_MS;
    redis_kit_start(kit);
    fd = redis_kit_serve(kit);
    for (unsigned i = 0; i < 3; i++) {
        kit->text.len = 0;
        kit_receive(kit->loop, fd, &kit->text, "PING\r\n");
        kit_send(kit->loop, fd, "+PONG\r\n");
    }
    assert_int_equal(kit->state_count, 1);
    assert_int_equal(redis_kit_state(kit, 2)->cause, WEIR_REDIS_SLOW);
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_name_that_does_not_exist_is_told(void **state)
{
    struct redis_kit *kit = redis_kit_open();

    (void)state;
    kit->server.host = WEIR_SLICE("redis.invalid");
    redis_kit_start(kit);
    assert_int_equal(redis_kit_state(kit, 1)->cause, WEIR_REDIS_NAME);
    assert_has(kit->states[0].text, "redis.invalid");
    redis_kit_close(kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_in_the_order_of_the_commands),
        cmocka_unit_test(an_error_of_one_command_is_its_answer),
        cmocka_unit_test(closed_in_the_middle_of_a_pipeline_every_command_ends_once),
        cmocka_unit_test(a_late_answer_loses_the_connection_and_all_that_waits),
        cmocka_unit_test(an_answer_that_this_process_was_too_busy_to_read_is_not_late),
        cmocka_unit_test(freed_with_commands_under_way_each_is_told),
        cmocka_unit_test(beyond_a_maximum_commands_are_refused_at_once),
        cmocka_unit_test(answers_that_are_none_end_the_connection),
        cmocka_unit_test(a_huge_answer_is_refused_before_it_is_held),
        cmocka_unit_test(a_server_that_must_not_be_used_is_named_for_what_it_is),
        cmocka_unit_test(an_old_server_and_a_narrow_user_are_good_enough),
        cmocka_unit_test(the_login_comes_first_and_its_secrets_stay_out_of_every_text),
        cmocka_unit_test(a_database_that_does_not_exist_is_told),
        cmocka_unit_test(a_refused_connection_is_told_and_tried_at_a_pace),
        cmocka_unit_test(a_hung_server_is_given_up_and_told),
        cmocka_unit_test(after_the_rest_one_trial_brings_it_back),
        cmocka_unit_test(a_server_that_only_lets_in_opens_the_breaker),
        cmocka_unit_test(a_silent_server_is_asked_whether_it_is_there),
        cmocka_unit_test(a_name_that_does_not_exist_is_told),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
