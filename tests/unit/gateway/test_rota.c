/* Who is asked when, in virtual time (RS 17). */
#include "unit.h"

#include <stdio.h>

#include "base/rand.h"
#include "base/time.h"
#include "gateway/health/rota.h"
#include "test_mem.h"

enum { MANY = 40 };

#define INTERVAL (300 * WEIR_NS_PER_S)

static struct weir_rota rota;
static struct test_mem mem;

static void make(size_t count, size_t most)
{
    test_mem_init(&mem, 0);
    assert_int_equal(weir_rota_init(&rota, &mem.mem, count, INTERVAL, most), 0);
}

static int unmake(void **state)
{
    (void)state;
    weir_rota_deinit(&rota);
    test_mem_assert_empty(&mem);
    return 0;
}

static void expect_next(uint64_t now_ns, size_t target)
{
    size_t got;

    assert_true(weir_rota_next(&rota, now_ns, &got));
    assert_int_equal(got, target);
}

static void expect_none(uint64_t now_ns)
{
    size_t got;

    assert_false(weir_rota_next(&rota, now_ns, &got));
}

static void test_all_are_asked_at_the_start_as_many_at_once_as_may_be(void **state)
{
    (void)state;
    make(3, 2);
    weir_rota_begin(&rota);
    assert_int_equal(weir_rota_due(&rota), 0);
    expect_next(5, 0);
    expect_next(5, 1);
    expect_none(5);
    assert_true(weir_rota_due(&rota) == WEIR_TIME_NEVER);
    weir_rota_end(&rota, 1);
    assert_int_equal(weir_rota_due(&rota), 0);
    expect_next(9, 2);
    weir_rota_end(&rota, 0);
    weir_rota_end(&rota, 2);
    expect_none(9);
    assert_int_equal(weir_rota_due(&rota), 5 + INTERVAL);
}

static void test_each_is_asked_again_an_interval_after_it_was_asked(void **state)
{
    (void)state;
    make(2, 8);
    weir_rota_begin(&rota);
    expect_next(10, 0);
    expect_next(20, 1);
    weir_rota_end(&rota, 0);
    weir_rota_end(&rota, 1);
    expect_none(9 + INTERVAL);
    expect_next(10 + INTERVAL, 0);
    expect_none(10 + INTERVAL);
    expect_next(20 + INTERVAL, 1);
}

static void test_who_answers_late_misses_a_turn(void **state)
{
    (void)state;
    make(2, 8);
    weir_rota_begin(&rota);
    expect_next(0, 0);
    expect_next(0, 1);
    weir_rota_end(&rota, 1);
    expect_next(INTERVAL, 1);
    weir_rota_end(&rota, 1);
    weir_rota_end(&rota, 0);
    expect_none(INTERVAL);
    assert_int_equal(weir_rota_due(&rota), 2 * INTERVAL);
    expect_next(2 * INTERVAL, 0);
}

static void test_nobody_is_asked_where_nobody_is_there(void **state)
{
    (void)state;
    make(0, 8);
    weir_rota_begin(&rota);
    expect_none(UINT64_MAX - 1);
    assert_true(weir_rota_due(&rota) == WEIR_TIME_NEVER);
}

static void test_who_stays_is_due_when_it_was_and_no_later_than_by_the_new_interval(void **state)
{
    (void)state;
    make(4, 8);
    weir_rota_expect(&rota, 0, 700, 500);
    weir_rota_expect(&rota, 1, 600, 500);
    weir_rota_expect(&rota, 2, 2 * INTERVAL + 500, 500);
    weir_rota_begin(&rota);
    expect_next(500, 3); /* of whom nothing is known */
    expect_none(500);
    expect_next(600, 1);
    expect_next(700, 0);
    expect_none(499 + INTERVAL);
    expect_next(500 + INTERVAL, 2);
}

static void test_what_is_under_way_counts_though_its_target_is_gone(void **state)
{
    (void)state;
    make(2, 2);
    weir_rota_resume(&rota, 0);
    weir_rota_add_stranger(&rota);
    weir_rota_begin(&rota);
    expect_none(0);
    weir_rota_end_stranger(&rota);
    expect_next(0, 1);
    expect_none(0);
    weir_rota_end(&rota, 0);
    weir_rota_end(&rota, 1);
    assert_int_equal(rota.busy, 0);
}

/* Whatever the times that answers take: nobody is asked twice at once, nor twice within an interval, no more
 * are under way than may be, and nobody is forgotten. */
static void test_any_answers(void **state)
{
    struct weir_rand rand;
    uint64_t now_ns = 0, asked_ns[MANY] = {0};
    unsigned times[MANY] = {0};
    bool busy[MANY] = {false};

    (void)state;
    weir_rand_init(&rand, 42);
    make(MANY, 7);
    weir_rota_begin(&rota);
    for (int step = 0; step < 20000; step++) {
        size_t target, at_once = 0;

        now_ns += weir_rand_u64(&rand) % (INTERVAL / 100);
        while (weir_rota_next(&rota, now_ns, &target)) {
            assert_false(busy[target]);
            assert_true(times[target] == 0 || now_ns - asked_ns[target] >= INTERVAL);
            busy[target] = true;
            asked_ns[target] = now_ns;
            times[target]++;
        }
        for (size_t i = 0; i < MANY; i++)
            at_once += busy[i];
        assert_in_range(at_once, 0, 7);
        assert_int_equal(at_once, rota.busy);
        target = weir_rand_u64(&rand) % MANY;
        if (busy[target]) {
            weir_rota_end(&rota, target);
            busy[target] = false;
        }
    }
    for (size_t i = 0; i < MANY; i++)
        assert_true(times[i] >= 20);
}

static void test_without_memory_there_is_none(void **state)
{
    (void)state;
    for (size_t fails = 1; fails <= 2; fails++) {
        test_mem_init(&mem, fails);
        assert_true(weir_rota_init(&rota, &mem.mem, 3, INTERVAL, 2) < 0);
        weir_rota_deinit(&rota);
        test_mem_assert_empty(&mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_are_asked_at_the_start_as_many_at_once_as_may_be, unmake),
        cmocka_unit_test_teardown(test_each_is_asked_again_an_interval_after_it_was_asked, unmake),
        cmocka_unit_test_teardown(test_who_answers_late_misses_a_turn, unmake),
        cmocka_unit_test_teardown(test_nobody_is_asked_where_nobody_is_there, unmake),
        cmocka_unit_test_teardown(test_who_stays_is_due_when_it_was_and_no_later_than_by_the_new_interval,
                                  unmake),
        cmocka_unit_test_teardown(test_what_is_under_way_counts_though_its_target_is_gone, unmake),
        cmocka_unit_test_teardown(test_any_answers, unmake),
        cmocka_unit_test(test_without_memory_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
