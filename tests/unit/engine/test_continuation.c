/*
 * Whether a stream that broke after content may be continued (decisions 31, 32; router-semantics 14.3, 14.4),
 * and what the call is like when it is.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 14.4", rs_14_a_text_goes_on_with_a_fallback_that_takes_prefill) \
    X("RS 14.4", rs_14_it_is_off_by_default) \
    X("RS 14.4", rs_14_the_request_must_be_one_that_may) \
    X("RS 14.4", rs_14_disable_fallbacks_forbids_it) \
    X("RS 14.4", rs_14_a_plain_call_is_never_continued) \
    X("RS 14.4", rs_14_without_an_eligible_deployment_the_break_is_told) \
    X("RS 14.4", rs_14_a_break_before_content_is_retried_not_continued) \
    X("decisions 31", decision_31_only_failures_that_would_be_retried_or_429) \
    X("decisions 31", decision_31_a_refused_key_only_where_a_sibling_would_have_been_tried) \
    X("decisions 31", decision_31_a_limit_that_passed_is_a_timeout_and_continued) \
    X("decisions 31", decision_31_a_caller_who_left_is_not_continued) \
    X("decisions 32", decision_32_never_after_content_that_is_not_text) \
    X("decisions 32", decision_32_never_after_a_tool_call_in_the_continuation) \
    X("decisions 32", decision_32_never_without_text) \
    X("decisions 32", decision_32_up_to_256_kib) \
    X("decisions 32", decision_32_the_text_of_all_attempts_counts) \
    X("decisions 32", decision_32_what_a_recovered_attempt_gave_does_not_count) \
    X("call", the_first_content_is_the_seam) \
    X("call", a_continuation_has_no_commit_window) \
    X("call", a_continuation_without_content_is_delivered) \
    X("call", a_continuation_that_finishes_and_breaks_is_delivered) \
    X("call", a_continuation_keeps_the_limits_of_its_deployment) \
    X("call", a_caller_who_leaves_meanwhile_ends_it) \
    X("call", the_deadline_holds_for_it) \
    X("call", a_call_that_is_continued_needs_no_wait) \
    X("call", the_start_of_a_continuation_is_a_start) \
    X("call", the_summary_is_that_of_the_group_that_goes_on) \
    X("decisions 1", decision_1_each_attempt_is_counted_as_it_ended) \
    X("decisions 1", decision_1_a_refusal_of_the_prefill_is_counted_like_any_failure) \
    X("events", the_events_of_a_continuation) \
    X("events", the_events_of_a_continuation_without_content) \
    X("events", the_events_of_a_failed_continuation) \
    X("events", a_hop_of_a_continuation_names_the_break) \
    X("events", a_continuation_is_no_recovery)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

#define STREAM_KINDS                                                                                         \
    "AttemptStarted,AttemptFailed,Retry,Fallback,StreamBroken,StreamRecovered,StreamContinued,Succeeded,"    \
    "Failed"

static void rs_14_a_text_goes_on_with_a_fallback_that_takes_prefill(void **state)
{
    (void)state;
    KIT(kit, "d g : 3xtext,connection; b B prefill : text,ok; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b>*:ok");
}

static void rs_14_it_is_off_by_default(void **state)
{
    (void)state;
    KIT(kit, "d g : 3xtext,connection; b B prefill : text,ok; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 fail*:500");
}

static void rs_14_the_request_must_be_one_that_may(void **state)
{
    (void)state;
    KIT(kit, "d g : 3xtext,connection; b B prefill : text,ok; router continuation; fallbacks g: B\n");
    expect(kit, "g stream", "d*:500 fail*:500");
}

static void rs_14_disable_fallbacks_forbids_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 prefill : text,500; d2 g w=0 prefill; b B prefill; fallbacks g: B\n"
             "router continuation targets=fallback,group\n");
    expect(kit, "g stream continue no_fallbacks", "d1*:500 fail*:500");
}

static void rs_14_a_plain_call_is_never_continued(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill; router continuation; fallbacks g: B\n");
    expect(kit, "g continue", "d*:500 fail*:500");
}

static void rs_14_without_an_eligible_deployment_the_break_is_told(void **state)
{
    (void)state;
    KIT(kit, "d g : text,502; b B; router continuation; fallbacks g: B\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:502 fail*:502");

    assert_int_equal(call->fail.attempt, 1);
    assert_true(call->fail.committed);
}

static void rs_14_a_break_before_content_is_retried_not_continued(void **state)
{
    (void)state;
    KIT(kit, "d g : chunk,500 text,500; b B prefill; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d:500 d*:500 b>:ok");
}

static void decision_31_only_failures_that_would_be_retried_or_429(void **state)
{
    static const struct {
        const char *failure;
        bool continued;
    } rows[] = {
        {"connection", true},
        {"500", true},
        {"502", true},
        {"503", true},
        {"504", true},
        {"520", true},
        {"408", true},
        {"409", true},
        {"429", true},
        {"429/30", true},
        {"rate_limit=400", true},
        {"400", false},
        {"404", false},
        {"422", false},
        {"413", false},
        {"context_window", false},
        {"content_policy", false},
        {"not_found=500", false},
        {"guardrail", false},
        {"guardrail=500", false},
        {"500@client_gone", false},
    };
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct kit_call *call;

        snprintf(config, sizeof(config),
                 "d g : text,%s; b B prefill : text,ok; router continuation retries=0; fallbacks g: B\n",
                 rows[i].failure);
        KIT(kit, config);
        call = kit_call(kit, "g stream continue");
        if ((call->attempt_count == 2) != rows[i].continued)
            kit_die(kit, "a break by %s: %s", rows[i].failure, call->story);
    }
}

static void decision_31_a_refused_key_only_where_a_sibling_would_have_been_tried(void **state)
{
    static const char *const refusals[] = {"401", "403", "auth", "permission"};
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        for (int siblings = 0; siblings < 2; siblings++) {
            const struct kit_call *call;

            snprintf(
                config, sizeof(config),
                "d g w=1 : text,%s; %sb B prefill : text,ok; router continuation retries=0; fallbacks g: B\n",
                refusals[i], siblings ? "e g w=0; " : "");
            KIT(kit, config);
            call = kit_call(kit, "g stream continue");
            if ((call->attempt_count == 2) != (siblings == 1))
                kit_die(kit, "a break by %s: %s", refusals[i], call->story);
        }
    }
}

static void decision_31_a_limit_that_passed_is_a_timeout_and_continued(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,hang; b B prefill : text,ok; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:cancel b>*:ok");
    KIT(slow, "d g rate=2/4/4 : text,hang; b B prefill : text,ok; router continuation; fallbacks g: B\n");
    expect(slow, "g stream continue", "d*:cancel b>*:ok");
}

static void decision_31_a_caller_who_left_is_not_continued(void **state)
{
    (void)state;
    KIT(kit, "d g : text,hang; b B prefill : text,ok; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue gone=1", "d*:cancel fail*:499");
}

static void decision_32_never_after_content_that_is_not_text(void **state)
{
    static const char *const answers[] = {"tool,text,500", "text,tool,500", "text,text&tool,500",
                                          "text,3xtext,tool,text,500"};
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        snprintf(config, sizeof(config), "d g : %s; b B prefill; router continuation; fallbacks g: B\n",
                 answers[i]);
        KIT(kit, config);
        expect(kit, "g stream continue", "d*:500 fail*:500");
    }
}

static void decision_32_never_after_a_tool_call_in_the_continuation(void **state)
{
    (void)state;
    KIT(kit, "d g : text,502; b B prefill : text,tool,500; c C prefill; router continuation\n"
             "fallbacks g: B C\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:502 b>*:500 fail*:502");

    assert_int_equal(call->fail.attempt, 1);
}

static void decision_32_never_without_text(void **state)
{
    (void)state;
    KIT(kit, "d g : content,500; b B prefill; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 fail*:500");
}

static void decision_32_up_to_256_kib(void **state)
{
    (void)state;
    KIT(kit, "d g : text:262144,500 text:262145,500 4xtext:65536,500 text:262144,text:1,500\n"
             "b B prefill : text,ok; router continuation retries=0 no_cooldowns; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b>*:ok");
    expect(kit, "g stream continue", "d*:500 fail*:500");
    expect(kit, "g stream continue", "d*:500 b>*:ok");
    expect(kit, "g stream continue", "d*:500 fail*:500");
}

static void decision_32_the_text_of_all_attempts_counts(void **state)
{
    (void)state;
    KIT(kit, "d g : text:131072,500; b B prefill : text:131072,500 text:131073,500; c C prefill : text,ok\n"
             "router continuation no_cooldowns; fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:500 b>*:500 c>*:ok");
    expect(kit, "g stream continue", "d*:500 b>*:500 fail*:500");
}

static void decision_32_what_a_recovered_attempt_gave_does_not_count(void **state)
{
    (void)state;
    KIT(kit, "d g : text:262144,tool,500 text&text&text,500; b B prefill : text,ok\n"
             "router continuation hold=3 no_cooldowns; fallbacks g: B\n");
    expect(kit, "g stream continue", "d:500 d*:500 b>*:ok");
}

/* ---- the call meanwhile ---- */

static void the_first_content_is_the_seam(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : open+1,chunk+1,text+1,hang; router continuation\n"
             "fallbacks g: B\n");
    struct kit_call *call = kit_begin(kit, "g stream continue");

    kit_run_until(call, AT(3) - 1);
    assert_string_equal(call->story, "d*:500 b>");
    kit_run_until(call, AT(3));
    assert_string_equal(call->story, "d*:500 b>*");
}

static void a_continuation_has_no_commit_window(void **state)
{
    (void)state;
    KIT(kit, "d g hold=2 : text,text,500; b B prefill : text,hang; router continuation hold=all\n"
             "fallbacks g: B\n");
    struct kit_call *call = kit_begin(kit, "g stream continue");

    kit_run_until(call, AT(1));
    assert_string_equal(call->story, "d*:500 b>*");
    assert_false(call->attempts[2].start.holds);
}

static void a_continuation_without_content_is_delivered(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : chunk,ok; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b>:ok");
}

static void a_continuation_that_finishes_and_breaks_is_delivered(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,finish,502 finish,hang; router continuation no_cooldowns\n"
             "fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 b>*:502:ok");
    expect(kit, "g stream continue", "d*:500 b>:cancel:ok");
}

static void a_continuation_keeps_the_limits_of_its_deployment(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill ttft=2 : chunk,hang; c C prefill idle=1 : text,hang\n"
             "e E prefill : text,ok; router continuation; fallbacks g: B C E\n");
    expect(kit, "g stream continue", "d*:500 b>:cancel c>*:cancel e>*:ok");
    assert_int_equal(kit->now_ns, AT(3));
}

static void a_caller_who_leaves_meanwhile_ends_it(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : hang; router continuation; fallbacks g: B\n");
    expect(kit, "g stream continue gone=2", "d*:500 b>:cancel fail*:499");
    assert_int_equal(kit_view(kit, "b").failures, 0);
}

static void the_deadline_holds_for_it(void **state)
{
    (void)state;
    KIT(kit, "d g : text+2,500; b B prefill : hang; c C prefill; router continuation deadline=5\n"
             "fallbacks g: B C\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:500 b>:cancel fail*:408");

    assert_int_equal(kit->now_ns, AT(5));
    assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
    assert_int_equal(kit_view(kit, "b").failures, 0);
}

static void a_call_that_is_continued_needs_no_wait(void **state)
{
    (void)state;
    KIT(kit, "d g : text,503/9; b B prefill : 503/9; c C prefill : text,ok\n"
             "router continuation retry_after=5 retries=3; fallbacks g: B C\n");
    expect_waits(expect_call(kit, "g stream continue", "d*:503 b>:503 c>*:ok"), 0, 0, 0);
}

static void the_start_of_a_continuation_is_a_start(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill stream_timeout=7 model=x/y : text,ok; router continuation\n"
             "fallbacks g: B{overridden}\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:500 b>*:ok");
    const struct weir_start *start = &call->attempts[2].start;

    assert_int_equal(start->hop, 1);
    assert_int_equal(start->limit_ns, weir_time_from_s(7));
    assert_memory_equal(start->group.ptr, "B", 1);
    assert_memory_equal(start->model.ptr, "x/y", 3);
    assert_memory_equal(start->overrides.ptr, "{overridden}", 12);
}

static void the_summary_is_that_of_the_group_that_goes_on(void **state)
{
    struct weir_summary summary;
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,ok; router continuation; fallbacks g: B\n");

    summary = kit_summary(expect_call(kit, "g stream continue", "d*:500 b>*:ok"));
    assert_int_equal(summary.hops, 1);
    assert_int_equal(summary.attempts, 2);
    assert_int_equal(summary.retries, 0);
    assert_memory_equal(summary.group.ptr, "B", 1);
}

/* ---- counting ---- */

static void decision_1_each_attempt_is_counted_as_it_ended(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : text,502; c C prefill : text,ok; router continuation\n"
             "fallbacks g: B C\n");
    expect(kit, "g stream continue", "d*:500 b>*:502 c>*:ok");
    assert_int_equal(kit_view(kit, "d").failures, 1);
    assert_int_equal(kit_view(kit, "b").failures, 1);
    assert_int_equal(kit_view(kit, "c").failures, 0);
    assert_int_equal(kit_view(kit, "d").successes, 0);
    assert_int_equal(kit_view(kit, "b").successes, 0);
    assert_int_equal(kit_view(kit, "c").successes, 1);
}

static void decision_1_a_refusal_of_the_prefill_is_counted_like_any_failure(void **state)
{
    size_t up_front;
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : 400; c C prefill : text,ok; router continuation no_cooldowns\n"
             "fallbacks g: B C\n");

    expect(kit, "B stream", "b:400 fail:400");
    up_front = kit_view(kit, "b").failures;
    expect(kit, "g stream continue", "d*:500 b>:400 c>*:ok");
    assert_int_equal(kit_view(kit, "b").failures, 2 * up_front);
}

/* ---- events ---- */

static void the_events_of_a_continuation(void **state)
{
    const struct weir_event *event;
    const struct kit_call *call;
    (void)state;
    KIT(kit, "d g : 3xtext+1,500+1; b B prefill : chunk,text+1,ok+1; router continuation; fallbacks g: B\n");

    call = expect_call(kit, "g stream continue", "d*:500 b>*:ok");
    expect_events(call, STREAM_KINDS,
                  "AttemptStarted d, StreamBroken d 500 committed, AttemptFailed d 500 leave, "
                  "Fallback group g>B depth=1 level=0, AttemptStarted b, StreamContinued b of 1 after 12, "
                  "Succeeded");
    event = kit_event(call, WEIR_EVENT_STREAM_CONTINUED, 0);
    assert_int_equal(event->attempt, 2);
    assert_int_equal(event->time_ns, AT(5));
    assert_int_equal(kit_event(call, WEIR_EVENT_SUCCEEDED, 0)->attempt, 2);
}

static void the_events_of_a_continuation_without_content(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; b B prefill : chunk,ok; router continuation; fallbacks g: B\n");
    expect_events(expect_call(kit, "g stream continue", "d*:500 b>:ok"),
                  "AttemptFailed,StreamRecovered,Succeeded", "AttemptFailed d 500 leave, Succeeded");
}

static void the_events_of_a_failed_continuation(void **state)
{
    (void)state;
    KIT(kit, "d g : text,502; b B prefill : 400; c C prefill : chunk,503; router continuation\n"
             "fallbacks g: B C\n");
    expect_events(expect_call(kit, "g stream continue", "d*:502 b>:400 c>:503 fail*:502"), STREAM_KINDS,
                  "AttemptStarted d, StreamBroken d 502 committed, AttemptFailed d 502 leave, "
                  "Fallback group g>B depth=1 level=0, AttemptStarted b, AttemptFailed b 400 leave, "
                  "Fallback group B>C depth=2 level=1, AttemptStarted c, StreamBroken c 503, "
                  "AttemptFailed c 503 leave, Failed 502");
}

static void expect_cause(const struct kit_call *call, size_t number, int status)
{
    const struct weir_event *event = kit_event(call, WEIR_EVENT_FALLBACK, number);

    assert_int_equal(event->u.fallback.cause.status, status);
}

/* Not an older failure of the frame, nor none at all. */
static void a_hop_of_a_continuation_names_the_break(void **state)
{
    const struct kit_call *call;
    (void)state;
    KIT(kit, "d g : 429 text,502; b B prefill : 400; c C prefill : text,ok\n"
             "router continuation retries=1 no_cooldowns; fallbacks g: B C\n");
    call = expect_call(kit, "g stream continue", "d:429 d*:502 b>:400 c>*:ok");
    expect_cause(call, 0, 502);
    expect_cause(call, 1, 400);
}

static void a_continuation_is_no_recovery(void **state)
{
    (void)state;
    KIT(kit, "d g : text,502; b B prefill : chunk,500; c C prefill : text,ok; router continuation\n"
             "fallbacks g: B C\n");
    const struct kit_call *call = expect_call(kit, "g stream continue", "d*:502 b>:500 c>*:ok");

    assert_int_equal(kit_event_count(call, WEIR_EVENT_STREAM_RECOVERED), 0);
    assert_int_equal(kit_event_count(call, WEIR_EVENT_STREAM_CONTINUED), 1);
    assert_int_equal(kit_event(call, WEIR_EVENT_STREAM_CONTINUED, 0)->u.stream_continued.broken, 1);
}

KIT_TESTS_MAIN(TESTS)
