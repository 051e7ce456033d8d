/*
 * A stream that has said its finish reason is complete, whatever happens next (decisions 29): the rest of it,
 * the usage and the end marker, may take five seconds.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("decisions 29", decision_29_a_break_after_the_finish_is_complete) \
    X("decisions 29", decision_29_a_finish_reason_and_the_last_text_may_come_together) \
    X("decisions 29", decision_29_a_finish_without_content_is_complete) \
    X("decisions 29", decision_29_a_break_after_the_finish_inside_the_window_is_complete) \
    X("decisions 29", decision_29_it_is_a_success_of_the_deployment) \
    X("decisions 29", decision_29_it_is_no_broken_stream) \
    X("decisions 29", decision_29_an_end_marker_without_a_finish_reason_is_complete) \
    X("ending", the_rest_may_take_five_seconds) \
    X("ending", the_rest_may_come_within_five_seconds) \
    X("ending", chunks_after_the_finish_give_no_new_time) \
    X("ending", content_after_the_finish_changes_nothing) \
    X("ending", a_second_finish_changes_nothing) \
    X("ending", no_limit_fails_a_complete_stream) \
    X("ending", a_slow_reader_does_not_end_a_complete_stream) \
    X("ending", a_caller_who_leaves_after_the_finish_is_nobodys_failure) \
    X("ending", what_was_told_of_the_tokens_is_in_the_event)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

static void decision_29_a_break_after_the_finish_is_complete(void **state)
{
    static const char *const breaks[] = {"connection", "500", "429", "400", "internal"};
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
        char story[32];
        const struct kit_call *call;

        snprintf(config, sizeof(config), "d g : open,chunk,text,finish,chunk,%s; b B; fallbacks g: B\n",
                 breaks[i]);
        KIT(kit, config);
        call = kit_call(kit, "g stream");
        snprintf(story, sizeof(story), "d*:%d:ok",
                 call->attempts[1].answer->pieces[call->attempts[1].answer->count - 1].u.failure.status);
        assert_string_equal(call->story, story);
    }
}

static void decision_29_a_finish_reason_and_the_last_text_may_come_together(void **state)
{
    (void)state;
    KIT(kit, "d g : text&finish,connection\n");
    expect(kit, "g stream", "d*:500:ok");
}

static void decision_29_a_finish_without_content_is_complete(void **state)
{
    (void)state;
    KIT(kit, "d g : open,chunk,finish,connection finish,ok finish,hang\n");
    expect(kit, "g stream", "d:500:ok");
    expect(kit, "g stream", "d:ok");
    expect(kit, "g stream", "d:cancel:ok");
}

static void decision_29_a_break_after_the_finish_inside_the_window_is_complete(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,connection; router hold=all\n");
    expect(kit, "g stream", "d*:500:ok");
}

static void decision_29_it_is_a_success_of_the_deployment(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : text,finish,429 text,finish,hang\n");
    expect(kit, "g stream", "d*:429:ok");
    expect(kit, "g stream", "d*:cancel:ok");
    assert_int_equal(kit_view(kit, "d").successes, 2);
    assert_int_equal(kit_view(kit, "d").failures, 0);
    assert_true(kit_cooling(kit, "d") <= 0);
}

static void decision_29_it_is_no_broken_stream(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,500\n");
    expect_events(expect_call(kit, "g stream", "d*:500:ok"),
                  "StreamBroken,AttemptFailed,StreamRecovered,Failed,Succeeded", "Succeeded");
}

static void decision_29_an_end_marker_without_a_finish_reason_is_complete(void **state)
{
    (void)state;
    KIT(kit, "d g : text,ok\n");
    expect(kit, "g stream", "d*:ok");
}

static void the_rest_may_take_five_seconds(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish+1,hang\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(1));
    assert_int_equal(weir_call_expiry(call->call), AT(6));
    kit_run_until(call, AT(6) - 1);
    assert_string_equal(call->story, "d*");
    kit_run_until(call, AT(6));
    assert_string_equal(call->story, "d*:cancel:ok");
}

static void the_rest_may_come_within_five_seconds(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish+1,chunk+2,ok+3\n");
    expect(kit, "g stream", "d*:ok");
    assert_int_equal(kit->now_ns, AT(6));
}

static void chunks_after_the_finish_give_no_new_time(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,10xchunk+1,ok\n");
    expect(kit, "g stream", "d*:cancel:ok");
    assert_int_equal(kit->now_ns, AT(5));
}

static void content_after_the_finish_changes_nothing(void **state)
{
    (void)state;
    KIT(kit, "d g : chunk,finish,text+1,ok+1; d2 h : text,finish,text+1,tool+1,hang\n");
    expect(kit, "h stream", "d2*:cancel:ok");
    assert_int_equal(kit->now_ns, AT(5));
    assert_int_equal(kit_call(kit, "g stream")->end, KIT_DELIVERED);
}

static void a_second_finish_changes_nothing(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,finish+3,hang\n");
    expect(kit, "g stream", "d*:cancel:ok");
    assert_int_equal(kit->now_ns, AT(5));
}

static void no_limit_fails_a_complete_stream(void **state)
{
    static const char *const limits[] = {"ttft=1", "idle=1", "rate=100/1/1", "stream_timeout=1", "timeout=1"};
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        snprintf(config, sizeof(config), "d g %s : chunk,finish,ok+4.5 text,finish,ok+4.5\n", limits[i]);
        KIT(kit, config);
        expect(kit, "g stream", "d:ok");
        expect(kit, "g stream", "d*:ok");
        assert_int_equal(kit_view(kit, "d").successes, 2);
    }
    KIT(kit, "d g : text,finish,ok+4 text,finish,hang; router deadline=1\n");
    assert_int_equal(kit_call(kit, "g stream")->end, KIT_DELIVERED);
    assert_int_equal(kit_call(kit, "g stream")->end, KIT_DELIVERED);
}

static void a_slow_reader_does_not_end_a_complete_stream(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,pause,resume+100,ok+4.9\n");
    expect(kit, "g stream", "d*:ok");
}

static void a_caller_who_leaves_after_the_finish_is_nobodys_failure(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,hang\n");
    expect(kit, "g stream gone=1", "d*:cancel fail*:499");
    assert_int_equal(kit_view(kit, "d").failures, 0);
}

static void what_was_told_of_the_tokens_is_in_the_event(void **state)
{
    (void)state;
    KIT(kit, "d g : text,finish,ok text,finish,500\n");
    const struct weir_event *event =
        kit_event(expect_call(kit, "g stream", "d*:ok"), WEIR_EVENT_SUCCEEDED, 0);

    assert_int_equal(event->u.succeeded.prompt_tokens, 3);
    assert_int_equal(event->u.succeeded.completion_tokens, 5);
    event = kit_event(expect_call(kit, "g stream", "d*:500:ok"), WEIR_EVENT_SUCCEEDED, 0);
    assert_int_equal(event->u.succeeded.prompt_tokens, 0);
}

KIT_TESTS_MAIN(TESTS)
