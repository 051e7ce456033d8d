#include "unit.h"

#include <weir/mem_libc.h>

#include "gateway/answer/error_reply.h"

static struct weir_buf text;

static int begin(void **state)
{
    (void)state;
    weir_buf_init(&text, weir_mem_libc(), 4096);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&text);
    return 0;
}

static void an_error_has_openais_shape_and_a_code_that_is_text(void **state)
{
    const struct weir_error_reply error = {
        .status = 429, .message = WEIR_SLICE("a \"b\"\n"), .type = WEIR_SLICE("t")};

    (void)state;
    assert_int_equal(weir_error_write(&error, &text), 0);
    assert_slice_is(
        weir_buf_slice(&text),
        "{\"error\":{\"message\":\"a \\\"b\\\"\\n\",\"type\":\"t\",\"param\":null,\"code\":\"429\"}}");
}

static void what_is_known_beside_is_told(void **state)
{
    const struct weir_error_reply error = {.status = 400,
                                           .message = WEIR_SLICE("m"),
                                           .param = WEIR_SLICE("p"),
                                           .inner_error = WEIR_SLICE("{\"code\":1}"),
                                           .call_id = WEIR_SLICE("c")};

    (void)state;
    assert_int_equal(weir_error_write(&error, &text), 0);
    assert_slice_is(weir_buf_slice(&text),
                    "{\"error\":{\"message\":\"m\",\"type\":null,\"param\":\"p\",\"code\":\"400\","
                    "\"provider_specific_fields\":{\"innererror\":{\"code\":1}},\"litellm_call_id\":\"c\"}}");
}

static void a_stream_ends_with_the_same_object(void **state)
{
    const struct weir_error_reply error = {.status = 500, .message = WEIR_SLICE("m")};

    (void)state;
    assert_int_equal(weir_error_write_event(&error, &text), 0);
    assert_slice_is(
        weir_buf_slice(&text),
        "data: {\"error\":{\"message\":\"m\",\"type\":null,\"param\":null,\"code\":\"500\"}}\n\n");
}

static void a_status_of_weirs_own_has_a_type(void **state)
{
    (void)state;
    assert_slice_is(weir_error_type(400), "invalid_request_error");
    assert_slice_is(weir_error_type(401), "authentication_error");
    assert_slice_is(weir_error_type(404), "invalid_request_error");
    assert_slice_is(weir_error_type(429), "rate_limit_error");
    assert_slice_is(weir_error_type(503), "internal_server_error");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_error_has_openais_shape_and_a_code_that_is_text),
        TEST(what_is_known_beside_is_told),
        TEST(a_stream_ends_with_the_same_object),
        TEST(a_status_of_weirs_own_has_a_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
