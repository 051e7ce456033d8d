/*
 * What a router tells other processes, and what it makes of their news (router-semantics 22, decisions 5, 7,
 * 33, 34), in virtual time.
 */
#include "engine_kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 22", rs_22_a_router_that_does_not_share_has_nothing_to_tell) \
    X("RS 22", rs_22_what_is_shared_follows_from_limits_and_strategies) \
    X("RS 22", rs_22_the_first_change_after_a_quiet_time_notifies_once) \
    X("RS 22", rs_22_changes_that_do_not_fit_are_taken_next) \
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
    X("RS 16.1", rs_16_a_deployment_that_is_gone_is_not_cooled) \
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
    X("RS 6.2", rs_6_after_a_change_of_strategy_what_was_told_is_taken_back) \
    X("RS 6.5", rs_6_new_samples_are_told_and_learned_ones_stand_before_them) \
    X("RS 6.5", rs_6_samples_that_were_not_told_are_told_again) \
    X("RS 17", rs_17_results_of_probes_are_told_and_learned_ones_are_not) \
    X("RS 22", rs_22_events_wait_in_a_ring_that_has_an_end) \
    X("RS 22", rs_22_a_router_without_memory_to_share_says_so)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

enum { CHANGES = 128 };

static struct weir_change changes[CHANGES];

static size_t take(struct kit *kit)
{
    return weir_router_take_changes(kit->router, kit->now_ns, changes, CHANGES);
}

static size_t count_of_kind(size_t count, weir_shared_kind kind)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += changes[i].kind == kind;
    return found;
}

static bool takes_none(struct kit *kit, weir_shared_kind kind)
{
    return count_of_kind(take(kit), kind) == 0;
}

/* Takes all; the first of a kind, which must be there. */
static struct weir_change take_one(struct kit *kit, weir_shared_kind kind)
{
    size_t count = take(kit), at = 0;

    while (at < count && changes[at].kind != kind)
        at++;
    assert_true(at < count);
    return changes[at];
}

/* Takes the changes of a kind and leaves the sum of their amounts; of FAILS, USAGE (of one usage), RUNNING.
 */
static int64_t take_amount(struct kit *kit, weir_shared_kind kind, weir_usage_kind usage)
{
    size_t count = take(kit);
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind != kind)
            continue;
        if (kind == WEIR_SHARED_FAILS)
            sum += changes[i].u.fails.amount;
        else if (kind == WEIR_SHARED_RUNNING)
            sum += changes[i].u.running.amount;
        else if (changes[i].u.usage.usage == usage)
            sum += changes[i].u.usage.amount;
    }
    return sum;
}

static void done(struct kit *kit, const struct weir_change *change, uint64_t count)
{
    weir_router_change_done(kit->router, kit->snapshot, change, count, kit->now_ns);
}

static uint64_t learn(struct kit *kit, const char *id, double remaining_s, const char *by)
{
    const struct weir_learned_cooldown cooldown = {.remaining_ns = weir_time_from_s(remaining_s),
                                                   .kind = WEIR_KIND_RATE_LIMIT,
                                                   .status = 429,
                                                   .by = weir_slice_str(by)};

    return weir_router_learn_cooldown(kit->router, kit_find(kit, id), &cooldown, kit->now_ns);
}

static weir_router_event_kind next_event(struct kit *kit)
{
    struct weir_router_event event;

    return weir_router_event(kit->router, &event) ? event.kind : WEIR_ROUTER_EVENT_KINDS;
}

static uint64_t minute_of(const struct kit *kit)
{
    return kit->now_ns / (60 * WEIR_NS_PER_S);
}

static void rs_22_a_router_that_does_not_share_has_nothing_to_tell(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=9 : 429; d2 g; router strategy=least-busy retries=1\n");
    (void)kit_call(kit, "d1");
    kit_probe(kit, "d1", "500");
    assert_int_equal(weir_router_shares(kit->router, kit_find(kit, "d1")), 0);
    assert_int_equal(take(kit), 0);
    weir_router_tell_again(kit->router);
    (void)learn(kit, "d2", 10, "other");
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, minute_of(kit), 9);
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
           ~(WEIR_SHARED_BIT(COOLDOWN) | WEIR_SHARED_BIT(FAILS) | WEIR_SHARED_BIT(HEALTH));
}

static void rs_22_what_is_shared_follows_from_limits_and_strategies(void **state)
{
    const unsigned always = WEIR_SHARED_BIT(COOLDOWN) | WEIR_SHARED_BIT(FAILS) | WEIR_SHARED_BIT(HEALTH);
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
    assert_int_equal(take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 3);
    assert_int_equal(take(kit), 0);
    (void)kit_call(kit, "h");
    assert_int_equal(kit->notified, 2);
    assert_int_equal(take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
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
        count = weir_router_take_changes(kit->router, kit->now_ns, changes, WEIR_CHANGES_MAX);
        for (size_t i = 0; i < count; i++)
            sum += changes[i].u.usage.usage == WEIR_USAGE_REQUESTS ? changes[i].u.usage.amount : 0;
        calls++;
        assert_true(count > 0 || calls > 60);
    } while (count > 0);
    assert_int_equal(sum, 60);
    assert_int_equal(kit->notified, 1);
}

static void rs_22_a_cooldown_is_told_with_what_remains_of_it(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    assert_int_equal(kit->notified, 1);
    kit_advance(kit, 0.002);
    change = take_one(kit, WEIR_SHARED_COOLDOWN);
    assert_slice_is(change.id, "d1");
    assert_int_equal(change.u.cooldown.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(change.u.cooldown.status, 429);
    assert_int_equal(change.u.cooldown.length_ns, 7 * WEIR_NS_PER_S);
    assert_int_equal(change.u.cooldown.remaining_ns, 6998 * WEIR_NS_PER_MS);
    assert_true(takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_a_cooldown_that_is_over_is_not_told(void **state)
{
    (void)state;
    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    kit_advance(kit, 7);
    assert_true(takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_a_cooldown_that_was_not_carried_out_is_told_again_while_it_lasts(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g cooldown=7 : 429; d2 g; router shares retries=0\n");
    (void)kit_call(kit, "d1");
    change = take_one(kit, WEIR_SHARED_COOLDOWN);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(kit->notified, 1);
    kit_advance(kit, 3);
    change = take_one(kit, WEIR_SHARED_COOLDOWN);
    assert_int_equal(change.u.cooldown.remaining_ns, 4 * WEIR_NS_PER_S);
    weir_router_change_unknown(kit->router, &change);
    change = take_one(kit, WEIR_SHARED_COOLDOWN);
    weir_router_change_undone(kit->router, &change);
    kit_advance(kit, 4);
    assert_true(takes_none(kit, WEIR_SHARED_COOLDOWN));
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
    (void)learn(kit, "d2", 50, "other");
    kit_probe(kit, "d2", "ok");
    (void)take(kit);
    kit_advance(kit, 2);
    weir_router_tell_again(kit->router);
    assert_int_equal(take(kit), 2);
    assert_slice_is(changes[0].id, "d1");
    assert_int_equal(changes[0].u.cooldown.remaining_ns, 5 * WEIR_NS_PER_S);
    assert_int_equal(changes[1].kind, WEIR_SHARED_HEALTH);
}

static void decision_34_a_learned_cooldown_holds_and_is_not_told_on(void **state)
{
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g w=1; d2 g w=0; router shares retries=0\n");
    assert_int_equal(learn(kit, "d1", 4, "other"), kit->now_ns + 4 * WEIR_NS_PER_S);
    expect(kit, "g", "d2:ok");
    assert_int_equal(take(kit), 0);
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_LEARNED);
    assert_slice_is(event.deployment, "d1");
    assert_int_equal(event.failure, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(event.status, 429);
    assert_int_equal(event.length_ns, 4 * WEIR_NS_PER_S);
    assert_slice_is(((struct weir_slice){event.by.text, event.by.len}), "other");
    kit_advance(kit, 4);
    expect(kit, "g", "d1:ok");
    assert_int_equal(learn(kit, "d1", 0, "other"), kit->now_ns);
    expect(kit, "g", "d1:ok");
}

static void decision_34_a_cooldown_that_has_gone_from_the_store_is_over(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router shares retries=0 cooldown=30\n");
    until = learn(kit, "d1", 40, "other");
    (void)next_event(kit);
    expect(kit, "g", "d2:ok");
    assert_true(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_COOLDOWN_LIFTED);
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    expect(kit, "g", "d1:429 fail:429");
    /* one of ours that was seen in the store */
    until = learn(kit, "d1", 29.9, "");
    assert_int_equal(until, kit->now_ns + 30 * WEIR_NS_PER_S);
    assert_true(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    expect(kit, "g", "d1:ok");
}

static void decision_34_a_cooldown_set_here_since_then_is_not_lifted(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g w=1 : 429; d2 g w=0; router shares retries=0 cooldown=30\n");
    until = learn(kit, "d1", 10, "other");
    (void)kit_call(kit, "d1");
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
    assert_true(kit_cooling(kit, "d1") == 30);
    kit_advance(kit, 30);
    until = learn(kit, "d1", 10, "other");
    kit_advance(kit, 10);
    assert_false(weir_router_lift_cooldown(kit->router, kit_find(kit, "d1"), until, kit->now_ns));
}

static void decision_7_a_learned_cooldown_never_shortens_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    (void)kit_call(kit, "d1");
    assert_int_equal(learn(kit, "d1", 10, "other"), kit->now_ns + 30 * WEIR_NS_PER_S);
    assert_true(kit_cooling(kit, "d1") == 30);
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    (void)learn(kit, "d1", 50, "other");
    assert_true(kit_cooling(kit, "d1") == 50);
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_COOLDOWN_LEARNED);
}

static void decision_7_news_of_the_same_cooldown_is_no_news(void **state)
{
    uint64_t until;
    (void)state;

    KIT(kit, "d1 g : 429; d2 g; router shares retries=0 cooldown=30\n");
    until = learn(kit, "d1", 10, "other");
    (void)next_event(kit);
    assert_int_equal(learn(kit, "d1", 10.1, "another"), until);
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    kit_advance(kit, 9.99);
    assert_int_equal(learn(kit, "d1", 0.1, "another"), until);
    assert_int_equal(learn(kit, "d1", 0.12, "another"), kit->now_ns + 120 * WEIR_NS_PER_MS);
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
    (void)learn(kit, "d1", 10, "h:1");
    expect_by(kit, "d1", "h:1");
    (void)learn(kit, "d1", 11, "");
    expect_by(kit, "d1", "");
    (void)learn(kit, "d1", 12, longest);
    expect_by(kit, "d1", "a-name-of-a-host-that-is-longer-than-may-be-sho");
    (void)kit_call(kit, "d1");
    expect_by(kit, "d1", NULL);
    assert_false(takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_22_where_cooldowns_are_off_none_is_learned(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 h cooldown=0; router shares retries=0 no_cooldowns\n");
    assert_int_equal(learn(kit, "d1", 10, "other"), 0);
    assert_true(kit_cooling(kit, "d1") == 0);
    kit_reload(kit, "d3 h cooldown=0; router\n");
    assert_int_equal(learn(kit, "d3", 10, "other"), 0);
}

static void rs_16_fails_are_told_with_the_suffix_of_their_counter(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g fails=9 : 500; d3 g fails.internal=9 cooldown=3 : 500; d4 g : 500; "
             "router shares retries=0 fails=9 cooldown=20\n");
    (void)kit_call(kit, "d1");
    (void)kit_call(kit, "d1");
    change = take_one(kit, WEIR_SHARED_FAILS);
    assert_slice_is(change.u.fails.suffix, "");
    assert_int_equal(change.u.fails.amount, 2);
    assert_int_equal(change.u.fails.life_ns, 20 * WEIR_NS_PER_S);
    assert_int_equal(change.u.fails.limit, 9);
    assert_int_equal(change.u.fails.failure.kind, WEIR_KIND_INTERNAL);
    assert_int_equal(change.u.fails.failure.status, 500);
    (void)kit_call(kit, "d2");
    assert_slice_is(take_one(kit, WEIR_SHARED_FAILS).u.fails.suffix, "generic");
    (void)kit_call(kit, "d3");
    change = take_one(kit, WEIR_SHARED_FAILS);
    assert_slice_is(change.u.fails.suffix, "InternalServerError");
    assert_int_equal(change.u.fails.life_ns, 3 * WEIR_NS_PER_S);
    kit_script(kit, "d3", "503");
    (void)kit_call(kit, "d3");
    assert_slice_is(take_one(kit, WEIR_SHARED_FAILS).u.fails.suffix, "");
}

static void rs_16_a_shared_count_above_the_limit_cools(void **state)
{
    struct weir_change change;
    struct weir_router_event event;
    (void)state;

    KIT(kit, "d1 g w=1 : 500/8 ok; d2 g w=0; router shares retries=0 fails=2 cooldown=20\n");
    (void)kit_call(kit, "g");
    change = take_one(kit, WEIR_SHARED_FAILS);
    kit_advance(kit, 0.05);
    done(kit, &change, 2);
    assert_true(kit_cooling(kit, "d1") == 0);
    done(kit, &change, 3);
    assert_true(kit_cooling(kit, "d1") == 8);
    assert_true(weir_router_event(kit->router, &event));
    assert_int_equal(event.kind, WEIR_ROUTER_EVENT_COOLDOWN_SET);
    assert_int_equal(event.rule, WEIR_COOLDOWN_ROUTER_FAILS);
    assert_int_equal(event.length_ns, 8 * WEIR_NS_PER_S);
    assert_int_equal(event.status, 500);
    assert_int_equal(take_one(kit, WEIR_SHARED_COOLDOWN).u.cooldown.length_ns, 8 * WEIR_NS_PER_S);
}

static void rs_16_a_shared_count_that_cooled_already_does_not_cool_again(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=0 cooldown=20\n");
    (void)kit_call(kit, "d1");
    assert_true(kit_cooling(kit, "d1") == 20);
    change = take_one(kit, WEIR_SHARED_FAILS);
    kit_advance(kit, 0.09);
    done(kit, &change, 5);
    assert_true(kit_cooling(kit, "d1") == 19.91);
    assert_int_equal(next_event(kit), WEIR_ROUTER_EVENT_KINDS);
    assert_true(takes_none(kit, WEIR_SHARED_COOLDOWN));
}

static void rs_16_the_lowest_limit_of_those_counted_holds(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : timeout 503 timeout; d2 g; "
             "router shares retries=0 fails.timeout=7 fails.service_unavailable=3 cooldown=20\n");
    for (int i = 0; i < 3; i++)
        (void)kit_call(kit, "d1");
    change = take_one(kit, WEIR_SHARED_FAILS);
    assert_int_equal(change.u.fails.amount, 3);
    assert_int_equal(change.u.fails.limit, 3);
    assert_int_equal(change.u.fails.failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
    (void)kit_call(kit, "d1");
    assert_int_equal(take_one(kit, WEIR_SHARED_FAILS).u.fails.limit, 7);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(take_one(kit, WEIR_SHARED_FAILS).u.fails.limit, 3);
}

static void rs_16_fails_that_were_not_told_are_told_while_their_counter_lives(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=9 cooldown=20\n");
    (void)kit_call(kit, "d1");
    change = take_one(kit, WEIR_SHARED_FAILS);
    (void)kit_call(kit, "d1");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(take_amount(kit, WEIR_SHARED_FAILS, 0), 2);
    weir_router_change_unknown(kit->router, &change);
    assert_int_equal(take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
    weir_router_change_undone(kit->router, &change);
    kit_advance(kit, 20);
    assert_int_equal(take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
    (void)kit_call(kit, "d1");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(take_amount(kit, WEIR_SHARED_FAILS, 0), 1);
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(take_amount(kit, WEIR_SHARED_FAILS, 0), 0);
}

static void rs_16_a_deployment_that_is_gone_is_not_cooled(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : 500; d2 g; router shares retries=0 fails=2 cooldown=20\n");
    (void)kit_call(kit, "d1");
    change = take_one(kit, WEIR_SHARED_FAILS);
    kit_reload(kit, "d2 g; router retries=0 fails=2 cooldown=20\n");
    done(kit, &change, 99);
    kit_reload(kit, "d1 g cooldown=0; d2 g; router retries=0 fails=2 cooldown=20\n");
    done(kit, &change, 99);
    assert_true(kit_cooling(kit, "d1") == 0);
}

static void decision_33_usage_is_told_and_the_answer_adopted(void **state)
{
    size_t count;
    (void)state;

    KIT(kit, "d1 g; router shares strategy=usage-based-routing-v2\n");
    weir_router_set_wall(kit->router, kit->now_ns, kit->now_ns);
    (void)kit_call(kit, "g");
    count = take(kit);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(changes[i].kind, WEIR_SHARED_USAGE);
        assert_int_equal(changes[i].u.usage.minute, minute_of(kit));
        done(kit, &changes[i], 100 + (uint64_t)changes[i].u.usage.amount);
    }
    assert_int_equal(kit_view(kit, "d1").minute.requests, 101);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 108);
    assert_int_equal(kit_view(kit, "d1").minute.input_tokens, 103);
    assert_int_equal(kit_view(kit, "d1").minute.output_tokens, 105);
    assert_int_equal(take(kit), 0);
}

static void decision_33_what_comes_between_is_neither_lost_nor_counted_twice(void **state)
{
    struct weir_change first, second;
    (void)state;

    KIT(kit, "d1 g max.rpm=9999; router shares\n");
    (void)kit_call(kit, "g");
    first = take_one(kit, WEIR_SHARED_USAGE);
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    second = take_one(kit, WEIR_SHARED_USAGE);
    (void)kit_call(kit, "g");
    assert_int_equal(first.u.usage.amount, 1);
    assert_int_equal(second.u.usage.amount, 2);
    done(kit, &first, 11);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 14);
    weir_router_change_undone(kit->router, &second);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, first.u.usage.minute, 21);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 24);
    assert_int_equal(take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 3);
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
    assert_int_equal(take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
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
    count = take(kit);
    for (size_t i = 0; i < count; i++)
        if (changes[i].u.usage.usage == WEIR_USAGE_REQUESTS)
            assert_int_equal(changes[i].u.usage.amount, changes[i].u.usage.minute == minute_of(kit) ? 2 : 1);
    /* what waits for longer has no meaning any more */
    (void)kit_call(kit, "g");
    kit_advance(kit, 120);
    assert_int_equal(take(kit), 0);
}

static void decision_33_late_answers_about_a_minute_that_is_gone_change_nothing(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    (void)kit_call(kit, "g");
    change = take_one(kit, WEIR_SHARED_USAGE);
    kit_advance(kit, 120);
    (void)kit_call(kit, "g");
    assert_int_equal(take_amount(kit, WEIR_SHARED_USAGE, WEIR_USAGE_REQUESTS), 1);
    done(kit, &change, 50);
    weir_router_change_undone(kit->router, &change);
    weir_router_change_unknown(kit->router, &change);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, change.u.usage.minute, 70);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 1);
    assert_int_equal(take(kit), 0);
}

static void rs_22_a_store_that_lost_its_counts_is_told_ours_again(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    for (int i = 0; i < 5; i++)
        (void)kit_call(kit, "g");
    change = take_one(kit, WEIR_SHARED_USAGE);
    done(kit, &change, 25);
    weir_router_learn_usage(kit->router, kit_find(kit, "d1"), WEIR_USAGE_REQUESTS, change.u.usage.minute, 2);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 5);
    assert_int_equal(kit->notified, 2);
    change = take_one(kit, WEIR_SHARED_USAGE);
    assert_int_equal(change.u.usage.amount, 3);
    done(kit, &change, 7);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 7);
    assert_int_equal(take(kit), 0);
}

static void rs_22_what_nobody_knows_of_is_not_told_twice(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g max.rpm=99; router shares\n");
    (void)kit_call(kit, "g");
    change = take_one(kit, WEIR_SHARED_USAGE);
    weir_router_change_unknown(kit->router, &change);
    assert_int_equal(take(kit), 0);
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
    change = take_one(kit, WEIR_SHARED_RUNNING);
    assert_slice_is(change.id, "d2");
    assert_int_equal(change.u.running.amount, 1);
    done(kit, &change, 6);
    assert_int_equal(kit_view(kit, "d2").running_elsewhere, 5);
    kit_run_until(kit_begin(kit, "g gone=1"), kit->now_ns);
    assert_slice_is(take_one(kit, WEIR_SHARED_RUNNING).id, "d3");
    kit_run_all(kit);
    assert_int_equal(take_amount(kit, WEIR_SHARED_RUNNING, 0), -2);
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
    assert_int_equal(take(kit), 0);
}

static void rs_6_after_a_change_of_strategy_what_was_told_is_taken_back(void **state)
{
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : hang; router shares strategy=least-busy\n");
    kit_run_until(kit_begin(kit, "g gone=5"), kit->now_ns);
    change = take_one(kit, WEIR_SHARED_RUNNING);
    done(kit, &change, 4);
    kit_reload(kit, "d1 g; router\n");
    assert_int_equal(kit->notified, 2);
    assert_int_equal(take_amount(kit, WEIR_SHARED_RUNNING, 0), -1);
    assert_int_equal(kit_view(kit, "d1").running_elsewhere, 0);
    kit_run_all(kit);
    assert_int_equal(take(kit), 0);
    kit_reload(kit, "d1 g : hang; router strategy=least-busy\n");
    kit_run_until(kit_begin(kit, "g gone=5"), kit->now_ns);
    assert_int_equal(take_amount(kit, WEIR_SHARED_RUNNING, 0), 1);
    kit_run_all(kit);
}

static void rs_6_new_samples_are_told_and_learned_ones_stand_before_them(void **state)
{
    static const float learned[] = {1, 2, 3};
    struct weir_change change;
    (void)state;

    KIT(kit, "d1 g : ok=3/2+4 ok=3/2+8 ok=3/2+12; router shares strategy=latency-based-routing samples=4\n");
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    change = take_one(kit, WEIR_SHARED_LATENCY);
    assert_int_equal(change.u.latency.pace, WEIR_PACE_WHOLE);
    assert_int_equal(change.u.latency.count, 2);
    assert_true(fabs((double)change.u.latency.samples[0] - 2) < 1e-6);
    assert_true(fabs((double)change.u.latency.samples[1] - 4) < 1e-6);
    (void)kit_call(kit, "g");
    weir_router_learn_latency(kit->router, kit_find(kit, "d1"), WEIR_PACE_WHOLE, learned, 3, kit->now_ns);
    assert_true(fabs(kit_view(kit, "d1").latency_s - (1 + 2 + 3 + 6) / 4.0) < 1e-6);
    change = take_one(kit, WEIR_SHARED_LATENCY);
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
    change = take_one(kit, WEIR_SHARED_LATENCY);
    (void)kit_call(kit, "g");
    weir_router_change_undone(kit->router, &change);
    assert_int_equal(take_one(kit, WEIR_SHARED_LATENCY).u.latency.count, 2);
    weir_router_change_unknown(kit->router, &change);
    assert_true(takes_none(kit, WEIR_SHARED_LATENCY));
    for (int i = 0; i < 100; i++)
        (void)kit_call(kit, "g");
    assert_int_equal(take_one(kit, WEIR_SHARED_LATENCY).u.latency.count, WEIR_LATENCY_SAMPLES_MAX);
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
    change = take_one(kit, WEIR_SHARED_HEALTH);
    assert_false(change.u.health.healthy);
    assert_int_equal(change.u.health.status, 503);
    assert_int_equal(change.u.health.probed_ns, kit->now_ns);
    weir_router_change_undone(kit->router, &change);
    assert_false(takes_none(kit, WEIR_SHARED_HEALTH));
    kit_advance(kit, 1);
    other.probed_ns = kit->now_ns;
    weir_router_learn_health(kit->router, kit_find(kit, "d1"), &other, kit->now_ns);
    assert_int_equal(kit_view(kit, "d1").health.kind, WEIR_KIND_INTERNAL);
    weir_router_tell_again(kit->router);
    assert_int_equal(take(kit), 0);
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
