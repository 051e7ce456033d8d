#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "gateway/attempt/model_memo.h"
#include "provider/endpoint.h"

/* Deployments whose model is a wildcard, as a configuration leaves them, each with a price of its own. */
struct fixture {
    struct weir_config config;
    struct weir_endpoint endpoint;
    struct weir_config_deployment deployments[2];
    struct weir_model_memo memo;
};

static void open_fixture(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    f->endpoint.provider = weir_provider_named(WEIR_SLICE("openai"));
    for (int i = 0; i < 2; i++) {
        f->deployments[i].endpoint = &f->endpoint;
        f->deployments[i].wild = true;
        weir_model_facts_init(&f->deployments[i].facts);
        weir_figure_set(&f->deployments[i].facts, WEIR_FIGURE_OUTPUT, i, WEIR_FACT_PARAMS);
    }
    weir_model_memo_init(&f->memo, weir_mem_libc());
}

static const struct weir_model_facts *ask(struct fixture *f, int deployment, struct weir_slice model,
                                          struct weir_model_facts *room)
{
    return weir_model_memo_facts(&f->memo, &f->config, &f->deployments[deployment], model, room);
}

static void a_model_without_a_wildcard_needs_no_memory(void **state)
{
    struct weir_model_facts room;
    struct fixture f;
    (void)state;

    open_fixture(&f);
    f.deployments[0].wild = false;
    assert_ptr_equal(ask(&f, 0, WEIR_SLICE("openai/gpt-4o"), &room), &f.deployments[0].facts);
    assert_null(f.memo.entries);
    weir_model_memo_deinit(&f.memo);
}

static void what_was_looked_up_is_remembered(void **state)
{
    char name[] = "openai/gpt-4o";
    const struct weir_model_facts *first;
    struct weir_model_facts room;
    struct fixture f;
    (void)state;

    open_fixture(&f);
    first = ask(&f, 0, (struct weir_slice){name, sizeof(name) - 1}, &room);
    assert_true(weir_figure_known(first, WEIR_FIGURE_INPUT));
    memset(name, 'x', sizeof(name)); /* a request's text goes with the request */
    weir_model_facts_init(&f.deployments[0].facts);
    assert_ptr_equal(ask(&f, 0, WEIR_SLICE("openai/gpt-4o"), &room), first);
    assert_true(weir_figure_known(first, WEIR_FIGURE_OUTPUT));
    assert_int_equal(first->sources[WEIR_FIGURE_OUTPUT], WEIR_FACT_PARAMS);
    weir_model_memo_deinit(&f.memo);
}

/* Many more names than places, each asked of both deployments. */
static void a_place_that_is_taken_is_taken_anew(void **state)
{
    struct weir_model_facts room, right;
    struct fixture f;
    char name[32];
    (void)state;

    open_fixture(&f);
    for (int n = 0; n < 20 * WEIR_MODEL_MEMO_PLACES; n++) {
        struct weir_slice model = {name, 0};
        const struct weir_model_facts *facts;

        model.len =
            (size_t)snprintf(name, sizeof(name), n % 3 == 0 ? "openai/gpt-4o-%04d" : "openai/x-%d", n / 2);
        facts = ask(&f, n % 2, model, &room);
        right = *weir_config_facts(&f.config, &f.deployments[n % 2], model, &right);
        for (int i = 0; i < WEIR_FIGURES; i++) {
            assert_int_equal(facts->sources[i], right.sources[i]);
            assert_true(!(facts->figures[i] < right.figures[i] || facts->figures[i] > right.figures[i]));
        }
        assert_int_equal(facts->lacks, right.lacks);
    }
    weir_model_memo_deinit(&f.memo);
}

static void a_name_that_is_too_long_is_looked_up_each_time(void **state)
{
    char name[WEIR_MODEL_MEMO_NAME_MAX + 1];
    struct weir_model_facts room;
    struct fixture f;
    (void)state;

    open_fixture(&f);
    memset(name, 'x', sizeof(name));
    assert_ptr_equal(ask(&f, 0, (struct weir_slice){name, sizeof(name)}, &room), &room);
    assert_ptr_not_equal(ask(&f, 0, (struct weir_slice){name, sizeof(name) - 1}, &room), &room);
    weir_model_memo_deinit(&f.memo);
}

static void *no_memory(void *user, size_t size)
{
    (void)user;
    (void)size;
    return NULL;
}

static void without_memory_nothing_is_remembered(void **state)
{
    const struct weir_mem none = {.alloc = no_memory};
    struct weir_model_facts room;
    struct fixture f;
    (void)state;

    open_fixture(&f);
    weir_model_memo_init(&f.memo, &none);
    assert_ptr_equal(ask(&f, 0, WEIR_SLICE("openai/gpt-4o"), &room), &room);
    assert_true(weir_figure_known(&room, WEIR_FIGURE_INPUT));
    weir_model_memo_deinit(&f.memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_without_a_wildcard_needs_no_memory),
        cmocka_unit_test(what_was_looked_up_is_remembered),
        cmocka_unit_test(a_place_that_is_taken_is_taken_anew),
        cmocka_unit_test(a_name_that_is_too_long_is_looked_up_each_time),
        cmocka_unit_test(without_memory_nothing_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
