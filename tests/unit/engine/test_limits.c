/*
 * The time limits of an attempt (decisions 17, router-semantics 25 at its end) and whose they are (15.4).
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("decisions 17", decision_17_the_limit_bounds_an_attempt_at_exactly_its_end) \
    X("decisions 17", decision_17_an_answer_at_the_limit_is_in_time) \
    X("decisions 17", decision_17_the_limit_bounds_one_attempt_not_the_call) \
    X("decisions 17", decision_17_a_wait_is_not_bounded) \
    X("decisions 17", decision_17_a_streams_limit_ends_with_its_first_chunk) \
    X("decisions 17", decision_17_a_head_is_no_chunk) \
    X("decisions 17", decision_17_content_is_a_chunk) \
    X("decisions 17", decision_17_later_silence_of_a_stream_is_not_bounded) \
    X("decisions 17", decision_17_a_plain_answers_head_does_not_end_its_limit) \
    X("decisions 17", decision_17_a_plain_answer_that_has_begun_to_go_out_is_still_bounded) \
    X("RS 25", rs_25_plain_request_beats_deployment_beats_router) \
    X("RS 25", rs_25_stream_timeouts_come_before_timeouts) \
    X("RS 25", rs_25_a_plain_call_has_no_stream_timeout) \
    X("RS 25", rs_25_the_default_is_6000_seconds) \
    X("RS 25", rs_25_the_start_tells_the_limit) \
    X("RS 25", rs_25_a_timeout_is_a_408_of_kind_timeout) \
    X("RS 25", rs_25_a_timeout_is_retried_and_falls_back) \
    X("RS 15.4", rs_15_the_callers_own_limit_counts_against_nobody) \
    X("RS 15.4", rs_15_the_deployments_limit_counts_though_the_caller_has_set_a_longer_one) \
    X("RS 15.4", rs_15_a_limit_of_the_configuration_counts) \
    X("RS 15.4", rs_15_the_callers_stream_timeout_counts_against_nobody)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void decision_17_the_limit_bounds_an_attempt_at_exactly_its_end(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=2 : hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g");

    assert_int_equal(weir_call_expiry(call->call), KIT_EPOCH_NS + weir_time_from_s(2));
    kit_run_until(call, KIT_EPOCH_NS + weir_time_from_s(2) - 1);
    assert_string_equal(call->story, "d1");
    kit_run_until(call, KIT_EPOCH_NS + weir_time_from_s(2));
    assert_string_equal(call->story, "d1:cancel fail:408");
}

static void decision_17_an_answer_at_the_limit_is_in_time(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=2 : ok+2 ok+2.000000001; router retries=0\n");
    expect(kit, "g", "d1:ok");
    expect(kit, "g", "d1:cancel fail:408");
}

static void decision_17_the_limit_bounds_one_attempt_not_the_call(void **state)
{
    (void)state;
    KIT(kit, "d1 g : hang hang ok+0.9; router retries=2 timeout=1 jitter=0\n");
    expect(kit, "g", "d1:cancel d1:cancel d1:ok");
    assert_int_equal(kit->now_ns, KIT_EPOCH_NS + weir_time_from_s(1 + 0.5 + 1 + 1 + 0.9));
}

static void decision_17_a_wait_is_not_bounded(void **state)
{
    (void)state;
    KIT(kit, "d1 g : 503/30 ok; router timeout=1\n");
    expect_waits(expect_call(kit, "g", "d1:503 d1:ok"), 1, 30, 30.75);
}

static void decision_17_a_streams_limit_ends_with_its_first_chunk(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open+0.5,chunk+0.5,content+60,ok+60; router timeout=1\n");
    expect(kit, "g stream", "d1*:ok");
}

static void decision_17_a_head_is_no_chunk(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open+0.5,chunk+0.6,content,ok; router timeout=1 retries=0\n");
    expect(kit, "g stream", "d1:cancel fail:408");
}

static void decision_17_content_is_a_chunk(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content+0.5,ok+60; router timeout=1\n");
    expect(kit, "g stream", "d1*:ok");
}

static void decision_17_later_silence_of_a_stream_is_not_bounded(void **state)
{
    (void)state;
    KIT(kit, "d1 g stream_timeout=1 timeout=2 : chunk+0.5,content+6000,ok+6000; router timeout=3\n");
    expect(kit, "g stream", "d1*:ok");
}

static void decision_17_a_plain_answers_head_does_not_end_its_limit(void **state)
{
    (void)state;
    KIT(kit, "d1 g : open+0.5,ok+0.6; router timeout=1 retries=0\n");
    expect(kit, "g", "d1:cancel fail:408");
}

static void decision_17_a_plain_answer_that_has_begun_to_go_out_is_still_bounded(void **state)
{
    (void)state;
    KIT(kit, "d1 g : content+0.5,ok+0.6; router timeout=1 retries=0\n");
    expect(kit, "g", "d1*:cancel fail*:408");
}

/* How long an attempt that hangs lives, in milliseconds. */
static unsigned limit_of(const char *config, const char *request)
{
    KIT(kit, config);
    (void)kit_call(kit, request);
    return (unsigned)((kit->now_ns - KIT_EPOCH_NS) / WEIR_NS_PER_MS);
}

static void rs_25_plain_request_beats_deployment_beats_router(void **state)
{
    (void)state;
    assert_int_equal(limit_of("d1 g timeout=2 : hang; router retries=0 timeout=1\n", "g timeout=3"), 3000);
    assert_int_equal(limit_of("d1 g timeout=2 : hang; router retries=0 timeout=1\n", "g"), 2000);
    assert_int_equal(limit_of("d1 g : hang; router retries=0 timeout=1\n", "g"), 1000);
}

static void rs_25_stream_timeouts_come_before_timeouts(void **state)
{
    static const struct {
        const char *config;
        const char *request;
        unsigned limit_ms;
    } rows[] = {
        {"stream_timeout=2 timeout=5", "stream stream_timeout=1 timeout=4", 1000},
        {"stream_timeout=2 timeout=5", "stream timeout=1", 2000},
        {"timeout=5", "stream timeout=1", 3000},
    };
    char config[256];
    char request[128];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(config, sizeof(config), "d1 g %s : hang; router retries=0 stream_timeout=3 timeout=6\n",
                 rows[i].config);
        snprintf(request, sizeof(request), "g %s", rows[i].request);
        assert_int_equal(limit_of(config, request), rows[i].limit_ms);
    }
    assert_int_equal(limit_of("d1 g timeout=5 : hang; router retries=0 timeout=6\n", "g stream timeout=4"),
                     4000);
    assert_int_equal(limit_of("d1 g timeout=5 : hang; router retries=0 timeout=6\n", "g stream"), 5000);
    assert_int_equal(limit_of("d1 g : hang; router retries=0 timeout=6\n", "g stream"), 6000);
}

static void rs_25_a_plain_call_has_no_stream_timeout(void **state)
{
    (void)state;
    assert_int_equal(limit_of("d1 g stream_timeout=1 : hang; router retries=0 stream_timeout=1 timeout=6\n",
                              "g stream_timeout=1"),
                     6000);
}

static void rs_25_the_default_is_6000_seconds(void **state)
{
    (void)state;
    assert_int_equal(limit_of("d1 g : hang; router retries=0\n", "g"), 6000000);
    assert_int_equal(limit_of("d1 g : hang; router retries=0\n", "g stream"), 6000000);
}

static void rs_25_the_start_tells_the_limit(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=2 : 500; d2 h timeout=3 stream_timeout=1; router retries=0; fallbacks g: h\n");
    const struct kit_call *call = expect_call(kit, "g stream", "d1:500 d2:ok");

    assert_int_equal(call->attempts[1].start.limit_ns, weir_time_from_s(2));
    assert_int_equal(call->attempts[2].start.limit_ns, weir_time_from_s(1));
}

static void rs_25_a_timeout_is_a_408_of_kind_timeout(void **state)
{
    (void)state;
    KIT(kit, "d1 g timeout=1 : hang; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "g", "d1:cancel fail:408");

    assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_int_equal(call->fail.attempt, 1);
}

static void rs_25_a_timeout_is_retried_and_falls_back(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 timeout=1 : hang; d2 g w=0 timeout=1 : hang; b B; router retries=1; fallbacks g: B\n");
    expect_waits(expect_call(kit, "g", "d1:cancel d2:cancel b:ok"), 0, 0, 0);
}

static void rs_15_the_callers_own_limit_counts_against_nobody(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : hang; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "g timeout=1 caller", "d1:cancel fail:408");

    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_CALLER_LIMIT);
    assert_int_equal(kit_view(kit, "d1").failures, 0);
    assert_true(kit_cooling(kit, "d1") <= 0);
}

static void rs_15_the_deployments_limit_counts_though_the_caller_has_set_a_longer_one(void **state)
{
    (void)state;
    KIT(kit, "d1 g stream_timeout=1 : hang; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "g stream timeout=9 caller", "d1:cancel fail:408");

    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_int_equal(kit_view(kit, "d1").failures, 1);
}

static void rs_15_a_limit_of_the_configuration_counts(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 timeout=1 : hang; router retries=0\n");
    expect(kit, "g caller", "d1:cancel fail:408");
    assert_int_equal(kit_view(kit, "d1").failures, 1);
    assert_true(kit_cooling(kit, "d1") > 0);
}

static void rs_15_the_callers_stream_timeout_counts_against_nobody(void **state)
{
    (void)state;
    KIT(kit, "d1 g fails=0 : open,hang; router retries=0\n");
    expect(kit, "g stream stream_timeout=1 caller", "d1:cancel fail:408");
    assert_int_equal(kit_view(kit, "d1").failures, 0);
}

KIT_TESTS_MAIN(TESTS)
