/*
 * What each strategy chooses (router-semantics 6), in virtual time: ties, the unseen, limits at their exact
 * border, and the turn of a minute.
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/router.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 6.2", rs_6_least_busy_takes_who_has_the_fewest_attempts_running) \
    X("RS 6.2", rs_6_equally_busy_ones_share_evenly) \
    X("RS 6.2", rs_6_an_attempt_runs_until_its_stream_ends) \
    X("RS 6.2", rs_6_a_failure_and_a_cancelled_attempt_run_no_more) \
    X("RS 6.2", rs_6_an_attempt_with_the_callers_own_keys_is_not_counted) \
    X("RS 6.3", rs_6_usage_takes_who_has_the_fewest_tokens_this_minute) \
    X("RS 6.3", rs_6_equally_used_ones_share_evenly) \
    X("RS 6.3", rs_6_usage_is_forgotten_when_the_minute_turns) \
    X("RS 6.3", rs_6_the_token_limit_itself_is_allowed) \
    X("RS 6.3", rs_6_the_request_limit_itself_is_allowed) \
    X("RS 6.3", rs_6_the_prompt_counts_before_it_is_sent) \
    X("RS 6.3", rs_6_a_failed_request_counts_and_its_tokens_do_not) \
    X("RS 6.3", rs_6_with_all_over_their_limits_nobody_serves) \
    X("RS 6.3", rs_6_what_ends_in_the_next_minute_is_used_there) \
    X("RS 6.5", rs_6_latency_tries_the_unseen_first_and_then_keeps_to_the_fastest) \
    X("RS 6.5", rs_6_the_unseen_share_evenly) \
    X("RS 6.5", rs_6_a_sample_is_time_for_each_token) \
    X("RS 6.5", rs_6_streams_go_by_the_time_to_the_first_content) \
    X("RS 6.5", rs_6_a_stream_goes_by_whole_answers_where_it_was_none) \
    X("RS 6.5", rs_6_a_timeout_counts_against_latency) \
    X("RS 6.5", rs_6_a_timeout_of_the_callers_own_says_nothing) \
    X("RS 6.5", rs_6_those_inside_the_buffer_share_evenly) \
    X("RS 6.5", rs_6_only_the_newest_samples_count) \
    X("RS 6.5", rs_6_old_samples_are_forgotten) \
    X("RS 6.5", rs_6_latency_keeps_to_the_limits) \
    X("RS 6.6", rs_6_cost_takes_the_cheapest) \
    X("RS 6.6", rs_6_a_price_that_is_not_known_is_five) \
    X("RS 6.6", rs_6_the_first_of_the_equally_dear_serves) \
    X("RS 6.6", rs_6_cost_keeps_to_the_limits) \
    X("RS 6.7", rs_6_evidence_picks_the_class) \
    X("RS 6.7", rs_6_a_confidence_at_a_threshold_is_above_it) \
    X("RS 6.7", rs_6_without_one_of_the_class_the_first_serves) \
    X("RS 6.7", rs_6_thresholds_can_be_set) \
    X("p2c-ewma", p2c_takes_the_faster_of_two) \
    X("p2c-ewma", p2c_takes_the_one_with_less_to_do) \
    X("p2c-ewma", p2c_tries_the_unseen_once_until_they_answer) \
    X("p2c-ewma", p2c_equals_share_evenly) \
    X("p2c-ewma", p2c_a_peak_is_forgotten_by_and_by) \
    X("p2c-ewma", p2c_streams_go_by_the_time_to_the_first_content) \
    X("all", a_reload_may_change_the_strategy_and_forgets_nothing) \
    X("all", a_strategy_chooses_among_the_candidates_alone) \
    X("all", the_view_tells_what_strategies_look_at)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

/* Brings the kit to this long before a minute turns. */
static void before_the_minute(struct kit *kit, double seconds)
{
    uint64_t wall_ns = UINT64_C(29000000) * 60 * WEIR_NS_PER_S - weir_time_from_s(seconds);

    weir_router_set_wall(kit->router, wall_ns, kit->now_ns);
}

static void rs_6_least_busy_takes_who_has_the_fewest_attempts_running(void **state)
{
    struct kit_call *calls[6];
    (void)state;
    KIT(kit, "d1 g : ok+10; d2 g : ok+10; d3 g : ok+10; router strategy=least-busy");

    for (int i = 0; i < 6; i++)
        calls[i] = kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d1").running, 2);
    assert_int_equal(kit_view(kit, "d2").running, 2);
    assert_int_equal(kit_view(kit, "d3").running, 2);
    kit_run_all(kit);
    assert_int_equal(calls[5]->end, KIT_DELIVERED);
    assert_int_equal(kit_view(kit, "d1").running, 0);
}

static void rs_6_equally_busy_ones_share_evenly(void **state)
{
    static const double shares[] = {1, 1, 0, 1, 1};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g : ok+10; d4 g; d5 g; router strategy=least-busy");

    (void)kit_begin(kit, "d3");
    kit_expect_shares(kit, "g", shares, 5);
    kit_run_all(kit);
}

static void rs_6_an_attempt_runs_until_its_stream_ends(void **state)
{
    struct kit_call *stream;
    (void)state;
    KIT(kit, "d1 g : text,text+10,ok+10; d2 g; router strategy=least-busy");

    stream = kit_begin(kit, "d1 stream");
    kit_run_until(stream, kit->now_ns + 15 * WEIR_NS_PER_S);
    expect_each(kit, 4, "g", "d2:ok");
    kit_run(stream);
    assert_int_equal(kit_view(kit, "d1").running, 0);
}

static void rs_6_a_failure_and_a_cancelled_attempt_run_no_more(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500+1 hang; router strategy=least-busy retries=0 no_cooldowns");

    expect(kit, "g", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").running, 0);
    expect(kit, "g stream gone=3", "d1:cancel fail:499");
    assert_int_equal(kit_view(kit, "d1").running, 0);
}

static void rs_6_an_attempt_with_the_callers_own_keys_is_not_counted(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+10; router strategy=least-busy");

    (void)kit_begin(kit, "g creds");
    assert_int_equal(kit_view(kit, "d1").running, 0);
    kit_run_all(kit);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 0);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 0);
}

static void rs_6_usage_takes_who_has_the_fewest_tokens_this_minute(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=900/100; d2 g : ok=8/2; d3 g : ok=400/100; router strategy=usage-based-routing-v2");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d3", "d3:ok");
    expect_each(kit, 20, "g", "d2:ok");
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 1000);
    assert_int_equal(kit_view(kit, "d1").minute.input_tokens, 900);
    assert_int_equal(kit_view(kit, "d1").minute.output_tokens, 100);
    assert_int_equal(kit_view(kit, "d2").minute.requests, 20);
    assert_int_equal(kit_view(kit, "d2").minute.tokens, 200);
}

static void rs_6_equally_used_ones_share_evenly(void **state)
{
    static const double shares[] = {0, 1, 1, 1, 0, 1};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g; d4 g; d5 g; d6 g; router strategy=usage-based-routing-v2");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d5", "d5:ok");
    kit_expect_shares(kit, "g", shares, 6);
}

static void rs_6_usage_is_forgotten_when_the_minute_turns(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=8/0; d2 g : ok=5/0; router strategy=usage-based-routing-v2");

    before_the_minute(kit, 1);
    expect(kit, "d1", "d1:ok");
    expect(kit, "g", "d2:ok");
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 0.999);
    expect(kit, "g", "d1:ok");
    kit_advance(kit, 0.001);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 0);
    expect(kit, "d1", "d1:ok");
    expect(kit, "g", "d2:ok");
}

static void rs_6_the_token_limit_itself_is_allowed(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.tpm=100 : ok=60/0; d2 g : ok=1000/0; router strategy=usage-based-routing-v2 margin=0");

    expect(kit, "d2", "d2:ok");
    expect(kit, "d1", "d1:ok");
    expect(kit, "g tokens=41", "d2:ok");
    expect(kit, "g tokens=40", "d1:ok");
}

static void rs_6_the_request_limit_itself_is_allowed(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=3 : ok=1/0; d2 g : ok=1000/0; router strategy=usage-based-routing-v2");

    expect(kit, "d2", "d2:ok");
    expect_each(kit, 3, "g", "d1:ok");
    expect_each(kit, 3, "g", "d2:ok");
    kit_advance(kit, 60);
    expect(kit, "d2", "d2:ok");
    expect_each(kit, 3, "g", "d1:ok");
    expect(kit, "g", "d2:ok");
}

static void rs_6_the_prompt_counts_before_it_is_sent(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.tpm=100; d2 g : ok=1000/0; router strategy=usage-based-routing-v2 margin=0.25");

    expect(kit, "d2", "d2:ok");
    /* decisions 37: three quarters of the estimate are there for sure */
    expect(kit, "g tokens=136", "d2:ok");
    expect(kit, "g tokens=132", "d1:ok");
}

static void rs_6_a_failed_request_counts_and_its_tokens_do_not(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500; router strategy=usage-based-routing-v2 retries=0 no_cooldowns");

    expect(kit, "g", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").minute.requests, 1);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 0);
}

static void rs_6_with_all_over_their_limits_nobody_serves(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit, "d1 g max.rpm=1; d2 g max.tpm=8; h h; router strategy=usage-based-routing-v2 retries=0;"
             "fallbacks other: h");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    call = expect_call(kit, "g tokens=1000", "fail:429");
    assert_int_equal(call->fail.reason, WEIR_REASON_USAGE);
    expect(kit, "g fallbacks=h tokens=1000", "h:ok");
    kit_advance(kit, 60);
    expect(kit, "d1", "d1:ok");
    expect(kit, "g", "d2:ok");
}

static void rs_6_what_ends_in_the_next_minute_is_used_there(void **state)
{
    struct kit_call *call;
    (void)state;
    KIT(kit, "d1 g : ok=10/5+10; router strategy=usage-based-routing-v2");

    before_the_minute(kit, 5);
    call = kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d1").minute.requests, 1);
    kit_run(call);
    assert_int_equal(kit_view(kit, "d1").minute.requests, 0);
    assert_int_equal(kit_view(kit, "d1").minute.tokens, 15);
}

static void rs_6_latency_tries_the_unseen_first_and_then_keeps_to_the_fastest(void **state)
{
    (void)state;
    KIT(kit,
        "d1 g : ok=1/1+0.5; d2 g : ok=1/1+0.02; d3 g : ok=1/1+0.25; router strategy=latency-based-routing");

    for (int i = 0; i < 3; i++)
        (void)kit_call(kit, "g");
    assert_int_equal(kit_deployment(kit, "d1")->calls, 1);
    assert_int_equal(kit_deployment(kit, "d2")->calls, 1);
    assert_int_equal(kit_deployment(kit, "d3")->calls, 1);
    expect_each(kit, 10, "g", "d2:ok");
}

static void rs_6_the_unseen_share_evenly(void **state)
{
    static const double shares[] = {1, 0, 1, 1};
    (void)state;
    KIT(kit, "d1 g; d2 g : ok+1; d3 g; d4 g; router strategy=latency-based-routing");

    expect(kit, "d2", "d2:ok");
    kit_expect_shares(kit, "g", shares, 4);
}

static void rs_6_a_sample_is_time_for_each_token(void **state)
{
    (void)state;
    KIT(kit,
        "d1 g : ok=1/100+10; d2 g : ok=1/5+1; d3 g : ok=0/0+0.15; router strategy=latency-based-routing");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    expect(kit, "d3", "d3:ok");
    assert_true(kit_view(kit, "d1").latency_s > 0.09999 && kit_view(kit, "d1").latency_s < 0.10001);
    assert_true(kit_view(kit, "d2").latency_s > 0.19999 && kit_view(kit, "d2").latency_s < 0.20001);
    assert_true(kit_view(kit, "d3").latency_s > 0.14999 && kit_view(kit, "d3").latency_s < 0.15001);
    expect_each(kit, 4, "g", "d1:ok");
}

static void rs_6_streams_go_by_the_time_to_the_first_content(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,chunk+0.5,text+0.5,ok=1/1+1; d2 g : text+0.5,ok=1/1+9; router "
             "strategy=latency-based-routing");

    expect(kit, "d1 stream", "d1*:ok");
    expect(kit, "d2 stream", "d2*:ok");
    assert_true(kit_view(kit, "d1").ttft_s == 1);
    assert_true(kit_view(kit, "d2").ttft_s == 0.5);
    expect_each(kit, 4, "g stream", "d2*:ok");
    expect_each(kit, 4, "g", "d1*:ok");
}

static void rs_6_a_stream_goes_by_whole_answers_where_it_was_none(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=1/1+0.7; d2 g : text+0.5,ok=1/1+9; router strategy=latency-based-routing");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2 stream", "d2*:ok");
    expect_each(kit, 4, "g stream", "d2*:ok");
}

static void rs_6_a_timeout_counts_against_latency(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=0.4 : hang ok=1/1; d2 g : ok=1/1+300; router strategy=latency-based-routing "
             "retries=0 no_cooldowns");

    expect(kit, "d1", "d1:cancel fail:408");
    expect(kit, "d2", "d2:ok");
    assert_true(kit_view(kit, "d1").latency_s == 1000);
    expect_each(kit, 6, "g", "d2:ok");
}

static void rs_6_a_timeout_of_the_callers_own_says_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g : hang; router strategy=latency-based-routing retries=0");

    (void)kit_call(kit, "g caller timeout=1");
    assert_true(kit_view(kit, "d1").latency_s == 0);
}

static void rs_6_those_inside_the_buffer_share_evenly(void **state)
{
    static const double shares[] = {1, 1, 0, 1};
    (void)state;
    KIT(kit, "d1 g : ok=1/1+1; d2 g : ok=1/1+1.5; d3 g : ok=1/1+1.51; d4 g : ok=1/1+1.25;"
             "router strategy=latency-based-routing buffer=0.5");

    for (const char *const *id = (const char *const[]){"d1", "d2", "d3", "d4", NULL}; *id != NULL; id++)
        (void)kit_call(kit, *id);
    kit_expect_shares(kit, "g", shares, 4);
}

static void rs_6_only_the_newest_samples_count(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=1/1+9 ok=1/1+1; router strategy=latency-based-routing samples=2");

    expect_each(kit, 2, "g", "d1:ok");
    assert_true(kit_view(kit, "d1").latency_s == 5);
    expect(kit, "g", "d1:ok");
    assert_true(kit_view(kit, "d1").latency_s == 1);
}

static void rs_6_old_samples_are_forgotten(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=1/1+1; d2 g : ok=1/1+2; router strategy=latency-based-routing ttl=100");

    expect(kit, "d2", "d2:ok");
    kit_advance(kit, 50);
    expect(kit, "d1", "d1:ok");
    expect(kit, "g", "d1:ok");
    kit_advance(kit, 48);
    expect(kit, "g", "d1:ok");
    kit_advance(kit, 1);
    expect(kit, "g", "d2:ok");
}

static void rs_6_latency_keeps_to_the_limits(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=2 : ok=1/1+0.1; d2 g max.tpm=50 : ok=40/1+0.2; d3 g : ok=1/1+9;"
             "router strategy=latency-based-routing margin=0 retries=0");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    expect(kit, "d3", "d3:ok");
    expect(kit, "g", "d1:ok");
    expect(kit, "g tokens=10", "d3:ok");
    expect(kit, "g tokens=9", "d2:ok");
}

static void rs_6_cost_takes_the_cheapest(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1000000 price=0.5/0.5; d2 g w=1 price=0.1/0.1; d3 g price=0.01/0.3; router "
             "strategy=cost-based-routing");

    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_6_a_price_that_is_not_known_is_five(void **state)
{
    (void)state;
    KIT(kit, "d1 g; d2 g price=4/4; d3 h price=6/6; d4 h; d5 i price=0/5.1; d6 i; d7 j price=-1/4.9; d8 j;"
             "router strategy=cost-based-routing");

    expect_each(kit, 3, "g", "d2:ok");
    expect_each(kit, 3, "h", "d4:ok");
    expect_each(kit, 3, "i", "d6:ok");
    expect_each(kit, 3, "j", "d7:ok");
}

static void rs_6_the_first_of_the_equally_dear_serves(void **state)
{
    (void)state;
    KIT(kit, "d1 g price=2/2; d2 g price=1/2; d3 g price=2/1; d4 g; router strategy=cost-based-routing");

    expect_each(kit, 5, "g", "d2:ok");
}

static void rs_6_cost_keeps_to_the_limits(void **state)
{
    (void)state;
    KIT(kit, "d1 g price=1/1 max.rpm=1; d2 g price=2/2 max.tpm=8; d3 g price=3/3; router "
             "strategy=cost-based-routing retries=0");

    expect(kit, "g", "d1:ok");
    expect(kit, "g", "d2:ok");
    expect(kit, "g tokens=4", "d3:ok");
    expect(kit, "g", "d2:ok");
}

static void rs_6_evidence_picks_the_class(void **state)
{
    (void)state;
    KIT(kit,
        "any g; smart g class=cloud-smart; fast g class=cloud-fast; local g class=local; deep g class=deep;"
        "second g class=cloud-smart; router strategy=lar1");

    expect_each(kit, 2, "g lar1=0.2", "smart:ok");
    expect_each(kit, 2, "g lar1=0.4", "fast:ok");
    expect_each(kit, 2, "g lar1=0.6", "local:ok");
    expect_each(kit, 2, "g lar1=0.9", "deep:ok");
    expect_each(kit, 2, "g lar1=0.9/unverified", "smart:ok");
    expect_each(kit, 2, "g lar1=0.9/memory", "fast:ok");
    expect(kit, "g", "local:ok");
}

static void rs_6_a_confidence_at_a_threshold_is_above_it(void **state)
{
    (void)state;
    KIT(kit, "smart g class=cloud-smart; fast g class=cloud-fast; local g class=local; deep g class=deep; "
             "router strategy=lar1");

    expect(kit, "g lar1=0.3", "fast:ok");
    expect(kit, "g lar1=0.5", "local:ok");
    expect(kit, "g lar1=0.7", "deep:ok");
    expect(kit, "g lar1=0", "smart:ok");
    expect(kit, "g lar1=1", "deep:ok");
}

static void rs_6_without_one_of_the_class_the_first_serves(void **state)
{
    (void)state;
    KIT(kit, "any g; fast g class=cloud-fast : 500 ok; router strategy=lar1 retries=1");

    expect(kit, "g lar1=0.9", "any:ok");
    expect(kit, "g lar1=0.4", "fast:500 any:ok");
}

static void rs_6_thresholds_can_be_set(void **state)
{
    (void)state;
    KIT(kit,
        "smart g class=cloud-smart; deep g class=deep; router strategy=lar1 low=0.1 medium=0.15 high=0.2");

    expect(kit, "g lar1=0.2", "deep:ok");
    expect(kit, "g lar1=0.05", "smart:ok");
}

static void p2c_takes_the_faster_of_two(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+2; d2 g : ok+1; router strategy=p2c-ewma decay=1000");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    expect_each(kit, 10, "g", "d2:ok");
}

static void p2c_takes_the_one_with_less_to_do(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+3; d2 g : ok+2; router strategy=p2c-ewma decay=1000000");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    (void)kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d2").running, 1);
    (void)kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d1").running, 1);
    /* 2 * 2 against 3 * 2 */
    (void)kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d2").running, 2);
    kit_run_all(kit);
}

static void p2c_tries_the_unseen_once_until_they_answer(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+100; d2 g : ok+1; router strategy=p2c-ewma decay=1000");

    expect(kit, "d2", "d2:ok");
    (void)kit_begin(kit, "g");
    assert_int_equal(kit_view(kit, "d1").running, 1);
    expect_each(kit, 10, "g", "d2:ok");
    kit_run_all(kit);
}

static void p2c_equals_share_evenly(void **state)
{
    static const double shares[] = {1, 1, 1, 1, 1};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g; d4 g; d5 g; router strategy=p2c-ewma");
    kit_expect_shares(kit, "g", shares, 5);
}

static void p2c_a_peak_is_forgotten_by_and_by(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+8 ok+1; d2 g : ok+2; router strategy=p2c-ewma decay=10");

    expect(kit, "d1", "d1:ok");
    expect_each(kit, 3, "d2", "d2:ok");
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 3);
    expect(kit, "d2", "d2:ok");
    /* 8 has decayed to 8 * e^-1.3 = 2.2, and 2 is just new */
    expect(kit, "g", "d2:ok");
    expect(kit, "g", "d1:ok");
}

static void p2c_streams_go_by_the_time_to_the_first_content(void **state)
{
    (void)state;
    KIT(kit, "d1 g : text+1,ok+1; d2 g : text+0.5,ok+9; router strategy=p2c-ewma decay=100000");

    expect(kit, "d1 stream", "d1*:ok");
    expect(kit, "d2 stream", "d2*:ok");
    expect_each(kit, 4, "g stream", "d2*:ok");
    expect_each(kit, 4, "g", "d1*:ok");
}

static void a_reload_may_change_the_strategy_and_forgets_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok=10/1+2; d2 g : ok=1/1+3; router strategy=simple-shuffle");

    expect(kit, "d1", "d1:ok");
    expect(kit, "d2", "d2:ok");
    kit_reload(kit, "d1 g : ok=1/1+2; d2 g : ok=1/1+3; router strategy=latency-based-routing");
    expect_each(kit, 3, "g", "d1:ok");
    kit_reload(kit, "d1 g; d2 g : ok=1/0; router strategy=usage-based-routing-v2");
    expect_each(kit, 3, "g", "d2:ok");
}

static void a_strategy_chooses_among_the_candidates_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 g price=1/1 : 500 ok; d2 g price=2/2; d3 g price=3/3; router strategy=cost-based-routing "
             "retries=1 cooldown=30 fails=0");

    expect(kit, "g", "d1:500 d2:ok");
    expect(kit, "g", "d2:ok");
    kit_advance(kit, 30);
    expect(kit, "g", "d1:ok");
}

static void the_view_tells_what_strategies_look_at(void **state)
{
    struct weir_live_view view;
    (void)state;
    KIT(kit, "d1 g : text+0.5,ok=6/4+1.5");

    (void)kit_begin(kit, "g stream");
    assert_int_equal(kit_view(kit, "d1").running, 1);
    kit_run_all(kit);
    view = kit_view(kit, "d1");
    assert_int_equal(view.running, 0);
    assert_int_equal(view.minute.requests, 1);
    assert_int_equal(view.minute.tokens, 10);
    assert_int_equal(view.minute.input_tokens, 6);
    assert_int_equal(view.minute.output_tokens, 4);
    assert_true(view.latency_s == 0.5);
    assert_true(view.ttft_s == 0.5);
}

KIT_TESTS_MAIN(TESTS)
