/* The loop: its clock, its timers, and work from other threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "net/loop.h"
#include "net_kit.h"
#include "wire/http_date.h"

#include <uv.h>

#include <cmocka.h>

enum { THREADS = 4, TASKS = 500 };

struct stop_timer {
    struct weir_timer timer;
    weir_loop *loop;
    uint64_t fired_ns;
};

static weir_loop *new_loop(void)
{
    weir_loop *loop;

    assert_int_equal(weir_loop_new(weir_mem_libc(), &loop), 0);
    return loop;
}

static void on_stop(struct weir_timer *timer)
{
    struct stop_timer *stop = (struct stop_timer *)(void *)timer;

    stop->fired_ns = weir_loop_now(stop->loop);
    weir_loop_stop(stop->loop);
}

static void a_timer_ends_a_run_in_its_time(void **state)
{
    weir_loop *loop = new_loop();
    struct stop_timer late = {.loop = loop};
    struct stop_timer early = {.loop = loop};
    uint64_t start_ns = weir_loop_now(loop);

    (void)state;
    weir_timer_init(&late.timer, on_stop);
    weir_timer_init(&early.timer, on_stop);
    weir_loop_arm(loop, &late.timer, start_ns + 60 * WEIR_NS_PER_S);
    weir_loop_arm(loop, &early.timer, start_ns + 60 * WEIR_NS_PER_S);
    weir_loop_arm(loop, &early.timer, start_ns + 20 * WEIR_NS_PER_MS);
    weir_loop_run(loop);
    assert_true(early.fired_ns >= start_ns + 20 * WEIR_NS_PER_MS);
    assert_true(early.fired_ns < start_ns + WEIR_NS_PER_S);
    assert_int_equal(late.fired_ns, 0);
    weir_loop_cancel(loop, &late.timer);
    assert_false(weir_timer_armed(&late.timer));
    weir_loop_arm(loop, &late.timer, WEIR_TIME_NEVER);
    assert_false(weir_timer_armed(&late.timer));
    weir_loop_free(loop);
}

struct poster {
    struct weir_loop_task tasks[TASKS];
    weir_loop *loop;
    struct counter *counter;
    uv_thread_t thread;
};

struct counter {
    weir_loop *loop;
    size_t count;
    struct weir_loop_task *last;
    bool in_order;
};

/* The test's own; tasks have no room for a pointer to it. */
static struct counter counter;

static void on_task(struct weir_loop_task *task)
{
    (void)task;
    counter.count++;
    if (counter.count == (size_t)THREADS * TASKS)
        weir_loop_stop(counter.loop);
}

static void post_all(void *arg)
{
    struct poster *poster = arg;

    for (size_t i = 0; i < TASKS; i++) {
        poster->tasks[i].run = on_task;
        weir_loop_post(poster->loop, &poster->tasks[i]);
    }
}

static void tasks_of_several_threads_all_run(void **state)
{
    static struct poster posters[THREADS];
    weir_loop *loop = new_loop();

    (void)state;
    counter = (struct counter){.loop = loop};
    for (size_t i = 0; i < THREADS; i++) {
        posters[i].loop = loop;
        assert_int_equal(uv_thread_create(&posters[i].thread, post_all, &posters[i]), 0);
    }
    weir_loop_run(loop);
    assert_int_equal(counter.count, THREADS * TASKS);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(uv_thread_join(&posters[i].thread), 0);
    weir_loop_free(loop);
}

static void a_task_may_be_taken_back(void **state)
{
    weir_loop *loop = new_loop();
    struct weir_loop_task kept = {.run = on_task};
    struct weir_loop_task taken = {.run = on_task};

    (void)state;
    counter = (struct counter){.loop = loop};
    weir_loop_post(loop, &taken);
    weir_loop_post(loop, &kept);
    weir_loop_unpost(loop, &taken);
    weir_loop_unpost(loop, &taken);
    kit_for(loop, 5 * WEIR_NS_PER_MS);
    assert_int_equal(counter.count, 1);
    weir_loop_free(loop);
}

static void the_clock_moves_with_the_turns(void **state)
{
    weir_loop *loop = new_loop();
    uint64_t before = weir_loop_now(loop);
    int64_t date_s;

    (void)state;
    assert_true(weir_loop_now(loop) == before);
    kit_for(loop, 2 * WEIR_NS_PER_MS);
    assert_true(weir_loop_now(loop) > before);
    assert_int_equal(weir_http_date_parse(weir_loop_http_date(loop), 0, &date_s), 0);
    assert_true((uint64_t)date_s + 5 > weir_loop_wall_s(loop));
    weir_loop_free(loop);
}

static uint64_t real_wall_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void the_wall_clock_is_as_far_on_as_the_loops_own(void **state)
{
    weir_loop *loop = new_loop();
    uint64_t now_ns = weir_loop_now(loop), wall_ns = weir_loop_wall_ns(loop), real_ns = real_wall_ns();

    (void)state;
    assert_in_range(real_ns + 5 * WEIR_NS_PER_S - wall_ns, 0, 10 * WEIR_NS_PER_S);
    while (real_wall_ns() < real_ns + WEIR_NS_PER_MS)
        ; /* within a turn both stand still */
    assert_true(weir_loop_wall_ns(loop) == wall_ns);
    kit_for(loop, 2 * WEIR_NS_PER_MS);
    assert_true(weir_loop_wall_ns(loop) - wall_ns == weir_loop_now(loop) - now_ns);
    weir_loop_free(loop);
}

static void count_closed(uv_handle_t *handle)
{
    int *closed = handle->data;

    (*closed)++;
}

static void a_stop_after_the_run_does_not_keep_what_closes_from_closing(void **state)
{
    weir_loop *loop = new_loop();
    int closed = 0;
    uv_idle_t handle = {.data = &closed};

    (void)state;
    assert_int_equal(uv_idle_init(weir_loop_uv(loop), &handle), 0);
    kit_for(loop, WEIR_NS_PER_MS);
    uv_close((uv_handle_t *)&handle, count_closed);
    weir_loop_stop(loop);
    weir_loop_free(loop);
    assert_int_equal(closed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_ends_a_run_in_its_time),
        cmocka_unit_test(tasks_of_several_threads_all_run),
        cmocka_unit_test(a_task_may_be_taken_back),
        cmocka_unit_test(the_clock_moves_with_the_turns),
        cmocka_unit_test(the_wall_clock_is_as_far_on_as_the_loops_own),
        cmocka_unit_test(a_stop_after_the_run_does_not_keep_what_closes_from_closing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
