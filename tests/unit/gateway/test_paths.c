#include "unit.h"

#include "gateway/request/paths.h"

static void each_spelling_of_a_call_is_found(void **state)
{
    static const struct {
        const char *path;
        const char *name;
        weir_route route;
    } rows[] = {
        {"/v1/chat/completions", "", WEIR_ROUTE_CHAT},
        {"/chat/completions", "", WEIR_ROUTE_CHAT},
        {"/openai/deployments/a/chat/completions", "a", WEIR_ROUTE_CHAT},
        {"/engines/a%2Fb/chat/completions", "a%2Fb", WEIR_ROUTE_CHAT},
        {"/openai/deployments/p/q/r/chat/completions", "p/q/r", WEIR_ROUTE_CHAT},
        {"/v1/completions", "", WEIR_ROUTE_COMPLETIONS},
        {"/completions", "", WEIR_ROUTE_COMPLETIONS},
        {"/engines/a/completions", "a", WEIR_ROUTE_COMPLETIONS},
        {"/openai/deployments/a/completions", "a", WEIR_ROUTE_COMPLETIONS},
        {"/v1/embeddings", "", WEIR_ROUTE_EMBEDDINGS},
        {"/embeddings", "", WEIR_ROUTE_EMBEDDINGS},
        {"/openai/deployments/a/embeddings", "a", WEIR_ROUTE_EMBEDDINGS},
        {"/engines/a/embeddings", "a", WEIR_ROUTE_EMBEDDINGS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_path path;

        assert_int_equal(weir_path_find(WEIR_SLICE("POST"), weir_slice_str(rows[i].path), &path), 0);
        assert_int_equal(path.row->service, WEIR_SERVICE_CALL);
        assert_int_equal(path.row->route, rows[i].route);
        assert_slice_is(path.name, rows[i].name);
        assert_int_equal(path.row->access, WEIR_ACCESS_KEY);
    }
}

static void pages_are_got_and_headed(void **state)
{
    struct weir_path path;

    (void)state;
    assert_int_equal(weir_path_find(WEIR_SLICE("GET"), WEIR_SLICE("/v1/models"), &path), 0);
    assert_int_equal(path.row->service, WEIR_SERVICE_MODELS);
    assert_int_equal(weir_path_find(WEIR_SLICE("HEAD"), WEIR_SLICE("/models"), &path), 0);
    assert_int_equal(weir_path_find(WEIR_SLICE("GET"), WEIR_SLICE("/v1/models/openai/gpt-4o"), &path), 0);
    assert_int_equal(path.row->service, WEIR_SERVICE_MODEL);
    assert_slice_is(path.name, "openai/gpt-4o");
}

static void only_liveness_and_readiness_are_open(void **state)
{
    static const char *const open[] = {"/health/liveliness", "/health/liveness", "/health/readiness"};
    static const char *const closed[] = {"/health", "/v1/models", "/v1/model/info", "/model/info"};
    struct weir_path path;

    (void)state;
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        assert_int_equal(weir_path_find(WEIR_SLICE("GET"), weir_slice_str(open[i]), &path), 0);
        assert_int_equal(path.row->access, WEIR_ACCESS_OPEN);
    }
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        assert_int_equal(weir_path_find(WEIR_SLICE("GET"), weir_slice_str(closed[i]), &path), 0);
        assert_int_equal(path.row->access, WEIR_ACCESS_KEY);
    }
}

static void another_method_is_told_which_it_takes(void **state)
{
    struct weir_path path;

    (void)state;
    assert_int_equal(weir_path_find(WEIR_SLICE("GET"), WEIR_SLICE("/v1/chat/completions"), &path),
                     WEIR_PATH_METHOD);
    assert_slice_is(weir_path_allow(path.methods), "POST, OPTIONS");
    assert_int_equal(weir_path_find(WEIR_SLICE("DELETE"), WEIR_SLICE("/v1/models"), &path), WEIR_PATH_METHOD);
    assert_slice_is(weir_path_allow(path.methods), "GET, HEAD, OPTIONS");
}

static void a_path_may_take_several(void **state)
{
    struct weir_path path;

    (void)state;
    assert_int_equal(weir_path_find(WEIR_SLICE("POST"), WEIR_SLICE("/weir/cooldowns/a/b"), &path), 0);
    assert_int_equal(path.row->service, WEIR_SERVICE_COOL);
    assert_slice_is(path.name, "a/b");
    assert_int_equal(weir_path_find(WEIR_SLICE("DELETE"), WEIR_SLICE("/weir/cooldowns/a"), &path), 0);
    assert_int_equal(path.row->service, WEIR_SERVICE_LIFT);
    assert_int_equal(weir_path_find(WEIR_SLICE("HEAD"), WEIR_SLICE("/weir/cooldowns/a"), &path),
                     WEIR_PATH_METHOD);
    assert_slice_is(weir_path_allow(path.methods), "POST, DELETE, OPTIONS");
}

static void other_paths_are_unknown(void **state)
{
    static const char *const paths[] = {"",
                                        "/",
                                        "/v1",
                                        "/v1/chat/completions/",
                                        "/v1/chat/completion",
                                        "/v1/models/",
                                        "/engines/",
                                        "/engines//chat/completions",
                                        "*"};
    struct weir_path path;

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(weir_path_find(WEIR_SLICE("POST"), weir_slice_str(paths[i]), &path),
                         WEIR_PATH_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_spelling_of_a_call_is_found),
        cmocka_unit_test(pages_are_got_and_headed),
        cmocka_unit_test(only_liveness_and_readiness_are_open),
        cmocka_unit_test(another_method_is_told_which_it_takes),
        cmocka_unit_test(a_path_may_take_several),
        cmocka_unit_test(other_paths_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
