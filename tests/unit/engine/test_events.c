/*
 * What observers see of a call (router-semantics 23, decisions 11; reliability.md, Fallbacks).
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 23", rs_23_a_plain_success) \
    X("RS 23", rs_23_a_retry_is_told_with_its_number_and_its_wait) \
    X("RS 23", rs_23_a_failure_tells_whether_it_is_retried) \
    X("RS 23", rs_23_times_and_durations_are_of_the_attempt) \
    X("RS 23", rs_23_a_timeout_is_a_failed_attempt) \
    X("RS 23", rs_23_a_success_carries_tokens_and_the_calls_duration) \
    X("RS 23", rs_23_a_failed_call_carries_the_failure_that_is_told) \
    X("RS 23", rs_23_events_name_attempt_group_and_deployment) \
    X("decisions 11", decision_11_each_hop_is_reported) \
    X("decisions 11", decision_11_depth_is_the_counter_of_hops_and_level_the_nesting) \
    X("decisions 11", decision_11_an_order_hop_has_its_tier_and_no_depth_of_its_own) \
    X("decisions 11", decision_11_a_sibling_hop_says_so) \
    X("decisions 11", decision_11_an_order_within_a_fallback_group) \
    X("RS 23", rs_23_a_cancelled_attempt_is_no_failed_one) \
    X("RS 23", rs_23_a_cooldown_is_told_after_the_failure_that_set_it) \
    X("RS 23", rs_23_the_names_of_the_events)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define ALL "AttemptStarted,AttemptFailed,Retry,Fallback,CooldownSet,StreamRecovered,Succeeded,Failed"

static void rs_23_a_plain_success(void **state)
{
    (void)state;
    KIT(kit, "d1 g\n");
    expect_events(kit_call(kit, "g"), ALL, "AttemptStarted d1, Succeeded");
}

static void rs_23_a_retry_is_told_with_its_number_and_its_wait(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "d1 g : 503/4 503/4 ok; router retries=5 jitter=0\n");
    const struct kit_call *call = kit_call(kit, "g");

    expect_events(call, "Retry", "Retry 1/5, Retry 2/5");
    event = kit_event(call, WEIR_EVENT_RETRY, 1);
    assert_int_equal(event->u.retry.waited_ns, weir_time_from_s(4));
    event = kit_event(call, WEIR_EVENT_ATTEMPT_FAILED, 0);
    assert_int_equal(event->u.attempt_failed.wait_ns, weir_time_from_s(4));
}

static void rs_23_a_failure_tells_whether_it_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0 : 400\n");
    expect_events(kit_call(kit, "g"), ALL,
                  "AttemptStarted d1, AttemptFailed d1 500 retry, Retry 1/2, AttemptStarted d2, "
                  "AttemptFailed d2 400 leave, Failed 400");
}

static void rs_23_times_and_durations_are_of_the_attempt(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "d1 g : 500+2; router retries=0\n");

    event = kit_event(kit_call(kit, "g"), WEIR_EVENT_ATTEMPT_FAILED, 0);
    assert_int_equal(event->time_ns, KIT_EPOCH_NS + weir_time_from_s(2));
    assert_int_equal(event->u.attempt_failed.duration_ns, weir_time_from_s(2));
}

static void rs_23_a_timeout_is_a_failed_attempt(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=3 : hang; router retries=0\n");
    const struct kit_call *call = kit_call(kit, "g");

    expect_events(call, ALL, "AttemptStarted d1, AttemptFailed d1 408 leave, Failed 408");
    assert_int_equal(kit_event(call, WEIR_EVENT_ATTEMPT_FAILED, 0)->u.attempt_failed.duration_ns,
                     weir_time_from_s(3));
}

static void rs_23_a_success_carries_tokens_and_the_calls_duration(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "d1 g : 500+1 ok+2; router retries=1 jitter=0\n");

    event = kit_event(kit_call(kit, "g"), WEIR_EVENT_SUCCEEDED, 0);
    assert_int_equal(event->u.succeeded.prompt_tokens, 3);
    assert_int_equal(event->u.succeeded.completion_tokens, 5);
    assert_int_equal(event->u.succeeded.duration_ns, weir_time_from_s(3.5));
}

static void rs_23_a_failed_call_carries_the_failure_that_is_told(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : 401; router retries=0; fallbacks A: B\n");
    expect_events(kit_call(kit, "A"), "Failed", "Failed 503");
}

static void rs_23_events_name_attempt_group_and_deployment(void **state)
{
    const struct weir_event *event;
    (void)state;
    KIT(kit, "a A : 503; b B; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = kit_call(kit, "A");

    event = kit_event(call, WEIR_EVENT_ATTEMPT_STARTED, 1);
    assert_int_equal(event->attempt, 2);
    assert_true(weir_slice_eq(event->group, WEIR_SLICE("B")));
    assert_true(weir_slice_eq(event->deployment, WEIR_SLICE("b")));
    event = kit_event(call, WEIR_EVENT_ATTEMPT_FAILED, 0);
    assert_int_equal(event->attempt, 1);
    assert_true(weir_slice_eq(event->group, WEIR_SLICE("A")));
    assert_true(weir_slice_eq(event->deployment, WEIR_SLICE("a")));
}

static void decision_11_each_hop_is_reported(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C; router retries=0; fallbacks A: B C; fallbacks B:\n");
    expect_events(kit_call(kit, "A"), "Fallback",
                  "Fallback group A>B depth=1 level=0, Fallback group A>C depth=2 level=0");
}

static void decision_11_depth_is_the_counter_of_hops_and_level_the_nesting(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b B : 500; c C : 500; d D; router retries=0\n"
             "fallbacks A: B D; fallbacks B: C; fallbacks C:\n");
    expect_events(kit_call(kit, "A"), "Fallback",
                  "Fallback group A>B depth=1 level=0, Fallback group B>C depth=2 level=1, "
                  "Fallback group A>D depth=3 level=0");
}

static void decision_11_an_order_hop_has_its_tier_and_no_depth_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 : 500; d2 g order=2 : 500; b B; router retries=0; fallbacks g: B\n");
    expect_events(kit_call(kit, "g"), "Fallback",
                  "Fallback order g>g order=2 depth=0 level=0, Fallback group g>B depth=1 level=0");
}

static void decision_11_a_sibling_hop_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500; d2 g w=0; router retries=0 weighted\n");
    expect_events(kit_call(kit, "g"), "Fallback", "Fallback sibling g>g depth=0 level=0");
}

static void decision_11_an_order_within_a_fallback_group(void **state)
{
    (void)state;
    KIT(kit, "a A : 500; b1 B order=1 : 500; b2 B order=5; router retries=0; fallbacks A: B\n");
    expect_events(kit_call(kit, "A"), "Fallback",
                  "Fallback group A>B depth=1 level=0, Fallback order B>B order=5 depth=1 level=1");
}

static void rs_23_a_cancelled_attempt_is_no_failed_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,hang\n");
    expect_events(kit_call(kit, "g stream gone=1"), "AttemptFailed,CooldownSet,Failed", "Failed 499");
}

static void rs_23_a_cooldown_is_told_after_the_failure_that_set_it(void **state)
{
    size_t failed = 0;
    size_t cooled = 0;
    (void)state;
    KIT(kit, "d1 g w=1 : 429; d2 g w=0\n");
    const struct kit_call *call = kit_call(kit, "g");

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED)
            failed = i;
        if (call->events[i].kind == WEIR_EVENT_COOLDOWN_SET)
            cooled = i;
        if (call->events[i].kind == WEIR_EVENT_RETRY)
            assert_true(cooled < i && failed < i);
    }
    assert_true(cooled > 0 && failed > 0);
}

static void rs_23_the_names_of_the_events(void **state)
{
    (void)state;
    assert_true(weir_slice_eq(weir_event_name(WEIR_EVENT_FALLBACK), WEIR_SLICE("Fallback")));
    assert_true(weir_slice_eq(weir_event_name(WEIR_EVENT_COOLDOWN_SET), WEIR_SLICE("CooldownSet")));
    assert_true(
        weir_slice_eq(weir_cooldown_rule_name(WEIR_COOLDOWN_FAILURE_SHARE), WEIR_SLICE("failure_share")));
}

KIT_TESTS_MAIN(TESTS)
