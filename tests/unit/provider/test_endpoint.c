#include "unit.h"

#include "built.h"
#include "test_mem.h"

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

static int prepare(struct built *b)
{
    return weir_endpoint_prepare(&b->endpoint, &b->arena);
}

static void heads_are_rendered_once(void **state)
{
    struct built *b = *state;

    built_prepare(b);
    assert_slice_is(b->endpoint.fields[0], "User-Agent: weir/" WEIR_VERSION "\r\n"
                                           "Content-Type: application/json\r\n"
                                           "Accept: application/json\r\n"
                                           "Accept-Encoding: gzip, deflate\r\n"
                                           "Authorization: Bearer k-secret\r\n");
    assert_slice_is(b->endpoint.fields[1], "User-Agent: weir/" WEIR_VERSION "\r\n"
                                           "Content-Type: application/json\r\n"
                                           "Accept: text/event-stream\r\n"
                                           "Authorization: Bearer k-secret\r\n");
    assert_slice_is(b->endpoint.base, "http://up.example/v1");
    assert_slice_is(b->endpoint.target[WEIR_ROUTE_EMBEDDINGS], "/v1/embeddings");
    assert_slice_is(b->endpoint.name, "gpt-4o");
    assert_slice_is(b->endpoint.name_json, "\"gpt-4o\"");
}

static void without_a_key_none_is_sent(void **state)
{
    struct built *b = *state;

    b->endpoint.api_key = WEIR_SLICE_EMPTY;
    built_prepare(b);
    assert_false(weir_slice_has(b->endpoint.fields[0], WEIR_SLICE("Authorization")));
}

static void extra_headers_take_the_place_of_ours(void **state)
{
    static const struct weir_header headers[] = {
        {WEIR_SLICE_INIT("x-team"), WEIR_SLICE_INIT("red")},
        {WEIR_SLICE_INIT("user-agent"), WEIR_SLICE_INIT("mine")},
        {WEIR_SLICE_INIT("AUTHORIZATION"), WEIR_SLICE_INIT("Basic x")}};
    struct built *b = *state;

    b->endpoint.headers = headers;
    b->endpoint.header_count = 3;
    b->endpoint.organization = WEIR_SLICE("org-1");
    built_prepare(b);
    assert_slice_is(b->endpoint.fields[1], "Content-Type: application/json\r\n"
                                           "Accept: text/event-stream\r\n"
                                           "OpenAI-Organization: org-1\r\n"
                                           "x-team: red\r\nuser-agent: mine\r\nAUTHORIZATION: Basic x\r\n");
}

static void a_header_that_cannot_be_sent_is_refused(void **state)
{
    static const struct weir_header bad[] = {{WEIR_SLICE_INIT("x y"), WEIR_SLICE_INIT("v")},
                                             {WEIR_SLICE_INIT("x"), WEIR_SLICE_INIT("a\r\nb: c")},
                                             {WEIR_SLICE_INIT(""), WEIR_SLICE_INIT("v")},
                                             {WEIR_SLICE_INIT("Host"), WEIR_SLICE_INIT("h")},
                                             {WEIR_SLICE_INIT("content-length"), WEIR_SLICE_INIT("1")},
                                             {WEIR_SLICE_INIT("Accept-Encoding"), WEIR_SLICE_INIT("br")}};
    struct built *b = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(weir_endpoint_header_ok(&bad[i]));
        b->endpoint.headers = &bad[i];
        b->endpoint.header_count = 1;
        assert_int_equal(prepare(b), WEIR_ENDPOINT_BAD_HEADER);
    }
    b->endpoint.header_count = 0;
    b->endpoint.api_key = WEIR_SLICE("k\r\nx: y");
    assert_int_equal(prepare(b), WEIR_ENDPOINT_BAD_HEADER);
}

static void a_base_must_be_a_url(void **state)
{
    static const char *const bad[] = {"up.example/v1", "ftp://up.example", "http://", "http://u:p@up.example",
                                      "http://a b"};
    struct built *b = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        b->endpoint.api_base = weir_slice_str(bad[i]);
        assert_int_equal(prepare(b), WEIR_ENDPOINT_BAD_BASE);
    }
}

static void a_base_keeps_its_path_and_query(void **state)
{
    struct built *b = *state;

    b->endpoint.api_base = WEIR_SLICE("https://up.example:8443/a/b//?x=1");
    built_prepare(b);
    assert_true(b->endpoint.secure);
    assert_int_equal(b->endpoint.port, 8443);
    assert_slice_is(b->endpoint.base, "https://up.example:8443/a/b");
    assert_slice_is(b->endpoint.target[WEIR_ROUTE_CHAT], "/a/b/chat/completions?x=1");
}

static void the_providers_own_address_serves_when_none_is_said(void **state)
{
    struct built *b = *state;

    b->endpoint.api_base = WEIR_SLICE_EMPTY;
    built_prepare(b);
    assert_slice_is(b->endpoint.base, "https://api.openai.com/v1");
    assert_int_equal(b->endpoint.port, 443);
}

static void a_provider_without_an_address_needs_one(void **state)
{
    struct built *b = *state;

    b->endpoint.provider = weir_provider_named(WEIR_SLICE("hosted_vllm"));
    b->endpoint.api_base = WEIR_SLICE_EMPTY;
    assert_int_equal(prepare(b), WEIR_ENDPOINT_NO_BASE);
    b->endpoint.provider = weir_provider_named(WEIR_SLICE("anthropic"));
    assert_int_equal(prepare(b), WEIR_ENDPOINT_NO_DIALECT);
}

static void ollamas_base_gets_v1_when_it_is_missing(void **state)
{
    struct built *b = *state;

    b->endpoint.provider = weir_provider_named(WEIR_SLICE("ollama"));
    b->endpoint.api_base = WEIR_SLICE("http://localhost:11434/");
    built_prepare(b);
    assert_slice_is(b->endpoint.target[WEIR_ROUTE_CHAT], "/v1/chat/completions");
    b->endpoint.api_base = WEIR_SLICE("http://localhost:11434/v1/");
    built_prepare(b);
    assert_slice_is(b->endpoint.target[WEIR_ROUTE_CHAT], "/v1/chat/completions");
}

static void a_simulated_deployment_needs_no_address(void **state)
{
    struct built *b = *state;

    built_deinit(b);
    built_init(b, "sim/echo");
    b->endpoint.api_base = WEIR_SLICE_EMPTY;
    built_prepare(b);
    assert_slice_is(b->endpoint.name_json, "\"echo\"");
    built_body(b, "{}");
    assert_true(built_make(b) < 0);
}

static void parameters_must_be_an_object(void **state)
{
    static const char *const bad[] = {"[]", "1", "{", "{\"a\":}", "nothing"};
    struct built *b = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        b->endpoint.defaults = weir_slice_str(bad[i]);
        assert_int_equal(prepare(b), WEIR_ENDPOINT_BAD_JSON);
    }
    b->endpoint.defaults = WEIR_SLICE_EMPTY;
    b->endpoint.extra_body = WEIR_SLICE("[1]");
    assert_int_equal(prepare(b), WEIR_ENDPOINT_BAD_JSON);
    b->endpoint.extra_body = WEIR_SLICE("{\"\\u0061\" : 1}");
    built_prepare(b);
    assert_int_equal(b->endpoint.extra_params.count, 1);
    assert_slice_is(b->endpoint.extra_params.items[0].name, "a");
    assert_slice_is(b->endpoint.extra_params.items[0].value, "1");
}

static void every_problem_has_a_sentence(void **state)
{
    (void)state;
    for (int condition = WEIR_ENDPOINT_NO_DIALECT; condition <= WEIR_ENDPOINT_BAD_JSON; condition++)
        assert_true(weir_endpoint_problem(condition).len > 10);
}

static void memory_may_run_out_at_any_point(void **state)
{
    struct built *b = *state;
    struct weir_endpoint filled = b->endpoint;

    filled.model = WEIR_SLICE("azure/m");
    filled.provider = weir_provider_named(WEIR_SLICE("azure"));
    filled.defaults = WEIR_SLICE("{\"\\u0061\":1,\"b\":2}");
    for (size_t n = 1;; n++) {
        struct test_mem mem;
        struct weir_arena arena;
        struct weir_endpoint endpoint = filled;
        int r;

        test_mem_init(&mem, n);
        weir_arena_init(&arena, &mem.mem, 64, 1 << 20);
        r = weir_endpoint_prepare(&endpoint, &arena);
        weir_arena_deinit(&arena);
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
        CASE(heads_are_rendered_once),
        CASE(without_a_key_none_is_sent),
        CASE(extra_headers_take_the_place_of_ours),
        CASE(a_header_that_cannot_be_sent_is_refused),
        CASE(a_base_must_be_a_url),
        CASE(a_base_keeps_its_path_and_query),
        CASE(the_providers_own_address_serves_when_none_is_said),
        CASE(a_provider_without_an_address_needs_one),
        CASE(ollamas_base_gets_v1_when_it_is_missing),
        CASE(a_simulated_deployment_needs_no_address),
        CASE(parameters_must_be_an_object),
        CASE(every_problem_has_a_sentence),
        CASE(memory_may_run_out_at_any_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
