#include "unit.h"

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/answer/headers.h"
#include "wire/http1_read.h"

static struct weir_buf text;

static int begin(void **state)
{
    (void)state;
    weir_buf_init(&text, weir_mem_libc(), 64 * 1024);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&text);
    return 0;
}

static struct weir_answer_facts facts(void)
{
    return (struct weir_answer_facts){.id_line = WEIR_SLICE("x-litellm-model-id: d1\r\n"),
                                      .base_line = WEIR_SLICE("x-litellm-model-api-base: http://h\r\n"),
                                      .group = WEIR_SLICE("g"),
                                      .max_hops = 5,
                                      .duration_ns = 1234567,
                                      .overhead_ns = 1000};
}

static void a_success_tells_who_served_and_after_how_much(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    assert_int_equal(weir_headers_of_success(&told, &text), 0);
    assert_slice_is(
        weir_buf_slice(&text),
        "x-litellm-version: " WEIR_VERSION "\r\n"
        "x-litellm-model-id: d1\r\nx-litellm-model-api-base: http://h\r\nx-litellm-model-group: g\r\n"
        "x-litellm-attempted-retries: 0\r\nx-litellm-attempted-fallbacks: 0\r\nx-litellm-max-fallbacks: 5\r\n"
        "x-litellm-response-duration-ms: 1.234\r\nx-litellm-overhead-duration-ms: 0.001\r\n");
}

static void what_it_cost_is_told_where_it_is_known(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    told.cost = (struct weir_cost){true, UINT64_C(1234500000)};
    assert_int_equal(weir_headers_of_success(&told, &text), 0);
    assert_true(weir_slice_ends(weir_buf_slice(&text), WEIR_SLICE("x-litellm-response-cost: 0.0012345\r\n")));
    told.cost.picodollars = 0;
    assert_int_equal(weir_headers_of_success(&told, &text), 0);
    assert_true(weir_slice_ends(weir_buf_slice(&text), WEIR_SLICE("x-litellm-response-cost: 0\r\n")));
}

static void the_most_that_was_allowed_is_told_when_some_was_used(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    told.retries = 2;
    told.max_retries = 3;
    told.hops = 1;
    assert_int_equal(weir_headers_of_success(&told, &text), 0);
    assert_true(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("x-litellm-attempted-retries: 2\r\n"
                                                                 "x-litellm-max-retries: 3\r\n"
                                                                 "x-litellm-attempted-fallbacks: 1\r\n"
                                                                 "x-litellm-max-fallbacks: 5\r\n")));
}

static void a_failure_tells_neither_counts_nor_group(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    told.retry_after_s = 7;
    assert_int_equal(weir_headers_of_failure(&told, &text), 0);
    assert_slice_is(weir_buf_slice(&text),
                    "x-litellm-version: " WEIR_VERSION "\r\nx-litellm-model-id: d1\r\nretry-after: 7\r\n");
}

static void a_failed_attempt_tells_the_limit_it_had(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    told.limit_ns = 2 * WEIR_NS_PER_S + 500 * WEIR_NS_PER_MS;
    assert_int_equal(weir_headers_of_failure(&told, &text), 0);
    assert_slice_is(weir_buf_slice(&text), "x-litellm-version: " WEIR_VERSION
                                           "\r\nx-litellm-model-id: d1\r\nx-litellm-timeout: 2.500\r\n");
}

static void a_name_that_would_break_the_head_is_left_out(void **state)
{
    struct weir_answer_facts told = facts();

    (void)state;
    told.group = WEIR_SLICE("g\r\nx-forged: 1");
    assert_int_equal(weir_headers_of_success(&told, &text), 0);
    assert_false(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("forged")));
}

static void a_providers_fields_get_a_prefix(void **state)
{
    const struct weir_http1_field fields[] = {
        {WEIR_SLICE("x-request-id"), WEIR_SLICE("req-1")},
        {WEIR_SLICE("X-RateLimit-Limit"), WEIR_SLICE("9")},
        {WEIR_SLICE("Content-Length"), WEIR_SLICE("5")},
        {WEIR_SLICE("connection"), WEIR_SLICE("keep-alive")},
        {WEIR_SLICE("transfer-encoding"), WEIR_SLICE("x")},
        {WEIR_SLICE("Set-Cookie"), WEIR_SLICE("s=1")},
        {WEIR_SLICE("retry-after"), WEIR_SLICE("3")},
        {WEIR_SLICE("x-empty"), WEIR_SLICE("")},
    };
    const struct weir_http1_head head = {.fields = fields, .field_count = sizeof(fields) / sizeof(fields[0])};
    struct weir_arena arena;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 65536);
    assert_slice_is(
        weir_headers_of_provider(&head, &arena),
        "llm_provider-x-request-id: req-1\r\nllm_provider-X-RateLimit-Limit: 9\r\nX-RateLimit-Limit: 9\r\n"
        "llm_provider-retry-after: 3\r\n");
    weir_arena_deinit(&arena);
}

static void a_call_id_is_a_uuid_of_version_4(void **state)
{
    char room[WEIR_CALL_ID_LEN];

    (void)state;
    assert_slice_is(weir_call_id(UINT64_MAX, UINT64_MAX, room), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_slice_is(weir_call_id(0, 0, room), "00000000-0000-4000-8000-000000000000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_success_tells_who_served_and_after_how_much),
        TEST(what_it_cost_is_told_where_it_is_known),
        TEST(the_most_that_was_allowed_is_told_when_some_was_used),
        TEST(a_failure_tells_neither_counts_nor_group),
        TEST(a_failed_attempt_tells_the_limit_it_had),
        TEST(a_name_that_would_break_the_head_is_left_out),
        TEST(a_providers_fields_get_a_prefix),
        TEST(a_call_id_is_a_uuid_of_version_4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
