/* Which of several processes asks, with a Redis that is this file's, in virtual time. */
#include "unit.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"
#include "gateway/health/duty.h"

enum { PROCESSES = 3, QUEUE = 16 };

/* A lock that ends by itself, and the questions that wait for their answers. */
static struct {
    char owner[64];
    size_t owner_len;
    uint64_t end_ns;
    bool away;
    bool silent; /* takes questions, and loses them */
    unsigned asked;
} redis;

static struct {
    struct weir_redis_sink sink;
    struct weir_reply reply;
    char text[64];
    bool lost;
} queue[QUEUE];
static size_t queued;

static struct weir_duty duties[PROCESSES];
static unsigned changes;
static uint64_t now_ns;

static void expire(void)
{
    if (redis.owner_len > 0 && now_ns >= redis.end_ns)
        redis.owner_len = 0;
}

static struct weir_reply answer(const struct weir_slice *args, char text[64])
{
    const struct weir_reply nil = {.kind = WEIR_REPLY_NIL};

    expire();
    if (weir_slice_eq(args[0], WEIR_SLICE("SET"))) {
        if (redis.owner_len > 0)
            return nil;
        memcpy(redis.owner, args[2].ptr, args[2].len);
        redis.owner_len = args[2].len;
        redis.end_ns = now_ns + 60 * WEIR_NS_PER_S;
        return (struct weir_reply){.kind = WEIR_REPLY_STATUS, .text = WEIR_SLICE("OK")};
    }
    if (weir_slice_eq(args[0], WEIR_SLICE("GET"))) {
        if (redis.owner_len == 0)
            return nil;
        memcpy(text, redis.owner, redis.owner_len);
        return (struct weir_reply){.kind = WEIR_REPLY_BYTES, .text = {text, redis.owner_len}};
    }
    if (weir_slice_eq(args[0], WEIR_SLICE("EXPIRE"))) {
        bool there = redis.owner_len > 0;

        redis.end_ns = now_ns + 60 * WEIR_NS_PER_S;
        return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = there};
    }
    assert_slice_is(args[0], "DEL");
    redis.owner_len = 0;
    return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = 1};
}

static int send_it(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink)
{
    (void)user;
    if (redis.away)
        return WEIR_REDIS_AWAY;
    assert_true(count >= 2 && queued < QUEUE);
    assert_slice_is(args[1], "ns:health_check_lock");
    redis.asked++;
    queue[queued].sink = sink;
    queue[queued].lost = redis.silent;
    if (!redis.silent)
        queue[queued].reply = answer(args, queue[queued].text);
    queued++;
    return 0;
}

static uint64_t tell_now(void *user)
{
    (void)user;
    return now_ns;
}

static void note_change(void *user)
{
    (void)user;
    changes++;
}

static const struct weir_duty_host host = {.send = send_it, .now_ns = tell_now, .changed = note_change};

static void deliver(void)
{
    for (size_t i = 0; i < queued; i++) /* answers may ask anew */
        if (queue[i].sink.done != NULL)
            queue[i].sink.done(queue[i].sink.user, queue[i].sink.tag, queue[i].lost ? NULL : &queue[i].reply);
    queued = 0;
}

static int start(void **state)
{
    (void)state;
    memset(&redis, 0, sizeof(redis));
    memset(duties, 0, sizeof(duties));
    now_ns = 1000 * WEIR_NS_PER_S;
    queued = 0;
    changes = 0;
    return 0;
}

static void begin(size_t process)
{
    char digits[WEIR_TEXT_U64_MAX];

    weir_duty_begin(&duties[process], &host, WEIR_SLICE("ns:health_check_lock"),
                    weir_text_u64(process + 1, digits));
}

/* Time passes, second by second, for the processes that live. */
static void pass(unsigned seconds)
{
    for (unsigned s = 0; s <= seconds; s++) {
        for (size_t i = 0; i < PROCESSES; i++)
            weir_duty_tick(&duties[i]);
        deliver();
        if (s < seconds)
            now_ns += WEIR_NS_PER_S;
    }
}

static size_t here(void)
{
    size_t count = 0;

    for (size_t i = 0; i < PROCESSES; i++)
        count += weir_duty_is_here(&duties[i]);
    return count;
}

static void test_one_of_them_has_the_duty_and_keeps_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROCESSES; i++)
        begin(i);
    pass(0);
    assert_int_equal(duties[0].state, WEIR_DUTY_MINE);
    assert_int_equal(duties[1].state, WEIR_DUTY_OTHERS);
    assert_slice_is(((struct weir_slice){duties[2].owner, duties[2].owner_len}), "1");
    for (int minute = 0; minute < 60; minute++) {
        pass(60);
        assert_int_equal(duties[0].state, WEIR_DUTY_MINE);
        assert_int_equal(here(), 1);
    }
    assert_int_equal(changes, PROCESSES);
}

static void test_the_duty_of_one_that_died_passes_on_when_its_lock_has_ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROCESSES; i++)
        begin(i);
    pass(30);
    duties[0].state = WEIR_DUTY_NONE;
    pass(45);
    assert_int_equal(here(), 0);
    pass(11);
    assert_int_equal(here(), 1);
}

static void test_one_that_ends_well_gives_the_lock_back(void **state)
{
    (void)state;
    begin(0);
    begin(1);
    pass(10);
    weir_duty_end(&duties[0]);
    assert_int_equal(duties[0].state, WEIR_DUTY_NONE);
    pass(5);
    assert_int_equal(duties[1].state, WEIR_DUTY_MINE);
    pass(60);
    assert_int_equal(duties[0].state, WEIR_DUTY_NONE);
}

static void test_without_redis_everybody_asks_after_a_while(void **state)
{
    (void)state;
    redis.away = true;
    begin(0);
    pass(2);
    assert_int_equal(duties[0].state, WEIR_DUTY_ASKING);
    pass(1);
    assert_int_equal(duties[0].state, WEIR_DUTY_ALONE);
    redis.away = false;
    pass(2);
    assert_int_equal(duties[0].state, WEIR_DUTY_MINE);
    begin(1);
    pass(5);
    assert_int_equal(duties[1].state, WEIR_DUTY_OTHERS);
    redis.silent = true;
    pass(50);
    assert_int_equal(here(), 1);
    pass(20);
    assert_int_equal(here(), 2);
    redis.silent = false;
    pass(5);
    assert_int_equal(here(), 1);
}

static void test_a_holder_whose_lock_is_gone_takes_it_again_or_stops(void **state)
{
    (void)state;
    begin(0);
    pass(1);
    redis.owner_len = 0; /* flushed */
    pass(21);
    assert_int_equal(duties[0].state, WEIR_DUTY_MINE);
    assert_int_equal(redis.owner_len, 1);
    redis.owner[0] = '9'; /* somebody else's by now */
    pass(21);
    assert_int_equal(duties[0].state, WEIR_DUTY_OTHERS);
}

static void test_an_answer_that_comes_after_the_end_is_nothing(void **state)
{
    (void)state;
    begin(0);
    weir_duty_tick(&duties[0]);
    weir_duty_end(&duties[0]);
    begin(0);
    deliver();
    assert_int_equal(duties[0].state, WEIR_DUTY_ASKING);
    pass(1);
    assert_int_equal(duties[0].state, WEIR_DUTY_MINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_of_them_has_the_duty_and_keeps_it, start),
        cmocka_unit_test_setup(test_the_duty_of_one_that_died_passes_on_when_its_lock_has_ended, start),
        cmocka_unit_test_setup(test_one_that_ends_well_gives_the_lock_back, start),
        cmocka_unit_test_setup(test_without_redis_everybody_asks_after_a_while, start),
        cmocka_unit_test_setup(test_a_holder_whose_lock_is_gone_takes_it_again_or_stops, start),
        cmocka_unit_test_setup(test_an_answer_that_comes_after_the_end_is_nothing, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
