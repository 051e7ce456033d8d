/* Counts of the minute and attempts at once, at their borders and over the turn of minutes. */
#include "engine/live/usage.h"

#include <weir/mem_libc.h>

#include "base/time.h"

#include "unit.h"

static void clean_up(struct weir_live *live)
{
    weir_live_deinit(live);
}

/* A live state with one slot, 0. */
#define LIVE(name)                                                                                           \
    WEIR_CLEANUP(clean_up) struct weir_live name;                                                            \
    uint32_t slot;                                                                                           \
    weir_live_init(&(name), weir_mem_libc());                                                                \
    assert_int_equal(weir_live_add(&(name), &slot), 0)

static void as_many_run_as_may(void **state)
{
    LIVE(live);
    (void)state;

    assert_true(weir_usage_begin(&live, slot, 2));
    assert_true(weir_usage_begin(&live, slot, 2));
    assert_false(weir_usage_begin(&live, slot, 2));
    assert_int_equal(weir_usage_running(&live, slot), 2);
    assert_true(weir_usage_begin(&live, slot, WEIR_UNSET));
    weir_usage_end(&live, slot);
    assert_false(weir_usage_begin(&live, slot, 2));
    weir_usage_end(&live, slot);
    assert_true(weir_usage_begin(&live, slot, 2));
    assert_false(weir_usage_begin(&live, slot, 0));
    weir_usage_end(&live, slot);
    weir_usage_end(&live, slot);
    assert_int_equal(weir_usage_running(&live, slot), 0);
}

static void a_limit_may_be_reached_and_not_passed(void **state)
{
    uint64_t used = 99;
    LIVE(live);
    (void)state;

    assert_true(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 60, 100, &used));
    assert_int_equal(used, 0);
    assert_false(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 41, 100, &used));
    assert_int_equal(used, 60);
    assert_true(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 40, 100, &used));
    assert_int_equal(used, 60);
    assert_false(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 1, 100, &used));
    assert_true(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 0, 100, &used));
    /* what is over it already, since the limit was lowered */
    assert_false(weir_usage_add_within(&live, slot, WEIR_USAGE_INPUT, 7, 0, 99, &used));
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_INPUT, 7), 100);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_OUTPUT, 7), 0);
}

static void a_refusal_counts_nothing_even_in_a_new_minute(void **state)
{
    uint64_t used;
    LIVE(live);
    (void)state;

    weir_usage_add(&live, slot, WEIR_USAGE_TOKENS, 7, 50);
    assert_false(weir_usage_add_within(&live, slot, WEIR_USAGE_TOKENS, 9, 6, 5, &used));
    assert_int_equal(used, 0);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_TOKENS, 9), 0);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_TOKENS, 7), 50);
}

static void what_is_taken_back_never_falls_below_zero(void **state)
{
    LIVE(live);
    (void)state;

    weir_usage_add(&live, slot, WEIR_USAGE_OUTPUT, 7, 10);
    weir_usage_take_back(&live, slot, WEIR_USAGE_OUTPUT, 7, 4);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_OUTPUT, 7), 6);
    weir_usage_take_back(&live, slot, WEIR_USAGE_OUTPUT, 7, 7);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_OUTPUT, 7), 0);
}

static void a_minute_and_the_one_before_it_are_kept(void **state)
{
    LIVE(live);
    (void)state;

    weir_usage_add(&live, slot, WEIR_USAGE_REQUESTS, 7, 1);
    weir_usage_add(&live, slot, WEIR_USAGE_REQUESTS, 8, 2);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 7), 1);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 8), 2);
    weir_usage_take_back(&live, slot, WEIR_USAGE_REQUESTS, 7, 1);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 7), 0);
    weir_usage_add(&live, slot, WEIR_USAGE_REQUESTS, 9, 3);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 9), 3);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 8), 2);
}

static void what_comes_for_a_minute_long_gone_is_dropped(void **state)
{
    uint64_t used;
    LIVE(live);
    (void)state;

    weir_usage_add(&live, slot, WEIR_USAGE_REQUESTS, 9, 3);
    weir_usage_add(&live, slot, WEIR_USAGE_REQUESTS, 7, 1);
    weir_usage_take_back(&live, slot, WEIR_USAGE_REQUESTS, 7, 3);
    /* whoever is that late is let through: there is nothing left to hold it against */
    assert_true(weir_usage_add_within(&live, slot, WEIR_USAGE_REQUESTS, 7, 1, 0, &used));
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 7), 0);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_REQUESTS, 9), 3);
}

static void counts_stop_at_their_maximum(void **state)
{
    LIVE(live);
    (void)state;

    weir_usage_add(&live, slot, WEIR_USAGE_TOKENS, 7, 5);
    weir_usage_add(&live, slot, WEIR_USAGE_TOKENS, 7, UINT64_MAX);
    weir_usage_add(&live, slot, WEIR_USAGE_TOKENS, 7, 1);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_TOKENS, 7), WEIR_USAGE_COUNT_MAX);
    assert_int_equal(weir_usage_of(&live, slot, WEIR_USAGE_TOKENS, 8), 0);
}

static void minutes_are_those_of_the_wall_clock(void **state)
{
    LIVE(live);
    (void)state;

    assert_int_equal(weir_usage_minute(&live, 60 * WEIR_NS_PER_S - 1), 0);
    assert_int_equal(weir_usage_minute(&live, 60 * WEIR_NS_PER_S), 1);
    atomic_store(&live.wall_ahead_ns, 30 * WEIR_NS_PER_S);
    assert_int_equal(weir_usage_minute(&live, 30 * WEIR_NS_PER_S - 1), 0);
    assert_int_equal(weir_usage_minute(&live, 30 * WEIR_NS_PER_S), 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_run_as_may),
        cmocka_unit_test(a_limit_may_be_reached_and_not_passed),
        cmocka_unit_test(a_refusal_counts_nothing_even_in_a_new_minute),
        cmocka_unit_test(what_is_taken_back_never_falls_below_zero),
        cmocka_unit_test(a_minute_and_the_one_before_it_are_kept),
        cmocka_unit_test(what_comes_for_a_minute_long_gone_is_dropped),
        cmocka_unit_test(counts_stop_at_their_maximum),
        cmocka_unit_test(minutes_are_those_of_the_wall_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
