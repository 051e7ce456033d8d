/*
 * Counts between processes: the usage of the minute and the attempts that run (router-semantics 6.2, 19, 22,
 * decisions 33), in virtual time.
 */
#include "base/time.h"

#include "engine_shared.h"

/* clang-format off */
#define TESTS(X) \
    X("decisions 33", decision_33_usage_is_told_and_the_answer_adopted) \
    X("decisions 33", decision_33_what_comes_between_is_neither_lost_nor_counted_twice) \
    X("decisions 33", decision_33_a_limit_looks_at_all_processes) \
    X("decisions 33", decision_33_each_minute_is_told_for_itself) \
    X("decisions 33", decision_33_late_answers_about_a_minute_that_is_gone_change_nothing) \
    X("RS 22", rs_22_a_store_that_lost_its_counts_is_told_ours_again) \
    X("RS 22", rs_22_what_nobody_knows_of_is_not_told_twice) \
    X("RS 6.2", rs_6_attempts_that_run_elsewhere_count_for_least_busy) \
    X("RS 6.2", rs_6_slots_are_of_this_process_alone) \
    X("RS 6.2", rs_6_what_began_and_ended_between_is_not_told) \
    X("RS 6.2", rs_6_after_a_change_of_strategy_what_was_told_is_taken_back)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void decision_33_usage_is_told_and_the_answer_adopted(void **state)
{
    size_t count;
    (void)state;

    KIT(kit, "d1 g; router shares strategy=usage-based-routing-v2\n");
    weir_router_set_wall(kit->router, kit->now_ns, kit->now_ns);
    (void)kit_call(kit, "g");
    count = kit_take_all(kit);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(kit_changes[i].kind, WEIR_SHARED_USAGE);
        assert_int_equal(kit_changes[i].u.usage.minute, kit_minute(kit));
        kit_done(kit, &kit_changes[i], 100 + (uint64_t)kit_changes[i].u.usage.amount);
    }
    assert_int_equal(kit_view(kit, "d1").minute.requests, 101);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 108);
    assert_int_equal(kit_view(kit, "d1").minute.input_tokens, 103);
    assert_int_equal(kit_view(kit, "d1").minute.output_tokens, 105);
    assert_int_equal(kit_take_all(kit), 0);
}

static void decision_33_what_comes_between_is_neither_lost_nor_counted_twice(void **state)
{
    struct weir_change first, second;
    (void)state;

    KIT(kit, "d1 g max.rpm=9999; router shares\n");
    (void)kit_call(kit, "g");
    first = kit_take(kit, WEIR_SHARED_USAGE);
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    second = kit_take(kit, WEIR_SHARED_USAGE);
    (void)kit_call(kit, "g");
    assert_int_equal(first.u.usage.amount, 1);
    assert_int_equal(second.u.usage.amount, 2);
    kit_done(kit, &first, 11);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 14);
    weir_router_change_undone(kit->router, &second);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, first.u.usage.minute, 21);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 24);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 3);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, first.u.usage.minute, 15);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 18);
}

static void decision_33_a_limit_looks_at_all_processes(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=10; router shares enforce retries=0\n");
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, 16, 9);
    expect(kit, "g", "d1:ok");
    expect(kit, "g", "d1! fail:429");
    assert_int_equal(kit_view(kit, "d1").minute.requests, 10);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
}

static void decision_33_each_minute_is_told_for_itself(void **state)
{
    size_t count;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    (void)kit_call(kit, "g");
    kit_advance(kit, 60);
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    count = kit_take_all(kit);
    for (size_t i = 0; i < count; i++)
        if (kit_changes[i].u.usage.usage == WEIR_USAGE_REQUESTS)
            assert_int_equal(kit_changes[i].u.usage.amount,
                             kit_changes[i].u.usage.minute == kit_minute(kit) ? 2 : 1);
    /* what waits for longer has no meaning any more */
    (void)kit_call(kit, "g");
    kit_advance(kit, 120);
    assert_int_equal(kit_take_all(kit), 0);
}

static void decision_33_late_answers_about_a_minute_that_is_gone_change_nothing(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_USAGE);
    kit_advance(kit, 120);
    (void)kit_call(kit, "g");
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
    kit_done(kit, &change, 50);
    weir_router_change_undone(kit->router, &change);
    weir_router_change_unknown(kit->router, &change);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, change.u.usage.minute, 70);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 1);
    assert_int_equal(kit_take_all(kit), 0);
}

static void rs_22_a_store_that_lost_its_counts_is_told_ours_again(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    for (int i = 0; i < 5; i++)
        (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_USAGE);
    kit_done(kit, &change, 25);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, change.u.usage.minute, 2);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 5);
    assert_int_equal(kit->notified, 2);
    change = kit_take(kit, WEIR_SHARED_USAGE);
    assert_int_equal(change.u.usage.amount, 3);
    kit_done(kit, &change, 7);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 7);
    assert_int_equal(kit_take_all(kit), 0);
}

static void rs_22_what_nobody_knows_of_is_not_told_twice(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_USAGE);
    weir_router_change_unknown(kit->router, &change);
    assert_int_equal(kit_take_all(kit), 0);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, change.u.usage.minute, 4);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 4);
}

static void rs_6_attempts_that_run_elsewhere_count_for_least_busy(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : hang; d2 g : hang; d3 g : hang; router shares strategy=least-busy retries=0\n");
    weir_router_learn_running(kit->router, kit_find(kit, "d1"), 3);
    weir_router_learn_running(kit->router, kit_find(kit, "d3"), 1);
    assert_int_equal(kit_view(kit, "d1").running_elsewhere, 3);
    assert_int_equal(kit_view(kit, "d1").running, 0);
    kit_run_until(kit_begin(kit, "g gone=1"), kit->now_ns);
    change = kit_take(kit, WEIR_SHARED_RUNNING);
    assert_slice_is(change.id, "d2");
    assert_int_equal(change.u.running.amount, 1);
    kit_done(kit, &change, 6);
    assert_int_equal(kit_view(kit, "d2").running_elsewhere, 5);
    kit_run_until(kit_begin(kit, "g gone=1"), kit->now_ns);
    assert_slice_is(kit_take(kit, WEIR_SHARED_RUNNING).id, "d3");
    kit_run_all(kit);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_RUNNING, 0), -2);
}

static void rs_6_slots_are_of_this_process_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 g slots=1; router shares strategy=least-busy retries=0\n");
    weir_router_learn_running(kit->router, kit_find(kit, "d1"), 9);
    expect(kit, "g", "d1:ok");
    assert_int_equal(kit_view(kit, "d1").running_elsewhere, 9);
}

static void rs_6_what_began_and_ended_between_is_not_told(void **state)
{
    (void)state;
    KIT(kit, "d1 g; router shares strategy=least-busy\n");
    (void)kit_call(kit, "g");
    assert_int_equal(kit->notified, 1);
    assert_int_equal(kit_take_all(kit), 0);
}

static void rs_6_after_a_change_of_strategy_what_was_told_is_taken_back(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : hang; router shares strategy=least-busy\n");
    kit_run_until(kit_begin(kit, "g gone=5"), kit->now_ns);
    change = kit_take(kit, WEIR_SHARED_RUNNING);
    kit_done(kit, &change, 4);
    kit_reload(kit, "d1 g; router\n");
    assert_int_equal(kit->notified, 2);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_RUNNING, 0), -1);
    assert_int_equal(kit_view(kit, "d1").running_elsewhere, 0);
    kit_run_all(kit);
    assert_int_equal(kit_take_all(kit), 0);
    kit_reload(kit, "d1 g : hang; router strategy=least-busy\n");
    kit_run_until(kit_begin(kit, "g gone=5"), kit->now_ns);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_RUNNING, 0), 1);
    kit_run_all(kit);
}

KIT_TESTS_MAIN(TESTS)
