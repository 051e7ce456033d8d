/*
 * One limit for the whole call, every attempt, wait and hop (beyond.md 1, call_deadline).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("beyond 1", beyond_1_the_running_attempt_is_cancelled_when_it_passes) \
    X("beyond 1", beyond_1_without_a_failure_before_the_caller_gets_a_timeout_of_the_router) \
    X("beyond 1", beyond_1_with_a_failure_before_the_caller_gets_that_of_the_first_group) \
    X("beyond 1", beyond_1_a_failure_in_the_same_loop_is_the_first_groups_too) \
    X("beyond 1", beyond_1_the_first_groups_failure_is_the_one_it_was_left_with) \
    X("beyond 1", beyond_1_an_answer_at_the_deadline_is_in_time) \
    X("beyond 1", beyond_1_it_counts_from_the_beginning_of_the_call) \
    X("beyond 1", beyond_1_it_bounds_plain_calls_too) \
    X("beyond 1", beyond_1_zero_is_no_deadline) \
    X("beyond 1", beyond_1_the_cancelled_attempt_is_nobodys_failure) \
    X("beyond 1", beyond_1_it_counts_where_its_own_limit_had_passed_too) \
    X("beyond 1", beyond_1_a_wait_that_does_not_fit_is_not_begun) \
    X("beyond 1", beyond_1_a_wait_that_ends_at_the_deadline_does_not_fit) \
    X("beyond 1", beyond_1_a_wait_that_fits_is_waited) \
    X("beyond 1", beyond_1_a_wait_that_does_not_fit_leaves_time_for_the_walk) \
    X("beyond 1", beyond_1_the_event_says_that_it_is_not_retried) \
    X("beyond 1", beyond_1_no_attempt_is_begun_at_the_deadline) \
    X("beyond 1", beyond_1_no_hop_is_begun_at_the_deadline) \
    X("beyond 1", beyond_1_after_content_the_end_is_always_a_timeout) \
    X("beyond 1", beyond_1_after_content_it_counts_against_nobody) \
    X("beyond 1", beyond_1_nothing_is_continued_when_it_has_passed) \
    X("beyond 1", beyond_1_no_continuation_is_begun_at_the_deadline) \
    X("beyond 1", beyond_1_a_question_that_is_open_when_it_passes_is_not_waited_for) \
    X("beyond 1", beyond_1_it_bounds_what_is_held) \
    X("beyond 1", beyond_1_it_runs_on_while_the_reader_is_slow) \
    X("beyond 1", beyond_1_each_attempt_has_the_deadline_of_its_levels) \
    X("beyond 1", beyond_1_a_wait_goes_by_the_router_and_the_request) \
    X("beyond 1", beyond_1_the_expiry_is_the_deadline)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

static void beyond_1_the_running_attempt_is_cancelled_when_it_passes(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : hang; d2 g w=0; b B; router deadline=5; fallbacks g: B\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(5) - 1);
    assert_string_equal(call->story, "d1");
    kit_run_until(call, AT(5));
    assert_string_equal(call->story, "d1:cancel fail:408");
}

static void beyond_1_without_a_failure_before_the_caller_gets_a_timeout_of_the_router(void **state)
{
    (void)state;
    KIT(kit, "d g : hang; router deadline=5\n");
    const struct kit_call *call = expect_call(kit, "g stream", "d:cancel fail:408");

    assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_ROUTER);
    assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
}

static void beyond_1_with_a_failure_before_the_caller_gets_that_of_the_first_group(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : 502; c C : hang; router retries=0 deadline=5; fallbacks A: B C\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:503 b:502 c:cancel fail:503");

    assert_int_equal(call->fail.attempt, 1);
    assert_int_equal(call->fail.reason, WEIR_REASON_ATTEMPT);
    assert_int_equal(call->fail.group.ptr[0], 'A');
}

static void beyond_1_a_failure_in_the_same_loop_is_the_first_groups_too(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 503; d2 g w=0 : hang; router deadline=5\n");
    assert_int_equal(expect_call(kit, "g stream", "d1:503 d2:cancel fail:503")->fail.attempt, 1);
}

static void beyond_1_the_first_groups_failure_is_the_one_it_was_left_with(void **state)
{
    (void)state;
    KIT(kit, "a1 A w=1 order=1 : 503; a2 A order=1 w=0 : 502; a3 A order=2 : 500; b B : hang\n"
             "router retries=1 deadline=5; fallbacks A: B\n");
    /* the first loop's, as for every call (router-semantics 11.6) */
    assert_int_equal(kit_call(kit, "A stream")->fail.failure.status, 502);
}

static void beyond_1_an_answer_at_the_deadline_is_in_time(void **state)
{
    (void)state;
    KIT(kit, "d g : text+2,ok+3 ok+5 text+2,500+3; router deadline=5 retries=0\n");
    expect(kit, "g stream", "d*:ok");
    expect(kit, "g", "d:ok");
    expect(kit, "g stream", "d*:500 fail*:500");
}

static void beyond_1_it_counts_from_the_beginning_of_the_call(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500+2; d2 g w=0 : 500+2; b B : hang; router retries=1 deadline=5; fallbacks g: B\n");
    kit_advance(kit, 100);
    expect(kit, "g stream", "d1:500 d2:500 b:cancel fail:500");
    assert_int_equal(kit->now_ns, AT(105));
}

static void beyond_1_it_bounds_plain_calls_too(void **state)
{
    (void)state;
    KIT(kit, "d g : open,hang open,content,hang; router deadline=5\n");
    expect(kit, "g", "d:cancel fail:408");
    expect(kit, "g", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(10));
}

static void beyond_1_zero_is_no_deadline(void **state)
{
    (void)state;
    KIT(kit, "d g : ok+500; router deadline=5\n");
    expect(kit, "g deadline=0", "d:ok");
}

static void beyond_1_the_cancelled_attempt_is_nobodys_failure(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : hang; router deadline=5\n");
    expect(kit, "g stream", "d:cancel fail:408");
    assert_int_equal(kit_view(kit, "d").failures + kit_view(kit, "d").successes, 0);
    assert_true(kit_cooling(kit, "d") <= 0);
}

static void beyond_1_it_counts_where_its_own_limit_had_passed_too(void **state)
{
    static const char *const limits[] = {"timeout=5 : hang", "ttft=5 : chunk,hang", "idle=4 : chunk+1,hang"};
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        snprintf(config, sizeof(config), "d1 g w=1 %s; d2 g w=0; b B; router deadline=5; fallbacks g: B\n",
                 limits[i]);
        KIT(kit, config);
        expect(kit, "g stream", "d1:cancel fail:408");
        assert_int_equal(kit_view(kit, "d1").failures, 1);
    }
}

static void beyond_1_a_wait_that_does_not_fit_is_not_begun(void **state)
{
    (void)state;
    KIT(kit, "d g : 503/30 ok; router deadline=10\n");
    expect(kit, "g", "d:503 fail:503");
    assert_int_equal(kit->now_ns, AT(0));
}

static void beyond_1_a_wait_that_ends_at_the_deadline_does_not_fit(void **state)
{
    (void)state;
    KIT(kit, "d g : 503/10+2 ok; router deadline=12 jitter=0\n");
    expect(kit, "g", "d:503 fail:503");
    assert_int_equal(kit->now_ns, AT(2));
}

static void beyond_1_a_wait_that_fits_is_waited(void **state)
{
    (void)state;
    KIT(kit, "d g : 503/9.9 ok; router deadline=10 jitter=0\n");
    expect_waits(expect_call(kit, "g", "d:503 d:ok"), 1, 9.9, 9.9);
    KIT(hangs, "d g : 503/9.9 hang; router deadline=10 jitter=0\n");
    expect(hangs, "g", "d:503 d:cancel fail:503");
    assert_int_equal(hangs->now_ns, AT(10));
}

static void beyond_1_a_wait_that_does_not_fit_leaves_time_for_the_walk(void **state)
{
    (void)state;
    KIT(kit, "a A : 503/30; b B : text+9,ok; router deadline=10; fallbacks A: B\n");
    expect(kit, "A stream", "a:503 b*:ok");
    assert_int_equal(kit->now_ns, AT(9));
}

static void beyond_1_the_event_says_that_it_is_not_retried(void **state)
{
    (void)state;
    KIT(kit, "d g : 503/30; router deadline=10\n");
    expect_events(kit_call(kit, "g"), "AttemptFailed,Retry", "AttemptFailed d 503 leave");
}

static void beyond_1_no_attempt_is_begun_at_the_deadline(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500+10; d2 g w=0; router deadline=10\n");
    expect(kit, "g", "d1:500 fail:500");
}

static void beyond_1_no_hop_is_begun_at_the_deadline(void **state)
{
    (void)state;
    KIT(kit, "d g : 500+10; b B; router deadline=10 retries=0; fallbacks g: B\n");
    expect(kit, "g", "d:500 fail:500");
}

static void beyond_1_after_content_the_end_is_always_a_timeout(void **state)
{
    (void)state;
    KIT(kit, "a A : 503; b B : text,hang; router retries=0 deadline=5; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:503 b*:cancel fail*:408");

    assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
    assert_true(call->fail.committed);
    assert_int_equal(call->fail.group.ptr[0], 'B');
}

static void beyond_1_after_content_it_counts_against_nobody(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : 20xtext+1,ok; router deadline=5\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit_view(kit, "d").failures + kit_view(kit, "d").successes, 0);
}

static void beyond_1_nothing_is_continued_when_it_has_passed(void **state)
{
    (void)state;
    KIT(kit, "d g : text,hang; b B prefill; router deadline=5 continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:cancel fail*:408");
}

static void beyond_1_no_continuation_is_begun_at_the_deadline(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500+5; b B prefill; router deadline=5 continuation; fallbacks g: B\n");
    expect(kit, "g stream continue", "d*:500 fail*:408");
}

/* The host of the kit answers at once, so this one is driven by hand. */
static void beyond_1_a_question_that_is_open_when_it_passes_is_not_waited_for(void **state)
{
    const struct weir_failure failure = {.kind = WEIR_KIND_INTERNAL, .status = 502};
    struct test_mem mem;
    struct kit_request request;
    struct weir_step step;
    weir_call *call;
    (void)state;
    KIT(kit, "d g : 502; b B; router retries=0 deadline=5 ask=access; fallbacks g: B\n");

    test_mem_init(&mem, 0);
    kit_parse_request(&request, "g");
    assert_int_equal(
        weir_call_begin(kit->router, kit->snapshot, &request.request, &mem.mem, kit->now_ns, &call), 0);
    assert_int_equal(weir_call_next(call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_START);
    weir_call_on_failed(call, step.attempt, &failure, kit->now_ns);
    assert_int_equal(weir_call_next(call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_ASK);
    assert_int_equal(weir_call_next(call, kit->now_ns, &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_NONE);
    assert_int_equal(weir_call_expiry(call), AT(5));
    assert_int_equal(weir_call_next(call, AT(5), &step), 0);
    assert_int_equal(step.kind, WEIR_STEP_FAIL);
    assert_int_equal(step.u.fail.failure.status, 502);
    weir_call_free(call);
    kit_request_deinit(&request);
    test_mem_assert_empty(&mem);
}

static void beyond_1_it_bounds_what_is_held(void **state)
{
    (void)state;
    KIT(kit, "d g : 20xtext+1,ok; router deadline=5 hold=all\n");
    const struct kit_call *call = expect_call(kit, "g stream", "d:cancel fail:408");

    assert_false(call->fail.committed);
}

static void beyond_1_it_runs_on_while_the_reader_is_slow(void **state)
{
    (void)state;
    KIT(kit, "d g : text,pause,resume+100,ok; router deadline=5\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(5));
}

static void beyond_1_each_attempt_has_the_deadline_of_its_levels(void **state)
{
    (void)state;
    KIT(kit, "a A : 500+3; b B : hang; group B deadline=7; router retries=0 deadline=30\n"
             "fallbacks A: B\n");
    expect(kit, "A stream", "a:500 b:cancel fail:500");
    assert_int_equal(kit->now_ns, AT(7));
    expect(kit, "A stream deadline=2", "a:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(9));
}

static void beyond_1_a_wait_goes_by_the_router_and_the_request(void **state)
{
    (void)state;
    KIT(kit, "d g : 503/4 ok; router deadline=3\n");
    expect(kit, "g", "d:503 fail:503");
    kit_script(kit, "d", "503/4 ok");
    expect(kit, "g deadline=9", "d:503 d:ok");
}

static void beyond_1_the_expiry_is_the_deadline(void **state)
{
    (void)state;
    KIT(kit, "d g timeout=9 : hang; router deadline=5\n");
    struct kit_call *call = kit_begin(kit, "g");

    assert_int_equal(weir_call_expiry(call->call), AT(5));
    kit_run(call);
}

KIT_TESTS_MAIN(TESTS)
