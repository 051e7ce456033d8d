/* Which upstream goes through which proxy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "net/proxy.h"

#include <cmocka.h>

static void init(struct weir_proxies *proxies, const char *http, const char *https, const char *no_proxy)
{
    const struct weir_proxies_values values = {
        .http = weir_slice_str(http), .https = weir_slice_str(https), .no_proxy = weir_slice_str(no_proxy)};

    assert_int_equal(weir_proxies_init(proxies, weir_mem_libc(), &values), 0);
}

static void each_scheme_has_its_proxy(void **state)
{
    struct weir_proxies proxies;
    const struct weir_proxy *proxy;

    (void)state;
    init(&proxies, "http://one.test:3128", "two.test:8080/", "");
    proxy = weir_proxies_find(&proxies, false, WEIR_SLICE("x.test"), 80);
    assert_non_null(proxy);
    assert_true(weir_slice_eq(proxy->host, WEIR_SLICE("one.test")));
    assert_int_equal(proxy->port, 3128);
    assert_int_equal(proxy->authorization.len, 0);
    proxy = weir_proxies_find(&proxies, true, WEIR_SLICE("x.test"), 443);
    assert_non_null(proxy);
    assert_true(weir_slice_eq(proxy->host, WEIR_SLICE("two.test")));
    assert_int_equal(proxy->port, 8080);
    weir_proxies_deinit(&proxies);
    init(&proxies, "", "", "");
    assert_null(weir_proxies_find(&proxies, false, WEIR_SLICE("x.test"), 80));
    weir_proxies_deinit(&proxies);
}

static void credentials_are_decoded_and_encoded(void **state)
{
    struct weir_proxies proxies;

    (void)state;
    init(&proxies, "http://us%65r:p%40s%3as@one.test", "http://name%@one.test", "");
    assert_true(weir_slice_eq(proxies.http.authorization, WEIR_SLICE("Basic dXNlcjpwQHM6cw==")));
    assert_int_equal(proxies.http.port, 80);
    assert_true(weir_slice_eq(proxies.https.authorization, WEIR_SLICE("Basic bmFtZSU=")));
    weir_proxies_deinit(&proxies);
}

static void other_urls_are_unreadable(void **state)
{
    static const char *const urls[] = {"https://secure.test", "socks5://x.test:1080", "http://",
                                       "http://x:99999", "a b"};
    struct weir_proxies proxies;

    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        const struct weir_proxies_values values = {.https = weir_slice_str(urls[i])};

        assert_int_equal(weir_proxies_init(&proxies, weir_mem_libc(), &values), WEIR_PROXIES_UNREADABLE);
        assert_null(weir_proxies_find(&proxies, true, WEIR_SLICE("x.test"), 443));
        weir_proxies_deinit(&proxies);
    }
}

struct row {
    const char *no_proxy;
    const char *host;
    uint16_t port;
    bool direct;
};

static const struct row rows[] = {
    {"", "x.test", 80, false},
    {"*", "x.test", 80, true},
    {"x.test", "x.test", 80, true},
    {"x.test", "X.Test", 80, true},
    {"x.test", "a.x.test", 80, true},
    {"x.test", "ax.test", 80, false},
    {".x.test", "x.test", 80, true},
    {".x.test", "a.x.test", 80, true},
    {"*.x.test", "a.x.test", 80, true},
    {"a.test, ,x.test", "x.test", 80, true},
    {"x.test:8080", "x.test", 8080, true},
    {"x.test:8080", "x.test", 80, false},
    {"127.0.0.1", "127.0.0.1", 80, true},
    {"127.0.0.1", "127.0.0.2", 80, false},
    {"127.0.0.1:81", "127.0.0.1", 80, false},
    {"0.0.1", "127.0.0.1", 80, false},
    {"10.0.0.0/8", "10.1.2.3", 80, true},
    {"10.0.0.0/8", "11.1.2.3", 80, false},
    {"10.1.2.0/23", "10.1.3.9", 80, true},
    {"10.1.2.0/23", "10.1.4.9", 80, false},
    {"10.0.0.0/99", "10.0.0.0", 80, false},
    {"0.0.0.0/0", "9.9.9.9", 80, true},
    {"10.0.0.0/8", "ten.test", 80, false},
    {"::1", "::1", 80, true},
    {"[::1]:80", "::1", 80, true},
    {"[::1]:81", "::1", 80, false},
    {"fd00::/8", "fd12::1", 80, true},
    {"fd00::/8", "fe80::1", 80, false},
    {"localhost", "localhost", 80, true},
    {"/", "x.test", 80, false},
    {"[", "x.test", 80, false},
    {".", "x.test", 80, false},
};

static void exceptions_are_reached_directly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_proxies proxies;
        const struct weir_proxy *proxy;

        init(&proxies, "http://one.test", "", rows[i].no_proxy);
        proxy = weir_proxies_find(&proxies, false, weir_slice_str(rows[i].host), rows[i].port);
        if ((proxy == NULL) != rows[i].direct)
            fail_msg("%s with NO_PROXY=%s", rows[i].host, rows[i].no_proxy);
        weir_proxies_deinit(&proxies);
    }
}

static struct weir_slice variable(void *user, const char *name)
{
    (void)user;
    return weir_slice_str(getenv(name));
}

static void the_environment_is_read_in_both_cases(void **state)
{
    struct weir_proxies proxies;

    (void)state;
    assert_int_equal(setenv("http_proxy", "http://lower.test", 1), 0);
    assert_int_equal(setenv("HTTP_PROXY", "http://upper.test", 1), 0);
    assert_int_equal(setenv("ALL_PROXY", "http://all.test", 1), 0);
    assert_int_equal(setenv("NO_PROXY", "a.test", 1), 0);
    assert_int_equal(weir_proxies_init_variables(&proxies, weir_mem_libc(), variable, NULL), 0);
    assert_true(weir_slice_eq(proxies.http.host, WEIR_SLICE("lower.test")));
    assert_true(weir_slice_eq(proxies.https.host, WEIR_SLICE("all.test")));
    assert_null(weir_proxies_find(&proxies, false, WEIR_SLICE("a.test"), 80));
    weir_proxies_deinit(&proxies);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("ALL_PROXY"), 0);
    assert_int_equal(weir_proxies_init_variables(&proxies, weir_mem_libc(), variable, NULL), 0);
    assert_true(weir_slice_eq(proxies.http.host, WEIR_SLICE("upper.test")));
    weir_proxies_deinit(&proxies);
    assert_int_equal(setenv("REQUEST_METHOD", "GET", 1), 0);
    assert_int_equal(weir_proxies_init_variables(&proxies, weir_mem_libc(), variable, NULL), 0);
    assert_int_equal(proxies.http.host.len, 0);
    weir_proxies_deinit(&proxies);
}

static void proxies_are_the_same_when_they_send_everything_the_same_way(void **state)
{
    static const struct weir_proxies_values values[] = {
        {.all = WEIR_SLICE_INIT("http://a.test:1")},
        {.all = WEIR_SLICE_INIT("http://a.test:2")},
        {.http = WEIR_SLICE_INIT("http://a.test:1")},
        {.all = WEIR_SLICE_INIT("http://u:p@a.test:1")},
        {.all = WEIR_SLICE_INIT("http://a.test:1"), .no_proxy = WEIR_SLICE_INIT("b.test")},
        {.all = WEIR_SLICE_INIT("http://a.test:1"), .no_proxy = WEIR_SLICE_INIT("c.test")},
    };
    struct weir_proxies a, b;

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        for (size_t j = 0; j < sizeof(values) / sizeof(*values); j++) {
            assert_int_equal(weir_proxies_init(&a, weir_mem_libc(), &values[i]), 0);
            assert_int_equal(weir_proxies_init(&b, weir_mem_libc(), &values[j]), 0);
            assert_int_equal(weir_proxies_eq(&a, &b), i == j);
            weir_proxies_deinit(&a);
            weir_proxies_deinit(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_scheme_has_its_proxy),
        cmocka_unit_test(credentials_are_decoded_and_encoded),
        cmocka_unit_test(other_urls_are_unreadable),
        cmocka_unit_test(exceptions_are_reached_directly),
        cmocka_unit_test(the_environment_is_read_in_both_cases),
        cmocka_unit_test(proxies_are_the_same_when_they_send_everything_the_same_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
