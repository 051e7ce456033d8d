/*
 * What probes find of deployments, and what picks make of it (router-semantics 4, 17).
 */
#include "engine_kit.h"

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 17", rs_17_a_failed_probe_removes_the_deployment_until_a_later_one_succeeds) \
    X("RS 17", rs_17_without_health_routing_probes_change_nothing) \
    X("RS 17", rs_17_a_result_older_than_the_threshold_counts_as_healthy) \
    X("RS 17", rs_17_a_filter_that_would_empty_the_group_keeps_all) \
    X("RS 17", rs_17_the_group_is_all_tiers_of_it) \
    X("RS 17", rs_17_a_policy_turns_the_filter_off_and_counts_failures_instead) \
    X("RS 17", rs_17_listed_groups_keep_the_filter_with_a_policy) \
    X("RS 17", rs_17_groups_that_are_not_listed_are_left_alone) \
    X("RS 17", rs_17_transient_failures_change_nothing_where_that_is_set) \
    X("RS 17", rs_17_a_cooldown_set_by_probes_outlasts_later_good_ones) \
    X("RS 17", rs_17_probes_and_requests_share_the_counters) \
    X("RS 17", rs_17_what_is_never_probed_is_never_removed) \
    X("RS 17", rs_17_skip_checks_hold_for_probes_too) \
    X("RS 4", rs_4_cooldowns_come_after_probes) \
    X("RS 4", rs_4_all_that_probes_leave_cooling_is_picked_with_a_policy) \
    X("RS 4", rs_4_who_cannot_search_the_web_does_not_save_the_filter) \
    X("RS 4", rs_4_an_id_is_asked_whatever_its_probes_say) \
    X("RS 5", rs_5_the_count_of_healthy_ones_knows_no_probes) \
    X("RS 16.4", rs_16_an_ill_deployment_does_not_shorten_the_wait_that_is_told) \
    X("RS 17", rs_17_strategies_and_names_all_look_at_it) \
    X("RS 17", rs_17_the_newest_result_holds) \
    X("RS 17", rs_17_a_change_of_health_is_an_event) \
    X("RS 17", rs_17_odd_failures_of_probes_are_made_sane)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_17_a_failed_probe_removes_the_deployment_until_a_later_one_succeeds(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0\n");
    expect(kit, "g", "d1:ok");
    kit_probe(kit, "d1", "500");
    expect_each(kit, 5, "g", "d2:ok");
    kit_advance(kit, 30);
    kit_probe(kit, "d1", "ok");
    expect(kit, "g", "d1:ok");
}

static void rs_17_without_health_routing_probes_change_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router retries=0 fails.internal=0\n");
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d1", "401");
    expect_each(kit, 5, "g", "d1:ok");
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    assert_true(kit_view(kit, "d1").health.known);
    assert_false(kit_view(kit, "d1").health.healthy);
}

static void rs_17_a_result_older_than_the_threshold_counts_as_healthy(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0\n");
    kit_probe(kit, "d1", "500");
    kit_advance(kit, 600);
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 0.001);
    expect(kit, "g", "d1:ok");

    KIT(short_kit, "d1 g w=1; d2 g w=0; router probes retries=0 stale=5\n");
    kit_probe(short_kit, "d1", "500");
    kit_advance(short_kit, 5);
    expect(short_kit, "g", "d2:ok");
    kit_advance(short_kit, 0.001);
    expect(short_kit, "g", "d1:ok");
}

static void rs_17_a_filter_that_would_empty_the_group_keeps_all(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; d3 h; router probes retries=0\n");
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d2", "503");
    kit_probe(kit, "d3", "503");
    expect_each(kit, 5, "g", "d1:ok");
    expect(kit, "h", "d3:ok");
    kit_probe(kit, "d2", "ok");
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_17_the_group_is_all_tiers_of_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1; d2 g order=2; router probes retries=0\n");
    kit_probe(kit, "d1", "500");
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_17_a_policy_turns_the_filter_off_and_counts_failures_instead(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0 fails.internal=1 cooldown=30\n");
    kit_probe(kit, "d1", "500");
    expect_each(kit, 5, "g", "d1:ok");
    kit_probe(kit, "d1", "500");
    assert_true(kit_cooling(kit, "d1") == 30);
    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_17_listed_groups_keep_the_filter_with_a_policy(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; d3 h w=1; d4 h w=0; "
             "router probes probed=g,nowhere retries=0 fails.internal=1 cooldown=30\n");
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d3", "500");
    expect_each(kit, 5, "g", "d2:ok");
    expect_each(kit, 5, "h", "d3:ok");
    kit_probe(kit, "d1", "500");
    assert_true(kit_cooling(kit, "d1") == 30);
}

static void rs_17_groups_that_are_not_listed_are_left_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; d3 h w=1; d4 h w=0; router probes probed=g retries=0\n");
    assert_true(weir_deployment_is_probed(kit_find(kit, "d1")));
    assert_false(weir_deployment_is_probed(kit_find(kit, "d3")));
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d3", "500");
    expect_each(kit, 5, "g", "d2:ok");
    expect_each(kit, 5, "h", "d3:ok");
}

static void rs_17_transient_failures_change_nothing_where_that_is_set(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes no_transient retries=0\n");
    kit_probe(kit, "d1", "429");
    kit_probe(kit, "d1", "408");
    assert_false(kit_view(kit, "d1").health.known);
    expect(kit, "g", "d1:ok");
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d1", "429");
    expect(kit, "g", "d2:ok");

    KIT(plain, "d1 g w=1; d2 g w=0; router probes retries=0\n");
    kit_probe(plain, "d1", "429");
    expect(plain, "g", "d2:ok");
}

static void rs_17_a_cooldown_set_by_probes_outlasts_later_good_ones(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0 fails.internal=0 cooldown=30\n");
    kit_probe(kit, "d1", "500");
    kit_probe(kit, "d1", "ok");
    expect_each(kit, 3, "g", "d2:ok");
    assert_true(kit_cooling(kit, "d1") == 30);
    kit_advance(kit, 30);
    expect(kit, "g", "d1:ok");
}

static void rs_17_probes_and_requests_share_the_counters(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; router probes retries=0 fails.internal=1 cooldown=30\n");
    kit_probe(kit, "d1", "500");
    expect(kit, "g", "d1:500 fail:500");
    assert_true(kit_cooling(kit, "d1") == 30);
    assert_int_equal(kit_view(kit, "d1").failures, 2);
}

static void rs_17_what_is_never_probed_is_never_removed(void **state)
{
    struct weir_health bad = {.known = true, .kind = WEIR_KIND_INTERNAL, .status = 500};
    (void)state;

    KIT(kit, "d1 g w=1 no_probe; d2 g w=0; router probes retries=0 shares\n");
    bad.probed_ns = kit->now_ns;
    assert_false(weir_deployment_is_probed(kit_find(kit, "d1")));
    weir_router_learn_health(kit->router, kit_find(kit, "d1"), &bad, kit->now_ns);
    expect(kit, "g", "d1:ok");
}

static void rs_17_skip_checks_hold_for_probes_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0 fails.bad_request=0\n");
    kit_probe(kit, "d1", "400");
    assert_true(kit_cooling(kit, "d1") == 0);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void rs_4_cooldowns_come_after_probes(void **state)
{
    (void)state;
    /* Whoever is left by probes and cools down is not replaced by whoever is ill. */
    KIT(kit, "d1 g w=1; d2 g w=0 : 429 ok; router probes retries=0 cooldown=5\n");
    kit_probe(kit, "d1", "500");
    expect(kit, "g", "d2:429 fail:429");
    expect(kit, "g", "fail:429");
    kit_advance(kit, 5);
    expect(kit, "g", "d2:ok");
}

static void rs_4_all_that_probes_leave_cooling_is_picked_with_a_policy(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0 : 500 ok; router probes probed=g retries=0 cooldown=5 fails.internal=0\n");
    kit_probe(kit, "d1", "503");
    expect(kit, "g", "d2:500 fail:500");
    expect(kit, "g", "d2:ok");
}

static void rs_4_who_cannot_search_the_web_does_not_save_the_filter(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0 no_web; router probes retries=0\n");
    kit_probe(kit, "d1", "500");
    expect(kit, "g", "d2:ok");
    expect(kit, "g web", "d1:ok");
}

static void rs_4_an_id_is_asked_whatever_its_probes_say(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g; router probes retries=0\n");
    kit_probe(kit, "d1", "500");
    expect(kit, "d1", "d1:ok");
}

static void rs_5_the_count_of_healthy_ones_knows_no_probes(void **state)
{
    (void)state;
    /* d2 cools down, d1 counts as healthy, so the failure is retried; the pick then finds nobody. */
    KIT(kit, "d1 g w=1; d2 g w=0 : 429; f f; fallbacks g: f; router probes retries=1 cooldown=60\n");
    kit_probe(kit, "d1", "500");
    expect(kit, "g", "d2:429 f:ok");
}

static void rs_16_an_ill_deployment_does_not_shorten_the_wait_that_is_told(void **state)
{
    const struct kit_call *call;
    (void)state;

    KIT(kit, "d1 g w=1; d2 g w=0 : 429; router probes retries=0 cooldown=7\n");
    kit_probe(kit, "d1", "500");
    (void)kit_call(kit, "g");
    call = kit_call(kit, "g");
    assert_int_equal(call->fail.failure.status, 429);
    assert_int_equal(call->fail.failure.retry_after_ns, 7 * WEIR_NS_PER_S);
}

static void rs_17_strategies_and_names_all_look_at_it(void **state)
{
    static const char *const strategies[] = {"simple-shuffle",         "least-busy",
                                             "usage-based-routing-v2", "latency-based-routing",
                                             "cost-based-routing",     "lar1"};
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++) {
        snprintf(config, sizeof(config),
                 "d1 g model=openai/m; d2 h model=openai/m; routing r %s g h; router probes retries=0\n",
                 strategies[i]);
        KIT(kit, config);
        kit_probe(kit, "d1", "500");
        expect_each(kit, 5, "r", "d2:ok");
        expect_each(kit, 5, "openai/m", "d2:ok");
        expect(kit, "g", "d1:ok");
    }
}

static void rs_17_the_newest_result_holds(void **state)
{
    struct weir_health good = {.known = true, .healthy = true};
    (void)state;

    KIT(kit, "d1 g w=1; d2 g w=0; router probes retries=0\n");
    good.probed_ns = kit->now_ns;
    kit_advance(kit, 1);
    kit_probe(kit, "d1", "500");
    weir_router_learn_health(kit->router, kit_find(kit, "d1"), &good, kit->now_ns);
    expect(kit, "g", "d2:ok");
    /* of a clock that is ahead: it is of now */
    good.probed_ns = kit->now_ns + 30 * WEIR_NS_PER_S;
    weir_router_learn_health(kit->router, kit_find(kit, "d1"), &good, kit->now_ns);
    expect(kit, "g", "d1:ok");
    assert_true(kit_view(kit, "d1").health.elsewhere);
    kit_advance(kit, 1);
    kit_probe(kit, "d1", "500");
    expect(kit, "g", "d2:ok");
    assert_false(kit_view(kit, "d1").health.elsewhere);
}

static void expect_health_event(struct kit *kit, bool healthy, int status)
{
    struct weir_router_event event;

    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_HEALTH_CHANGED);
    assert_slice_is(event.deployment, "d1");
    assert_slice_is(event.group, "g");
    assert_int_equal(event.time_ns, kit->now_ns);
    assert_int_equal(event.healthy, healthy);
    assert_int_equal(event.status, status);
    assert_false(weir_router_event(kit->router, &event));
}

static void rs_17_a_change_of_health_is_an_event(void **state)
{
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g; d2 g; router probes retries=0\n");
    kit_probe(kit, "d1", "ok");
    assert_false(weir_router_event(kit->router, &event));
    kit_probe(kit, "d1", "503");
    expect_health_event(kit, false, 503);
    kit_probe(kit, "d1", "500");
    assert_false(weir_router_event(kit->router, &event));
    kit_probe(kit, "d1", "ok");
    expect_health_event(kit, true, 0);
    assert_slice_is(weir_router_event_name(WEIR_ROUTER_EVENT_HEALTH_CHANGED), "HealthChanged");
    assert_slice_is(weir_router_event_name(WEIR_ROUTER_EVENT_KINDS), "unknown");
}

static void rs_17_odd_failures_of_probes_are_made_sane(void **state)
{
    const struct weir_failure odd = {.kind = WEIR_KIND_COUNT, .status = 7, .origin = WEIR_ORIGIN_ROUTER};
    (void)state;

    KIT(kit, "d1 g; d2 g; router probes retries=0 fails.internal=0 cooldown=9\n");
    weir_router_probe(kit->router, kit->snapshot, kit_find(kit, "d1"), &odd, kit->now_ns);
    assert_int_equal(kit_view(kit, "d1").health.kind, WEIR_KIND_INTERNAL);
    assert_int_equal(kit_view(kit, "d1").health.status, 500);
    assert_true(kit_cooling(kit, "d1") == 9);
}

KIT_TESTS_MAIN(TESTS)
