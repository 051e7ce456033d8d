#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "provider/message.h"

static void assert_message(weir_kind kind, const char *display, const char *expected)
{
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 4096);
    assert_int_equal(weir_failure_message(kind, weir_slice_str(display), WEIR_SLICE("text"), &buf), 0);
    assert_slice_is(weir_buf_slice(&buf), expected);
    weir_buf_deinit(&buf);
}

static void a_message_names_class_and_provider(void **state)
{
    (void)state;
    assert_message(WEIR_KIND_RATE_LIMIT, "OpenAI",
                   "litellm.RateLimitError: RateLimitError: OpenAIException - text");
    assert_message(WEIR_KIND_TIMEOUT, "Azure", "litellm.Timeout: Timeout: AzureException - text");
    assert_message(WEIR_KIND_CONNECTION, "Groq",
                   "litellm.InternalServerError: InternalServerError: GroqException - text");
    assert_message(WEIR_KIND_UNPROCESSABLE, "OpenAI",
                   "litellm.BadRequestError: BadRequestError: OpenAIException - text");
    assert_message(WEIR_KIND_BAD_GATEWAY, "", "litellm.BadGatewayError: BadGatewayError: text");
}

static void two_kinds_show_their_parent_as_well(void **state)
{
    (void)state;
    assert_message(WEIR_KIND_CONTEXT_WINDOW, "OpenAI",
                   "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: "
                   "OpenAIException - text");
    assert_message(
        WEIR_KIND_CONTENT_POLICY, "Azure",
        "litellm.ContentPolicyViolationError: litellm.BadRequestError: ContentPolicyViolationError: "
        "AzureException - text");
}

static void a_message_that_does_not_fit_is_refused(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 20);
    assert_int_equal(weir_failure_message(WEIR_KIND_TIMEOUT, WEIR_SLICE("X"), WEIR_SLICE("text"), &buf),
                     WEIR_ERR_LIMIT);
    weir_buf_deinit(&buf);
}

static void assert_type(int status, const char *type)
{
    struct weir_failure failure = {.status = status};

    assert_slice_is(weir_failure_type(&failure), type);
}

static void types_go_by_the_status(void **state)
{
    (void)state;
    assert_type(400, "invalid_request_error");
    assert_type(401, "authentication_error");
    assert_type(403, "permission_error");
    assert_type(404, "invalid_request_error");
    assert_type(408, "invalid_request_error");
    assert_type(409, "invalid_request_error");
    assert_type(422, "invalid_request_error");
    assert_type(429, "throttling_error");
    assert_type(500, "internal_server_error");
    assert_type(504, "internal_server_error");
    assert_type(529, "internal_server_error");
}

static void a_kind_has_a_status_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(weir_failure_status(WEIR_KIND_RATE_LIMIT), 429);
    assert_int_equal(weir_failure_status(WEIR_KIND_COUNT), 500);
    assert_slice_is(weir_failure_class(WEIR_KIND_AUTH), "AuthenticationError");
    assert_slice_is(weir_failure_class(WEIR_KIND_COUNT), "InternalServerError");
}

static void assert_blotted(const char *text, const char *secret, const char *expected)
{
    struct weir_arena arena;
    struct weir_slice out = WEIR_SLICE_EMPTY;

    weir_arena_init(&arena, weir_mem_libc(), 1024, 1 << 16);
    assert_int_equal(weir_blot_out(weir_slice_str(text), weir_slice_str(secret), &arena, &out), 0);
    assert_slice_is(out, expected);
    weir_arena_deinit(&arena);
}

static void secrets_are_blotted_out(void **state)
{
    (void)state;
    assert_blotted("key sk-12345 and sk-12345", "sk-12345", "key [hidden] and [hidden]");
    assert_blotted("denied for Bearer abc.def, sorry", "", "denied for Bearer [hidden], sorry");
    assert_blotted("Bearer sk-12345\"", "sk-12345", "Bearer [hidden]\"");
    assert_blotted("Bearer ", "", "Bearer ");
    assert_blotted("a k in a haystack", "k", "a k in a haystack");
    assert_blotted("", "sk-12345", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_names_class_and_provider),
        cmocka_unit_test(two_kinds_show_their_parent_as_well),
        cmocka_unit_test(a_message_that_does_not_fit_is_refused),
        cmocka_unit_test(types_go_by_the_status),
        cmocka_unit_test(a_kind_has_a_status_of_its_own),
        cmocka_unit_test(secrets_are_blotted_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
