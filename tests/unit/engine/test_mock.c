/*
 * The testing flags of a request (router-semantics 12): failures that no deployment made.
 */
#include "engine_kit.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 12", rs_12_mock_fallbacks_fails_before_any_attempt_and_is_not_retried) \
    X("RS 12", rs_12_mock_fallbacks_without_fallbacks_is_a_500) \
    X("RS 12", rs_12_mock_context_takes_the_context_list) \
    X("RS 12", rs_12_mock_content_takes_the_content_list) \
    X("RS 12", rs_12_mock_context_without_a_list_is_a_400) \
    X("RS 12", rs_12_a_flag_is_consumed_on_the_first_hop) \
    X("RS 12", rs_12_mock_rate_limit_fails_the_first_attempt_and_a_retry_succeeds) \
    X("RS 12", rs_12_mock_rate_limit_fails_the_first_attempt_in_every_group) \
    X("RS 12", rs_12_mock_timeout_times_out_in_the_asked_group) \
    X("RS 12", rs_12_mock_failures_count_against_nobody) \
    X("RS 12", rs_12_disable_fallbacks_holds_for_mocks_too)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_12_mock_fallbacks_fails_before_any_attempt_and_is_not_retried(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; router retries=3; fallbacks A: B\n");
    expect_waits(expect_call(kit, "A mock=fallbacks", "b:ok"), 0, 0, 0);
}

static void rs_12_mock_fallbacks_without_fallbacks_is_a_500(void **state)
{
    (void)state;
    KIT(kit, "a A; router retries=3\n");
    const struct kit_call *call = expect_call(kit, "A mock=fallbacks", "fail:500");

    assert_int_equal(call->fail.reason, WEIR_REASON_MOCK);
    assert_int_equal(call->fail.attempt, 0);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_INTERNAL);
}

static void rs_12_mock_context_takes_the_context_list(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; l L; p P; fallbacks A: B; context A: L; content A: P\n");
    expect(kit, "A mock=context", "l:ok");
}

static void rs_12_mock_content_takes_the_content_list(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; l L; p P; fallbacks A: B; context A: L; content A: P\n");
    expect(kit, "A mock=content", "p:ok");
}

static void rs_12_mock_context_without_a_list_is_a_400(void **state)
{
    (void)state;
    KIT(kit, "a A\n");
    const struct kit_call *call = expect_call(kit, "A mock=context", "fail:400");

    assert_int_equal(call->fail.failure.kind, WEIR_KIND_CONTEXT_WINDOW);
}

static void rs_12_a_flag_is_consumed_on_the_first_hop(void **state)
{
    (void)state;
    KIT(kit, "a A; b B : 503; c C; router retries=0; fallbacks A: B C\n");
    expect(kit, "A mock=fallbacks", "b:503 c:ok");
}

static void rs_12_mock_rate_limit_fails_the_first_attempt_and_a_retry_succeeds(void **state)
{
    (void)state;
    KIT(kit, "a A; router retries=1\n");
    const struct kit_call *call = expect_call(kit, "A mock=rate_limit", "a:ok");

    assert_int_equal(kit_summary(call).retries, 1);
}

static void rs_12_mock_rate_limit_fails_the_first_attempt_in_every_group(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A mock=rate_limit", "fail:429");

    assert_int_equal(kit_summary(call).hops, 1);
}

static void rs_12_mock_timeout_times_out_in_the_asked_group(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; router retries=0; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A mock=timeout", "b:ok");

    assert_int_equal(kit_summary(call).failures[0].failure.status, 408);
    assert_int_equal(kit_summary(call).failures[0].failure.kind, WEIR_KIND_TIMEOUT);
}

static void rs_12_mock_failures_count_against_nobody(void **state)
{
    static const char *const calls[] = {"A mock=fallbacks", "A mock=context", "A mock=rate_limit",
                                        "A mock=timeout"};
    (void)state;
    KIT(kit, "a1 A; a2 A; router retries=0 fails=0\n");

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        assert_int_equal(kit_call(kit, calls[i])->end, KIT_FAILED);
        assert_int_equal(kit_view(kit, "a1").failures + kit_view(kit, "a2").failures, 0);
        assert_true(kit_cooling(kit, "a1") + kit_cooling(kit, "a2") <= 0);
    }
}

static void rs_12_disable_fallbacks_holds_for_mocks_too(void **state)
{
    (void)state;
    KIT(kit, "a A; b B; fallbacks A: B\n");
    expect(kit, "A mock=fallbacks no_fallbacks", "fail:500");
}

KIT_TESTS_MAIN(TESTS)
