/*
 * What a router shares with other processes, when it says so, and what it makes of their samples and probes
 * (router-semantics 6.5, 17, 22), in virtual time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"

#include "engine_shared.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 22", rs_22_a_router_that_does_not_share_has_nothing_to_tell) \
    X("RS 22", rs_22_what_is_shared_follows_from_limits_and_strategies) \
    X("RS 22", rs_22_the_first_change_after_a_quiet_time_notifies_once) \
    X("RS 22", rs_22_changes_that_do_not_fit_are_taken_next) \
    X("RS 6.5", rs_6_new_samples_are_told_and_learned_ones_stand_before_them) \
    X("RS 6.5", rs_6_samples_that_were_not_told_are_told_again) \
    X("RS 17", rs_17_results_of_probes_are_told_and_learned_ones_are_not) \
    X("RS 22", rs_22_events_wait_in_a_ring_that_has_an_end) \
    X("RS 22", rs_22_a_router_without_memory_to_share_says_so)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_22_a_router_that_does_not_share_has_nothing_to_tell(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=9 : 429; d2 g; router strategy=least-busy retries=1\n");
    (void)kit_call(kit, "d1");
    kit_probe(kit, "d1", "500");
    assert_int_equal(weir_router_shares(kit->router, kit_find(kit, "d1")), 0);
    assert_int_equal(kit_take_all(kit), 0);
    weir_router_tell_again(kit->router);
    (void)kit_learn(kit, "d2", 10, "other");
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, kit_minute(kit), 9);
    weir_router_learn_running(kit->router, kit_find(kit, "d2"), 9);
    weir_router_learn_latency(kit->router, kit_find(kit, "d2"), WEIR_PACE_WHOLE, &(float){9}, 1, kit->now_ns);
    assert_true(kit_cooling(kit, "d2") == 0);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 1);
    assert_int_equal(kit_view(kit, "d2").running_elsewhere, 0);
    assert_true(kit_view(kit, "d2").latency_s <= 0);
    assert_false(kit_view(kit, "d1").cooldown_elsewhere);
}

static unsigned kinds(const struct kit *kit, const char *id)
{
    return weir_router_shares(kit->router, kit_find(kit, id)) &
           ~(WEIR_SHARED_BIT(LIFT) | WEIR_SHARED_BIT(COOLDOWN) | WEIR_SHARED_BIT(FAILS) |
             WEIR_SHARED_BIT(HEALTH));
}

static void rs_22_what_is_shared_follows_from_limits_and_strategies(void **state)
{
    const unsigned always =
        WEIR_SHARED_BIT(LIFT) | WEIR_SHARED_BIT(COOLDOWN) | WEIR_SHARED_BIT(FAILS) | WEIR_SHARED_BIT(HEALTH);
    (void)state;

    KIT(kit, "d1 g; d2 g max.otpm=5; d3 h; d4 i; d5 j; d6 g cooldown=0 no_probe; "
             "routing busy least-busy h; routing fast latency-based-routing i; "
             "routing even usage-based-routing-v2 j; router shares\n");
    assert_int_equal(weir_router_shares(kit->router, kit_find(kit, "d1")), always);
    assert_int_equal(kinds(kit, "d2"), WEIR_SHARED_BIT(USAGE));
    assert_int_equal(kinds(kit, "d3"), WEIR_SHARED_BIT(RUNNING));
    assert_int_equal(kinds(kit, "d4"), WEIR_SHARED_BIT(LATENCY));
    assert_int_equal(kinds(kit, "d5"), WEIR_SHARED_BIT(USAGE));
    assert_int_equal(weir_router_shares(kit->router, kit_find(kit, "d6")), 0);
    kit_reload(kit, "d1 g; d2 g; router strategy=latency-based-routing no_cooldowns\n");
    assert_int_equal(weir_router_shares(kit->router, kit_find(kit, "d1")),
                     WEIR_SHARED_BIT(LATENCY) | WEIR_SHARED_BIT(HEALTH));
}

static void rs_22_the_first_change_after_a_quiet_time_notifies_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=99; d2 h max.rpm=99; router shares retries=0\n");
    assert_int_equal(kit->notified, 0);
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "h");
    (void)kit_call(kit, "g");
    assert_int_equal(kit->notified, 1);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 3);
    assert_int_equal(kit_take_all(kit), 0);
    (void)kit_call(kit, "h");
    assert_int_equal(kit->notified, 2);
    assert_int_equal(kit_take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
}

static void rs_22_changes_that_do_not_fit_are_taken_next(void **state)
{
    char config[4096] = "router shares retries=0\n";
    size_t count, calls = 0;
    int64_t sum = 0;
    (void)state;

    for (int i = 0; i < 60; i++)
        snprintf(config + strlen(config), sizeof(config) - strlen(config), "d%d g max.rpm=99\n", i);
    KIT(kit, config);
    for (int i = 0; i < 60; i++) {
        char id[8];

        snprintf(id, sizeof(id), "d%d", i);
        (void)kit_call(kit, id);
    }
    assert_int_equal(kit->notified, 1);
    do {
        count = weir_router_take_changes(kit->router, kit->now_ns, kit_changes, WEIR_CHANGES_MAX);
        for (size_t i = 0; i < count; i++)
            sum += kit_changes[i].u.usage.usage == WEIR_USAGE_REQUESTS ? kit_changes[i].u.usage.amount : 0;
        calls++;
        assert_true(count > 0 || calls > 60);
    } while (count > 0);
    assert_int_equal(sum, 60);
    assert_int_equal(kit->notified, 1);
}

static void rs_6_new_samples_are_told_and_learned_ones_stand_before_them(void **state)
{
    static const float learned[] = {1, 2, 3};
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : ok=3/2+4 ok=3/2+8 ok=3/2+12; router shares strategy=latency-based-routing samples=4\n");
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_LATENCY);
    assert_int_equal(change.u.latency.pace, WEIR_PACE_WHOLE);
    assert_int_equal(change.u.latency.count, 2);
    assert_true(fabs((double)change.u.latency.samples[0] - 2) < 1e-6);
    assert_true(fabs((double)change.u.latency.samples[1] - 4) < 1e-6);
    (void)kit_call(kit, "g");
    weir_router_learn_latency(kit->router, kit_find(kit, "d1"), WEIR_PACE_WHOLE, learned, 3, kit->now_ns);
    assert_true(fabs(kit_view(kit, "d1").latency_s - (1 + 2 + 3 + 6) / 4.0) < 1e-6);
    change = kit_take(kit, WEIR_SHARED_LATENCY);
    assert_int_equal(change.u.latency.count, 1);
    assert_true(fabs((double)change.u.latency.samples[0] - 6) < 1e-6);
    weir_router_learn_latency(kit->router, kit_find(kit, "d1"), WEIR_PACE_FIRST, learned, 2, kit->now_ns);
    assert_true(fabs(kit_view(kit, "d1").ttft_s - 1.5) < 1e-6);
    weir_router_learn_latency(kit->router, kit_find(kit, "d1"), WEIR_PACE_FIRST, learned, 0, kit->now_ns);
    assert_true(fabs(kit_view(kit, "d1").ttft_s - 1.5) < 1e-6);
}

static void rs_6_samples_that_were_not_told_are_told_again(void **state)
{
    static const float many[40] = {[39] = 7};
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : ok=3/2+4; router shares strategy=latency-based-routing samples=4\n");
    (void)kit_call(kit, "g");
    change = kit_take(kit, WEIR_SHARED_LATENCY);
    (void)kit_call(kit, "g");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit_take(kit, WEIR_SHARED_LATENCY).u.latency.count, 2);
    weir_router_change_unknown(kit->router, &change);
    assert_true(kit_takes_none(kit, WEIR_SHARED_LATENCY));
    for (int i = 0; i < 100; i++)
        (void)kit_call(kit, "g");
    assert_int_equal(kit_take(kit, WEIR_SHARED_LATENCY).u.latency.count, WEIR_LATENCY_SAMPLES_MAX);
    /* more than there is room for: the newest */
    weir_router_learn_latency(kit->router, kit_find(kit, "d1"), WEIR_PACE_WHOLE, many, 40, kit->now_ns);
    assert_true(fabs(kit_view(kit, "d1").latency_s - 7 / 4.0) < 1e-6);
}

static void rs_17_results_of_probes_are_told_and_learned_ones_are_not(void **state)
{
    struct weir_change change;
    struct weir_health other = {.known = true, .kind = WEIR_KIND_COUNT, .status = 503};
    (void)state;

    KIT(kit, "d1 g; d2 g; router shares probes\n");
    kit_probe(kit, "d1", "503");
    change = kit_take(kit, WEIR_SHARED_HEALTH);
    assert_false(change.u.health.healthy);
    assert_int_equal(change.u.health.status, 503);
    assert_int_equal(change.u.health.probed_ns, kit->now_ns);
    weir_router_change_undone(kit->router, &change);
    assert_false(kit_takes_none(kit, WEIR_SHARED_HEALTH));
    kit_advance(kit, 1);
    other.probed_ns = kit->now_ns;
    weir_router_learn_health(kit->router, kit_find(kit, "d1"), &other, kit->now_ns);
    assert_int_equal(kit_view(kit, "d1").health.kind, WEIR_KIND_INTERNAL);
    weir_router_tell_again(kit->router);
    assert_int_equal(kit_take_all(kit), 0);
}

static void rs_22_events_wait_in_a_ring_that_has_an_end(void **state)
{
    struct weir_router_event event;
    size_t count = 0;
    (void)state;

    KIT(kit, "d1 g; router probes\n");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 200; i++) {
            kit_probe(kit, "d1", "500");
            kit_probe(kit, "d1", "ok");
        }
        for (count = 0; weir_router_event(kit->router, &event); count++)
            assert_int_equal(event.healthy, count % 2 == 1);
        assert_int_equal(count, 256);
    }
}

static void no_notice(void *user)
{
    (void)user;
}

static void rs_22_a_router_without_memory_to_share_says_so(void **state)
{
    struct kit_config *config = calloc(1, sizeof(*config));
    struct test_mem mem;
    size_t n = 0;
    (void)state;

    assert_non_null(config);
    kit_parse_config(config, "d1 g; router\n");
    do {
        weir_router *router = NULL;
        weir_snapshot *snapshot = NULL;
        int r;

        test_mem_init(&mem, ++n);
        assert_int_equal(kit_build(config, weir_mem_libc(), &snapshot), 0);
        r = weir_router_new(&mem.mem, 1, &router);
        if (r == 0)
            r = weir_router_share(router, no_notice, NULL);
        if (r == 0)
            r = weir_router_adopt(router, snapshot);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : 0);
        weir_snapshot_unref(snapshot);
        weir_router_free(router);
        test_mem_assert_empty(&mem);
    } while (mem.failed);
    assert_true(n > 4);
    kit_config_deinit(config);
    free(config);
}

KIT_TESTS_MAIN(TESTS)
