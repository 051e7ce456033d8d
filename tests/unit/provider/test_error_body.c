#include "unit.h"

#include <weir/mem_libc.h>

#include "provider/error_body.h"

static int setup(void **state)
{
    static struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    *state = &arena;
    return 0;
}

static int teardown(void **state)
{
    weir_arena_deinit(*state);
    return 0;
}

static struct weir_error_body read_body(struct weir_arena *arena, const char *body)
{
    struct weir_error_body error;

    assert_int_equal(weir_error_body_read(weir_slice_str(body), arena, &error), 0);
    return error;
}

static void openais_object_is_read(void **state)
{
    struct weir_error_body e = read_body(
        *state,
        "{\"error\": {\"message\": \"It\\u2019s off\", \"type\": \"t\", \"param\": \"p\", \"code\": \"c\"}}");

    assert_slice_is(e.message, "It\xe2\x80\x99s off");
    assert_slice_is(e.type, "t");
    assert_slice_is(e.param, "p");
    assert_slice_is(e.code, "c");
    assert_false(e.html);
}

static void the_words_stand_in_many_places(void **state)
{
    assert_slice_is(read_body(*state, "{\"error\":\"busy\",\"error_type\":\"overloaded\"}").message, "busy");
    assert_slice_is(read_body(*state, "{\"error\":\"busy\",\"error_type\":\"overloaded\"}").type,
                    "overloaded");
    assert_slice_is(read_body(*state, "{\"message\":\"m\",\"code\":400}").code, "400");
    assert_slice_is(read_body(*state, "{\"detail\":\"d\"}").message, "d");
    assert_slice_is(read_body(*state, "{\"detail\":[{\"msg\":\"x\"}]}").message, "[{\"msg\":\"x\"}]");
    assert_slice_is(read_body(*state, "[{\"error\":{\"message\":\"first\"}}]").message, "first");
    assert_slice_is(
        read_body(*state, "{\"choices\":[{\"error\":{\"message\":\"inside\",\"code\":502}}]}").code, "502");
    assert_slice_is(
        read_body(*state, "{\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"r\"}}}").message,
        "r");
    assert_slice_is(read_body(*state, "{\"__type\":\"ThrottlingException\",\"Message\":\"slow\"}").type,
                    "ThrottlingException");
    assert_slice_is(read_body(*state, "{\"odd\":1}").message, "{\"odd\":1}");
    assert_slice_is(read_body(*state, "  plain words \n").message, "plain words");
    assert_slice_is(read_body(*state, "").message, "");
}

static void a_body_that_is_cut_gives_what_it_can(void **state)
{
    struct weir_error_body e = read_body(*state, "{\"message\":\"m\",\"type\":\"t\",\"code\":\"c");

    assert_slice_is(e.message, "m");
    assert_slice_is(e.type, "t");
    assert_slice_is(e.code, "");
}

static void azures_inner_error_is_kept(void **state)
{
    assert_slice_is(read_body(*state, "{\"error\":{\"innererror\":{\"code\":\"x\"}}}").inner,
                    "{\"code\":\"x\"}");
    assert_slice_is(read_body(*state, "{\"error\":{\"inner_error\":{\"code\":\"y\"}}}").inner,
                    "{\"code\":\"y\"}");
}

static void googles_retry_delay_is_found(void **state)
{
    assert_slice_is(read_body(*state, "{\"error\":{\"details\":[{\"retryDelay\": \"5.403s\"}]}}").retry_delay,
                    "5.403");
    assert_slice_is(read_body(*state, "{\"retryDelay\":\"soon\"}").retry_delay, "");
    assert_slice_is(read_body(*state, "\"retryDelay\"").retry_delay, "");
}

struct status_case {
    const char *body;
    int status;
};

static void an_error_without_a_status_names_one(void **state)
{
    static const struct status_case cases[] = {
        {"{\"error\":{\"code\":429}}", 429},
        {"{\"error\":{\"code\":\"503\"}}", 503},
        {"{\"error\":{\"status_code\":502}}", 502},
        {"{\"error\":{\"http_status_code\":404,\"type\":\"x\"}}", 404},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\",\"type\":\"requests\"}}", 429},
        {"{\"error\":{\"code\":null,\"type\":\"server_error\"}}", 500},
        {"{\"error\":{\"type\":\"invalid_request_error\"}}", 400},
        {"{\"error\":{\"code\":\"context_length_exceeded\",\"type\":\"invalid_request_error\"}}", 400},
        {"{\"error\":{\"type\":\"overloaded_error\"}}", 529},
        {"{\"error\":{\"type\":\"overloaded\"}}", 503},
        {"{\"error\":{\"status\":\"UNAVAILABLE\"}}", 503},
        {"{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\"}}", 429},
        {"{\"error\":{\"code\":200}}", 0},
        {"{\"error\":{\"code\":99999999999999999999}}", 0},
        {"{\"error\":{\"code\":\"odd\"}}", 0},
        {"nothing", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct weir_error_body e = read_body(*state, cases[i].body);

        assert_int_equal(weir_error_body_status(&e), cases[i].status);
    }
}

static void a_page_becomes_its_words(void **state)
{
    struct weir_slice text = WEIR_SLICE_EMPTY;
    const char *html = "<!doctype html><html><head><title>502 Bad\n Gateway</title><style>p{x}</style>"
                       "<script>if (a<b) c();</script></head><!-- no > -->\r\n<p>nginx</p></html>";

    assert_true(read_body(*state, html).html);
    assert_int_equal(weir_error_body_plain(weir_slice_str(html), 500, *state, &text), 0);
    assert_slice_is(text, "502 Bad Gateway nginx");
    assert_int_equal(weir_error_body_plain(weir_slice_str(html), 7, *state, &text), 0);
    assert_slice_is(text, "502 Bad");
    assert_int_equal(weir_error_body_plain(WEIR_SLICE("<unclosed"), 7, *state, &text), 0);
    assert_slice_is(text, "");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(openais_object_is_read),
        CASE(the_words_stand_in_many_places),
        CASE(a_body_that_is_cut_gives_what_it_can),
        CASE(azures_inner_error_is_kept),
        CASE(googles_retry_delay_is_found),
        CASE(an_error_without_a_status_names_one),
        CASE(a_page_becomes_its_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
