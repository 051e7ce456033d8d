/* What is remembered of a deployment, looked at without a call. */
#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/time.h"
#include "engine/live/live.h"

#define S WEIR_NS_PER_S

static const struct weir_failure cause = {.kind = WEIR_KIND_RATE_LIMIT, .status = 429};

static struct weir_live live;

static void add(uint32_t count)
{
    uint32_t slot;

    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(weir_live_add(&live, &slot), 0);
        assert_int_equal(slot, i);
    }
}

static int set_up(void **state)
{
    (void)state;
    weir_live_init(&live, weir_mem_libc());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weir_live_deinit(&live);
    return 0;
}

static void slots_go_over_blocks_and_remember_nothing_at_first(void **state)
{
    struct weir_live_view view;

    (void)state;
    add(WEIR_LIVE_BLOCK_SLOTS + 1);
    assert_true(weir_live_validate(&live, 0));
    weir_live_view(&live, WEIR_LIVE_BLOCK_SLOTS, 5 * S, &view);
    assert_int_equal(view.cooldown_until_ns, 0);
    assert_int_equal(view.successes + view.failures, 0);
}

static void a_cooldown_is_over_at_its_end_and_never_shortened(void **state)
{
    struct weir_live_view view;

    (void)state;
    add(2);
    assert_true(weir_live_cool(&live, 1, 10 * S, &cause, WEIR_COOLDOWN_RULES, 0));
    assert_false(weir_live_cool(&live, 1, 9 * S, &cause, WEIR_COOLDOWN_RULES, 0));
    assert_false(weir_live_cool(&live, 1, 10 * S, &cause, WEIR_COOLDOWN_RULES, 0));
    assert_true(weir_live_is_cooling(&live, 1, 10 * S - 1));
    assert_false(weir_live_is_cooling(&live, 1, 10 * S));
    assert_false(weir_live_is_cooling(&live, 0, 0));
    weir_live_view(&live, 1, 0, &view);
    assert_int_equal(view.cooldown_kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(view.cooldown_status, 429);
}

static void a_run_is_cooling_only_while_all_of_it_is(void **state)
{
    (void)state;
    add(2 * WEIR_LIVE_RUN_SLOTS);
    for (uint32_t slot = WEIR_LIVE_RUN_SLOTS; slot < 2 * WEIR_LIVE_RUN_SLOTS; slot++) {
        assert_false(weir_live_run_is_cooling(&live, WEIR_LIVE_RUN_SLOTS, 0));
        (void)weir_live_cool(&live, slot, (slot + 1) * S, &cause, WEIR_COOLDOWN_RULES, 0);
    }
    assert_true(weir_live_run_is_cooling(&live, WEIR_LIVE_RUN_SLOTS, 0));
    assert_false(weir_live_run_is_cooling(&live, 0, 0));
    assert_true(weir_live_run_is_cooling(&live, WEIR_LIVE_RUN_SLOTS, (WEIR_LIVE_RUN_SLOTS + 1) * S - 1));
    assert_false(weir_live_run_is_cooling(&live, WEIR_LIVE_RUN_SLOTS, (WEIR_LIVE_RUN_SLOTS + 1) * S));
    (void)weir_live_cool(&live, WEIR_LIVE_RUN_SLOTS, 500 * S, &cause, WEIR_COOLDOWN_RULES, 0);
    assert_true(weir_live_run_is_cooling(&live, WEIR_LIVE_RUN_SLOTS, (WEIR_LIVE_RUN_SLOTS + 1) * S));
    assert_true(weir_live_validate(&live, 0));
}

static void a_cooldown_that_is_lifted_frees_its_run(void **state)
{
    (void)state;
    add(WEIR_LIVE_RUN_SLOTS);
    for (uint32_t slot = 0; slot < WEIR_LIVE_RUN_SLOTS; slot++)
        (void)weir_live_cool(&live, slot, 100 * S, &cause, WEIR_COOLDOWN_RULES, 0);
    /* more often than the bound can count */
    for (int i = 0; i < 3000; i++) {
        assert_true(weir_live_run_is_cooling(&live, 0, S));
        assert_false(weir_live_lift(&live, 5, 99 * S, S));
        assert_true(weir_live_lift(&live, 5, 100 * S, S));
        assert_int_equal(weir_live_until(&live, 5), S);
        assert_false(weir_live_run_is_cooling(&live, 0, S));
        assert_true(weir_live_validate(&live, 0));
        assert_true(weir_live_cool(&live, 5, 100 * S, &cause, WEIR_COOLDOWN_RULES, S));
    }
    assert_false(weir_live_lift(&live, 5, 100 * S, 100 * S));
}

static void the_window_forgets_by_tens_of_seconds(void **state)
{
    struct weir_live_window window;

    (void)state;
    add(1);
    weir_live_enter(&live, 0, true, 5 * S);
    weir_live_enter(&live, 0, false, 10 * S);
    weir_live_enter(&live, 0, false, 59 * S);
    window = weir_live_window(&live, 0, 60 * S - 1);
    assert_int_equal(window.successes, 1);
    assert_int_equal(window.failures, 2);
    window = weir_live_window(&live, 0, 60 * S);
    assert_int_equal(window.successes, 0);
    assert_int_equal(window.failures, 2);
    weir_live_enter(&live, 0, true, 65 * S);
    window = weir_live_window(&live, 0, 110 * S - 1);
    assert_int_equal(window.successes, 1);
    assert_int_equal(window.failures, 1);
    assert_int_equal(weir_live_window(&live, 0, 1000 * S).successes, 0);
    assert_true(weir_live_validate(&live, 65 * S));
    assert_false(weir_live_validate(&live, 40 * S));
}

static void the_window_holds_at_the_end_of_the_clock(void **state)
{
    (void)state;
    add(1);
    weir_live_enter(&live, 0, false, UINT64_MAX);
    assert_int_equal(weir_live_window(&live, 0, UINT64_MAX).failures, 1);
}

static void a_counter_lives_from_its_first_failure(void **state)
{
    (void)state;
    add(1);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_ROUTER, 5 * S, 100 * S), 1);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_ROUTER, 5 * S, 105 * S - 1), 2);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_DEPLOYMENT, 5 * S, 105 * S - 1), 1);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_ROUTER, 5 * S, 105 * S), 1);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_ROUTER, UINT64_MAX, 200 * S), 1);
    assert_int_equal(weir_live_count(&live, 0, WEIR_LIVE_COUNTER_ROUTER, 5 * S, UINT64_MAX - 1), 2);
}

static void slots_end_at_their_maximum(void **state)
{
    uint32_t slot = 7;

    (void)state;
    live.slots = WEIR_LIVE_BLOCKS * WEIR_LIVE_BLOCK_SLOTS;
    assert_int_equal(weir_live_add(&live, &slot), WEIR_ERR_LIMIT);
    assert_int_equal(slot, 7);
    live.slots = 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slots_go_over_blocks_and_remember_nothing_at_first),
        TEST(a_cooldown_is_over_at_its_end_and_never_shortened),
        TEST(a_run_is_cooling_only_while_all_of_it_is),
        TEST(a_cooldown_that_is_lifted_frees_its_run),
        TEST(the_window_forgets_by_tens_of_seconds),
        TEST(the_window_holds_at_the_end_of_the_clock),
        TEST(a_counter_lives_from_its_first_failure),
        TEST(slots_end_at_their_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
