/* Cooldowns that grow in a row, and deployments that come back by and by (beyond 4). */
#include "engine_kit.h"

#include "base/time.h"

#define RULES(X)                                                                                             \
    X("beyond 4", each_cooldown_in_a_row_is_longer)                                                          \
    X("beyond 4", a_success_ends_the_row)                                                                    \
    X("beyond 4", growth_stops_at_its_maximum)                                                               \
    X("beyond 4", a_maximum_shortens_no_cooldown)                                                            \
    X("beyond 4", the_deployments_own_length_grows_too)                                                      \
    X("beyond 4", retry_after_is_a_floor)                                                                    \
    X("beyond 4", retry_after_is_a_floor_up_to_its_cap)                                                      \
    X("beyond 4", failures_of_one_moment_are_one_cooldown)                                                   \
    X("beyond 4", a_success_during_a_cooldown_begins_the_row_anew)                                           \
    X("beyond 4", a_factor_of_one_grows_nothing)                                                             \
    X("beyond 4", a_group_says_it_before_the_router)                                                         \
    X("beyond 4", the_number_of_a_cooldown_is_told)                                                          \
    X("beyond 4", a_ramp_begins_with_a_tenth_and_ends_with_all)                                              \
    X("beyond 4", a_ramp_never_leaves_a_pick_empty)                                                          \
    X("beyond 4", a_ramp_leaves_its_tier_to_the_next)                                                        \
    X("beyond 4", a_retry_prefers_what_is_held_back_to_what_has_failed)                                      \
    X("beyond 4", a_ramp_is_the_groups_own)                                                                  \
    X("beyond 4", what_never_cooled_is_not_held_back)                                                        \
    X("beyond 4", weighted_failover_leaves_nobody_out_for_the_ramp)

RULES(KIT_TEST_DECLARE)

/* Fails d1 once more and says how long it cools. */
static double cool_again(struct kit *kit)
{
    kit_advance(kit, kit_cooling(kit, "d1"));
    expect(kit, "d1", "d1:429 fail:429");
    return kit_cooling(kit, "d1");
}

static void each_cooldown_in_a_row_is_longer(void **state)
{
    KIT(kit, "d1 g : 429; d2 g; router cooldown=5 growth=2/1000");
    (void)state;

    assert_float_equal(cool_again(kit), 5, 1e-6);
    assert_float_equal(cool_again(kit), 10, 1e-6);
    assert_float_equal(cool_again(kit), 20, 1e-6);
    assert_int_equal(kit_view(kit, "d1").cooldowns, 3);
}

static void a_success_ends_the_row(void **state)
{
    KIT(kit, "d1 g : 429 429 500 429 ok 429; d2 g; router cooldown=5 growth=2/1000 retries=0");
    (void)state;

    assert_float_equal(cool_again(kit), 5, 1e-6);
    assert_float_equal(cool_again(kit), 10, 1e-6);
    kit_advance(kit, 10);
    expect(kit, "d1", "d1:500 fail:500");
    assert_float_equal(cool_again(kit), 20, 1e-6);
    expect(kit, "d1", "d1:ok");
    assert_int_equal(kit_view(kit, "d1").cooldowns, 0);
    assert_float_equal(cool_again(kit), 5, 1e-6);
}

static void growth_stops_at_its_maximum(void **state)
{
    KIT(kit, "d1 g : 429; d2 g; router cooldown=5 growth=10/60");
    (void)state;

    assert_float_equal(cool_again(kit), 5, 1e-6);
    assert_float_equal(cool_again(kit), 50, 1e-6);
    for (int i = 0; i < 400; i++)
        assert_float_equal(cool_again(kit), 60, 1e-6);
}

static void a_maximum_shortens_no_cooldown(void **state)
{
    KIT(kit, "d1 g : 429; d2 g; router cooldown=50 growth=2/20");
    (void)state;

    assert_float_equal(cool_again(kit), 50, 1e-6);
    assert_float_equal(cool_again(kit), 50, 1e-6);
}

static void the_deployments_own_length_grows_too(void **state)
{
    KIT(kit, "d1 g cooldown=2 : 429; d2 g; router cooldown=50 growth=3/100");
    (void)state;

    assert_float_equal(cool_again(kit), 2, 1e-6);
    assert_float_equal(cool_again(kit), 6, 1e-6);
}

static void retry_after_is_a_floor(void **state)
{
    KIT(kit, "d1 g cooldown=2 : 429/30 429; e1 h : 429/30 429/30; e2 h; d2 g; router cooldown=5 growth=2/40");
    (void)state;

    assert_float_equal(cool_again(kit), 30, 1e-6);
    assert_float_equal(cool_again(kit), 4, 1e-6);
    expect(kit, "e1", "e1:429 fail:429");
    assert_float_equal(kit_cooling(kit, "e1"), 30, 1e-6);
    kit_advance(kit, 30);
    expect(kit, "e1", "e1:429 fail:429");
    assert_float_equal(kit_cooling(kit, "e1"), 40, 1e-6);
}

static void retry_after_is_a_floor_up_to_its_cap(void **state)
{
    KIT(kit, "d1 g cooldown=2 : 429/300; d2 g; router growth=2/40 cap=100");
    (void)state;

    assert_float_equal(cool_again(kit), 100, 1e-6);
    assert_true(kit_event(kit->calls, WEIR_EVENT_COOLDOWN_SET, 0)->u.cooldown_set.capped);
}

static void failures_of_one_moment_are_one_cooldown(void **state)
{
    KIT(kit, "d1 g : 429+1 429+1.5 429+2 429; d2 g; router cooldown=5 growth=2/1000 retries=0");
    (void)state;

    for (int i = 0; i < 3; i++)
        (void)kit_begin(kit, "d1");
    kit_run_all(kit);
    assert_int_equal(kit_view(kit, "d1").cooldowns, 1);
    assert_float_equal(kit_cooling(kit, "d1"), 5, 1e-6);
    assert_float_equal(cool_again(kit), 10, 1e-6);
}

static void a_success_during_a_cooldown_begins_the_row_anew(void **state)
{
    KIT(kit, "d1 g : 429 429 ok 429 429; d2 g; router cooldown=5 growth=2/1000");
    (void)state;

    (void)cool_again(kit);
    assert_float_equal(cool_again(kit), 10, 1e-6);
    expect(kit, "d1", "d1:ok");
    kit_advance(kit, 8);
    expect(kit, "d1", "d1:429 fail:429");
    assert_float_equal(kit_cooling(kit, "d1"), 5, 1e-6);
    assert_int_equal(kit_view(kit, "d1").cooldowns, 1);
    assert_float_equal(cool_again(kit), 10, 1e-6);
}

static void a_factor_of_one_grows_nothing(void **state)
{
    KIT(kit, "d1 g cooldown=2 : 429/30; d2 g; router growth=1/1000");
    (void)state;

    assert_float_equal(cool_again(kit), 2, 1e-6);
    assert_float_equal(cool_again(kit), 2, 1e-6);
}

static void a_group_says_it_before_the_router(void **state)
{
    KIT(kit, "d1 g : 429; d2 g; router cooldown=5 growth=2/1000; group g growth=3/1000");
    (void)state;

    assert_float_equal(cool_again(kit), 5, 1e-6);
    assert_float_equal(cool_again(kit), 15, 1e-6);
}

static void the_number_of_a_cooldown_is_told(void **state)
{
    KIT(kit, "d1 g : 429; d2 g; router cooldown=5");
    (void)state;

    (void)cool_again(kit);
    (void)cool_again(kit);
    assert_int_equal(kit_event(kit->calls, WEIR_EVENT_COOLDOWN_SET, 0)->u.cooldown_set.number, 2);
}

/* How many of the calls at this moment go to d1. */
static unsigned served_by_d1(struct kit *kit, unsigned calls)
{
    unsigned count = 0;

    for (unsigned i = 0; i < calls; i++) {
        const struct kit_call *call = kit_call(kit, "g");

        count += call->attempts[1].deployment == kit_deployment(kit, "d1");
    }
    kit_forget(kit);
    return count;
}

static void expect_share(struct kit *kit, double expected)
{
    const unsigned calls = 4000;
    double share = (double)served_by_d1(kit, calls) / calls;

    /* four standard deviations of the widest */
    assert_float_equal(share, expected, 0.032);
}

static void a_ramp_begins_with_a_tenth_and_ends_with_all(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : ok; router cooldown=5 ramp=10");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    assert_int_equal(served_by_d1(kit, 100), 0);
    kit_advance(kit, 5);
    expect_share(kit, 0.1);
    kit_advance(kit, 5);
    expect_share(kit, 0.55);
    kit_advance(kit, 5);
    assert_int_equal(served_by_d1(kit, 100), 100);
}

static void a_ramp_never_leaves_a_pick_empty(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429; router cooldown=5 ramp=100");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 5);
    expect(kit, "d2", "d2:429 fail:429");
    assert_int_equal(served_by_d1(kit, 100), 100);
}

static void a_ramp_leaves_its_tier_to_the_next(void **state)
{
    KIT(kit, "d1 g order=1 : 429 ok; d2 g order=2 : ok; router cooldown=5 ramp=10");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 5);
    expect_share(kit, 0.1);
}

static void a_retry_prefers_what_is_held_back_to_what_has_failed(void **state)
{
    KIT(kit, "d1 g : 429 ok; d2 g : 500; router cooldown=5 ramp=1000 retries=1");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 5);
    for (int i = 0; i < 100; i++) {
        const struct kit_call *call = kit_call(kit, "g");

        assert_int_equal(call->end, KIT_DELIVERED);
    }
}

static void a_ramp_is_the_groups_own(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : ok; router cooldown=5 ramp=10; group g ramp=0");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 5);
    assert_int_equal(served_by_d1(kit, 100), 100);
}

static void what_never_cooled_is_not_held_back(void **state)
{
    KIT(kit, "d1 g w=1 : ok; d2 g w=0 : ok; router ramp=10");
    (void)state;

    assert_int_equal(served_by_d1(kit, 100), 100);
}

static void weighted_failover_leaves_nobody_out_for_the_ramp(void **state)
{
    KIT(kit, "d1 g w=0 : 429 ok; d2 g w=1 : 500; router cooldown=5 ramp=1000 retries=0 weighted");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    kit_advance(kit, 5);
    for (int i = 0; i < 3; i++)
        expect(kit, "g", "d2:500 d1:ok");
}

KIT_TESTS_MAIN(RULES)
