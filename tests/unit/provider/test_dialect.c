/* What every dialect must do, whatever it is: one run over each of them. */
#include "unit.h"

#include "built.h"
#include "test_mem.h"

static const char *const models[] = {"openai/m", "azure/m",   "hosted_vllm/m",
                                     "ollama/m", "mistral/m", "databricks/m"};

enum { MODELS = sizeof(models) / sizeof(models[0]) };

static void each_dialect_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_provider_count(); i++) {
        const struct weir_dialect *dialect = weir_dialect_of(weir_provider_at(i)->dialect);

        if (dialect == NULL)
            continue;
        assert_true(dialect->name.len > 0);
        assert_non_null(dialect->target);
        assert_non_null(dialect->credential);
        assert_non_null(dialect->build);
        assert_non_null(dialect->read_answer);
        assert_non_null(dialect->read_chunk);
    }
}

static void each_route_has_a_target_that_is_a_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct built b;

        built_init(&b, models[i]);
        built_prepare(&b);
        for (unsigned route = 0; route < WEIR_ROUTES; route++) {
            assert_int_equal(b.endpoint.target[route].ptr[0], '/');
            assert_true(weir_slice_has(b.endpoint.target[route], weir_route_row((weir_route)route)->suffix));
        }
        built_deinit(&b);
    }
}

static void the_key_stands_in_the_fields_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct built b;

        built_init(&b, models[i]);
        built_prepare(&b);
        built_body(&b, "{\"model\":\"g\",\"messages\":[]}");
        assert_int_equal(built_make(&b), 0);
        assert_true(weir_slice_has(b.request.fields, WEIR_SLICE("k-secret\r\n")));
        assert_true(weir_slice_ends(b.request.fields, WEIR_SLICE("\r\n")));
        assert_false(weir_slice_has(b.request.target, WEIR_SLICE("secret")));
        assert_false(weir_slice_has(b.request.base, WEIR_SLICE("secret")));
        assert_false(weir_slice_has(b.body, WEIR_SLICE("secret")));
        built_deinit(&b);
    }
}

static void building_twice_gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct weir_slice first;
        struct built b;

        built_init(&b, models[i]);
        b.endpoint.defaults = WEIR_SLICE("{\"seed\":1}");
        built_prepare(&b);
        built_body(&b, "{\"model\":\"g\",\"tags\":[]}");
        assert_int_equal(built_make(&b), 0);
        first = b.body;
        assert_int_equal(built_make(&b), 0);
        assert_true(weir_slice_eq(first, b.body));
        built_deinit(&b);
    }
}

static void building_may_run_out_of_memory_at_any_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct built b;

        built_init(&b, models[i]);
        b.endpoint.model = WEIR_SLICE("*");
        built_prepare(&b);
        b.build.model = WEIR_SLICE("some-model");
        b.build.overrides = WEIR_SLICE("{\"\\u0061\":1}");
        built_body(&b, "{}");
        for (size_t n = 1;; n++) {
            struct weir_upstream_request request;
            struct weir_arena arena;
            struct test_mem mem;
            int r;

            test_mem_init(&mem, n);
            weir_arena_init(&arena, &mem.mem, 64, 1 << 20);
            r = weir_build_request(&b.build, &arena, &request);
            weir_arena_deinit(&arena);
            test_mem_assert_empty(&mem);
            if (!mem.failed) {
                assert_int_equal(r, 0);
                break;
            }
            assert_true(r < 0);
        }
        built_deinit(&b);
    }
}

static void an_empty_answer_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct weir_plain_answer answer;
        struct built b;

        built_init(&b, models[i]);
        for (unsigned route = 0; route < WEIR_ROUTES; route++)
            assert_int_equal(weir_read_answer(&b.endpoint, (weir_route)route, WEIR_SLICE_EMPTY, &answer),
                             WEIR_ANSWER_BAD);
        built_deinit(&b);
    }
}

static void an_event_without_data_is_no_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct weir_sse_event event = {0};
        struct weir_chunk chunk;
        struct built b;

        built_init(&b, models[i]);
        weir_read_chunk(&b.endpoint, WEIR_ROUTE_CHAT, &event, &chunk);
        assert_int_equal(chunk.chunk_class, WEIR_CHUNK_EMPTY);
        assert_true(chunk.ended == 0);
        built_deinit(&b);
    }
}

static void routes_and_simulations_have_their_defaults(void **state)
{
    struct weir_sim sim;

    (void)state;
    weir_sim_init(&sim);
    assert_false(sim.fails);
    assert_true(sim.error_ratio >= 1);
    assert_int_equal(sim.break_after_tokens, UINT32_MAX);
    assert_true(weir_route_row(WEIR_ROUTE_CHAT)->streams);
    assert_false(weir_route_row(WEIR_ROUTE_EMBEDDINGS)->streams);
    assert_slice_is(weir_route_row(WEIR_ROUTE_COMPLETIONS)->object, "text_completion");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_is_whole),
        cmocka_unit_test(each_route_has_a_target_that_is_a_path),
        cmocka_unit_test(the_key_stands_in_the_fields_only),
        cmocka_unit_test(building_twice_gives_the_same),
        cmocka_unit_test(building_may_run_out_of_memory_at_any_point),
        cmocka_unit_test(an_empty_answer_is_none),
        cmocka_unit_test(an_event_without_data_is_no_content),
        cmocka_unit_test(routes_and_simulations_have_their_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
