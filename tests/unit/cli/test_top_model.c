/* What the routes answer, as rows. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/top_model.h"
#include "kit.h"

static void a_state_becomes_rows(void **state)
{
    struct weir_top_model *model = kit_model(7);
    const struct weir_top_deployment *cooled = &model->deployments[0], *other = &model->deployments[4];

    (void)state;
    assert_int_equal(model->group_count, 3);
    assert_int_equal(model->deployment_count, 7);
    assert_int_equal(model->failover_count, 2);
    assert_int_equal(model->eligible, 6);
    assert_int_equal(model->cooling, 1);
    assert_slice_is(cooled->group, "g0");
    assert_true(cooled->cooling && !cooled->eligible);
    assert_slice_is(cooled->cooldown_kind, "rate_limit");
    assert_true(cooled->cooldown_left_s == 1);
    assert_true(cooled->last_ago_s == 60);
    assert_int_equal(other->in_flight, 4);
    assert_int_equal(other->rpm, 600);
    assert_true(other->failure_share > 0.16 && other->failure_share < 0.17);
    weir_top_model_free(model);
}

static void a_group_sums_up_its_deployments(void **state)
{
    struct weir_top_model *model = kit_model(7);

    (void)state;
    assert_int_equal(model->groups[0].count, 3);
    assert_int_equal(model->groups[0].eligible, 2);
    assert_int_equal(model->groups[0].cooling, 1);
    assert_true(model->groups[0].back_in_s == 1);
    assert_int_equal(model->groups[0].in_flight, 0 + 1 + 2);
    assert_int_equal(model->groups[0].requests, 0 + 1 + 2);
    assert_true(model->groups[0].failure_share == 0.5 || model->groups[0].failures == 3);
    assert_true(model->groups[1].back_in_s < 0);
    weir_top_model_free(model);
}

static void what_is_not_told_is_unknown(void **state)
{
    struct weir_top_model *model;

    (void)state;
    assert_int_equal(
        weir_top_model_new(kit_json("{'groups':[{'deployments':[{},7,null]},{},3]}"), NULL, &model), 0);
    assert_int_equal(model->deployment_count, 3);
    assert_int_equal(model->group_count, 3);
    assert_int_equal(model->failover_count, 0);
    assert_true(model->deployments[0].latency_s < 0);
    assert_true(model->deployments[0].failure_share < 0);
    assert_int_equal(model->deployments[1].id.len, 0);
    assert_false(model->deployments[2].cooling);
    weir_top_model_free(model);
}

static void an_empty_state_has_no_rows(void **state)
{
    struct weir_top_model *model;

    (void)state;
    assert_int_equal(weir_top_model_new(kit_json("{}"), kit_json("{}"), &model), 0);
    assert_int_equal(model->deployment_count + model->group_count + model->failover_count, 0);
    weir_top_model_free(model);
    weir_top_model_free(NULL);
}

/* "[0,0,...]" with so many of them. */
static char *make_zeros(size_t count, const char *before, const char *behind)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    (void)fputs(before, out);
    for (size_t i = 0; i < count; i++)
        (void)fputs(i == 0 ? "0" : ",0", out);
    (void)fputs(behind, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void many_rows_that_say_nothing_take_little_memory(void **state)
{
    enum { MANY = 1000 * 1000, MAX = 200 * 1000 };
    char *deployments = make_zeros(MANY, "{'groups':[{'deployments':[", "]}]}");
    char *calls = make_zeros(MANY, "{'calls':[", "]}"), *groups = make_zeros(MANY, "{'groups':[", "]}");
    struct weir_top_model *model;

    (void)state;
    assert_int_equal(weir_top_model_new(kit_json(deployments), kit_json(calls), &model), 0);
    assert_int_equal(model->deployment_count, MAX);
    assert_int_equal(model->groups[0].count, MAX);
    assert_int_equal(model->failover_count, MAX);
    weir_top_model_free(model);
    assert_int_equal(weir_top_model_new(kit_json(groups), NULL, &model), 0);
    assert_int_equal(model->group_count, MAX);
    weir_top_model_free(model);
    free(deployments);
    free(calls);
    free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_becomes_rows),
        cmocka_unit_test(a_group_sums_up_its_deployments),
        cmocka_unit_test(what_is_not_told_is_unknown),
        cmocka_unit_test(an_empty_state_has_no_rows),
        cmocka_unit_test(many_rows_that_say_nothing_take_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
