#include "unit.h"

#include "wire/url.h"

static void a_url_is_cut_into_its_parts(void **state)
{
    struct weir_url url;

    (void)state;
    assert_int_equal(weir_url_parse(WEIR_SLICE("HTTPS://u:p@h.example:8443/v1/x?y=z"), &url), 0);
    assert_true(url.secure);
    assert_slice_is(url.user, "u:p");
    assert_slice_is(url.host, "h.example");
    assert_slice_is(url.authority, "h.example:8443");
    assert_int_equal(url.port, 8443);
    assert_slice_is(url.path, "/v1/x");
    assert_slice_is(url.query, "y=z");
}

static void what_is_not_said_has_its_default(void **state)
{
    struct weir_url url;

    (void)state;
    assert_int_equal(weir_url_parse(WEIR_SLICE("http://h"), &url), 0);
    assert_false(url.secure);
    assert_int_equal(url.port, 80);
    assert_slice_is(url.path, "");
    assert_slice_is(url.user, "");
    assert_int_equal(weir_url_parse(WEIR_SLICE("https://h?q"), &url), 0);
    assert_int_equal(url.port, 443);
    assert_slice_is(url.path, "");
    assert_slice_is(url.query, "q");
}

static void an_ipv6_address_stands_in_brackets(void **state)
{
    struct weir_url url;

    (void)state;
    assert_int_equal(weir_url_parse(WEIR_SLICE("http://[::1]:8000/"), &url), 0);
    assert_slice_is(url.host, "::1");
    assert_slice_is(url.authority, "[::1]:8000");
    assert_int_equal(url.port, 8000);
    assert_int_equal(weir_url_parse(WEIR_SLICE("http://[fe80::2]"), &url), 0);
    assert_slice_is(url.host, "fe80::2");
    assert_int_equal(url.port, 80);
}

static void a_password_may_hold_an_at_sign(void **state)
{
    struct weir_url url;

    (void)state;
    assert_int_equal(weir_url_parse(WEIR_SLICE("http://u:p@ss@h"), &url), 0);
    assert_slice_is(url.user, "u:p@ss");
    assert_slice_is(url.host, "h");
}

static void what_is_no_such_url_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "h",
        "/path",
        "ftp://h",
        "http:/h",
        "http://",
        "http:///x",
        "http://:80",
        "http://h:0",
        "http://h:65536",
        "http://h:x",
        "http://h:-1",
        "http://[::1",
        "http://[]",
        "http://[::1]x",
        "http://h h",
        "http://h/a b",
        "http://h/#f",
        "http://h\r\n",
        "http://u@",
        "http://h/\xc3\xa9",
    };
    struct weir_url url;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(weir_url_parse(weir_slice_str(bad[i]), &url), WEIR_URL_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_cut_into_its_parts),
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(an_ipv6_address_stands_in_brackets),
        cmocka_unit_test(a_password_may_hold_an_at_sign),
        cmocka_unit_test(what_is_no_such_url_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
