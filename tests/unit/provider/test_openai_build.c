/* Requests in OpenAI's protocol: what is changed in a body, and that nothing else is. */
#include "unit.h"

#include <stdio.h>

#include "built.h"

static int setup(void **state)
{
    static struct built built;

    built_init(&built, "openai/gpt-4o");
    *state = &built;
    return 0;
}

static int teardown(void **state)
{
    built_deinit(*state);
    return 0;
}

static void the_model_becomes_the_providers(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(b, "{\"model\": \"g\", \"messages\": []}", "{\"model\": \"gpt-4o\", \"messages\": []}");
    assert_slice_is(b->request.target, "/v1/chat/completions");
    assert_slice_is(b->request.host, "up.example");
    assert_int_equal(b->request.port, 80);
    assert_false(b->request.secure);
    assert_false(b->request.redirected);
}

static void a_body_without_a_model_gets_one(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(b, "{}", "{\"model\":\"gpt-4o\"}");
    assert_built(b, " {\"n\":1}\n", " {\"n\":1,\"model\":\"gpt-4o\"}\n");
}

static void everything_unknown_passes_byte_for_byte(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(
        b,
        "{ \"some_vendor_switch\" : {\"a\": [1, 2.50]},\t\"seed\":7,\"model\":\"g\", \"\\u0078\":\"\\/\", "
        "\"stop\":null }",
        "{ \"some_vendor_switch\" : {\"a\": [1, 2.50]},\t\"seed\":7,\"model\":\"gpt-4o\", "
        "\"\\u0078\":\"\\/\", \"stop\":null }");
}

static void the_routers_fields_stay_here(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(
        b,
        "{\"tags\":[\"x\"],\"model\":\"g\",\"num_retries\":0,\"seed\":7,\"fallbacks\":[\"g\"],\"timeout\":5,"
        "\"metadata\":{\"trace\":\"t\"},\"max_retries\":5,\"mock_response\":\"forged\",\"weir\":{}}",
        "{\"model\":\"gpt-4o\",\"seed\":7}");
    assert_built(b, "{\"num_\\u0072etries\":1,\"model\":\"g\"}", "{\"model\":\"gpt-4o\"}");
}

static void metadata_goes_on_where_the_deployment_asks_for_it(void **state)
{
    struct built *b = *state;

    b->endpoint.pass_metadata = true;
    built_prepare(b);
    assert_built(b, "{\"model\":\"g\",\"metadata\":{\"a\":\"b\"}}",
                 "{\"model\":\"gpt-4o\",\"metadata\":{\"a\":\"b\"}}");
}

static void the_stream_flag_is_what_the_call_is(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.stream = true;
    assert_built(b, "{\"model\":\"g\",\"stream\" : true}", "{\"model\":\"gpt-4o\",\"stream\" : true}");
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\",\"stream\":true}");
    b->build.stream = false;
    assert_built(b, "{\"model\":\"g\",\"stream\":null}", "{\"model\":\"gpt-4o\",\"stream\":null}");
    assert_built(b, "{\"model\":\"g\",\"stream\":true}", "{\"model\":\"gpt-4o\",\"stream\":false}");
}

static void of_two_models_the_first_is_kept(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(b, "{\"model\":\"g\",\"model\":\"h\"}", "{\"model\":\"gpt-4o\"}");
}

static void defaults_are_added_where_the_request_says_nothing(void **state)
{
    struct built *b = *state;

    b->endpoint.defaults = WEIR_SLICE("{\"temperature\": 0.1, \"max_tokens\":77}");
    built_prepare(b);
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\",\"temperature\": 0.1,\"max_tokens\":77}");
    assert_built(b, "{\"temperature\":0.9,\"model\":\"g\"}",
                 "{\"temperature\":0.9,\"model\":\"gpt-4o\",\"max_tokens\":77}");
    assert_built(b, "{\"temperature\":null,\"model\":\"g\"}",
                 "{\"temperature\":null,\"model\":\"gpt-4o\",\"max_tokens\":77}");
}

static void defaults_never_set_what_the_router_owns(void **state)
{
    struct built *b = *state;

    b->endpoint.defaults = WEIR_SLICE(
        "{\"model\":\"x\",\"stream\":true,\"num_retries\":3,\"api_key\":\"k\",\"stream_options\":{}}");
    built_prepare(b);
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\"}");
}

static void overrides_beat_the_request_and_the_defaults(void **state)
{
    struct built *b = *state;

    b->endpoint.defaults = WEIR_SLICE("{\"top_p\":0.2,\"seed\":1}");
    built_prepare(b);
    b->build.overrides = WEIR_SLICE("{\"temperature\":0.5,\"messages\":[{\"role\":\"user\"}],\"top_p\":0.4,"
                                    "\"stream\":true,\"timeout\":3}");
    assert_built(b, "{\"model\":\"g\",\"messages\":[],\"temperature\":1}",
                 "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\"}],\"temperature\":0.5,\"top_p\":0.4,"
                 "\"seed\":1}");
}

static void extra_body_beats_everything(void **state)
{
    struct built *b = *state;

    b->endpoint.defaults = WEIR_SLICE("{\"a\":1,\"b\":1,\"c\":1}");
    b->endpoint.extra_body = WEIR_SLICE("{\"a\":4,\"b\":4,\"c\":4,\"d\":4}");
    built_prepare(b);
    b->build.overrides = WEIR_SLICE("{\"b\":3,\"c\":3}");
    assert_built(b, "{\"model\":\"g\",\"c\":2}", "{\"model\":\"gpt-4o\",\"c\":4,\"a\":4,\"b\":4,\"d\":4}");
}

static void extra_body_may_name_the_model_but_not_the_stream(void **state)
{
    struct built *b = *state;

    b->endpoint.extra_body = WEIR_SLICE("{\"model\":\"mine\",\"stream\":true}");
    built_prepare(b);
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"mine\"}");
    assert_built(b, "{}", "{\"model\":\"mine\"}");
}

static void overrides_that_are_no_object_are_malformed(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.overrides = WEIR_SLICE("[1]");
    built_body(b, "{}");
    assert_true(built_make(b) < 0);
}

static void usage_is_asked_for_when_the_setting_says_so(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.stream = true;
    b->build.stream_usage = true;
    assert_built(b, "{\"model\":\"g\",\"stream\":true}",
                 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    assert_built(b, "{\"model\":\"g\",\"stream\":true,\"stream_options\":null}",
                 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    assert_built(
        b, "{\"stream_options\":{\"x\":1},\"model\":\"g\",\"stream\":true}",
        "{\"stream_options\":{\"x\":1,\"include_usage\":true},\"model\":\"gpt-4o\",\"stream\":true}");
    assert_built(b, "{\"stream_options\":{\"include_usage\":false},\"model\":\"g\",\"stream\":true}",
                 "{\"stream_options\":{\"include_usage\":true},\"model\":\"gpt-4o\",\"stream\":true}");
    assert_built(b, "{\"stream_options\":{\"include_usage\": true},\"model\":\"g\",\"stream\":true}",
                 "{\"stream_options\":{\"include_usage\": true},\"model\":\"gpt-4o\",\"stream\":true}");
    b->build.route = WEIR_ROUTE_EMBEDDINGS;
    assert_built(b, "{\"model\":\"g\",\"stream\":true}", "{\"model\":\"gpt-4o\",\"stream\":true}");
}

static void a_wildcards_model_is_what_was_matched(void **state)
{
    struct built *b = *state;

    b->endpoint.model = WEIR_SLICE("openai/*");
    built_prepare(b);
    b->build.model = WEIR_SLICE("openai/gpt-\"x\"");
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-\\\"x\\\"\"}");
    assert_slice_is(b->request.target, "/v1/chat/completions");
}

static void a_body_in_many_pieces_is_joined(void **state)
{
    struct built *b = *state;
    char body[2048], expected[2048];
    int body_len = snprintf(body, sizeof(body), "{\"model\":\"g\"");
    int expected_len = snprintf(expected, sizeof(expected), "{\"model\":\"gpt-4o\"");

    for (int i = 0; i < 20; i++) {
        body_len +=
            snprintf(body + body_len, sizeof(body) - (size_t)body_len, ",\"k%d\":%d,\"tags\":%d", i, i, i);
        expected_len +=
            snprintf(expected + expected_len, sizeof(expected) - (size_t)expected_len, ",\"k%d\":%d", i, i);
    }
    (void)snprintf(body + body_len, sizeof(body) - (size_t)body_len, "}");
    (void)snprintf(expected + expected_len, sizeof(expected) - (size_t)expected_len, "}");
    built_prepare(b);
    assert_built(b, body, expected);
    assert_int_equal(b->request.part_count, 1);
}

static void fireworks_keeps_its_models_in_a_directory(void **state)
{
    struct built *b = *state;

    built_deinit(b);
    built_init(b, "fireworks_ai/llama-v3");
    built_prepare(b);
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"accounts/fireworks/models/llama-v3\"}");
    b->build.model = WEIR_SLICE("fireworks_ai/nomic-ai/embed");
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"nomic-ai/embed\"}");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_model_becomes_the_providers),
        CASE(a_body_without_a_model_gets_one),
        CASE(everything_unknown_passes_byte_for_byte),
        CASE(the_routers_fields_stay_here),
        CASE(metadata_goes_on_where_the_deployment_asks_for_it),
        CASE(the_stream_flag_is_what_the_call_is),
        CASE(of_two_models_the_first_is_kept),
        CASE(defaults_are_added_where_the_request_says_nothing),
        CASE(defaults_never_set_what_the_router_owns),
        CASE(overrides_beat_the_request_and_the_defaults),
        CASE(extra_body_beats_everything),
        CASE(extra_body_may_name_the_model_but_not_the_stream),
        CASE(overrides_that_are_no_object_are_malformed),
        CASE(usage_is_asked_for_when_the_setting_says_so),
        CASE(a_wildcards_model_is_what_was_matched),
        CASE(a_body_in_many_pieces_is_joined),
        CASE(fireworks_keeps_its_models_in_a_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
