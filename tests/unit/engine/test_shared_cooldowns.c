/*
 * Cooldowns and failures between processes: told, learned, lifted, counted together (router-semantics 16.1,
 * 22, decisions 5, 7, 34), in virtual time.
 */
#include "base/time.h"

#include "engine_shared.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 22", rs_22_a_cooldown_is_told_with_what_remains_of_it) \
    X("RS 22", rs_22_a_cooldown_that_is_over_is_not_told) \
    X("RS 22", rs_22_a_cooldown_that_was_not_carried_out_is_told_again_while_it_lasts) \
    X("RS 22", rs_22_after_the_store_has_forgotten_what_still_holds_is_told_again) \
    X("decisions 34", decision_34_a_learned_cooldown_holds_and_is_not_told_on) \
    X("decisions 34", decision_34_a_cooldown_that_has_gone_from_the_store_is_over) \
    X("decisions 34", decision_34_a_cooldown_set_here_since_then_is_not_lifted) \
    X("decisions 7", decision_7_a_learned_cooldown_never_shortens_one) \
    X("decisions 7", decision_7_news_of_the_same_cooldown_is_no_news) \
    X("RS 22", rs_22_who_has_set_a_cooldown_is_shown) \
    X("RS 22", rs_22_where_cooldowns_are_off_none_is_learned) \
    X("RS 16.1", rs_16_fails_are_told_with_the_suffix_of_their_counter) \
    X("RS 16.1", rs_16_a_shared_count_above_the_limit_cools) \
    X("RS 16.1", rs_16_a_shared_count_that_cooled_already_does_not_cool_again) \
    X("RS 16.1", rs_16_the_lowest_limit_of_those_counted_holds) \
    X("RS 16.1", rs_16_fails_that_were_not_told_are_told_while_their_counter_lives) \
    X("RS 16.1", rs_16_a_deployment_that_is_gone_is_not_cooled)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_22_a_cooldown_is_told_with_what_remains_of_it(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    assert_int_equal(kit->notified, 1);
    kit_advance(kit, 0.002);
    change = kit_take(kit, WEIR_SHARED_COOLDOWN);
    assert_slice_is(change.id, "d1");
    assert_int_equal(change.u.cooldown.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(change.u.cooldown.status, 429);
    assert_int_equal(change.u.cooldown.length_ns, 7 * WEIR_NS_PER_S);
    assert_int_equal(change.u.cooldown.remaining_ns, 6998 * WEIR_NS_PER_MS);
    assert_true(kit_takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_a_cooldown_that_is_over_is_not_told(void **state)
{
    (void)state;
    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    kit_advance(kit, 7);
    assert_true(kit_takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_a_cooldown_that_was_not_carried_out_is_told_again_while_it_lasts(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    change = kit_take(kit, WEIR_SHARED_COOLDOWN);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit->notified, 1);
    kit_advance(kit, 3);
    change = kit_take(kit, WEIR_SHARED_COOLDOWN);
    assert_int_equal(change.u.cooldown.remaining_ns, 4 * WEIR_NS_PER_S);
    weir_router_change_unknown(kit->router, &change);
    change = kit_take(kit, WEIR_SHARED_COOLDOWN);
    weir_router_change_undone(kit->router, &change);
    kit_advance(kit, 4);
    assert_true(kit_takes_none(kit, WEIR_SHARED_COOLDOWN));
    /* what was left without a word does not keep the next change from being told */
    weir_router_change_undone(kit->router, &change);
    (void)kit_call(kit, "d1");
    assert_int_equal(kit->notified, 2);
}

static void rs_22_after_the_store_has_forgotten_what_still_holds_is_told_again(void **state)
{
    (void)state;
    KIT(kit, "d1 g cooldown=7 : 429; d2 g; d3 g cooldown=1 : 429; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d3");
    (void)kit_learn(kit, "d2", 50, "other");
    kit_probe(kit, "d2", "ok");
    (void)kit_take_all(kit);
    kit_advance(kit, 2);
    weir_router_tell_again(kit->router);
    assert_int_equal(kit_take_all(kit), 2);
    assert_slice_is(kit_changes[0].id, "d1");
    assert_int_equal(kit_changes[0].u.cooldown.remaining_ns, 5 * WEIR_NS_PER_S);
    assert_int_equal(kit_changes[1].kind, WEIR_SHARED_HEALTH);
}

static void decision_34_a_learned_cooldown_holds_and_is_not_told_on(void **state)
{
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g w=1; d2 g w=0; router shares retries=0\n");
    assert_int_equal(kit_learn(kit, "d1", 4, "other"), kit->now_ns + 4 * WEIR_NS_PER_S);
    expect(kit, "g", "d2:ok");
    assert_int_equal(kit_take_all(kit), 0);
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_LEARNED);
    assert_slice_is(event.deployment, "d1");
    assert_int_equal(event.failure, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(event.status, 429);
    assert_int_equal(event.length_ns, 4 * WEIR_NS_PER_S);
    assert_slice_is(((struct weir_slice){event.by.text, event.by.len}), "other");
    kit_advance(kit, 4);
    expect(kit, "g", "d1:ok");
    assert_int_equal(kit_learn(kit, "d1", 0, "other"), kit->now_ns);
    expect(kit, "g", "d1:ok");
}

static void decision_34_a_cooldown_that_has_gone_from_the_store_is_over(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router shares retries=0 cooldown=30\n");
    until = kit_learn(kit, "d1", 40, "other");
    (void)kit_next_event(kit);
    expect(kit, "g", "d2:ok");
    assert_true(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_COOLDOWN_LIFTED);
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    expect(kit, "g", "d1:429 fail:429");
    /* one of ours that was seen in the store */
    until = kit_learn(kit, "d1", 29.9, "");
    assert_int_equal(until, kit->now_ns + 30 * WEIR_NS_PER_S);
    assert_true(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    expect(kit, "g", "d1:ok");
}

static void decision_34_a_cooldown_set_here_since_then_is_not_lifted(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router shares retries=0 cooldown=30\n");
    until = kit_learn(kit, "d1", 10, "other");
    (void)kit_call(kit, "d1");
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_true(kit_cooling(kit, "d1") == 30);
    kit_advance(kit, 30);
    until = kit_learn(kit, "d1", 10, "other");
    kit_advance(kit, 10);
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
}

static void decision_7_a_learned_cooldown_never_shortens_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    (void)kit_call(kit, "d1");
    assert_int_equal(kit_learn(kit, "d1", 10, "other"), kit->now_ns + 30 * WEIR_NS_PER_S);
    assert_true(kit_cooling(kit, "d1") == 30);
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    (void)kit_learn(kit, "d1", 50, "other");
    assert_true(kit_cooling(kit, "d1") == 50);
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_COOLDOWN_LEARNED);
}

static void decision_7_news_of_the_same_cooldown_is_no_news(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    until = kit_learn(kit, "d1", 10, "other");
    (void)kit_next_event(kit);
    assert_int_equal(kit_learn(kit, "d1", 10.1, "another"), until);
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    kit_advance(kit, 9.99);
    assert_int_equal(kit_learn(kit, "d1", 0.1, "another"), until);
    assert_int_equal(kit_learn(kit, "d1", 0.12, "another"), kit->now_ns + 120 * WEIR_NS_PER_MS);
}

static void expect_by(const struct kit *kit, const char *id, const char *by)
{
    struct weir_live_view view = kit_view(kit, id);

    assert_int_equal(view.cooldown_elsewhere, by != NULL);
    assert_slice_is(((struct weir_slice){view.cooldown_by.text, view.cooldown_by.len}), by == NULL ? "" : by);
}

static void rs_22_who_has_set_a_cooldown_is_shown(void **state)
{
    static const char longest[] = "a-name-of-a-host-that-is-longer-than-may-be-shown:4711";
    (void)state;

    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    expect_by(kit, "d1", NULL);
    (void)kit_learn(kit, "d1", 10, "h:1");
    expect_by(kit, "d1", "h:1");
    (void)kit_learn(kit, "d1", 11, "");
    expect_by(kit, "d1", "");
    (void)kit_learn(kit, "d1", 12, longest);
    expect_by(kit, "d1", "a-name-of-a-host-that-is-longer-than-may-be-sho");
    (void)kit_call(kit, "d1");
    expect_by(kit, "d1", NULL);
    assert_false(kit_takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_where_cooldowns_are_off_none_is_learned(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 h cooldown=0; router shares retries=0 no_cooldowns\n");
    assert_int_equal(kit_learn(kit, "d1", 10, "other"), 0);
    assert_true(kit_cooling(kit, "d1") == 0);
    kit_reload(kit, "d3 h cooldown=0; router\n");
    assert_int_equal(kit_learn(kit, "d3", 10, "other"), 0);
}

static void rs_16_fails_are_told_with_the_suffix_of_their_counter(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g fails=9 : 500; d3 g fails.internal=9 cooldown=3 : 500; d4 g : 500; "
             "router shares retries=0 fails=9 cooldown=20\n");
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d1");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    assert_slice_is(change.u.fails.suffix, "");
    assert_int_equal(change.u.fails.amount, 2);
    assert_int_equal(change.u.fails.life_ns, 20 * WEIR_NS_PER_S);
    assert_int_equal(change.u.fails.limit, 9);
    assert_int_equal(change.u.fails.failure.kind, WEIR_KIND_INTERNAL);
    assert_int_equal(change.u.fails.failure.status, 500);
    (void)kit_call(kit, "d2");
    assert_slice_is(kit_take(kit, WEIR_SHARED_FAILS).u.fails.suffix, "generic");
    (void)kit_call(kit, "d3");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    assert_slice_is(change.u.fails.suffix, "InternalServerError");
    assert_int_equal(change.u.fails.life_ns, 3 * WEIR_NS_PER_S);
    kit_script(kit, "d3", "503");
    (void)kit_call(kit, "d3");
    assert_slice_is(kit_take(kit, WEIR_SHARED_FAILS).u.fails.suffix, "");
}

static void rs_16_a_shared_count_above_the_limit_cools(void **state)
{
    struct weir_change change;
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g w=1 : 500/8 ok; d2 g w=0; router shares retries=0 fails=2 cooldown=20\n");
    (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    kit_advance(kit, 0.05);
    kit_done(kit, &change, 2);
    assert_true(kit_cooling(kit, "d1") == 0);
    kit_done(kit, &change, 3);
    assert_true(kit_cooling(kit, "d1") == 8);
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_SET);
    assert_int_equal(event.rule, WEIR_COOLDOWN_ROUTER_FAILS);
    assert_int_equal(event.length_ns, 8 * WEIR_NS_PER_S);
    assert_int_equal(event.status, 500);
    assert_int_equal(kit_take(kit, WEIR_SHARED_COOLDOWN).u.cooldown.length_ns, 8 * WEIR_NS_PER_S);
}

static void rs_16_a_shared_count_that_cooled_already_does_not_cool_again(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=0 cooldown=20\n");
    (void)kit_call(kit, "d1");
    assert_true(kit_cooling(kit, "d1") == 20);
    change = kit_take(kit, WEIR_SHARED_FAILS);
    kit_advance(kit, 0.09);
    kit_done(kit, &change, 5);
    assert_true(kit_cooling(kit, "d1") == 19.91);
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    assert_true(kit_takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_16_the_lowest_limit_of_those_counted_holds(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : timeout 503 timeout; d2 g; "
             "router shares retries=0 fails.timeout=7 fails.service_unavailable=3 cooldown=20\n");
    for (int i = 0; i < 3; i++)
        (void)kit_call(kit, "d1");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    assert_int_equal(change.u.fails.amount, 3);
    assert_int_equal(change.u.fails.limit, 3);
    assert_int_equal(change.u.fails.failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
    (void)kit_call(kit, "d1");
    assert_int_equal(kit_take(kit, WEIR_SHARED_FAILS).u.fails.limit, 7);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit_take(kit, WEIR_SHARED_FAILS).u.fails.limit, 3);
}

static void rs_16_fails_that_were_not_told_are_told_while_their_counter_lives(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=9 cooldown=20\n");
    (void)kit_call(kit, "d1");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    (void)kit_call(kit, "d1");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_FAILS, 0), 2);
    weir_router_change_unknown(kit->router, &change);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
    weir_router_change_undone(kit->router, &change);
    kit_advance(kit, 20);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
    (void)kit_call(kit, "d1");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_FAILS, 0), 1);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
}

static void rs_16_a_deployment_that_is_gone_is_not_cooled(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=2 cooldown=20\n");
    (void)kit_call(kit, "d1");
    change = kit_take(kit, WEIR_SHARED_FAILS);
    kit_reload(kit, "d2 g; router retries=0 fails=2 cooldown=20\n");
    kit_done(kit, &change, 99);
    kit_reload(kit, "d1 g cooldown=0; d2 g; router retries=0 fails=2 cooldown=20\n");
    kit_done(kit, &change, 99);
    assert_true(kit_cooling(kit, "d1") == 0);
}

KIT_TESTS_MAIN(TESTS)
