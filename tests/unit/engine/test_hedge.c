/* A second attempt beside a slow one: when it starts, who wins, and what becomes of the others (beyond 4). */
#include "engine_kit.h"

#include "base/time.h"

#define RULES(X)                                                                                             \
    X("beyond 4", a_plain_call_without_a_head_is_hedged)                                                     \
    X("beyond 4", a_stream_without_content_is_hedged)                                                        \
    X("beyond 4", an_attempt_that_answers_in_time_is_not_hedged)                                             \
    X("beyond 4", an_attempt_that_answers_at_the_very_time_is_not_hedged)                                    \
    X("beyond 4", the_first_attempt_may_still_win)                                                           \
    X("beyond 4", content_in_the_commit_window_wins)                                                         \
    X("beyond 4", an_answer_without_content_wins)                                                            \
    X("beyond 4", no_more_than_max_run_beside_one)                                                           \
    X("beyond 4", a_hedge_goes_to_another_deployment_of_the_same_order)                                      \
    X("beyond 4", a_deployment_that_failed_or_cools_is_no_hedge)                                             \
    X("beyond 4", a_call_that_refers_to_stored_state_is_not_hedged)                                          \
    X("beyond 4", an_id_is_not_hedged)                                                                       \
    X("beyond 4", a_continuation_is_not_hedged)                                                              \
    X("beyond 4", a_retry_has_a_race_of_its_own)                                                             \
    X("beyond 4", the_failure_of_one_leaves_the_others_running)                                              \
    X("beyond 4", the_failure_of_the_last_one_is_retried)                                                    \
    X("beyond 4", a_guardrail_ends_the_race)                                                                 \
    X("beyond 4", losers_are_entered_nowhere)                                                                \
    X("beyond 4", a_loser_tells_late_news)                                                                   \
    X("beyond 4", a_winner_that_breaks_in_its_window_is_retried)                                             \
    X("beyond 4", both_run_out_of_time)                                                                      \
    X("beyond 4", the_deadline_ends_all_of_them)                                                             \
    X("beyond 1", a_failure_that_comes_with_the_deadline_is_told)                                            \
    X("beyond 1", a_hedge_gives_the_call_no_more_time)                                                       \
    X("beyond 1", a_hedge_that_gets_no_slot_takes_no_time)                                                   \
    X("beyond 4", a_hedge_that_gets_no_slot_spends_nothing)                                                  \
    X("beyond 4", a_caller_who_leaves_ends_all_of_them)                                                      \
    X("beyond 4", a_call_that_is_freed_in_the_race_gives_everything_back)                                    \
    X("beyond 4", a_group_says_it_before_the_router)                                                         \
    X("beyond 4", a_request_says_it_before_the_group_and_a_target_before_both)                               \
    X("beyond 4", what_is_off_is_off)                                                                        \
    X("beyond 4", a_race_is_told)

RULES(KIT_TEST_DECLARE)

static void nobody_runs(const struct kit *kit)
{
    for (size_t i = 0; i < kit->config->deployment_count; i++) {
        struct weir_live_view view;

        weir_router_view(kit->router, weir_snapshot_deployment(kit->snapshot, i), kit->now_ns, &view);
        assert_int_equal(view.running, 0);
    }
}

static void took(const struct kit_call *call, double seconds)
{
    assert_float_equal(weir_time_to_s(call->kit->now_ns - call->begun_ns), seconds, 1e-9);
}

static void a_plain_call_without_a_head_is_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : ok+10; d2 g w=0 : open+0.5,ok+0.5; router hedge=2");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:cancel d2:ok");
    took(call, 3);
    nobody_runs(kit);
}

static void a_stream_without_content_is_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : open+0.1,chunk+0.1,hang; d2 g w=0 : text+0.5,text+0.5,ok; router hedge=2");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g stream", "d1 d2* d1:cancel d2:ok");
    took(call, 3);
    nobody_runs(kit);
}

static void an_attempt_that_answers_in_time_is_not_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : open+1.9,ok+10 text+1.9,text+10,ok; d2 g w=0; router hedge=2");
    (void)state;

    expect(kit, "g", "d1:ok");
    expect(kit, "g stream", "d1*:ok");
}

static void an_attempt_that_answers_at_the_very_time_is_not_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : open+2,ok+10; d2 g w=0; router hedge=2");
    (void)state;

    expect(kit, "g", "d1:ok");
}

static void the_first_attempt_may_still_win(void **state)
{
    KIT(kit, "d1 g w=1 : ok+2.5 text+2.5,ok+1; d2 g w=0 : open+1,hang text+1,hang; router hedge=2");
    (void)state;

    expect(kit, "g", "d1 d2:cancel d1:ok");
    expect(kit, "g stream", "d1 d2 d1* d2:cancel d1:ok");
    nobody_runs(kit);
}

static void content_in_the_commit_window_wins(void **state)
{
    KIT(kit, "d1 g w=1 : text+5,ok; d2 g w=0 : text+1,text+4,ok; router hedge=2 hold=2");
    (void)state;

    expect(kit, "g stream", "d1 d2 d1:cancel d2*:ok");
}

static void an_answer_without_content_wins(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : finish+1,ok+1 chunk+1,ok+1; router hedge=2");
    (void)state;

    expect(kit, "g stream", "d1 d2 d1:cancel d2:ok");
    expect(kit, "g stream", "d1 d2 d1:cancel d2:ok");
}

static void no_more_than_max_run_beside_one(void **state)
{
    KIT(kit, "d1 g w=1 : ok+20; d2 g w=0 : hang; d3 g w=0 : hang; d4 g w=0 : hang; router hedge=2/2");
    struct kit_call *call;
    (void)state;

    call = kit_call(kit, "g");
    assert_int_equal(call->attempt_count, 3);
    assert_int_equal(call->delivered, 1);
    took(call, 20);
    nobody_runs(kit);
}

static void a_hedge_goes_to_another_deployment_of_the_same_order(void **state)
{
    KIT(kit, "d1 g order=1 : ok+5; d2 g order=2 : ok; router hedge=2");
    (void)state;

    expect(kit, "g", "d1:ok");
}

static void a_deployment_that_failed_or_cools_is_no_hedge(void **state)
{
    KIT(kit, "d1 g w=1 : 500 ok+5; d2 g w=0 : ok+5; d3 g w=0 : 429; router hedge=2 retries=1 cooldown=60");
    (void)state;

    expect(kit, "d3", "d3:429 fail:429");
    assert_true(kit_cooling(kit, "d3") > 0);
    expect(kit, "g", "d1:500 d2:ok");
}

static void a_call_that_refers_to_stored_state_is_not_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : ok+5; d2 g w=0; router hedge=2");
    (void)state;

    expect(kit, "g stateful", "d1:ok");
}

static void an_id_is_not_hedged(void **state)
{
    KIT(kit, "d1 g w=1 : ok+5; d2 g w=0; router hedge=2");
    (void)state;

    expect(kit, "d1", "d1:ok");
}

static void a_continuation_is_not_hedged(void **state)
{
    KIT(kit, "d1 g w=1 prefill : text,500; d2 g w=0 prefill : text+5,ok; d3 g w=0 prefill : text+5,ok\n"
             "router hedge=2 continuation targets=group");
    const struct kit_call *call = kit_call(kit, "g stream continue");
    (void)state;

    assert_int_equal(call->attempt_count, 2);
    assert_int_equal(call->end, KIT_DELIVERED);
}

static void a_retry_has_a_race_of_its_own(void **state)
{
    KIT(kit, "d1 g w=1 : 500+5; d2 g w=0 : 500+3; d3 g w=0 : 500+3; d4 g w=0 : 500+3\n"
             "router hedge=1 retries=1 no_cooldowns");
    struct kit_call *call;
    (void)state;

    call = kit_call(kit, "g");
    assert_int_equal(call->attempt_count, 4);
    assert_int_equal(kit_event_count(call, WEIR_EVENT_HEDGED), 2);
    assert_int_equal(kit_event_count(call, WEIR_EVENT_RETRY), 1);
}

static void the_failure_of_one_leaves_the_others_running(void **state)
{
    KIT(kit, "d1 g w=1 : 500+3 ok+5; d2 g w=0 : ok+5 500+1; router hedge=2 no_cooldowns");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:500 d2:ok");
    took(call, 7);
    expect_events(call, "AttemptFailed,Retry", "AttemptFailed d1 500 leave");
    call = expect_call(kit, "g", "d1 d2:500 d1:ok");
    took(call, 5);
    nobody_runs(kit);
}

static void the_failure_of_the_last_one_is_retried(void **state)
{
    KIT(kit, "d1 g w=1 : 500+3 ok; d2 g w=0 : 503+2; router hedge=2 retries=1 no_cooldowns");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:500 d2:503 d1:ok");
    assert_int_equal(kit_summary(call).retries, 1);
    expect_events(call, "AttemptFailed,Retry",
                  "AttemptFailed d1 500 leave, AttemptFailed d2 503 retry, Retry 1/1");
}

static void a_guardrail_ends_the_race(void **state)
{
    KIT(kit, "d1 g w=1 : ok+9; d2 g w=0 : guardrail=400+1; router hedge=2 retries=3");
    (void)state;

    expect(kit, "g", "d1 d2:400 d1:cancel fail:400");
    nobody_runs(kit);
}

static void losers_are_entered_nowhere(void **state)
{
    KIT(kit, "d1 g w=1 : open+9,500; d2 g w=0 : ok+1; router hedge=2");
    struct weir_live_view view;
    (void)state;

    expect_each(kit, 10, "g", "d1 d2 d1:cancel d2:ok");
    view = kit_view(kit, "d1");
    assert_int_equal(view.successes, 0);
    assert_int_equal(view.failures, 0);
    assert_float_equal(view.latency_s, 0, 0);
    assert_float_equal(kit_cooling(kit, "d1"), 0, 0);
    assert_int_equal(kit_view(kit, "d2").successes, 10);
}

/* The host's news of a loser that crossed the winner's: no step was asked for between the two. */
static void a_loser_tells_late_news(void **state)
{
    static const struct weir_failure failure = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER};
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : hang; router hedge=2");
    struct kit_call *call = kit_begin(kit, "g stream");
    struct weir_step step;
    (void)state;

    kit_run_until(call, kit->now_ns + weir_time_from_s(3));
    weir_call_on_chunk(call->call, 1, &(struct weir_stream_chunk){.deltas = 1}, kit->now_ns);
    weir_call_on_chunk(call->call, 2, &(struct weir_stream_chunk){.deltas = 1}, kit->now_ns);
    weir_call_on_failed(call->call, 2, &failure, kit->now_ns);
    assert_int_equal(weir_call_next(call->call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_COMMIT);
    assert_int_equal(step.attempt, 1);
    assert_int_equal(weir_call_next(call->call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_CANCEL);
    assert_int_equal(step.attempt, 2);
    assert_int_equal(weir_call_next(call->call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_NONE);
    assert_int_equal(kit_view(kit, "d2").failures, 0);
}

static void a_winner_that_breaks_in_its_window_is_retried(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : text+1,500+1; router hedge=2 hold=all retries=1 no_cooldowns");
    struct kit_call *call;
    (void)state;

    kit_script(kit, "d1", "hang text,ok");
    call = expect_call(kit, "g stream", "d1 d2 d1:cancel d2:500 d1*:ok");
    expect_events(call, "StreamBroken,StreamRecovered", "StreamBroken d2 500, StreamRecovered");
}

static void both_run_out_of_time(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : hang; router hedge=2 timeout=5 retries=0");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:cancel d2:cancel fail:408");
    took(call, 7);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    assert_int_equal(kit_view(kit, "d2").failures, 1);
}

static void the_deadline_ends_all_of_them(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : hang; router hedge=2 deadline=5");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:cancel d2:cancel fail:408");
    took(call, 5);
    nobody_runs(kit);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void a_failure_that_comes_with_the_deadline_is_told(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 timeout=3 : hang; router hedge=2 deadline=5 fails=0 retries=0");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1 d2 d1:cancel d2:cancel fail:408");
    took(call, 5);
    expect_events(call, "AttemptFailed,CooldownSet",
                  "AttemptFailed d2 408 leave, CooldownSet d2 408 router_fails 5");
    assert_int_equal(call->fail.attempt, 2);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    assert_int_equal(kit_view(kit, "d2").failures, 1);
}

static void a_hedge_gives_the_call_no_more_time(void **state)
{
    KIT(kit, "d1 g w=1 deadline=4 : hang; d2 g w=0 deadline=20 : hang; router hedge=2 retries=0");
    struct kit_call *call = kit_call(kit, "g");
    (void)state;

    assert_int_equal(call->attempt_count, 2);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
    took(call, 4);
    nobody_runs(kit);
}

static void a_hedge_that_gets_no_slot_takes_no_time(void **state)
{
    KIT(kit, "d1 g w=1 deadline=10 : ok+5; d2 g w=0 slots=0 deadline=3; router hedge=1 retries=0");
    struct kit_call *call = kit_call(kit, "g");
    (void)state;

    assert_int_equal(call->end, KIT_DELIVERED);
    took(call, 5);
}

static void a_hedge_that_gets_no_slot_spends_nothing(void **state)
{
    KIT(kit, "d1 g w=1 : ok+3; d2 g w=0 slots=0; router hedge=1 budget=0/0.1");
    (void)state;

    for (int i = 0; i < 3; i++)
        expect_events(kit_call(kit, "g"), "RetryRefused,Hedged", "Hedged d1 1");
    nobody_runs(kit);
}

static void a_caller_who_leaves_ends_all_of_them(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : hang; router hedge=2");
    (void)state;

    expect(kit, "g stream gone=4", "d1 d2 d1:cancel d2:cancel fail:499");
    nobody_runs(kit);
}

static void a_call_that_is_freed_in_the_race_gives_everything_back(void **state)
{
    KIT(kit, "d1 g w=1 : hang; d2 g w=0 : hang; router hedge=2");
    struct kit_call *call = kit_begin(kit, "g");
    (void)state;

    kit_run_until(call, kit->now_ns + weir_time_from_s(3));
    assert_int_equal(call->attempt_count, 2);
    assert_int_equal(kit_view(kit, "d1").running, 1);
    assert_int_equal(kit_view(kit, "d2").running, 1);
    kit_forget(kit);
    nobody_runs(kit);
}

static void a_group_says_it_before_the_router(void **state)
{
    KIT(kit, "d1 g w=1 : ok+5; d2 g w=0 : ok+1; e1 h w=1 : ok+5; e2 h w=0 : ok+1\n"
             "router hedge=2; group g hedge=0; group h hedge=3");
    struct kit_call *call;
    (void)state;

    assert_true(weir_snapshot_hedges(kit->snapshot));
    expect(kit, "g", "d1:ok");
    call = expect_call(kit, "h", "e1 e2 e1:cancel e2:ok");
    took(call, 4);
}

static void a_request_says_it_before_the_group_and_a_target_before_both(void **state)
{
    KIT(kit, "d1 g w=1 : ok+5; d2 g w=0 : ok+1; e1 h w=1 : 500 ok+5; e2 h w=0 : ok+1; f1 k : 400; router "
             "retries=0; group g hedge=2");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g hedge=1", "d1 d2 d1:cancel d2:ok");
    took(call, 2);
    expect(kit, "g hedge=0", "d1:ok");
    expect(kit, "h hedge=3", "e1:500 fail:500");
    call = expect_call(kit, "h hedge=3", "e1 e2 e1:cancel e2:ok");
    took(call, 4);
    call = expect_call(kit, "k hedge=9 fallbacks=g@hedge=1", "f1:400 d1 d2 d1:cancel d2:ok");
    took(call, 2);
}

static void what_is_off_is_off(void **state)
{
    KIT(kit, "d1 g w=1 : ok+50; d2 g w=0; router hedge=2/0");
    (void)state;

    assert_false(weir_snapshot_hedges(kit->snapshot));
    expect(kit, "g", "d1:ok");
    kit_reload(kit, "d1 g w=1 : ok+50; d2 g w=0; router retries=1");
    assert_false(weir_snapshot_hedges(kit->snapshot));
    expect(kit, "g", "d1:ok");
}

static void a_race_is_told(void **state)
{
    KIT(kit, "d1 g w=1 : chunk+1,hang; d2 g w=0 : text+1,ok; router hedge=2");
    struct kit_call *call = kit_call(kit, "g stream");
    (void)state;

    expect_events(call, "AttemptStarted,Hedged,HedgeLost,StreamBroken,AttemptFailed,Succeeded",
                  "AttemptStarted d1, Hedged d1 2, AttemptStarted d2, HedgeLost d1 to 2, Succeeded");
}

KIT_TESTS_MAIN(RULES)
