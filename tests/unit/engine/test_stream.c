/*
 * Streams (router-semantics 14, decisions 1, 25; reliability.md, Streams) and callers who leave.
 */
#include "engine_kit.h"

#include <stdio.h>

/* clang-format off */
#define TESTS(X) \
    X("RS 14.1", rs_14_an_opened_stream_ends_nothing_for_the_caller) \
    X("RS 14.1", rs_14_a_break_after_the_head_is_retried) \
    X("RS 14.1", rs_14_a_break_after_a_chunk_without_content_is_retried) \
    X("RS 14.1", rs_14_a_break_before_content_is_retried_on_a_sibling) \
    X("RS 14.1", rs_14_a_break_before_content_waits_like_any_retry) \
    X("RS 14.1", rs_14_a_break_before_content_spends_the_retry_budget) \
    X("RS 14.1", rs_14_a_break_before_content_that_is_not_worth_retrying_falls_back) \
    X("RS 14.1", rs_14_a_break_before_content_falls_back_after_the_retries) \
    X("RS 14.1", rs_14_a_failure_of_everything_is_an_error_without_a_commit) \
    X("RS 14.3", rs_14_before_content_every_kind_goes_where_it_would_have_gone_up_front) \
    X("RS 14.2", rs_14_content_commits) \
    X("RS 14.2", rs_14_content_commits_once) \
    X("RS 14.2", rs_14_a_stream_may_finish_without_content) \
    X("RS 14.3", rs_14_after_content_a_break_fails_the_stream) \
    X("RS 14.3", rs_14_after_content_nothing_is_retried_or_walked) \
    X("RS 14.3", rs_14_after_content_the_error_is_that_of_the_break) \
    X("RS 14.3", rs_14_a_recovered_stream_that_breaks_after_content_tells_its_own_break) \
    X("RS 14.6", rs_14_the_summary_is_that_of_the_serving_group) \
    X("RS 23", rs_23_a_recovered_stream_says_so) \
    X("RS 23", rs_23_a_stream_that_did_not_break_says_nothing_of_it) \
    X("decisions 1", decision_1_opened_is_not_success) \
    X("decisions 1", decision_1_a_finished_stream_is_one_success) \
    X("decisions 1", decision_1_a_break_before_content_is_one_failure) \
    X("decisions 1", decision_1_a_break_after_content_is_one_failure) \
    X("decisions 1", decision_1_a_cancelled_stream_is_neither) \
    X("decisions 1", decision_1_a_deployment_that_breaks_every_stream_is_cooled) \
    X("decisions 1", decision_1_a_break_after_content_cools_at_once_where_its_status_does) \
    X("decisions 24", decision_24_a_plain_answer_too_large_to_hold_commits) \
    X("decisions 24", decision_24_a_filtered_answer_that_has_gone_out_passes) \
    X("decisions 25", decision_25_a_stream_whose_caller_left_is_cancelled_at_once) \
    X("decisions 25", decision_25_a_committed_stream_whose_caller_left_is_cancelled) \
    X("decisions 25", decision_25_a_plain_call_runs_to_its_end_and_counts) \
    X("decisions 25", decision_25_a_plain_call_goes_on_retrying_and_walking) \
    X("decisions 25", decision_25_cancel_on_disconnect_ends_a_plain_call) \
    X("decisions 25", decision_25_a_stream_between_two_attempts_ends_at_once) \
    X("decisions 25", decision_25_a_caller_who_left_is_no_fallback) \
    X("RS 14.5", rs_14_a_cut_stream_is_a_connection_failure_that_is_retried) \
    X("reliability, Streams", reliability_a_stream_that_breaks_before_content_is_as_if_it_had_failed_up_front)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_14_an_opened_stream_ends_nothing_for_the_caller(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,chunk+1,hang\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, KIT_EPOCH_NS + 2 * UINT64_C(1000000000));
    assert_string_equal(call->story, "d1");
    assert_int_equal(call->end, KIT_RUNNING);
}

static void rs_14_a_break_after_the_head_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,connection chunk,content,ok\n");
    expect(kit, "g stream", "d1:500 d1*:ok");
}

static void rs_14_a_break_after_a_chunk_without_content_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,chunk,connection open,chunk,content,ok\n");
    expect(kit, "g stream", "d1:500 d1*:ok");
}

static void rs_14_a_break_before_content_is_retried_on_a_sibling(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : chunk,500; d2 g w=0 : content,ok\n");
    struct kit_call *call = expect_call(kit, "g stream", "d1:500 d2*:ok");

    expect_waits(call, 0, 0, 0);
    assert_int_equal(kit_summary(call).retries, 1);
}

static void rs_14_a_break_before_content_waits_like_any_retry(void **state)
{
    (void)state;
    KIT(kit, "d1 g : chunk,503/4 content,ok\n");
    expect_waits(expect_call(kit, "g stream", "d1:503 d1*:ok"), 1, 4, 4.75);
}

static void rs_14_a_break_before_content_spends_the_retry_budget(void **state)
{
    (void)state;
    KIT(kit, "d1 g : chunk,500 500 open,500; router retries=2\n");
    expect(kit, "g stream", "d1:500 d1:500 d1:500 fail:500");
}

static void rs_14_a_break_before_content_that_is_not_worth_retrying_falls_back(void **state)
{
    (void)state;
    KIT(kit, "a A : chunk,400; b B : content,ok; fallbacks A: B\n");
    expect(kit, "A stream", "a:400 b*:ok");
}

static void rs_14_a_break_before_content_falls_back_after_the_retries(void **state)
{
    (void)state;
    KIT(kit, "a A : chunk,500; b B : content,ok; router retries=1; fallbacks A: B\n");
    expect(kit, "A stream", "a:500 a:500 b*:ok");
}

static void rs_14_a_failure_of_everything_is_an_error_without_a_commit(void **state)
{
    (void)state;
    KIT(kit, "a A : chunk,503; b B : open,500; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:503 b:500 fail:503");

    assert_false(call->fail.committed);
}

static void rs_14_before_content_every_kind_goes_where_it_would_have_gone_up_front(void **state)
{
    (void)state;
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        const struct weir_kind_row *row = weir_kind_row((weir_kind)kind);
        char config[256];
        const struct kit_call *up_front;
        const struct kit_call *broken;

        snprintf(config, sizeof(config),
                 "a A w=1 order=1 : %.*s chunk,%.*s; a2 A order=2; b B; l L; p P\n"
                 "router retries=0 no_cooldowns; fallbacks A: B; context A: L; content A: P\n",
                 (int)row->name.len, row->name.ptr, (int)row->name.len, row->name.ptr);
        KIT(kit, config);
        up_front = kit_call(kit, "A stream");
        broken = kit_call(kit, "A stream");
        assert_string_equal(up_front->story, broken->story);
    }
}

static void rs_14_content_commits(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open+0.1,chunk+0.1,content+0.1,ok+1\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, KIT_EPOCH_NS + 299999999);
    assert_string_equal(call->story, "d1");
    kit_run_until(call, KIT_EPOCH_NS + 300000000);
    assert_string_equal(call->story, "d1*");
    kit_run(call);
    assert_string_equal(call->story, "d1*:ok");
}

static void rs_14_content_commits_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content,content,content,ok\n");
    expect(kit, "g stream", "d1*:ok");
}

static void rs_14_a_stream_may_finish_without_content(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,chunk,ok\n");
    expect(kit, "g stream", "d1:ok");
}

static void rs_14_after_content_a_break_fails_the_stream(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content,connection\n");
    const struct kit_call *call = expect_call(kit, "g stream", "d1*:500 fail*:500");

    assert_true(call->fail.committed);
}

static void rs_14_after_content_nothing_is_retried_or_walked(void **state)
{
    (void)state;
    KIT(kit, "d1 g order=1 w=1 : content,500; d2 g order=1 w=0; d3 g order=2; b B\n"
             "router retries=2 weighted; fallbacks g: B\n");
    expect(kit, "g stream", "d1*:500 fail*:500");
}

static void rs_14_after_content_the_error_is_that_of_the_break(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : content,429; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:503 b*:429 fail*:429");

    assert_int_equal(call->fail.attempt, 2);
}

static void rs_14_a_recovered_stream_that_breaks_after_content_tells_its_own_break(void **state)
{
    (void)state;
    KIT(kit, "d1 g : chunk,500 content,502\n");
    expect(kit, "g stream", "d1:500 d1*:502 fail*:502");
}

static void rs_14_the_summary_is_that_of_the_serving_group(void **state)
{
    struct weir_summary summary;
    (void)state;
    KIT(kit, "a A : chunk,500; b B : chunk,500 content,ok; router retries=1; fallbacks A: B\n");

    summary = kit_summary(expect_call(kit, "A stream", "a:500 a:500 b:500 b*:ok"));
    assert_int_equal(summary.hops, 1);
    assert_int_equal(summary.retries, 1);
    assert_int_equal(summary.group.len, 1);
    assert_int_equal(summary.group.ptr[0], 'B');
}

static void rs_23_a_recovered_stream_says_so(void **state)
{
    (void)state;
    KIT(kit, "a A : chunk,500; b B : content,ok; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:500 b*:ok");

    assert_int_equal(kit_event_count(call, WEIR_EVENT_STREAM_RECOVERED), 1);
}

static void rs_23_a_stream_that_did_not_break_says_nothing_of_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content,ok 500 content,ok\n");
    const struct kit_call *call = expect_call(kit, "g stream", "d1*:ok");

    assert_int_equal(kit_event_count(call, WEIR_EVENT_STREAM_RECOVERED), 0);
    /* a failure before the stream opened is an ordinary retry */
    call = expect_call(kit, "g stream", "d1:500 d1*:ok");
    assert_int_equal(kit_event_count(call, WEIR_EVENT_STREAM_RECOVERED), 0);
}

static void decision_1_opened_is_not_success(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,content,hang\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, KIT_EPOCH_NS + 1);
    assert_string_equal(call->story, "d1*");
    assert_int_equal(kit_view(kit, "d1").successes, 0);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void decision_1_a_finished_stream_is_one_success(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,content,ok+1\n");
    expect(kit, "g stream", "d1*:ok");
    assert_int_equal(kit_view(kit, "d1").successes, 1);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void decision_1_a_break_before_content_is_one_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,chunk,500; router retries=0\n");
    expect(kit, "g stream", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").successes, 0);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
}

static void decision_1_a_break_after_content_is_one_failure(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,content,500\n");
    expect(kit, "g stream", "d1*:500 fail*:500");
    assert_int_equal(kit_view(kit, "d1").successes, 0);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
}

static void decision_1_a_cancelled_stream_is_neither(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,content,hang\n");
    expect(kit, "g stream gone=1", "d1*:cancel fail*:499");
    assert_int_equal(kit_view(kit, "d1").successes, 0);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void decision_1_a_deployment_that_breaks_every_stream_is_cooled(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : chunk,connection; d2 g w=0 : content,ok; router retries=0 cooldown=30\n");
    expect_each(kit, 5, "g stream", "d1:500 fail:500");
    expect_each(kit, 3, "g stream", "d2*:ok");
    KIT(after, "d1 g w=1 : content,connection; d2 g w=0 : content,ok; router retries=0 cooldown=30\n");
    expect_each(after, 5, "g stream", "d1*:500 fail*:500");
    expect_each(after, 3, "g stream", "d2*:ok");
}

static void decision_1_a_break_after_content_cools_at_once_where_its_status_does(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : content,429; d2 g w=0 : content,ok; router cooldown=30\n");
    expect(kit, "g stream", "d1*:429 fail*:429");
    expect(kit, "g stream", "d2*:ok");
}

static void decision_24_a_plain_answer_too_large_to_hold_commits(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,content,ok content,500\n");
    expect(kit, "g", "d1*:ok");
    expect(kit, "g", "d1*:500 fail*:500");
}

static void decision_24_a_filtered_answer_that_has_gone_out_passes(void **state)
{
    (void)state;
    KIT(kit, "a A : content,filtered; p P; content A: P\n");
    expect(kit, "A", "a*:filtered:ok");
    expect(kit, "A stream", "a*:filtered:ok");
}

static void decision_25_a_stream_whose_caller_left_is_cancelled_at_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,hang\n");
    struct kit_call *call = expect_call(kit, "g stream gone=1.5", "d1:cancel fail:499");

    assert_int_equal(call->fail.reason, WEIR_REASON_CLIENT_GONE);
    assert_int_equal(kit->now_ns, KIT_EPOCH_NS + 1500000000);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void decision_25_a_committed_stream_whose_caller_left_is_cancelled(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content,ok+5; b B; fallbacks g: B\n");
    expect(kit, "g stream gone=1", "d1*:cancel fail*:499");
}

static void decision_25_a_plain_call_runs_to_its_end_and_counts(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+5 500+5; router retries=0\n");
    expect(kit, "g gone=1", "d1:ok");
    assert_int_equal(kit_view(kit, "d1").successes, 1);
    expect(kit, "g gone=1", "d1:500 fail:500");
    assert_int_equal(kit_view(kit, "d1").failures, 1);
}

static void decision_25_a_plain_call_goes_on_retrying_and_walking(void **state)
{
    (void)state;
    KIT(kit, "a A : 500+1; b B; router retries=1; fallbacks A: B\n");
    expect(kit, "A gone=0.5", "a:500 a:500 b:ok");
}

static void decision_25_cancel_on_disconnect_ends_a_plain_call(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok+5; router cancel_on_disconnect\n");
    const struct kit_call *call = expect_call(kit, "g gone=1", "d1:cancel fail:499");

    assert_int_equal(call->fail.reason, WEIR_REASON_CLIENT_GONE);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_CLIENT_GONE);
    assert_int_equal(kit_view(kit, "d1").successes + kit_view(kit, "d1").failures, 0);
}

static void decision_25_a_stream_between_two_attempts_ends_at_once(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/30 content,ok\n");
    expect(kit, "g stream gone=3", "d1:503 fail:499");
    assert_int_equal(kit->now_ns, KIT_EPOCH_NS + 3 * UINT64_C(1000000000));
}

static void decision_25_a_caller_who_left_is_no_fallback(void **state)
{
    (void)state;
    KIT(kit, "a A order=1 : open,hang; a2 A order=2; b B; router weighted; fallbacks A: B\n");
    expect(kit, "A stream gone=1", "a:cancel fail:499");
}

static void rs_14_a_cut_stream_is_a_connection_failure_that_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : open,chunk,connection; d2 g w=0 : content,ok\n");
    expect(kit, "g stream", "d1:500 d2*:ok");
}

static void reliability_a_stream_that_breaks_before_content_is_as_if_it_had_failed_up_front(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 fails=0 : chunk,429/20; d2 g w=0 : content,ok; router cooldown=5\n");
    expect(kit, "g stream", "d1:429 d2*:ok");
    assert_true(kit_cooling(kit, "d1") > 19.9 && kit_cooling(kit, "d1") <= 20);
}

KIT_TESTS_MAIN(TESTS)
