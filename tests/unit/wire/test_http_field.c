#include "unit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "test_mem.h"
#include "wire/http_field.h"

static void tokens_and_values_hold_what_the_grammar_allows(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        struct weir_slice s = {&byte, 1};
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool mark = c != 0 && weir_slice_find_char(WEIR_SLICE("!#$%&'*+-.^_`|~"), byte) != WEIR_SLICE_NONE;

        assert_int_equal(weir_http_is_token(s), letter || mark);
        assert_int_equal(weir_http_is_value(s), c == '\t' || (c >= ' ' && c != 0x7f));
    }
    assert_false(weir_http_is_token(WEIR_SLICE_EMPTY));
    assert_true(weir_http_is_value(WEIR_SLICE_EMPTY));
}

static bool list_has(struct weir_slice list, struct weir_slice member)
{
    struct weir_slice part;

    while (weir_http_list_next(&list, &part))
        if (weir_slice_eq_ci(part, member))
            return true;
    return false;
}

static void a_list_has_its_members_in_any_case(void **state)
{
    (void)state;
    assert_true(list_has(WEIR_SLICE("a, Close ,b"), WEIR_SLICE("close")));
    assert_true(list_has(WEIR_SLICE("gzip;q=0.5"), WEIR_SLICE("gzip")));
    assert_true(list_has(WEIR_SLICE(",,x"), WEIR_SLICE("x")));
    assert_false(list_has(WEIR_SLICE("closed, x-close"), WEIR_SLICE("close")));
    assert_false(list_has(WEIR_SLICE("a=\"x, close\""), WEIR_SLICE("close")));
    assert_false(list_has(WEIR_SLICE_EMPTY, WEIR_SLICE("close")));
}

static void parameters_are_found_by_name(void **state)
{
    (void)state;
    assert_slice_is(weir_http_parameter(WEIR_SLICE("timeout=5, max=100"), ',', WEIR_SLICE("max")), "100");
    assert_slice_is(weir_http_parameter(WEIR_SLICE("a/b; Charset = \"utf-8\""), ';', WEIR_SLICE("charset")),
                    "utf-8");
    assert_slice_is(weir_http_parameter(WEIR_SLICE("a/b; x=\"; y=1\"; y=2"), ';', WEIR_SLICE("y")), "2");
    assert_slice_is(weir_http_parameter(WEIR_SLICE("timeout"), ',', WEIR_SLICE("timeout")), "");
    assert_slice_is(weir_http_parameter(WEIR_SLICE("x=\"unfinished"), ',', WEIR_SLICE("y")), "");
}

static int unescape(const char *text, struct weir_arena *arena, struct weir_slice *ret_text)
{
    return weir_http_unescape(weir_slice_str(text), arena, ret_text);
}

static void percent_encoding_is_undone(void **state)
{
    struct weir_arena arena;
    struct weir_slice text = WEIR_SLICE("plain+text"), out;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 4096);
    assert_int_equal(weir_http_unescape(text, &arena, &out), 0);
    assert_ptr_equal(out.ptr, text.ptr);
    assert_int_equal(unescape("a%2Fb%20%C3%a9%25", &arena, &out), 0);
    assert_slice_is(out, "a/b \xc3\xa9%");
    weir_arena_deinit(&arena);
}

static void bad_percent_encoding_is_refused(void **state)
{
    static const char *const bad[] = {"%", "%4", "a%", "%zz", "%4g", "%g4", "%00", "a%2", "%-1"};
    struct weir_arena arena;
    struct weir_slice out;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 1024, 4096);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(unescape(bad[i], &arena, &out), WEIR_HTTP_BAD_ESCAPE);
    weir_arena_deinit(&arena);
}

static void an_arena_that_is_full_is_reported(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;
    struct weir_slice out;

    (void)state;
    test_mem_init(&mem, 1);
    weir_arena_init(&arena, &mem.mem, 1024, 4096);
    assert_int_equal(unescape("%41", &arena, &out), WEIR_ERR_NOMEM);
    weir_arena_deinit(&arena);
}

static void query_values_are_found_by_name(void **state)
{
    struct weir_slice value;

    (void)state;
    assert_true(weir_http_query_find(WEIR_SLICE("a=1&model=x%2Fy&a=2"), WEIR_SLICE("model"), &value));
    assert_slice_is(value, "x%2Fy");
    assert_true(weir_http_query_find(WEIR_SLICE("a=1&a=2"), WEIR_SLICE("a"), &value));
    assert_slice_is(value, "1");
    assert_true(weir_http_query_find(WEIR_SLICE("x&y="), WEIR_SLICE("x"), &value));
    assert_slice_is(value, "");
    assert_true(weir_http_query_find(WEIR_SLICE("x&y=b=c"), WEIR_SLICE("y"), &value));
    assert_slice_is(value, "b=c");
    assert_false(weir_http_query_find(WEIR_SLICE("aa=1"), WEIR_SLICE("a"), &value));
    assert_false(weir_http_query_find(WEIR_SLICE_EMPTY, WEIR_SLICE("a"), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_and_values_hold_what_the_grammar_allows),
        cmocka_unit_test(a_list_has_its_members_in_any_case),
        cmocka_unit_test(parameters_are_found_by_name),
        cmocka_unit_test(percent_encoding_is_undone),
        cmocka_unit_test(bad_percent_encoding_is_refused),
        cmocka_unit_test(an_arena_that_is_full_is_reported),
        cmocka_unit_test(query_values_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
