/* What a verdict says beside the kind: waits, words, types; and failures without an answer. */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "provider/classify.h"
#include "test_mem.h"
#include "wire/http1_read.h"

static struct weir_arena arena;

static int setup(void **state)
{
    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 4 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_arena_deinit(&arena);
    return 0;
}

static struct weir_mishap_report report_of(const char *provider, weir_mishap mishap, int status,
                                           const char *body)
{
    return (struct weir_mishap_report){.provider = weir_provider_named(weir_slice_str(provider)),
                                       .mishap = mishap,
                                       .status = status,
                                       .body = weir_slice_str(body),
                                       .wall_now_s = 784111777};
}

static struct weir_verdict judge(const struct weir_mishap_report *report)
{
    struct weir_verdict verdict = {0};

    assert_int_equal(weir_classify(report, &arena, &verdict), 0);
    return verdict;
}

static uint64_t wait_of(const char *name, const char *value, const char *body)
{
    struct weir_http1_field field = {weir_slice_str(name), weir_slice_str(value)};
    struct weir_http1_head head = {.fields = &field, .field_count = 1};
    struct weir_mishap_report report = report_of("openai", WEIR_MISHAP_ANSWER, 429, body);

    report.head = &head;
    return judge(&report).failure.retry_after_ns;
}

static void retry_after_is_read_in_each_form(void **state)
{
    (void)state;
    assert_int_equal(wait_of("Retry-After", "33", "{}"), UINT64_C(33000000000));
    assert_int_equal(wait_of("retry-after-ms", "1500", "{}"), UINT64_C(1500000000));
    assert_int_equal(wait_of("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", ""), UINT64_C(10000000000));
    assert_int_equal(wait_of("retry-after", "0", ""), 0);
    assert_int_equal(wait_of("retry-after", "-5", ""), 0);
    assert_int_equal(wait_of("retry-after", "soon", ""), 0);
    assert_int_equal(wait_of("retry-after", "7", "<html>busy</html>"), UINT64_C(7000000000));
    assert_int_equal(wait_of("x", "7", "{\"error\":{\"details\":[{\"retryDelay\":\"52s\"}]}}"),
                     UINT64_C(52000000000));
    assert_int_equal(wait_of("retry-after", "7", "{\"retryDelay\":\"52s\"}"), UINT64_C(7000000000));
}

static void a_failure_without_an_answer_is_what_happened(void **state)
{
    struct weir_mishap_report report = report_of("openai", WEIR_MISHAP_CONNECT, 0, "");
    struct weir_verdict verdict = judge(&report);

    (void)state;
    assert_int_equal(verdict.failure.kind, WEIR_KIND_CONNECTION);
    assert_int_equal(verdict.failure.status, 500);
    assert_slice_is(verdict.text, "Connection error.");
    assert_slice_is(verdict.type, "internal_server_error");
    report.mishap = WEIR_MISHAP_TIMED_OUT;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(judge(&report).failure.status, 408);
    report.mishap = WEIR_MISHAP_CUT_OFF;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_CONNECTION);
    report.mishap = WEIR_MISHAP_STREAM_CUT;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_CONNECTION);
    report.mishap = WEIR_MISHAP_BAD_ANSWER;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_INTERNAL);
    report.mishap = WEIR_MISHAP_BAD_CHUNK;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_INTERNAL);
    report.mishap = WEIR_MISHAP_TOO_LARGE;
    assert_int_equal(judge(&report).failure.status, 500);
}

static void an_answer_that_is_no_stream_counts_as_a_500(void **state)
{
    struct weir_mishap_report report =
        report_of("openai", WEIR_MISHAP_NOT_A_STREAM, 200, "<html>hello</html>");

    (void)state;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_INTERNAL);
    assert_slice_is(judge(&report).text, "hello");
    report.body = WEIR_SLICE("{\"choices\":[]}");
    assert_int_equal(judge(&report).failure.status, 500);
    report.body = WEIR_SLICE("{\"error\":{\"code\":503,\"message\":\"later\"}}");
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_SERVICE_UNAVAILABLE);
}

static void an_error_in_a_stream_has_its_true_kind(void **state)
{
    struct weir_mishap_report report =
        report_of("openai", WEIR_MISHAP_ERROR_BODY, 200,
                  "{\"error\":{\"message\":\"This model's maximum context length is 8192 "
                  "tokens.\",\"type\":\"invalid_request_error\"}}");

    (void)state;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_CONTEXT_WINDOW);
    report.body = WEIR_SLICE("{\"error\":{\"message\":\"odd\"}}");
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_INTERNAL);
}

static void what_was_said_before_giving_up_does_not_describe_the_failure(void **state)
{
    struct weir_mishap_report report = report_of(
        "openai", WEIR_MISHAP_GAVE_UP, 200,
        "{\"choices\":[{\"message\":{\"content\":\"A rate limit is\"},\"finish_reason\":\"error\"}]}");
    struct weir_verdict verdict = judge(&report);

    (void)state;
    assert_int_equal(verdict.failure.kind, WEIR_KIND_INTERNAL);
    assert_int_equal(verdict.failure.status, 500);
    assert_slice_is(verdict.text, "The provider ended its answer with the finish reason error.");
}

static void the_providers_words_are_passed_on(void **state)
{
    struct weir_mishap_report report =
        report_of("azure", WEIR_MISHAP_ANSWER, 400,
                  "{\"error\":{\"message\":\" filtered "
                  "\",\"param\":\"prompt\",\"code\":\"content_filter\",\"innererror\":{\"a\":1}}}");
    struct weir_verdict verdict = judge(&report);

    (void)state;
    assert_slice_is(verdict.text, "filtered");
    assert_slice_is(verdict.param, "prompt");
    assert_slice_is(verdict.inner_error, "{\"a\":1}");
    assert_slice_is(verdict.type, "invalid_request_error");
}

static void a_422_shows_the_upstreams_type(void **state)
{
    struct weir_mishap_report report =
        report_of("openai", WEIR_MISHAP_ANSWER, 422,
                  "{\"error\":{\"message\":\"m\",\"type\":\"unprocessable_entity\"}}");

    (void)state;
    assert_slice_is(judge(&report).type, "unprocessable_entity");
    report.body = WEIR_SLICE("{}");
    assert_slice_is(judge(&report).type, "invalid_request_error");
}

static void an_answer_without_words_is_described(void **state)
{
    struct weir_mishap_report report = report_of("openai", WEIR_MISHAP_ANSWER, 503, "");

    (void)state;
    assert_slice_is(judge(&report).text, "The provider answered with status 503");
}

static void keys_never_show(void **state)
{
    struct weir_mishap_report report =
        report_of("databricks", WEIR_MISHAP_ANSWER, 400,
                  "{\"error\":{\"message\":\"authorization denied for Bearer abc, key sk-12345678\"}}");
    struct weir_verdict verdict;

    (void)state;
    report.secret = WEIR_SLICE("sk-12345678");
    verdict = judge(&report);
    assert_int_equal(verdict.failure.kind, WEIR_KIND_AUTH);
    assert_slice_is(verdict.text, "authorization denied for Bearer [hidden], key [hidden]");
}

static void words_are_bounded_and_not_cut_inside_a_character(void **state)
{
    static char body[5000];
    struct weir_mishap_report report = report_of("openai", WEIR_MISHAP_ANSWER, 500, "");
    struct weir_verdict verdict;

    (void)state;
    memset(body, 'x', sizeof(body));
    memcpy(body + 1999, "\xe2\x82\xac", 3);
    report.body = (struct weir_slice){body, sizeof(body)};
    verdict = judge(&report);
    assert_int_equal(verdict.text.len, 1999);
}

static void texts_are_searched_in_the_first_64_kib(void **state)
{
    enum { BEFORE = 70 * 1024 };
    static const char phrase[] = "this model's maximum context length is";
    static char body[BEFORE + sizeof(phrase)];
    struct weir_mishap_report report = report_of("openai", WEIR_MISHAP_ANSWER, 400, "");

    (void)state;
    memset(body, 'x', sizeof(body));
    memcpy(body + BEFORE, phrase, sizeof(phrase) - 1);
    report.body = (struct weir_slice){body, sizeof(body)};
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_BAD_REQUEST);
    memcpy(body + 1000, phrase, sizeof(phrase) - 1);
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_CONTEXT_WINDOW);
}

static void an_escaped_phrase_is_found_too(void **state)
{
    struct weir_mishap_report report =
        report_of("openai", WEIR_MISHAP_ANSWER, 400,
                  "{\"error\":{\"message\":\"This model\\u0027s maximum context length is 8\"}}");

    (void)state;
    assert_int_equal(judge(&report).failure.kind, WEIR_KIND_CONTEXT_WINDOW);
}

static void memory_may_run_out_at_any_point(void **state)
{
    struct weir_mishap_report report =
        report_of("openai", WEIR_MISHAP_ANSWER, 401, "{\"error\":{\"message\":\"a \\\" Bearer x\"}}");

    (void)state;
    for (size_t n = 1;; n++) {
        struct weir_verdict verdict;
        struct weir_arena small;
        struct test_mem mem;
        int r;

        test_mem_init(&mem, n);
        weir_arena_init(&small, &mem.mem, 16, 1 << 20);
        r = weir_classify(&report, &small, &verdict);
        weir_arena_deinit(&small);
        test_mem_assert_empty(&mem);
        if (!mem.failed) {
            assert_int_equal(r, 0);
            break;
        }
        assert_true(r < 0);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(retry_after_is_read_in_each_form),
        CASE(a_failure_without_an_answer_is_what_happened),
        CASE(an_answer_that_is_no_stream_counts_as_a_500),
        CASE(an_error_in_a_stream_has_its_true_kind),
        CASE(what_was_said_before_giving_up_does_not_describe_the_failure),
        CASE(the_providers_words_are_passed_on),
        CASE(a_422_shows_the_upstreams_type),
        CASE(an_answer_without_words_is_described),
        CASE(keys_never_show),
        CASE(words_are_bounded_and_not_cut_inside_a_character),
        CASE(texts_are_searched_in_the_first_64_kib),
        CASE(an_escaped_phrase_is_found_too),
        CASE(memory_may_run_out_at_any_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
