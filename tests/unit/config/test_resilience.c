/* How the load of failure is shared: each key for all groups and for one, and what the engine is told. */
#include "kit.h"

#include <stdio.h>

#include "base/map.h"
#include "base/time.h"
#include "engine/snapshot/snapshot.h"

#define SECONDS(n) ((n)*WEIR_NS_PER_S)
#define GROUPS                                                                                               \
    "model_list:\n"                                                                                          \
    "- {model_name: g, litellm_params: {model: openai/m, api_base: 'http://a.example'}}\n"                   \
    "- {model_name: h, litellm_params: {model: openai/m, api_base: 'http://b.example'}}\n"

/* What holds for a group. */
static const struct weir_resilience *of(const struct kit *kit, const char *group)
{
    const struct weir_set *set = weir_map_get(&kit->config->snapshot->by_group, weir_slice_str(group));

    assert_non_null(set);
    return &set->resilience;
}

static void nothing_of_it_holds_by_default(void **state)
{
    const struct weir_resilience *g;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL, GROUPS);
    kit_expect_count(&kit, 0);
    g = of(&kit, "g");
    assert_true(g->retry_budget.ratio < 0);
    assert_int_equal(g->hedge.after_ns, 0);
    assert_int_equal(g->all_cooling_wait_ns, 0);
    assert_float_equal(g->cooldown_growth.factor, 1, 0);
    assert_int_equal(g->cooldown_ramp_ns, 0);
    kit_free(&kit);
}

static void the_router_says_it_for_all_groups(void **state)
{
    const struct weir_resilience *g;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "weir_settings:\n"
                    "  retry_budget: {ratio: 0.2, min_per_s: 3}\n"
                    "  hedge: {after: 1.5, max: 2}\n"
                    "  all_cooling_wait: 4\n"
                    "  cooldown_growth: {factor: 2, max: 120}\n"
                    "  cooldown_ramp: 30\n");
    kit_expect_count(&kit, 0);
    g = of(&kit, "g");
    assert_float_equal(g->retry_budget.ratio, 0.2, 1e-9);
    assert_float_equal(g->retry_budget.min_per_s, 3, 1e-9);
    assert_int_equal(g->hedge.after_ns, SECONDS(3) / 2);
    assert_int_equal(g->hedge.max, 2);
    assert_int_equal(g->all_cooling_wait_ns, SECONDS(4));
    assert_float_equal(g->cooldown_growth.factor, 2, 1e-9);
    assert_int_equal(g->cooldown_growth.max_ns, SECONDS(120));
    assert_int_equal(g->cooldown_ramp_ns, SECONDS(30));
    assert_int_equal(of(&kit, "h")->hedge.after_ns, g->hedge.after_ns);
    kit_free(&kit);
}

static void keys_that_are_left_out_have_their_defaults(void **state)
{
    const struct weir_resilience *g;
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "weir_settings:\n"
                    "  retry_budget: {ratio: 0}\n"
                    "  hedge: {after: 2}\n"
                    "  cooldown_growth: {factor: 1.5}\n");
    kit_expect_count(&kit, 0);
    g = of(&kit, "g");
    assert_float_equal(g->retry_budget.ratio, 0, 0);
    assert_float_equal(g->retry_budget.min_per_s, 0, 0);
    assert_int_equal(g->hedge.max, 1);
    assert_int_equal(g->cooldown_growth.max_ns, SECONDS(300));
    kit_free(&kit);
}

static void a_group_says_it_before_the_router_each_by_itself(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "weir_settings:\n"
                    "  retry_budget: {ratio: 0.2}\n"
                    "  hedge: {after: 2}\n"
                    "  cooldown_ramp: 30\n"
                    "  cooldown_growth: {factor: 2}\n"
                    "  groups:\n"
                    "    g: {hedge: {after: 5}, retry_budget: 0, cooldown_ramp: 0}\n"
                    "    h: {hedge: off, cooldown_growth: no, all_cooling_wait: 1}\n");
    kit_expect_count(&kit, 0);
    assert_int_equal(of(&kit, "g")->hedge.after_ns, SECONDS(5));
    assert_true(of(&kit, "g")->retry_budget.ratio < 0);
    assert_int_equal(of(&kit, "g")->cooldown_ramp_ns, 0);
    assert_float_equal(of(&kit, "g")->cooldown_growth.factor, 2, 1e-9);
    assert_int_equal(of(&kit, "h")->hedge.after_ns, 0);
    assert_float_equal(of(&kit, "h")->retry_budget.ratio, 0.2, 1e-9);
    assert_float_equal(of(&kit, "h")->cooldown_growth.factor, 1, 0);
    assert_int_equal(of(&kit, "h")->all_cooling_wait_ns, SECONDS(1));
    kit_free(&kit);
}

static void a_value_of_the_wrong_shape_refuses_the_start(void **state)
{
    static const struct {
        const char *text;
        const char *path;
        const char *says;
    } cases[] = {
        {"retry_budget: 0.2", "weir_settings.retry_budget", "expected {ratio: R, min_per_s: N}, or 0"},
        {"retry_budget: {min_per_s: 1}", "weir_settings.retry_budget", "expected {ratio: R"},
        {"retry_budget: {ratio: -1}", "weir_settings.retry_budget.ratio", "from 0 to 1000"},
        {"hedge: 2", "weir_settings.hedge", "expected {after: S, max: N}, or 0"},
        {"hedge: {max: 2}", "weir_settings.hedge", "expected {after: S"},
        {"hedge: {after: 2, max: 1.5}", "weir_settings.hedge.max", "a whole number"},
        {"cooldown_growth: {factor: 0.5}", "weir_settings.cooldown_growth.factor", "from 1 to 1000"},
        {"cooldown_growth: {max: 60}", "weir_settings.cooldown_growth", "expected {factor: F, max: S}, or 0"},
        {"cooldown_ramp: [1]", "weir_settings.cooldown_ramp", "expected a number of seconds"},
        {"all_cooling_wait: -1", "weir_settings.all_cooling_wait", "from 0 to 86400"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        struct kit kit;

        snprintf(text, sizeof(text), GROUPS "weir_settings:\n  %s\n", cases[i].text);
        kit_load(&kit, NULL, text);
        assert_int_equal(kit.rv, WEIR_CONFIG_REFUSED);
        kit_expect(&kit, 5, cases[i].path, "error", cases[i].says);
        kit_free(&kit);
    }
}

static void a_key_that_is_not_known_is_told_with_the_nearest(void **state)
{
    struct kit kit;

    (void)state;
    kit_load(&kit, NULL,
             GROUPS "weir_settings:\n"
                    "  hedge: {after: 2, mx: 3}\n"
                    "  retry_buget: {ratio: 1}\n");
    assert_int_equal(kit.rv, 0);
    kit_expect(&kit, 5, "weir_settings.hedge.mx", "warning", "did you mean max?");
    kit_expect(&kit, 6, "weir_settings.retry_buget", "warning", "did you mean retry_budget?");
    kit_free(&kit);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_it_holds_by_default),
        cmocka_unit_test(the_router_says_it_for_all_groups),
        cmocka_unit_test(keys_that_are_left_out_have_their_defaults),
        cmocka_unit_test(a_group_says_it_before_the_router_each_by_itself),
        cmocka_unit_test(a_value_of_the_wrong_shape_refuses_the_start),
        cmocka_unit_test(a_key_that_is_not_known_is_told_with_the_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
