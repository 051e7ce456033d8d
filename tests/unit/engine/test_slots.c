/*
 * Attempts at once on one deployment (router-semantics 19): what a full one answers, and that every end of an
 * attempt gives its slot back.
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 19", rs_19_a_full_deployment_refuses_at_once) \
    X("RS 19", rs_19_the_last_slot_is_given_out) \
    X("RS 19", rs_19_no_slots_is_no_attempt) \
    X("RS 19", rs_19_the_refusal_says_which_limit_it_was) \
    X("RS 19", rs_19_a_full_deployment_is_not_cooled_whatever_the_policy) \
    X("RS 19", rs_19_a_sibling_is_tried_at_once) \
    X("RS 19", rs_19_a_lone_deployment_is_tried_again_after_a_wait) \
    X("RS 19", rs_19_a_full_group_falls_back) \
    X("RS 19", rs_19_a_full_order_goes_on_to_the_next) \
    X("RS 19", rs_19_a_full_sibling_goes_on_to_the_next) \
    X("RS 19", rs_19_an_id_has_its_slots_too) \
    X("RS 19", rs_19_the_number_of_retries_is_that_of_the_full_deployment) \
    X("RS 19", rs_19_a_retry_policy_for_429_counts) \
    X("RS 19", rs_19_a_refusal_is_no_provider_call) \
    X("RS 19", rs_19_a_refusal_is_told) \
    X("RS 19", rs_19_keys_of_the_callers_own_take_no_slot) \
    X("given back", by_an_answer) \
    X("given back", by_a_failure) \
    X("given back", by_a_timeout) \
    X("given back", by_a_deadline) \
    X("given back", when_a_stream_ends_and_not_before) \
    X("given back", when_a_stream_breaks_after_content) \
    X("given back", when_the_caller_of_a_stream_leaves) \
    X("given back", when_the_answer_of_a_caller_who_left_ends) \
    X("given back", when_the_caller_of_a_plain_call_leaves_and_that_ends_it) \
    X("given back", when_the_call_is_freed_midway) \
    X("given back", when_memory_runs_out) \
    X("given back", by_the_loser_of_a_race) \
    X("given back", over_a_reload) \
    X("given back", before_a_continuation_by_the_same_deployment) \
    X("continuation", a_full_deployment_does_not_carry_on) \
    X("continuation", with_nobody_else_the_break_is_told) \
    X("hedge", a_full_deployment_joins_no_race)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

static void runs(const struct kit *kit, const char *id, uint32_t count)
{
    assert_int_equal(kit_view(kit, id).running, count);
}

static void rs_19_a_full_deployment_refuses_at_once(void **state)
{
    KIT(kit, "d g slots=1 : ok+10; router retries=0");
    struct kit_call *call;
    (void)state;

    (void)kit_begin(kit, "g");
    call = expect_call(kit, "g", "d! fail:429");
    expect_waits(call, 0, 0, 0);
    runs(kit, "d", 1);
}

static void rs_19_the_last_slot_is_given_out(void **state)
{
    KIT(kit, "d g slots=3 : ok+10; router retries=0");
    (void)state;

    (void)kit_begin(kit, "g");
    (void)kit_begin(kit, "g");
    (void)kit_begin(kit, "g");
    runs(kit, "d", 3);
    expect(kit, "g", "d! fail:429");
    kit_run_all(kit);
    runs(kit, "d", 0);
}

static void rs_19_no_slots_is_no_attempt(void **state)
{
    KIT(kit, "d g slots=0; router retries=0");
    (void)state;

    expect_each(kit, 3, "g", "d! fail:429");
}

static void rs_19_the_refusal_says_which_limit_it_was(void **state)
{
    KIT(kit, "d g slots=2 : ok+10; router retries=0");
    const struct weir_fail *fail;
    (void)state;

    (void)kit_begin(kit, "g");
    (void)kit_begin(kit, "g");
    fail = &expect_call(kit, "g", "d! fail:429")->fail;
    assert_int_equal(fail->reason, WEIR_REASON_SLOTS);
    assert_int_equal(fail->failure.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(fail->failure.origin, WEIR_ORIGIN_ROUTER);
    assert_int_equal(fail->failure.retry_after_ns, 0);
    assert_int_equal(fail->attempt, 0);
    assert_true(weir_slice_eq(fail->limit.deployment, WEIR_SLICE("d")));
    assert_true(weir_slice_eq(fail->limit.what, WEIR_SLICE("max_parallel_requests")));
    assert_int_equal(fail->limit.limit, 2);
    assert_int_equal(fail->limit.usage, 2);
}

static void rs_19_a_full_deployment_is_not_cooled_whatever_the_policy(void **state)
{
    KIT(kit, "d g w=1 slots=1 fails.rate_limit=0 : ok+10; e g w=0\n"
             "router retries=0 fails.rate_limit=0 fails=0");
    (void)state;

    (void)kit_begin(kit, "g");
    expect_each(kit, 10, "g", "d! fail:429");
    assert_float_equal(kit_cooling(kit, "d"), 0, 0);
    assert_int_equal(kit_view(kit, "d").failures, 0);
    assert_int_equal(kit_view(kit, "d").successes, 0);
}

static void rs_19_a_sibling_is_tried_at_once(void **state)
{
    KIT(kit, "d g w=1 slots=1 : ok+10; e g w=0; router retries=1");
    struct kit_call *call;
    (void)state;

    (void)kit_begin(kit, "g");
    call = expect_call(kit, "g", "d! e:ok");
    expect_waits(call, 0, 0, 0);
    assert_int_equal(kit_summary(call).retries, 1);
    assert_int_equal(kit_summary(call).max_retries, 1);
}

static void rs_19_a_lone_deployment_is_tried_again_after_a_wait(void **state)
{
    KIT(kit, "d g slots=1 : ok+0.4 ok; router retries=1 jitter=0");
    struct kit_call *first, *second;
    (void)state;

    first = kit_begin(kit, "g");
    second = kit_begin(kit, "g");
    kit_run(first);
    kit_run(second);
    assert_string_equal(second->story, "d! d:ok");
    assert_int_equal(kit->now_ns, AT(0.5));
}

static void rs_19_a_full_group_falls_back(void **state)
{
    KIT(kit, "d g slots=1 : ok+10; b B; router retries=0; fallbacks g: B");
    struct kit_call *call;
    (void)state;

    (void)kit_begin(kit, "g");
    call = expect_call(kit, "g", "d! b:ok");
    assert_int_equal(kit_summary(call).hops, 1);
    assert_int_equal(kit_summary(call).failure_count, 1);
    assert_int_equal(kit_summary(call).failures[0].reason, WEIR_REASON_SLOTS);
    assert_int_equal(kit_summary(call).failures[0].limit.limit, 1);
    expect(kit, "g no_fallbacks", "d! fail:429");
}

static void rs_19_a_full_order_goes_on_to_the_next(void **state)
{
    KIT(kit, "d g order=1 slots=1 : ok+10; e g order=2; router retries=0");
    struct kit_call *call;
    (void)state;

    (void)kit_begin(kit, "g");
    call = expect_call(kit, "g", "d! e:ok");
    expect_events(call, "AttemptRefused,AttemptStarted,Fallback",
                  "AttemptRefused d 429 leave, Fallback order g>g order=2 depth=0 level=0, AttemptStarted e");
}

static void rs_19_a_full_sibling_goes_on_to_the_next(void **state)
{
    KIT(kit, "d g w=9 slots=1 : ok+10; e g w=1 slots=0; f g w=0; router retries=0 weighted");
    (void)state;

    (void)kit_begin(kit, "d");
    expect(kit, "g", "d! e! f:ok");
}

static void rs_19_an_id_has_its_slots_too(void **state)
{
    KIT(kit, "d g slots=1 : ok+10; router retries=0");
    (void)state;

    (void)kit_begin(kit, "d");
    expect(kit, "d", "d! fail:429");
    expect(kit, "g", "d! fail:429");
}

static void rs_19_the_number_of_retries_is_that_of_the_full_deployment(void **state)
{
    KIT(kit, "d g slots=0 retries=2; router retries=0");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d! d! d! fail:429");
    expect_waits(call, 2, 0.5, 1.75);
}

static void rs_19_a_retry_policy_for_429_counts(void **state)
{
    KIT(kit, "d g w=1 slots=0; e g w=0; router retries=0 policy.rate_limit=1");
    (void)state;

    expect(kit, "g", "d! e:ok");
}

static void rs_19_a_refusal_is_no_provider_call(void **state)
{
    KIT(kit, "d g w=1 slots=0; e g w=0; router retries=1");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d! e:ok");
    assert_int_equal(kit_summary(call).attempts, 1);
    assert_int_equal(call->delivered, 1);
    assert_int_equal(kit_view(kit, "d").minute.requests, 0);
}

static void rs_19_a_refusal_is_told(void **state)
{
    KIT(kit, "d g w=1 slots=0; e g w=0; router retries=1");
    struct kit_call *call;
    const struct weir_event *event;
    (void)state;

    call = kit_call(kit, "g");
    expect_events(call, "AttemptRefused,AttemptStarted,AttemptFailed,Retry,CooldownSet,Succeeded",
                  "AttemptRefused d 429 retry, Retry 1/1, AttemptStarted e, Succeeded");
    event = kit_event(call, WEIR_EVENT_ATTEMPT_REFUSED, 0);
    assert_int_equal(event->attempt, 0);
    assert_true(weir_slice_eq(event->group, WEIR_SLICE("g")));
    assert_int_equal(event->u.attempt_failed.duration_ns, 0);
}

static void rs_19_keys_of_the_callers_own_take_no_slot(void **state)
{
    KIT(kit, "d g slots=1 : ok+10; router retries=0");
    (void)state;

    (void)kit_begin(kit, "g creds");
    (void)kit_begin(kit, "g creds");
    runs(kit, "d", 0);
    (void)kit_begin(kit, "g");
    expect(kit, "g", "d! fail:429");
}

static void by_an_answer(void **state)
{
    KIT(kit, "d g slots=1 : ok+1; router retries=0");
    (void)state;

    expect_each(kit, 5, "g", "d:ok");
    runs(kit, "d", 0);
}

static void by_a_failure(void **state)
{
    KIT(kit, "d g slots=1 : 500 400 401@router filtered connection ok; router retries=0");
    (void)state;

    expect(kit, "g", "d:500 fail:500");
    expect(kit, "g", "d:400 fail:400");
    expect(kit, "g", "d:401 fail:401");
    expect(kit, "g content=h", "d:filtered fail:400");
    expect(kit, "g stream", "d:500 fail:500");
    expect(kit, "g", "d:ok");
    runs(kit, "d", 0);
}

static void by_a_timeout(void **state)
{
    KIT(kit, "d g slots=1 timeout=1 : hang hang ok; router retries=0");
    (void)state;

    expect(kit, "g", "d:cancel fail:408");
    expect(kit, "g stream", "d:cancel fail:408");
    expect(kit, "g", "d:ok");
}

static void by_a_deadline(void **state)
{
    KIT(kit, "d g slots=1 : hang text,hang ok; router retries=0");
    (void)state;

    expect(kit, "g deadline=1", "d:cancel fail:408");
    expect(kit, "g stream deadline=1", "d*:cancel fail*:408");
    expect(kit, "g", "d:ok");
}

static void when_a_stream_ends_and_not_before(void **state)
{
    KIT(kit, "d g slots=1 : open,text+1,text+1,finish+1,ok+1; router retries=0");
    struct kit_call *call = kit_begin(kit, "g stream");
    (void)state;

    for (unsigned i = 0; i < 4; i++) {
        expect(kit, "g", "d! fail:429");
        kit_run_until(call, AT(i + 0.5));
    }
    expect(kit, "g", "d! fail:429");
    kit_run(call);
    assert_string_equal(call->story, "d*:ok");
    runs(kit, "d", 0);
}

static void when_a_stream_breaks_after_content(void **state)
{
    KIT(kit, "d g slots=1 : text,connection ok; router retries=0");
    (void)state;

    expect(kit, "g stream", "d*:500 fail*:500");
    expect(kit, "g", "d:ok");
}

static void when_the_caller_of_a_stream_leaves(void **state)
{
    KIT(kit, "d g slots=1 : open,text+1,hang ok; router retries=0");
    (void)state;

    expect(kit, "g stream gone=0.5", "d:cancel fail:499");
    expect(kit, "g", "d:ok");
    kit_script(kit, "d", "open,text+1,hang ok");
    expect(kit, "g stream gone=2", "d*:cancel fail*:499");
    expect(kit, "g", "d:ok");
}

static void when_the_answer_of_a_caller_who_left_ends(void **state)
{
    KIT(kit, "d g slots=1 : ok+10 ok; router retries=0");
    struct kit_call *call = kit_begin(kit, "g gone=1");
    (void)state;

    kit_run_until(call, AT(9));
    expect(kit, "g", "d! fail:429");
    kit_run(call);
    assert_string_equal(call->story, "d:ok");
    expect(kit, "g", "d:ok");
}

static void when_the_caller_of_a_plain_call_leaves_and_that_ends_it(void **state)
{
    KIT(kit, "d g slots=1 : ok+10 ok; router retries=0 cancel_on_disconnect");
    (void)state;

    expect(kit, "g gone=1", "d:cancel fail:499");
    expect(kit, "g", "d:ok");
}

static void when_the_call_is_freed_midway(void **state)
{
    KIT(kit, "d g slots=2 : hang text,hang ok; router retries=0");
    (void)state;

    (void)kit_begin(kit, "g");
    kit_run_until(kit_begin(kit, "g stream"), AT(1));
    expect(kit, "g", "d! fail:429");
    kit_forget(kit);
    runs(kit, "d", 0);
    expect(kit, "g", "d:ok");
}

static void when_memory_runs_out(void **state)
{
    KIT(kit, "d g w=1 slots=1 tags=default : text,connection; e g w=0 prefill slots=1 : text,connection\n"
             "b B prefill slots=1; router retries=1 filter enforce continuation; fallbacks g: B");
    (void)state;

    for (kit->calls_fail_from = 1; kit->calls_fail_from < 40; kit->calls_fail_from++) {
        (void)kit_call(kit, "g stream continue tags=x");
        kit_forget(kit);
    }
}

static void by_the_loser_of_a_race(void **state)
{
    KIT(kit, "d g w=1 slots=1 : hang ok; e g w=0 slots=1; router retries=0 hedge=1");
    (void)state;

    expect(kit, "g", "d e d:cancel e:ok");
    runs(kit, "d", 0);
    runs(kit, "e", 0);
    expect(kit, "g", "d:ok");
}

static void over_a_reload(void **state)
{
    KIT(kit, "d g slots=1 : ok+10; router retries=0");
    struct kit_call *call = kit_begin(kit, "g");
    (void)state;

    kit_reload(kit, "a g order=2; d g order=1 slots=2 : ok+20; router retries=0");
    runs(kit, "d", 1);
    (void)kit_begin(kit, "g");
    expect(kit, "g", "d! a:ok");
    kit_run(call);
    runs(kit, "d", 1);
    kit_run_all(kit);
    runs(kit, "d", 0);
}

static void before_a_continuation_by_the_same_deployment(void **state)
{
    KIT(kit, "d g prefill slots=1 : text,connection text,ok; router retries=0 continuation targets=group");
    (void)state;

    expect(kit, "g stream continue", "d*:500 d>*:ok");
    runs(kit, "d", 0);
}

static void a_full_deployment_does_not_carry_on(void **state)
{
    KIT(kit, "d g : text,connection; a A prefill slots=1 : ok+10; b B prefill : text,ok\n"
             "router retries=0 continuation; fallbacks g: A B");
    (void)state;

    (void)kit_begin(kit, "a");
    expect(kit, "g stream continue", "d*:500 a! b>*:ok");
}

static void with_nobody_else_the_break_is_told(void **state)
{
    KIT(kit, "d g prefill slots=1 : text,connection; a A prefill slots=0\n"
             "router retries=0 continuation; fallbacks g: A");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g stream continue", "d*:500 a! fail*:500");
    assert_int_equal(call->fail.attempt, 1);
    assert_int_equal(call->fail.reason, WEIR_REASON_ATTEMPT);
    assert_int_equal(call->fail.limit.limit, 0);
}

static void a_full_deployment_joins_no_race(void **state)
{
    KIT(kit, "d g w=1 : ok+5; e g w=0 slots=0; router retries=0 hedge=1");
    (void)state;

    expect(kit, "g", "d e! d:ok");
    assert_int_equal(kit_view(kit, "e").failures, 0);
}

KIT_TESTS_MAIN(TESTS)
