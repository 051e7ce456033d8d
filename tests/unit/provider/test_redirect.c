/* Calls that a caller or a target sends elsewhere (decisions 19). */
#include "unit.h"

#include "built.h"
#include "provider/fields.h"

static const struct weir_header own_headers[] = {{WEIR_SLICE_INIT("x-own"), WEIR_SLICE_INIT("secret-2")}};

static int setup(void **state)
{
    static struct built built;

    built_init(&built, "openai/gpt-4o");
    built.endpoint.headers = own_headers;
    built.endpoint.header_count = 1;
    *state = &built;
    return 0;
}

static int teardown(void **state)
{
    built_deinit(*state);
    return 0;
}

static bool has_field(const struct built *b, const char *text)
{
    return weir_slice_has(b->request.fields, weir_slice_str(text));
}

static void what_is_not_allowed_changes_nothing_and_stays_here(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_built(b, "{\"api_base\":\"http://evil.example\",\"model\":\"g\",\"api_key\":\"mine\"}",
                 "{\"model\":\"gpt-4o\"}");
    assert_slice_is(b->request.host, "up.example");
    assert_false(b->request.redirected);
    assert_ptr_equal(b->request.used, &b->endpoint);
    assert_true(has_field(b, "Bearer k-secret"));
}

static void a_caller_may_bring_a_key_where_that_is_allowed(void **state)
{
    struct built *b = *state;

    b->endpoint.caller_places = WEIR_PLACE_BIT(WEIR_PLACE_KEY);
    built_prepare(b);
    assert_built(b, "{\"api_key\":\"mine\",\"api_base\":\"http://x.example\",\"model\":\"g\"}",
                 "{\"model\":\"gpt-4o\"}");
    assert_true(b->request.redirected);
    assert_slice_is(b->request.used->api_key, "mine");
    assert_slice_is(b->request.host, "up.example");
    assert_true(has_field(b, "Bearer mine"));
    assert_true(has_field(b, "x-own: secret-2"));
}

static void the_deployments_secrets_never_go_to_a_callers_address(void **state)
{
    struct built *b = *state;

    b->endpoint.caller_places = WEIR_PLACE_ALL;
    b->endpoint.organization = WEIR_SLICE("org-secret");
    built_prepare(b);
    assert_built(b, "{\"base_url\":\"https://mine.example/x\",\"model\":\"g\"}", "{\"model\":\"gpt-4o\"}");
    assert_slice_is(b->request.host, "mine.example");
    assert_slice_is(b->request.target, "/x/chat/completions");
    assert_true(b->request.secure);
    assert_false(weir_slice_has(b->request.fields, WEIR_SLICE("secret")));
}

static void a_targets_key_never_goes_to_a_callers_address(void **state)
{
    struct built *b = *state;

    b->endpoint.caller_places = WEIR_PLACE_ALL;
    built_prepare(b);
    b->build.overrides = WEIR_SLICE("{\"api_key\":\"target-secret\"}");
    b->build.overrides_trusted = true;
    assert_built(b, "{\"api_base\":\"https://mine.example/x\",\"model\":\"g\"}", "{\"model\":\"gpt-4o\"}");
    assert_slice_is(b->request.host, "mine.example");
    assert_false(weir_slice_has(b->request.fields, WEIR_SLICE("secret")));
}

static void a_configured_target_may_say_where_and_with_which_key(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.overrides =
        WEIR_SLICE("{\"api_base\":\"http://t.example/v9\",\"api_key\":\"tk\",\"temperature\":0,"
                   "\"extra_headers\":{\"X-Own\":\"theirs\",\"x-more\":\"m\"}}");
    b->build.overrides_trusted = true;
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\",\"temperature\":0}");
    assert_slice_is(b->request.host, "t.example");
    assert_slice_is(b->request.base, "http://t.example/v9");
    assert_true(has_field(b, "Bearer tk"));
    assert_true(has_field(b, "X-Own: theirs"));
    assert_true(has_field(b, "x-more: m"));
    assert_false(has_field(b, "secret-2"));
    b->build.overrides_trusted = false;
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"gpt-4o\",\"temperature\":0}");
    assert_slice_is(b->request.host, "up.example");
}

static void another_provider_brings_its_dialect(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    b->build.overrides = WEIR_SLICE("{\"custom_llm_provider\":\"azure\",\"api_base\":\"http://az.example\","
                                    "\"api_version\":\"v\",\"azure_ad_token\":\"t\"}");
    b->build.overrides_trusted = true;
    b->build.model = b->endpoint.model;
    assert_built(b, "{\"model\":\"g\"}", "{\"model\":\"openai/gpt-4o\"}");
    assert_slice_is(b->request.target, "/openai/deployments/openai%2Fgpt-4o/chat/completions?api-version=v");
    assert_true(has_field(b, "api-key: k-secret"));
}

static void a_place_that_cannot_be_is_told(void **state)
{
    static const char *const bad[] = {"{\"api_base\":\"nowhere\"}",
                                      "{\"api_base\":5}",
                                      "{\"api_key\":\"a\\r\\nb\"}",
                                      "{\"extra_headers\":[]}",
                                      "{\"extra_headers\":{\"a\":1}}",
                                      "{\"extra_headers\":{\"host\":\"x\"}}",
                                      "{\"custom_llm_provider\":\"anthropic\"}",
                                      "{\"custom_llm_provider\":\"nobody\"}"};
    struct built *b = *state;

    b->endpoint.caller_places = WEIR_PLACE_ALL;
    built_prepare(b);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        built_body(b, bad[i]);
        assert_int_equal(built_make(b), WEIR_BUILD_BAD_PLACE);
    }
    assert_built(b, "{\"api_base\":null,\"model\":\"g\"}", "{\"model\":\"gpt-4o\"}");
    assert_false(b->request.redirected);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_not_allowed_changes_nothing_and_stays_here),
        CASE(a_caller_may_bring_a_key_where_that_is_allowed),
        CASE(the_deployments_secrets_never_go_to_a_callers_address),
        CASE(a_targets_key_never_goes_to_a_callers_address),
        CASE(a_configured_target_may_say_where_and_with_which_key),
        CASE(another_provider_brings_its_dialect),
        CASE(a_place_that_cannot_be_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
