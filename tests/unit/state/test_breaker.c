/* The breaker in virtual time. */
#include "base/time.h"
#include "state/breaker.h"
#include "unit.h"

#define AT(s) ((uint64_t)((s)*1e9))

static void it_opens_after_five_failures_in_a_row_for_a_minute(void **state)
{
    struct weir_breaker breaker;
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 1);
    weir_breaker_init(&breaker, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_false(weir_breaker_failed(&breaker, AT(1)));
    assert_false(weir_breaker_is_open(&breaker));
    assert_true(weir_breaker_failed(&breaker, AT(2)));
    assert_true(weir_breaker_is_open(&breaker));
    assert_int_equal(weir_breaker_next_ns(&breaker, &rand, AT(2)), AT(62));
}

static void a_success_between_starts_the_count_anew(void **state)
{
    struct weir_breaker breaker;

    (void)state;
    weir_breaker_init(&breaker, 2, AT(1));
    assert_false(weir_breaker_failed(&breaker, 0));
    assert_false(weir_breaker_succeeded(&breaker));
    assert_false(weir_breaker_failed(&breaker, 0));
    assert_true(weir_breaker_failed(&breaker, 0));
}

static void a_trial_that_fails_keeps_it_open_and_tells_nothing(void **state)
{
    struct weir_breaker breaker;
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 1);
    weir_breaker_init(&breaker, 1, AT(10));
    assert_true(weir_breaker_failed(&breaker, AT(0)));
    assert_false(weir_breaker_failed(&breaker, AT(10)));
    assert_true(weir_breaker_is_open(&breaker));
    assert_int_equal(weir_breaker_next_ns(&breaker, &rand, AT(10)), AT(20));
}

static void a_trial_that_succeeds_closes_it_and_tells_so_once(void **state)
{
    struct weir_breaker breaker;

    (void)state;
    weir_breaker_init(&breaker, 1, AT(10));
    assert_true(weir_breaker_failed(&breaker, AT(0)));
    assert_true(weir_breaker_succeeded(&breaker));
    assert_false(weir_breaker_is_open(&breaker));
    assert_false(weir_breaker_succeeded(&breaker));
}

/* A threshold that is never reached: the pace alone. */
static void trials_come_slower_and_slower_up_to_five_seconds(void **state)
{
    static const double longest[] = {0.1, 0.4, 1.6, 5, 5, 5};
    struct weir_breaker breaker;
    struct weir_rand rand;

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        weir_rand_init(&rand, seed);
        weir_breaker_init(&breaker, 100, 0);
        for (size_t i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
            uint64_t wait_ns;

            assert_false(weir_breaker_failed(&breaker, AT(7)));
            wait_ns = weir_breaker_next_ns(&breaker, &rand, AT(7)) - AT(7);
            assert_true(wait_ns <= AT(longest[i]) && wait_ns >= AT(longest[i] / 2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_after_five_failures_in_a_row_for_a_minute),
        cmocka_unit_test(a_success_between_starts_the_count_anew),
        cmocka_unit_test(a_trial_that_fails_keeps_it_open_and_tells_nothing),
        cmocka_unit_test(a_trial_that_succeeds_closes_it_and_tells_so_once),
        cmocka_unit_test(trials_come_slower_and_slower_up_to_five_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
