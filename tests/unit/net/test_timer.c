/* The wheel in virtual time, also against a plain list of times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rand.h"
#include "base/time.h"
#include "net/timer.h"

#include <cmocka.h>

enum { TIMERS = 300, STEPS = 20000 };

struct probe {
    struct weir_timer timer;
    unsigned fired;
};

static void on_fire(struct weir_timer *timer)
{
    ((struct probe *)(void *)timer)->fired++;
}

static void init(struct probe *probe)
{
    *probe = (struct probe){.fired = 0};
    weir_timer_init(&probe->timer, on_fire);
}

static void a_timer_fires_at_its_time_and_not_before(void **state)
{
    static struct weir_timer_wheel wheel;
    struct probe probe;

    (void)state;
    for (uint64_t wait_ns = 1; wait_ns < 20000 * WEIR_NS_PER_S; wait_ns = wait_ns * 3 + 7) {
        uint64_t start_ns = 5 * WEIR_NS_PER_S + wait_ns / 7;
        uint64_t at_ns = start_ns + wait_ns;

        weir_timer_wheel_init(&wheel, start_ns);
        init(&probe);
        weir_timer_wheel_add(&wheel, &probe.timer, at_ns);
        while (weir_timer_wheel_next(&wheel) <= at_ns - 1) {
            weir_timer_wheel_run(&wheel, weir_timer_wheel_next(&wheel));
            assert_true(weir_timer_wheel_validate(&wheel));
        }
        weir_timer_wheel_run(&wheel, at_ns - 1);
        assert_int_equal(probe.fired, 0);
        weir_timer_wheel_run(&wheel, at_ns + WEIR_TIMER_TICK_NS);
        assert_int_equal(probe.fired, 1);
        assert_false(weir_timer_armed(&probe.timer));
        assert_true(weir_timer_wheel_next(&wheel) == WEIR_TIME_NEVER);
    }
}

static void a_removed_timer_does_not_fire(void **state)
{
    static struct weir_timer_wheel wheel;
    struct probe a;
    struct probe b;

    (void)state;
    weir_timer_wheel_init(&wheel, 0);
    init(&a);
    init(&b);
    weir_timer_wheel_add(&wheel, &a.timer, 100 * WEIR_NS_PER_MS);
    weir_timer_wheel_add(&wheel, &b.timer, 100 * WEIR_NS_PER_MS);
    weir_timer_wheel_remove(&wheel, &a.timer);
    weir_timer_wheel_remove(&wheel, &a.timer);
    assert_true(weir_timer_wheel_validate(&wheel));
    weir_timer_wheel_run(&wheel, WEIR_NS_PER_S);
    assert_int_equal(a.fired, 0);
    assert_int_equal(b.fired, 1);
}

static struct weir_timer_wheel *shared_wheel;
static struct weir_timer *victim;

static void fire_and_remove_the_other(struct weir_timer *timer)
{
    (void)timer;
    weir_timer_wheel_remove(shared_wheel, victim);
}

static void a_timer_may_remove_another_of_the_same_tick(void **state)
{
    static struct weir_timer_wheel wheel;
    struct weir_timer killer;
    struct probe probe;

    (void)state;
    weir_timer_wheel_init(&wheel, 0);
    weir_timer_init(&killer, fire_and_remove_the_other);
    init(&probe);
    shared_wheel = &wheel;
    victim = &probe.timer;
    weir_timer_wheel_add(&wheel, &killer, WEIR_NS_PER_MS);
    weir_timer_wheel_add(&wheel, &probe.timer, WEIR_NS_PER_MS);
    weir_timer_wheel_run(&wheel, WEIR_NS_PER_S);
    assert_int_equal(probe.fired, 0);
    assert_true(weir_timer_wheel_validate(&wheel));
}

static uint64_t random_wait(struct weir_rand *rand)
{
    return weir_rand_u64(rand) >> (weir_rand_below(rand, 40) + 20);
}

static void random_timers_all_fire_in_their_tick(void **state)
{
    static struct weir_timer_wheel wheel;
    static struct probe probes[TIMERS];
    static unsigned expected[TIMERS];
    struct weir_rand rand;
    uint64_t now_ns = 12345;

    (void)state;
    weir_rand_init(&rand, 7);
    weir_timer_wheel_init(&wheel, now_ns);
    for (size_t i = 0; i < TIMERS; i++)
        init(&probes[i]);
    for (size_t step = 0; step < STEPS; step++) {
        size_t i = (size_t)weir_rand_below(&rand, TIMERS);

        if (weir_timer_armed(&probes[i].timer))
            weir_timer_wheel_remove(&wheel, &probes[i].timer);
        else
            weir_timer_wheel_add(&wheel, &probes[i].timer, now_ns + random_wait(&rand));
        if (weir_rand_below(&rand, 4) == 0)
            now_ns += random_wait(&rand) >> weir_rand_below(&rand, 12);
        for (i = 0; i < TIMERS; i++)
            expected[i] =
                probes[i].fired + (weir_timer_armed(&probes[i].timer) &&
                                   (probes[i].timer.at_ns + WEIR_TIMER_TICK_NS - 1) / WEIR_TIMER_TICK_NS <=
                                       now_ns / WEIR_TIMER_TICK_NS &&
                                   now_ns / WEIR_TIMER_TICK_NS >= wheel.tick);
        weir_timer_wheel_run(&wheel, now_ns);
        for (i = 0; i < TIMERS; i++)
            assert_int_equal(probes[i].fired, expected[i]);
        if (step % 64 == 0)
            assert_true(weir_timer_wheel_validate(&wheel));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_fires_at_its_time_and_not_before),
        cmocka_unit_test(a_removed_timer_does_not_fire),
        cmocka_unit_test(a_timer_may_remove_another_of_the_same_tick),
        cmocka_unit_test(random_timers_all_fire_in_their_tick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
