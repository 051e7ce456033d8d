#include "unit.h"

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/answer/fail_text.h"
#include "gateway/attempt/upstream.h"
#include "provider/endpoint.h"
#include "provider/parameter.h"
#include "provider/provider.h"

static struct weir_arena arena;
static struct weir_endpoint endpoint;
static struct weir_upstream upstream;

static int begin(void **state)
{
    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    weir_endpoint_init(&endpoint);
    endpoint.provider = weir_provider_named(WEIR_SLICE("openai"));
    upstream.endpoint = &endpoint;
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_arena_deinit(&arena);
    return 0;
}

static struct weir_failed failed_attempt(uint32_t number, struct weir_failed *before, const char *text)
{
    return (struct weir_failed){.next = before,
                                .attempt = number,
                                .upstream = &upstream,
                                .verdict = {.text = weir_slice_str(text),
                                            .type = WEIR_SLICE("throttling_error"),
                                            .param = WEIR_SLICE("p")}};
}

static const struct weir_failure rate_limit = {WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER};
static const struct weir_failure internal = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER};

static struct weir_error_reply tell(const struct weir_fail_story *story)
{
    struct weir_error_reply error;

    assert_int_equal(weir_fail_error(story, &arena, &error), 0);
    return error;
}

static void the_providers_words_stand_first(void **state)
{
    struct weir_failed failed = failed_attempt(1, NULL, "Rate limit reached");
    const struct weir_fail fail = {.failure = rate_limit, .attempt = 1, .group = WEIR_SLICE("g")};
    const struct weir_summary summary = {0};
    const struct weir_fail_story story = {.fail = &fail, .summary = &summary, .failed = &failed};
    struct weir_error_reply error = tell(&story);

    (void)state;
    assert_int_equal(error.status, 429);
    assert_slice_is(error.message,
                    "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached");
    assert_slice_is(error.type, "throttling_error");
    assert_slice_is(error.param, "p");
}

static void the_router_says_what_it_did_where_that_is_allowed(void **state)
{
    struct weir_failed first = failed_attempt(1, NULL, "one");
    struct weir_failed second = failed_attempt(2, &first, "two");
    const struct weir_hop_failure hops[] = {
        {.group = WEIR_SLICE("g"), .failure = rate_limit, .attempt = 1},
        {.group = WEIR_SLICE("B"), .failure = internal, .attempt = 2},
        {.group = WEIR_SLICE("C"), .failure = rate_limit, .reason = WEIR_REASON_UNKNOWN_MODEL},
    };
    const struct weir_summary summary = {
        .failures = hops, .failure_count = 3, .retries = 2, .max_retries = 3};
    const struct weir_fail fail = {.failure = rate_limit, .attempt = 1, .group = WEIR_SLICE("g")};
    const struct weir_fail_story story = {
        .fail = &fail, .summary = &summary, .failed = &second, .debug = true};

    (void)state;
    assert_slice_is(
        tell(&story).message,
        "litellm.RateLimitError: RateLimitError: OpenAIException - one LiteLLM Retried: 2 times, LiteLLM Max "
        "Retries: 3\n\nLiteLLM: model group 'g' failed with the error above. Fallback to B, C also failed: "
        "litellm.InternalServerError: InternalServerError: OpenAIException - two; "
        "litellm.BadRequestError: You passed in model=C. There are no healthy deployments for this model");
}

/* A stream of B broke; g had failed before, and C could not carry it on. */
static void of_a_stream_that_broke_only_what_followed_is_told(void **state)
{
    struct weir_failed first = failed_attempt(1, NULL, "one");
    struct weir_failed second = failed_attempt(2, &first, "two");
    struct weir_failed third = failed_attempt(3, &second, "three");
    const struct weir_hop_failure hops[] = {
        {.group = WEIR_SLICE("g"), .failure = rate_limit, .attempt = 1},
        {.group = WEIR_SLICE("C"), .failure = internal, .attempt = 3},
    };
    const struct weir_summary summary = {.failures = hops, .failure_count = 2};
    const struct weir_fail fail = {
        .failure = internal, .attempt = 2, .group = WEIR_SLICE("B"), .committed = true};
    const struct weir_fail_story story = {
        .fail = &fail, .summary = &summary, .failed = &third, .debug = true};

    (void)state;
    assert_slice_is(
        tell(&story).message,
        "litellm.InternalServerError: InternalServerError: OpenAIException - two\n\nLiteLLM: model group 'B' "
        "failed with the error above. Fallback to C also failed: "
        "litellm.InternalServerError: InternalServerError: OpenAIException - three");
}

static void without_a_hop_it_says_so(void **state)
{
    struct weir_failed failed = failed_attempt(1, NULL, "one");
    const struct weir_fail fail = {.failure = internal, .attempt = 1, .group = WEIR_SLICE("g")};
    const struct weir_summary summary = {0};
    const struct weir_fail_story story = {
        .fail = &fail, .summary = &summary, .failed = &failed, .debug = true};

    (void)state;
    assert_slice_is(
        tell(&story).message,
        "litellm.InternalServerError: InternalServerError: OpenAIException - one\n\nLiteLLM: model group 'g' "
        "failed with the error above. No fallback was attempted.");
}

static void nothing_to_pick_tells_when_to_come_back(void **state)
{
    const struct weir_fail fail = {
        .failure = {WEIR_KIND_RATE_LIMIT, 429, 8200 * WEIR_NS_PER_MS, WEIR_ORIGIN_ROUTER},
        .reason = WEIR_REASON_NO_DEPLOYMENTS,
        .group = WEIR_SLICE("g")};
    const struct weir_summary summary = {0};
    const struct weir_fail_story story = {.fail = &fail,
                                          .summary = &summary,
                                          .cooling = {WEIR_SLICE("d1"), WEIR_SLICE("d2")},
                                          .cooling_count = 2};
    struct weir_error_reply error = tell(&story);

    (void)state;
    assert_slice_is(
        error.message,
        "litellm.RateLimitError: RateLimitError: No deployments available for selected model, Try again in 9 "
        "seconds. All deployments for selected model are in cooldown. Passed model=g. pre-call-checks=False, "
        "cooldown_list=['d1', 'd2']");
    assert_slice_is(error.type, "all_deployments_in_cooldown");
    assert_int_equal(weir_fail_retry_after_s(&fail), 9);
}

static void seconds_to_wait_are_whole_and_at_least_one(void **state)
{
    struct weir_fail fail = {.failure = rate_limit, .reason = WEIR_REASON_NO_DEPLOYMENTS};

    (void)state;
    assert_int_equal(weir_fail_retry_after_s(&fail), 1);
    fail.failure.retry_after_ns = 5 * WEIR_NS_PER_S;
    assert_int_equal(weir_fail_retry_after_s(&fail), 5);
    fail.failure.retry_after_ns++;
    assert_int_equal(weir_fail_retry_after_s(&fail), 6);
}

static void a_providers_retry_after_is_not_passed_on(void **state)
{
    const struct weir_fail fail = {
        .failure = {WEIR_KIND_RATE_LIMIT, 429, WEIR_NS_PER_S, WEIR_ORIGIN_PROVIDER}};

    (void)state;
    assert_int_equal(weir_fail_retry_after_s(&fail), 0);
}

static void an_unknown_model_and_a_paused_one_are_named(void **state)
{
    struct weir_fail fail = {.failure = {WEIR_KIND_BAD_REQUEST, 400, 0, WEIR_ORIGIN_ROUTER},
                             .reason = WEIR_REASON_UNKNOWN_MODEL,
                             .group = WEIR_SLICE("nope")};
    const struct weir_summary summary = {0};
    const struct weir_fail_story story = {.fail = &fail, .summary = &summary, .debug = true};

    (void)state;
    assert_slice_is(tell(&story).message,
                    "litellm.BadRequestError: You passed in model=nope. There are no healthy "
                    "deployments for this model");
    fail.reason = WEIR_REASON_PAUSED;
    fail.failure = (struct weir_failure){WEIR_KIND_SERVICE_UNAVAILABLE, 503, 0, WEIR_ORIGIN_ROUTER};
    assert_true(weir_slice_has(tell(&story).message, WEIR_SLICE("nope is currently paused")));
}

/* ---- limits, tags, checks ---- */

static const struct weir_failure limited = {WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_ROUTER};

/* The error of a failure of group g without attempts. */
static struct weir_error_reply tell_of(const struct weir_fail *fail, const struct weir_request *request)
{
    const struct weir_summary summary = {0};
    struct weir_fail_story story = {.fail = fail, .summary = &summary, .request = request};

    story.usage[0] = (struct weir_fail_usage){
        WEIR_SLICE("d1"), {3, 52, 40, 12}, {WEIR_UNSET_NS, 50, WEIR_UNSET_NS, WEIR_UNSET_NS}};
    story.usage[1] = (struct weir_fail_usage){
        WEIR_SLICE("d2"), {0, 0, 0, 0}, {7, WEIR_UNSET_NS, WEIR_UNSET_NS, WEIR_UNSET_NS}};
    story.usage_count = 2;
    return tell(&story);
}

static void a_limit_of_the_minute_is_told_with_its_usage(void **state)
{
    const struct weir_fail fail = {.failure = limited,
                                   .reason = WEIR_REASON_MINUTE_LIMIT,
                                   .group = WEIR_SLICE("g"),
                                   .limit = {WEIR_SLICE("d1"), WEIR_SLICE("TPM"), 100, 120}};
    struct weir_error_reply error = tell_of(&fail, NULL);

    (void)state;
    assert_int_equal(error.status, 429);
    assert_slice_is(error.type, "throttling_error");
    assert_slice_is(error.message, "litellm.RateLimitError: RateLimitError: Model rate limit exceeded. TPM "
                                   "limit=100, current usage=120");
    assert_int_equal(weir_fail_retry_after_s(&fail), 0);
}

static void full_slots_are_told_with_their_number(void **state)
{
    const struct weir_fail fail = {.failure = limited,
                                   .reason = WEIR_REASON_SLOTS,
                                   .group = WEIR_SLICE("g"),
                                   .limit = {WEIR_SLICE("d1"), WEIR_SLICE("max_parallel_requests"), 2, 2}};

    (void)state;
    assert_slice_is(
        tell_of(&fail, NULL).message,
        "litellm.RateLimitError: RateLimitError: Deployment has all max_parallel_requests slots in "
        "use. Deployment=d1, max_parallel_requests=2");
}

static void usage_of_all_is_told_when_usage_leaves_nobody(void **state)
{
    const struct weir_fail fail = {
        .failure = {WEIR_KIND_RATE_LIMIT, 429, 5 * WEIR_NS_PER_S, WEIR_ORIGIN_ROUTER},
        .reason = WEIR_REASON_USAGE,
        .group = WEIR_SLICE("g")};

    (void)state;
    assert_slice_is(
        tell_of(&fail, NULL).message,
        "litellm.RateLimitError: RateLimitError: No deployments available for selected model, Try "
        "again in 5 seconds. Passed model=g. Deployments={'d1': {current_tpm=52, tpm_limit=50, "
        "current_rpm=3, rpm_limit=None}, 'd2': {current_tpm=0, tpm_limit=None, current_rpm=0, "
        "rpm_limit=7}}");
    assert_int_equal(weir_fail_retry_after_s(&fail), 5);
}

static void requests_that_ran_out_meanwhile_are_told_with_a_wait(void **state)
{
    const struct weir_fail fail = {
        .failure = {WEIR_KIND_RATE_LIMIT, 429, 60 * WEIR_NS_PER_S, WEIR_ORIGIN_ROUTER},
        .reason = WEIR_REASON_USAGE_LIMIT,
        .group = WEIR_SLICE("g"),
        .limit = {WEIR_SLICE("d1"), WEIR_SLICE("RPM"), 3, 3}};

    (void)state;
    assert_slice_is(tell_of(&fail, NULL).message, "litellm.RateLimitError: RateLimitError: Deployment over "
                                                  "defined rpm limit=3. current usage=3");
    assert_int_equal(weir_fail_retry_after_s(&fail), 60);
}

static void tags_are_told_with_their_marks(void **state)
{
    static const struct weir_tag tags[] = {{WEIR_TAG_PLAIN, WEIR_SLICE_INIT("a"), false},
                                           {WEIR_TAG_EXCLUDED, WEIR_SLICE_INIT("b"), false},
                                           {WEIR_TAG_REQUIRED, WEIR_SLICE_INIT("c"), false}};
    const struct weir_fail fail = {.failure = {WEIR_KIND_INTERNAL, 401, 0, WEIR_ORIGIN_ROUTER},
                                   .reason = WEIR_REASON_TAGS,
                                   .group = WEIR_SLICE("g")};
    struct weir_request request;
    struct weir_error_reply error;

    (void)state;
    weir_request_init(&request);
    request.tags = tags;
    request.tag_count = 3;
    error = tell_of(&fail, &request);
    assert_slice_is(error.message,
                    "Not allowed to access model due to tags configuration. Passed model=g and "
                    "tags=['a', '!b', '&c']");
    assert_slice_is(error.type, "internal_server_error");
    assert_int_equal(error.status, 401);
}

static void a_prompt_that_fits_nowhere_is_told_with_the_longest(void **state)
{
    const struct weir_fail fail = {.failure = {WEIR_KIND_CONTEXT_WINDOW, 400, 0, WEIR_ORIGIN_ROUTER},
                                   .reason = WEIR_REASON_PROMPT_TOO_LONG,
                                   .group = WEIR_SLICE("g"),
                                   .limit = {WEIR_SLICE("d1"), WEIR_SLICE("max_input_tokens"), 90, 300}};

    (void)state;
    assert_slice_is(
        tell_of(&fail, NULL).message,
        "litellm.ContextWindowExceededError: Context Window exceeded for given call. Model=g, Max "
        "Input Tokens=90, Got=300");
}

static void what_nobody_takes_is_named(void **state)
{
    const struct weir_fail fail = {.failure = {WEIR_KIND_BAD_REQUEST, 400, 0, WEIR_ORIGIN_ROUTER},
                                   .reason = WEIR_REASON_UNSUITABLE,
                                   .group = WEIR_SLICE("g")};
    struct weir_request request;

    (void)state;
    weir_request_init(&request);
    request.parameters = weir_parameter_set(WEIR_SLICE("temperature stop"));
    request.region = WEIR_SLICE("eu");
    assert_slice_is(
        tell_of(&fail, &request).message,
        "litellm.BadRequestError: No deployment of the model is in the allowed region and takes the "
        "parameters. Passed model=g. Parameters: temperature, stop. Region: eu");
}

static void a_long_detail_is_cut(void **state)
{
    static char words[9000];
    struct weir_failed first = failed_attempt(1, NULL, "one");
    struct weir_failed second;
    const struct weir_hop_failure hops[] = {{.group = WEIR_SLICE("B"), .failure = internal, .attempt = 2}};
    const struct weir_summary summary = {.failures = hops, .failure_count = 1};
    const struct weir_fail fail = {.failure = rate_limit, .attempt = 1, .group = WEIR_SLICE("g")};
    struct weir_fail_story story = {.fail = &fail, .summary = &summary, .debug = true};

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(words); i++)
        words[i] = 'w';
    second = failed_attempt(2, &first, words);
    story.failed = &second;
    assert_in_range(tell(&story).message.len, 2000, 2300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_providers_words_stand_first),
        TEST(the_router_says_what_it_did_where_that_is_allowed),
        TEST(of_a_stream_that_broke_only_what_followed_is_told),
        TEST(without_a_hop_it_says_so),
        TEST(nothing_to_pick_tells_when_to_come_back),
        TEST(seconds_to_wait_are_whole_and_at_least_one),
        TEST(a_providers_retry_after_is_not_passed_on),
        TEST(an_unknown_model_and_a_paused_one_are_named),
        TEST(a_limit_of_the_minute_is_told_with_its_usage),
        TEST(full_slots_are_told_with_their_number),
        TEST(usage_of_all_is_told_when_usage_leaves_nobody),
        TEST(requests_that_ran_out_meanwhile_are_told_with_a_wait),
        TEST(tags_are_told_with_their_marks),
        TEST(a_prompt_that_fits_nowhere_is_told_with_the_longest),
        TEST(what_nobody_takes_is_named),
        TEST(a_long_detail_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
