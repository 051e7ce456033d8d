/* Cooldowns by an administrator's hand, and what can be seen of a deployment (beyond.md 7, decisions 7). */
#include "base/slice.h"
#include "base/time.h"

#include "engine_kit.h"
#include "engine_shared.h"

static struct weir_slice name_of(const struct weir_process_name *name)
{
    return (struct weir_slice){name->text, name->len};
}

static void a_deployment_that_is_cooled_by_hand_is_out_of_every_pick(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : ok; d2 g w=0 : ok\n");
    kit_cool(kit, "d1", 60, "ann");
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 60);
    expect(kit, "g", "d1:ok");
}

static void decisions_7_an_administrator_may_shorten_a_cooldown(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router retries=0 cooldown=30\n");
    (void)kit_call(kit, "d1");
    kit_cool(kit, "d1", 5, "ann");
    assert_true(kit_cooling(kit, "d1") == 5);
    kit_cool(kit, "d1", 50, "ann");
    assert_true(kit_cooling(kit, "d1") == 50);
}

static void a_failure_during_a_cooldown_by_hand_never_shortens_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router retries=0 cooldown=30\n");
    kit_cool(kit, "d1", 50, "ann");
    (void)kit_call(kit, "d1");
    assert_true(kit_cooling(kit, "d1") == 50);
    assert_int_equal(kit_view(kit, "d1").cooldown_rule, WEIR_COOLDOWN_BY_HAND);
}

static void a_cooldown_by_hand_is_none_in_the_row_of_them(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router retries=0 cooldown=10 growth=2\n");
    kit_cool(kit, "d1", 5, "ann");
    kit_advance(kit, 5);
    (void)kit_call(kit, "d1");
    assert_true(kit_cooling(kit, "d1") == 10);
}

static void a_length_of_nothing_or_of_more_than_a_year_is_refused(void **state)
{
    const weir_deployment *d1;
    (void)state;

    KIT(kit, "d1 g\n");
    d1 = kit_find(kit, "d1");
    assert_int_equal(weir_router_cool(kit->router, d1, 0, WEIR_SLICE_EMPTY, kit->now_ns), WEIR_ERR_INVALID);
    assert_int_equal(weir_router_cool(kit->router, d1, WEIR_COOL_MAX_NS + 1, WEIR_SLICE_EMPTY, kit->now_ns),
                     WEIR_ERR_INVALID);
    assert_int_equal(kit_next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    assert_int_equal(weir_router_cool(kit->router, d1, WEIR_COOL_MAX_NS, WEIR_SLICE_EMPTY, kit->now_ns), 0);
}

static void a_lift_by_hand_ends_a_cooldown_whoever_has_set_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=0 cooldown=30\n");
    expect(kit, "g", "d1:429 fail:429");
    assert_true(kit_lift(kit, "d1", "ann"));
    assert_false(kit_lift(kit, "d1", "ann"));
    expect(kit, "g", "d1:ok");
    kit_cool(kit, "d1", 30, "ann");
    assert_true(kit_lift(kit, "d1", "bob"));
    expect(kit, "g", "d1:ok");
}

static void events_say_who_it_was(void **state)
{
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g\n");
    kit_cool(kit, "d1", 60, "ann");
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_SET);
    assert_int_equal(event.rule, WEIR_COOLDOWN_BY_HAND);
    assert_int_equal(event.length_ns, 60 * WEIR_NS_PER_S);
    assert_int_equal(event.time_ns, kit->now_ns);
    assert_slice_is(event.deployment, "d1");
    assert_slice_is(event.group, "g");
    assert_slice_is(name_of(&event.by), "ann");
    assert_true(kit_lift(kit, "d1", "bob"));
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_LIFTED);
    assert_slice_is(name_of(&event.by), "bob");
    assert_false(kit_lift(kit, "d1", "bob"));
    assert_false(weir_router_event(kit->router, &event));
}

static void events_outlive_the_snapshot_that_they_are_about(void **state)
{
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g\n");
    kit_cool(kit, "d1", 60, "ann");
    kit_reload(kit, "d2 h\n");
    assert_true(weir_router_event(kit->router, &event));
    assert_slice_is(event.deployment, "d1");
    assert_slice_is(event.group, "g");
}

static void a_cooldown_says_how_it_came_about(void **state)
{
    struct weir_live_view view;
    uint64_t set_ns;
    (void)state;

    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    set_ns = kit->now_ns;
    (void)kit_call(kit, "d1");
    kit_advance(kit, 7);
    view = kit_view(kit, "d1");
    assert_int_equal(view.cooldown_rule, WEIR_COOLDOWN_RATE_LIMITED);
    assert_int_equal(view.cooldown_set_ns, set_ns);
    assert_int_equal(view.cooldown_length_ns, 30 * WEIR_NS_PER_S);
    assert_int_equal(view.cooldown_by.len, 0);
    kit_cool(kit, "d1", 20, "ann");
    view = kit_view(kit, "d1");
    assert_int_equal(view.cooldown_rule, WEIR_COOLDOWN_BY_HAND);
    assert_int_equal(view.cooldown_set_ns, kit->now_ns);
    assert_int_equal(view.cooldown_length_ns, 20 * WEIR_NS_PER_S);
    assert_false(view.cooldown_elsewhere);
    assert_slice_is(name_of(&view.cooldown_by), "ann");
    /* one of another process */
    (void)kit_learn(kit, "d2", 9, "other");
    view = kit_view(kit, "d2");
    assert_int_equal(view.cooldown_rule, WEIR_COOLDOWN_RULES);
    assert_int_equal(view.cooldown_length_ns, 9 * WEIR_NS_PER_S);
    assert_slice_is(name_of(&view.cooldown_by), "other");
}

static void the_last_failure_is_the_newest_that_is_the_deployments_own(void **state)
{
    struct weir_last_failure last;
    (void)state;

    KIT(kit, "d1 g : 500 400 500@caller_limit ok 429; router retries=0\n");
    assert_false(kit_view(kit, "d1").last_failure.known);
    (void)kit_call(kit, "d1");
    last = kit_view(kit, "d1").last_failure;
    assert_true(last.known);
    assert_int_equal(last.kind, WEIR_KIND_INTERNAL);
    assert_int_equal(last.status, 500);
    assert_int_equal(last.at_ns, kit->now_ns);
    kit_advance(kit, 2);
    (void)kit_call(kit, "d1");
    assert_int_equal(kit_view(kit, "d1").last_failure.status, 400);
    assert_int_equal(kit_view(kit, "d1").last_failure.at_ns, kit->now_ns);
    kit_advance(kit, 2);
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d1");
    assert_int_equal(kit_view(kit, "d1").last_failure.status, 400);
    (void)kit_call(kit, "d1 creds");
    assert_int_equal(kit_view(kit, "d1").last_failure.status, 400);
}

static size_t fails_of(const struct kit *kit, const char *id, struct weir_fails_view *views)
{
    return weir_router_fails(kit->router, kit->snapshot, kit_find(kit, id), kit->now_ns, views);
}

static void counters_of_allowed_fails_are_shown_with_their_limits(void **state)
{
    struct weir_fails_view views[WEIR_FAILS_VIEWS_MAX];
    (void)state;

    KIT(kit, "d1 g : 500 503\n"
             "d2 g fails=9 : 500\n"
             "d3 g fails.internal=7 fails.timeout=6 : 500 408\n"
             "router retries=0 fails=8 fails.internal=5 cooldown=20\n");
    assert_int_equal(fails_of(kit, "d1", views), 0);
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d2");
    (void)kit_call(kit, "d3");
    (void)kit_call(kit, "d3");
    assert_int_equal(fails_of(kit, "d1", views), 2);
    assert_int_equal(views[0].rule, WEIR_COOLDOWN_ROUTER_POLICY);
    assert_int_equal(views[0].field, WEIR_POLICY_INTERNAL_SERVER);
    assert_int_equal(views[0].count, 2);
    assert_int_equal(views[0].limit, 5);
    assert_int_equal(views[0].end_ns, kit->now_ns + 20 * WEIR_NS_PER_S);
    assert_int_equal(views[1].rule, WEIR_COOLDOWN_ROUTER_FAILS);
    assert_int_equal(views[1].field, WEIR_POLICY_NONE);
    assert_int_equal(views[1].count, 2);
    assert_int_equal(views[1].limit, 8);
    assert_int_equal(fails_of(kit, "d2", views), 1);
    assert_int_equal(views[0].rule, WEIR_COOLDOWN_DEPLOYMENT_FAILS);
    assert_int_equal(views[0].limit, 9);
    assert_int_equal(fails_of(kit, "d3", views), 2);
    assert_int_equal(views[0].rule, WEIR_COOLDOWN_DEPLOYMENT_POLICY);
    assert_int_equal(views[0].field, WEIR_POLICY_TIMEOUT);
    assert_int_equal(views[0].kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(views[0].limit, 6);
    assert_int_equal(views[1].field, WEIR_POLICY_INTERNAL_SERVER);
    assert_int_equal(views[1].kind, WEIR_KIND_INTERNAL);
    kit_advance(kit, 20);
    assert_int_equal(fails_of(kit, "d1", views), 0);
    assert_int_equal(fails_of(kit, "d3", views), 0);
}

static void a_lift_is_told_before_the_cooldown_that_came_after_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    (void)kit_call(kit, "d1");
    (void)kit_take_all(kit);
    assert_true(kit_lift(kit, "d1", "ann"));
    assert_int_equal(kit_take_all(kit), 1);
    assert_int_equal(kit_changes[0].kind, WEIR_SHARED_LIFT);
    kit_cool(kit, "d1", 9, "ann");
    assert_int_equal(kit_take_all(kit), 2);
    assert_int_equal(kit_changes[0].kind, WEIR_SHARED_LIFT);
    assert_int_equal(kit_changes[1].kind, WEIR_SHARED_COOLDOWN);
    assert_int_equal(kit_changes[1].u.cooldown.remaining_ns, 9 * WEIR_NS_PER_S);
    assert_int_equal(kit_changes[1].u.cooldown.status, 503);
}

static void until_a_lift_was_told_what_the_store_has_is_no_news(void **state)
{
    struct weir_change lift;
    (void)state;

    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    (void)kit_learn(kit, "d1", 40, "other");
    assert_true(kit_lift(kit, "d1", "ann"));
    (void)kit_learn(kit, "d1", 40, "other");
    assert_true(kit_cooling(kit, "d1") == 0);
    lift = kit_take(kit, WEIR_SHARED_LIFT);
    weir_router_change_undone(kit->router, &lift);
    lift = kit_take(kit, WEIR_SHARED_LIFT);
    (void)kit_learn(kit, "d1", 40, "other");
    assert_true(kit_cooling(kit, "d1") == 0);
    kit_done(kit, &lift, 0);
    (void)kit_learn(kit, "d1", 40, "other");
    assert_true(kit_cooling(kit, "d1") == 40);
}

static void where_cooldowns_are_not_shared_a_hand_cools_here_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 no_cooldowns\n");
    kit_cool(kit, "d1", 9, "ann");
    assert_true(kit_cooling(kit, "d1") == 9);
    assert_int_equal(kit_take_all(kit), 0);
    assert_true(kit_lift(kit, "d1", "ann"));
    assert_int_equal(kit_take_all(kit), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_that_is_cooled_by_hand_is_out_of_every_pick),
        cmocka_unit_test(decisions_7_an_administrator_may_shorten_a_cooldown),
        cmocka_unit_test(a_failure_during_a_cooldown_by_hand_never_shortens_it),
        cmocka_unit_test(a_cooldown_by_hand_is_none_in_the_row_of_them),
        cmocka_unit_test(a_length_of_nothing_or_of_more_than_a_year_is_refused),
        cmocka_unit_test(a_lift_by_hand_ends_a_cooldown_whoever_has_set_it),
        cmocka_unit_test(events_say_who_it_was),
        cmocka_unit_test(events_outlive_the_snapshot_that_they_are_about),
        cmocka_unit_test(a_cooldown_says_how_it_came_about),
        cmocka_unit_test(the_last_failure_is_the_newest_that_is_the_deployments_own),
        cmocka_unit_test(counters_of_allowed_fails_are_shown_with_their_limits),
        cmocka_unit_test(a_lift_is_told_before_the_cooldown_that_came_after_it),
        cmocka_unit_test(until_a_lift_was_told_what_the_store_has_is_no_news),
        cmocka_unit_test(where_cooldowns_are_not_shared_a_hand_cools_here_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
