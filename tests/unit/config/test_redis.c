/* Which Redis is shared: the router's, the cache's, and what variables add (RS 2.4, 2.5, 22; decisions 22).
 */
#include "kit.h"

#include <stdio.h>

#define HEAD                                                                                                 \
    "model_list:\n"                                                                                          \
    "- model_name: g\n"                                                                                      \
    "  litellm_params: {model: openai/m, api_base: 'http://a.example', api_key: k}\n"

static const struct weir_config_redis *redis_of(const struct kit *kit)
{
    assert_non_null(kit->config);
    return &kit->config->redis;
}

static void assert_server(const struct weir_config_redis *redis, size_t index, const char *host,
                          uint16_t port)
{
    assert_true(redis->on);
    assert_true(index < redis->server_count);
    assert_slice_is(redis->servers[index].host, host);
    assert_int_equal(redis->servers[index].port, port);
}

static void test_variables_alone_turn_nothing_on(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"REDIS_HOST=r", "REDIS_PORT=tcp://10.0.0.1:6379", NULL}, HEAD);
    kit_expect_count(&kit, 0);
    assert_false(redis_of(&kit)->on);
    kit_free(&kit);
}

static void test_the_router_names_it_in_parts(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD
             "router_settings: {redis_host: r, redis_port: '6380', redis_password: p, redis_username: u, "
             "redis_db: 3, redis_ssl: true}\n");
    kit_expect_count(&kit, 0);
    assert_server(redis_of(&kit), 0, "r", 6380);
    assert_slice_is(redis_of(&kit)->password, "p");
    assert_slice_is(redis_of(&kit)->username, "u");
    assert_int_equal(redis_of(&kit)->database, 3);
    assert_true(redis_of(&kit)->tls);
    assert_false(redis_of(&kit)->insecure);
    assert_int_equal(redis_of(&kit)->timeout_ns, 100000000);
    assert_int_equal(redis_of(&kit)->breaker_failures, 5);
    assert_int_equal(redis_of(&kit)->breaker_recovery_ns, UINT64_C(60000000000));
    kit_free(&kit);
}

static void test_variables_fill_what_is_missing(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit,
             (kit_env){"REDIS_PORT=6381", "REDIS_PASSWORD=p", "REDIS_USERNAME=u", "REDIS_SSL=True",
                       "REDIS_URL=redis://elsewhere", "REDIS_SOCKET_TIMEOUT=0.5",
                       "REDIS_CIRCUIT_BREAKER_FAILURE_THRESHOLD=2",
                       "REDIS_CIRCUIT_BREAKER_RECOVERY_TIMEOUT=7", NULL},
             HEAD "router_settings: {redis_host: r}\n");
    assert_server(redis_of(&kit), 0, "r", 6381);
    assert_slice_is(redis_of(&kit)->password, "p");
    assert_slice_is(redis_of(&kit)->username, "u");
    assert_true(redis_of(&kit)->tls);
    assert_int_equal(redis_of(&kit)->timeout_ns, 500000000);
    assert_int_equal(redis_of(&kit)->breaker_failures, 2);
    assert_int_equal(redis_of(&kit)->breaker_recovery_ns, UINT64_C(7000000000));
    kit_free(&kit);
}

static void test_urls(void **state)
{
    static const struct {
        const char *url;
        const char *host;
        uint16_t port;
        const char *username;
        const char *password;
        unsigned database;
        bool tls;
        bool insecure;
    } cases[] = {
        {"redis://r", "r", 6379, "", "", 0, false, false},
        {"redis://r:7000/2", "r", 7000, "", "", 2, false, false},
        {"rediss://u:p@r:7000", "r", 7000, "u", "p", 0, true, false},
        {"redis://:p%40%2fq@r", "r", 6379, "", "p@/q", 0, false, false},
        {"redis://:p@q@r/0", "r", 6379, "", "p@q", 0, false, false},
        {"redis://[::1]:7000/1", "::1", 7000, "", "", 1, false, false},
        {"redis://[fe80::1]", "fe80::1", 6379, "", "", 0, false, false},
        {"redis://", "localhost", 6379, "", "", 0, false, false},
        {"rediss://r?ssl_cert_reqs=none&db=4", "r", 6379, "", "", 4, true, true},
        {"redis://u@r", "r", 6379, "u", "", 0, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[512];

        snprintf(text, sizeof(text), HEAD "router_settings: {redis_url: '%s'}\n", cases[i].url);
        kit_load(&kit, NULL, text);
        assert_server(redis_of(&kit), 0, cases[i].host, cases[i].port);
        assert_slice_is(redis_of(&kit)->username, cases[i].username);
        assert_slice_is(redis_of(&kit)->password, cases[i].password);
        assert_int_equal(redis_of(&kit)->database, cases[i].database);
        assert_int_equal(redis_of(&kit)->tls, cases[i].tls);
        assert_int_equal(redis_of(&kit)->insecure, cases[i].insecure);
        kit_free(&kit);
    }
}

static void test_what_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *path;
        const char *words;
    } cases[] = {
        {"router_settings: {redis_url: 'http://r'}\n", "router_settings.redis_url", "expected redis://"},
        {"router_settings: {redis_url: 'redis://r:x'}\n", "router_settings.redis_url", "port"},
        {"router_settings: {redis_url: 'redis://r/x'}\n", "router_settings.redis_url", "database"},
        {"router_settings: {redis_url: 'unix:///tmp/r'}\n", "router_settings.redis_url", "Unix socket"},
        {"router_settings: {redis_host: r, redis_port: 70000}\n", "router_settings.redis_port", "65535"},
        {"litellm_settings: {cache: true, cache_params: {redis_startup_nodes: [{host: a, port: 1}]}}\n",
         "litellm_settings.cache_params.redis_startup_nodes", "Redis Cluster is not supported"},
        {"litellm_settings: {cache: true, cache_params: {sentinel_nodes: [[a, 1]]}}\n",
         "litellm_settings.cache_params.sentinel_nodes", "service_name is missing"},
        {"litellm_settings: {cache: true, cache_params: {service_name: m, sentinel_nodes: [[a, b]]}}\n",
         "litellm_settings.cache_params.sentinel_nodes", "[host, port]"},
        {"litellm_settings: {cache_params: {password: os.environ/GONE}}\n",
         "litellm_settings.cache_params.password", "GONE is not set"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kit kit;
        char text[512];

        snprintf(text, sizeof(text), HEAD "%s", cases[i].text);
        kit_load(&kit, NULL, text);
        assert_null(kit.config);
        kit_expect(&kit, 4, cases[i].path, "error", cases[i].words);
        kit_free(&kit);
    }
}

static void test_a_url_from_a_variable_that_is_none_is_refused_without_its_text(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"U=http://user:hidden@r", NULL},
             HEAD "router_settings: {redis_url: os.environ/U}\n");
    assert_null(kit.config);
    kit_expect_nowhere(&kit, "hidden");
    kit_free(&kit);
}

static void test_the_caches_redis_is_lent_to_the_router(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "litellm_settings: {cache: true, cache_params: {type: redis, host: r, port: 6390, "
                  "namespace: team-a, mode: default_off, socket_timeout: 0.2}}\n");
    kit_expect_count(&kit, 1); /* mode */
    assert_server(redis_of(&kit), 0, "r", 6390);
    assert_slice_is(redis_of(&kit)->name_space, "team-a");
    assert_int_equal(redis_of(&kit)->timeout_ns, 200000000);
    kit_free(&kit);
}

static void test_the_routers_own_beats_the_caches(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             HEAD "litellm_settings: {cache: true, cache_params: {host: c, namespace: n}}\n"
                  "router_settings: {redis_host: r}\n");
    assert_server(redis_of(&kit), 0, "r", 6379);
    assert_slice_is(redis_of(&kit)->name_space, "");
    kit_expect(&kit, 4, "litellm_settings.cache", "warning", "answers are not cached");
    kit_free(&kit);
}

static void test_a_cache_that_is_off_or_no_redis_lends_nothing(void **state)
{
    static const char *const texts[] = {
        "litellm_settings: {cache_params: {host: c}}\n",
        "litellm_settings: {cache: false, cache_params: {host: c, redis_startup_nodes: [a]}}\n",
        "litellm_settings: {cache: true, cache_params: {type: local}}\n",
        "litellm_settings: {cache: true}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct kit kit;
        char text[512];

        snprintf(text, sizeof(text), HEAD "%s", texts[i]);
        kit_load(&kit, NULL, text);
        assert_false(redis_of(&kit)->on);
        kit_free(&kit);
    }
}

static void test_a_cache_without_params_is_found_by_variables(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"REDIS_URL=rediss://:p@r:7000/1", NULL},
             HEAD "litellm_settings: {cache: true}\n");
    assert_server(redis_of(&kit), 0, "r", 7000);
    assert_true(redis_of(&kit)->tls);
    assert_slice_is(redis_of(&kit)->password, "p");
    kit_free(&kit);
}

static void test_sentinels(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, (kit_env){"REDIS_PASSWORD=p", NULL},
             HEAD "litellm_settings: {cache: true, cache_params: {service_name: main, sentinel_password: s, "
                  "sentinel_nodes: [[a, 1], [b, '2'], 'c:3', d]}}\n");
    assert_server(redis_of(&kit), 0, "a", 1);
    assert_server(redis_of(&kit), 1, "b", 2);
    assert_server(redis_of(&kit), 2, "c", 3);
    assert_server(redis_of(&kit), 3, "d", 26379);
    assert_slice_is(redis_of(&kit)->service, "main");
    assert_slice_is(redis_of(&kit)->password, "p");
    assert_slice_is(redis_of(&kit)->sentinel_password, "s");
    kit_free(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables_alone_turn_nothing_on),
        cmocka_unit_test(test_the_router_names_it_in_parts),
        cmocka_unit_test(test_variables_fill_what_is_missing),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_a_url_from_a_variable_that_is_none_is_refused_without_its_text),
        cmocka_unit_test(test_the_caches_redis_is_lent_to_the_router),
        cmocka_unit_test(test_the_routers_own_beats_the_caches),
        cmocka_unit_test(test_a_cache_that_is_off_or_no_redis_lends_nothing),
        cmocka_unit_test(test_a_cache_without_params_is_found_by_variables),
        cmocka_unit_test(test_sentinels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
