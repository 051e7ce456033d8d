/*
 * The contract of call.h: what a host may do at the wrong time, what memory does, what a seed promises.
 */
#include "engine_kit.h"

#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("call.h", call_an_empty_model_is_invalid) \
    X("call.h", call_nothing_happens_before_the_first_next) \
    X("call.h", call_may_be_freed_at_any_time) \
    X("call.h", call_free_accepts_null) \
    X("call.h", call_late_news_of_a_cancelled_attempt_is_ignored) \
    X("call.h", call_news_of_unknown_attempts_is_ignored) \
    X("call.h", call_a_second_end_of_an_attempt_is_ignored) \
    X("call.h", call_inputs_after_the_end_are_ignored) \
    X("call.h", call_answers_to_unknown_questions_are_ignored) \
    X("call.h", call_waits_for_the_answer_of_a_question) \
    X("call.h", call_next_too_early_changes_nothing) \
    X("call.h", call_news_may_come_before_the_steps_are_all_taken) \
    X("call.h", call_holds_its_snapshot_over_a_reload) \
    X("call.h", call_content_before_open_implies_it) \
    X("call.h", call_a_repeated_progress_changes_nothing) \
    X("call.h", call_the_caller_may_leave_twice) \
    X("call.h", call_events_survive_until_they_are_taken) \
    X("call.h", call_equal_seeds_give_equal_steps) \
    X("call.h", call_different_seeds_differ) \
    X("call.h", call_all_memory_comes_from_the_calls_allocator) \
    X("call.h", call_an_ask_may_be_left_open_when_the_caller_leaves)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

/* A call without the kit's host, for inputs that a good host does not give. */
struct bare {
    struct kit *kit;
    weir_call *call;
    struct weir_request request;
};

static void bare_begin(struct bare *bare, struct kit *kit, const char *model, bool stream)
{
    bare->kit = kit;
    weir_request_init(&bare->request);
    bare->request.model = weir_slice_str(model);
    bare->request.stream = stream;
    assert_int_equal(weir_call_begin(kit->router, kit->snapshot, &bare->request, weir_mem_libc(), kit->now_ns,
                                     &bare->call),
                     0);
}

static struct weir_step bare_next(struct bare *bare)
{
    struct weir_step step;

    assert_int_equal(weir_call_next(bare->call, bare->kit->now_ns, &step), 0);
    return step;
}

static void bare_expect(struct bare *bare, weir_step_kind kind)
{
    assert_int_equal(bare_next(bare).kind, kind);
}

static const struct weir_failure broken = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER};
static const struct weir_outcome fine = {0};

static void call_an_empty_model_is_invalid(void **state)
{
    struct weir_request request;
    weir_call *call = NULL;
    (void)state;
    KIT(kit, "d1 g\n");

    weir_request_init(&request);
    assert_int_equal(
        weir_call_begin(kit->router, kit->snapshot, &request, weir_mem_libc(), kit->now_ns, &call),
        WEIR_ERR_INVALID);
    assert_null(call);
}

static void call_nothing_happens_before_the_first_next(void **state)
{
    struct weir_summary summary;
    struct weir_event event;
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g\n");

    bare_begin(&bare, kit, "g", false);
    weir_call_summary(bare.call, &summary);
    assert_int_equal(summary.attempts, 0);
    assert_false(weir_call_event(bare.call, &event));
    weir_call_free(bare.call);
}

static void call_may_be_freed_at_any_time(void **state)
{
    static const char *const requests[] = {"g", "g stream", "A", "h"};
    (void)state;
    KIT(kit,
        "d1 g : open+1,chunk+1,content+1,ok+1; a A : 503/30; router retries=2 ask=both; d2 h : 500+1 500+1\n"
        "default g\n");

    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        for (unsigned tenths = 0; tenths < 60; tenths++) {
            struct kit_call *call = kit_begin(kit, requests[i]);

            kit_run_until(call, kit->now_ns + tenths * WEIR_NS_PER_S / 10);
            kit_forget(kit);
        }
    }
    /* attempts that ran count as cancelled */
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

static void call_free_accepts_null(void **state)
{
    (void)state;
    weir_call_free(NULL);
    weir_snapshot_unref(NULL);
    weir_snapshot_builder_free(NULL);
    weir_router_free(NULL);
}

static void call_late_news_of_a_cancelled_attempt_is_ignored(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g timeout=1; router retries=1 jitter=0\n");

    bare_begin(&bare, kit, "g", false);
    bare_expect(&bare, WEIR_STEP_START);
    bare_expect(&bare, WEIR_STEP_NONE);
    kit_advance(kit, 1);
    bare_expect(&bare, WEIR_STEP_CANCEL);
    weir_call_on_finished(bare.call, 1, &fine, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_NONE);
    kit_advance(kit, 0.5);
    assert_int_equal(bare_next(&bare).attempt, 2);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    weir_call_on_chunk(bare.call, 1, &(struct weir_stream_chunk){.deltas = 1}, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_on_finished(bare.call, 2, &fine, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_DELIVER);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    assert_int_equal(kit_view(kit, "d1").successes, 1);
    weir_call_free(bare.call);
}

static void call_news_of_unknown_attempts_is_ignored(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g\n");

    bare_begin(&bare, kit, "g", true);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 0, &broken, kit->now_ns);
    weir_call_on_failed(bare.call, 2, &broken, kit->now_ns);
    weir_call_on_finished(bare.call, UINT32_MAX, &fine, kit->now_ns);
    weir_call_on_chunk(bare.call, 7, &(struct weir_stream_chunk){.deltas = 1}, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_free(bare.call);
}

static void call_a_second_end_of_an_attempt_is_ignored(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g w=1; d2 g w=0; router retries=1\n");

    bare_begin(&bare, kit, "g", false);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    weir_call_on_finished(bare.call, 1, &fine, kit->now_ns);
    assert_int_equal(bare_next(&bare).attempt, 2);
    bare_expect(&bare, WEIR_STEP_NONE);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    weir_call_free(bare.call);
}

static void call_inputs_after_the_end_are_ignored(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g\n");

    bare_begin(&bare, kit, "g", true);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_finished(bare.call, 1, &fine, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_DELIVER);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    weir_call_on_client_gone(bare.call, kit->now_ns);
    weir_call_on_answer(bare.call, 1, WEIR_ANSWER_YES, kit->now_ns);
    for (unsigned i = 0; i < 5; i++)
        bare_expect(&bare, WEIR_STEP_NONE);
    assert_int_equal(weir_call_expiry(bare.call), UINT64_MAX);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    weir_call_free(bare.call);
}

static void call_answers_to_unknown_questions_are_ignored(void **state)
{
    struct weir_step step;
    struct bare bare;
    (void)state;
    KIT(kit, "a A; b B; router retries=0 ask=both; fallbacks A: B\n");

    bare_begin(&bare, kit, "A", false);
    weir_call_on_answer(bare.call, 1, WEIR_ANSWER_NO, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    step = bare_next(&bare);
    assert_int_equal(step.kind, WEIR_STEP_ASK);
    weir_call_on_answer(bare.call, step.u.ask.id + 1, WEIR_ANSWER_NO, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_on_answer(bare.call, step.u.ask.id, WEIR_ANSWER_YES, kit->now_ns);
    weir_call_on_answer(bare.call, step.u.ask.id, WEIR_ANSWER_NO, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_free(bare.call);
}

static void call_waits_for_the_answer_of_a_question(void **state)
{
    struct weir_step step;
    struct bare bare;
    (void)state;
    KIT(kit, "a A; b B; router retries=0 ask=access; fallbacks A: B\n");

    bare_begin(&bare, kit, "A", false);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    step = bare_next(&bare);
    assert_int_equal(step.kind, WEIR_STEP_ASK);
    assert_int_equal(step.u.ask.questions, WEIR_ASK_ACCESS);
    bare_expect(&bare, WEIR_STEP_NONE);
    assert_int_equal(weir_call_expiry(bare.call), UINT64_MAX);
    kit_advance(kit, 100);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_on_answer(bare.call, step.u.ask.id, WEIR_ANSWER_YES, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_free(bare.call);
}

static void call_next_too_early_changes_nothing(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g; router retries=1 jitter=0\n");

    bare_begin(&bare, kit, "g", false);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    for (unsigned i = 0; i < 100; i++) {
        bare_expect(&bare, WEIR_STEP_NONE);
        assert_int_equal(weir_call_expiry(bare.call), KIT_EPOCH_NS + weir_time_from_s(0.5));
        kit->now_ns += 1000;
    }
    weir_call_free(bare.call);
}

static void call_news_may_come_before_the_steps_are_all_taken(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g\n");

    bare_begin(&bare, kit, "g", true);
    bare_expect(&bare, WEIR_STEP_START);
    /* content and the end arrive together; the commit is still told first */
    weir_call_on_chunk(bare.call, 1, &(struct weir_stream_chunk){.deltas = 1}, kit->now_ns);
    weir_call_on_finished(bare.call, 1, &fine, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_COMMIT);
    bare_expect(&bare, WEIR_STEP_DELIVER);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_free(bare.call);
}

static void call_holds_its_snapshot_over_a_reload(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 500+1; d2 g w=0 : 500+1; b B; router retries=3; fallbacks g: B\n");
    struct kit_call *call = kit_begin(kit, "g");

    kit_reload(kit, "other h\n");
    kit_run(call);
    assert_int_equal(call->end, KIT_DELIVERED);
    expect(kit, "h", "other:ok");
    expect(kit, "g", "fail:400");
}

static void call_content_before_open_implies_it(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=1 : content+0.5,open+5,chunk+5,ok\n");
    expect(kit, "g stream", "d1*:ok");
}

static void call_a_repeated_progress_changes_nothing(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open,open,chunk,open,chunk,content,ok\n");
    expect(kit, "g stream", "d1*:ok");
}

static void call_the_caller_may_leave_twice(void **state)
{
    struct bare bare;
    (void)state;
    KIT(kit, "d1 g\n");

    bare_begin(&bare, kit, "g", true);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_client_gone(bare.call, kit->now_ns);
    weir_call_on_client_gone(bare.call, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_CANCEL);
    bare_expect(&bare, WEIR_STEP_FAIL);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_free(bare.call);
}

static void call_events_survive_until_they_are_taken(void **state)
{
    struct weir_event event;
    struct bare bare;
    size_t count = 0;
    (void)state;
    KIT(kit, "d1 g; router retries=0\n");

    bare_begin(&bare, kit, "g", false);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_FAIL);
    while (weir_call_event(bare.call, &event))
        count++;
    assert_int_equal(count, 3); /* AttemptStarted, AttemptFailed, Failed */
    weir_call_free(bare.call);
}

#define RANDOM_GROUP                                                                                         \
    "d1 g : 500; d2 g : 503 ok; d3 g w=2 : ok 429; d4 g : 500 ok; b B; router retries=3; fallbacks g: B\n"

static char *trace_of(uint64_t seed)
{
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, RANDOM_GROUP);

    for (unsigned i = 0; i < 20; i++)
        (void)kit_call(kit, "g");
    return strdup(kit->trace);
}

static void call_equal_seeds_give_equal_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *first = trace_of(seed);
        char *second = trace_of(seed);

        assert_string_equal(first, second);
        free(first);
        free(second);
    }
}

static void call_different_seeds_differ(void **state)
{
    size_t firsts[2] = {0, 0};
    (void)state;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, "d1 g; d2 g\n");
        const struct kit_call *call = kit_call(kit, "g");

        firsts[call->attempts[1].deployment == kit_deployment(kit, "d2")]++;
    }
    assert_true(firsts[0] > 25 && firsts[1] > 25);
}

static void call_all_memory_comes_from_the_calls_allocator(void **state)
{
    size_t bytes;
    (void)state;
    KIT(kit, RANDOM_GROUP);

    bytes = kit->mem.live_bytes;
    for (unsigned i = 0; i < 50; i++)
        (void)kit_call(kit, "g");
    assert_int_equal(kit->mem.live_bytes, bytes);
}

static void call_an_ask_may_be_left_open_when_the_caller_leaves(void **state)
{
    struct weir_step step;
    struct bare bare;
    (void)state;
    KIT(kit, "a A; b B; router retries=0 ask=both; fallbacks A: B\n");

    bare_begin(&bare, kit, "A", true);
    bare_expect(&bare, WEIR_STEP_START);
    weir_call_on_failed(bare.call, 1, &broken, kit->now_ns);
    step = bare_next(&bare);
    assert_int_equal(step.kind, WEIR_STEP_ASK);
    weir_call_on_client_gone(bare.call, kit->now_ns);
    step = bare_next(&bare);
    assert_int_equal(step.kind, WEIR_STEP_FAIL);
    assert_int_equal(step.u.fail.reason, WEIR_REASON_CLIENT_GONE);
    weir_call_on_answer(bare.call, 1, WEIR_ANSWER_YES, kit->now_ns);
    bare_expect(&bare, WEIR_STEP_NONE);
    weir_call_free(bare.call);
}

KIT_TESTS_MAIN(TESTS)
