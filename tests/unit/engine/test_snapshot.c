/*
 * The builder and the snapshot: what is refused, what is kept, who owns what (snapshot.h).
 */
#include "engine_kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/snapshot/snapshot.h"

/* clang-format off */
#define TESTS(X) \
    X("snapshot.h", snapshot_defaults_are_those_of_the_specification) \
    X("snapshot.h", snapshot_a_deployment_needs_an_id_and_a_group) \
    X("snapshot.h", snapshot_numbers_must_be_finite) \
    X("snapshot.h", snapshot_an_id_is_taken_once) \
    X("snapshot.h", snapshot_an_alias_is_taken_once) \
    X("snapshot.h", snapshot_an_alias_needs_two_names) \
    X("snapshot.h", snapshot_the_first_chain_of_a_group_holds) \
    X("snapshot.h", snapshot_the_same_group_may_have_a_chain_in_each_list_and_source) \
    X("snapshot.h", snapshot_a_policy_of_a_group_is_taken_once) \
    X("snapshot.h", snapshot_slices_are_copied) \
    X("snapshot.h", snapshot_deployments_keep_their_order) \
    X("snapshot.h", snapshot_tiers_rise_by_order_and_keep_the_sequence_within) \
    X("snapshot.h", snapshot_groups_come_in_the_order_of_their_first_deployment) \
    X("snapshot.h", snapshot_has_a_group_by_its_own_name_alone) \
    X("snapshot.h", snapshot_references_are_counted) \
    X("RS 6.3", rs_6_usage_based_routing_wants_prompts_measured_without_limits_too) \
    X("snapshot.h", snapshot_may_be_empty) \
    X("snapshot.h", snapshot_a_builder_may_be_freed_half_filled) \
    X("snapshot.h", snapshot_every_allocation_may_fail) \
    X("snapshot.h", snapshot_contradicting_numbers_are_refused)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

struct fixture {
    struct test_mem mem;
    weir_snapshot_builder *builder;
};

static void fixture_open(struct fixture *fixture)
{
    test_mem_init(&fixture->mem, 0);
    assert_int_equal(weir_snapshot_builder_new(&fixture->mem.mem, &fixture->builder), 0);
}

static void fixture_close(struct fixture *fixture)
{
    weir_snapshot_builder_free(fixture->builder);
    assert_int_equal(fixture->mem.live_blocks, 0);
}

static int add(struct fixture *fixture, const char *id, const char *group)
{
    struct weir_deployment_spec spec;

    weir_deployment_spec_init(&spec);
    spec.id = weir_slice_str(id);
    spec.group = weir_slice_str(group);
    spec.model = WEIR_SLICE("openai/m");
    return weir_snapshot_add_deployment(fixture->builder, &spec);
}

static void rs_6_usage_based_routing_wants_prompts_measured_without_limits_too(void **state)
{
    static const struct {
        const char *text;
        bool uses;
    } cases[] = {
        {"d g; router strategy=usage-based-routing-v2", true},
        {"d g; router strategy=latency-based-routing", false},
        {"d g max.tpm=9; router strategy=latency-based-routing", true},
        {"d g max.tpm=9", false},
        {"d g; routing r usage-based-routing-v2 g", true},
        {"d g; routing r cost-based-routing g", false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        KIT(kit, cases[i].text);

        assert_int_equal(weir_snapshot_uses_prompt_tokens(kit->snapshot), cases[i].uses);
    }
}

static void snapshot_defaults_are_those_of_the_specification(void **state)
{
    struct weir_router_spec router;
    struct weir_deployment_spec deployment;
    (void)state;

    weir_router_spec_init(&router);
    assert_int_equal(router.strategy.strategy, WEIR_STRATEGY_SIMPLE_SHUFFLE);
    assert_int_equal(router.num_retries, 2);
    assert_int_equal(router.retry_after_ns, 0);
    assert_int_equal(router.initial_retry_delay_ns, weir_time_from_s(0.5));
    assert_int_equal(router.max_retry_delay_ns, weir_time_from_s(8));
    assert_int_equal(router.jitter_ns, weir_time_from_s(0.75));
    assert_int_equal(router.max_fallbacks, 5);
    assert_false(router.weighted_failover);
    assert_int_equal(router.limits.timeout_ns, weir_time_from_s(6000));
    assert_true(router.limits.stream_timeout_ns == WEIR_UNSET_NS);
    assert_int_equal(router.cooldown_ns, weir_time_from_s(5));
    assert_int_equal(router.cooldown_cap_ns, weir_time_from_s(3600));
    assert_false(router.disable_cooldowns);
    assert_int_equal(router.allowed_fails, WEIR_UNSET);
    assert_true(router.failure_threshold > 0.4999 && router.failure_threshold < 0.5001);
    assert_int_equal(router.failure_min_requests, 5);
    assert_int_equal(router.single_failure_minimum, 1000);
    assert_int_equal(router.ask_before_hop, 0);
    for (int i = 0; i < WEIR_POLICY_FIELDS; i++) {
        assert_int_equal(router.retry_policy.count[i], WEIR_UNSET);
        assert_int_equal(router.allowed_fails_policy.count[i], WEIR_UNSET);
    }
    weir_deployment_spec_init(&deployment);
    assert_int_equal(deployment.order, WEIR_UNSET_ORDER);
    assert_int_equal(deployment.num_retries, WEIR_UNSET);
    assert_true(deployment.limits.timeout_ns == WEIR_UNSET_NS);
    assert_true(deployment.cooldown_ns == WEIR_UNSET_NS);
    assert_int_equal(deployment.allowed_fails, WEIR_UNSET);
}

static void snapshot_a_deployment_needs_an_id_and_a_group(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add(&fixture, "", "g"), WEIR_ERR_INVALID);
    assert_int_equal(add(&fixture, "d1", ""), WEIR_ERR_INVALID);
    assert_int_equal(add(&fixture, "d1", "g"), 0);
    fixture_close(&fixture);
}

static void snapshot_numbers_must_be_finite(void **state)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    struct fixture fixture;
    struct weir_deployment_spec spec;
    (void)state;

    fixture_open(&fixture);
    for (size_t i = 0; i < 3; i++) {
        for (size_t field = 0; field < 3; field++) {
            weir_deployment_spec_init(&spec);
            spec.id = WEIR_SLICE("d1");
            spec.group = WEIR_SLICE("g");
            *(field == 0 ? &spec.weight : field == 1 ? &spec.rpm : &spec.tpm) = bad[i];
            assert_int_equal(weir_snapshot_add_deployment(fixture.builder, &spec), WEIR_ERR_INVALID);
        }
    }
    fixture_close(&fixture);
}

static void snapshot_an_id_is_taken_once(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add(&fixture, "d1", "g"), 0);
    assert_int_equal(add(&fixture, "d1", "h"), WEIR_SNAPSHOT_EXISTS);
    fixture_close(&fixture);
}

static void snapshot_an_alias_is_taken_once(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(weir_snapshot_add_alias(fixture.builder, WEIR_SLICE("a"), WEIR_SLICE("g"), false), 0);
    assert_int_equal(weir_snapshot_add_alias(fixture.builder, WEIR_SLICE("a"), WEIR_SLICE("h"), false),
                     WEIR_SNAPSHOT_EXISTS);
    fixture_close(&fixture);
}

static void snapshot_an_alias_needs_two_names(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(weir_snapshot_add_alias(fixture.builder, WEIR_SLICE_EMPTY, WEIR_SLICE("g"), false),
                     WEIR_ERR_INVALID);
    assert_int_equal(weir_snapshot_add_alias(fixture.builder, WEIR_SLICE("a"), WEIR_SLICE_EMPTY, false),
                     WEIR_ERR_INVALID);
    fixture_close(&fixture);
}

static int add_chain(struct fixture *fixture, weir_list_kind list, weir_list_source source, const char *to)
{
    struct weir_target target = {weir_slice_str(to), WEIR_SLICE_EMPTY, WEIR_CONTROLS_NONE};
    struct weir_chain chain = {WEIR_SLICE("g"), &target, 1};

    return weir_snapshot_add_chain(fixture->builder, list, source, &chain);
}

static void snapshot_the_first_chain_of_a_group_holds(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add_chain(&fixture, WEIR_LIST_GENERIC, WEIR_SOURCE_ROUTER, "b"), 0);
    assert_int_equal(add_chain(&fixture, WEIR_LIST_GENERIC, WEIR_SOURCE_ROUTER, "c"), WEIR_SNAPSHOT_EXISTS);
    fixture_close(&fixture);
}

static void snapshot_the_same_group_may_have_a_chain_in_each_list_and_source(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    for (int list = 0; list < WEIR_LIST_KINDS; list++) {
        for (int source = 0; source < WEIR_LIST_SOURCES; source++)
            assert_int_equal(add_chain(&fixture, (weir_list_kind)list, (weir_list_source)source, "b"), 0);
    }
    fixture_close(&fixture);
}

static void snapshot_a_policy_of_a_group_is_taken_once(void **state)
{
    struct weir_policy policy;
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    weir_policy_init(&policy);
    assert_int_equal(weir_snapshot_add_retry_policy(fixture.builder, WEIR_SLICE("g"), &policy), 0);
    assert_int_equal(weir_snapshot_add_retry_policy(fixture.builder, WEIR_SLICE("g"), &policy),
                     WEIR_SNAPSHOT_EXISTS);
    fixture_close(&fixture);
}

static void snapshot_slices_are_copied(void **state)
{
    struct fixture fixture;
    weir_snapshot *snapshot = NULL;
    char id[] = "d1";
    char group[] = "g";
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add(&fixture, id, group), 0);
    memset(id, 'x', 2);
    memset(group, 'x', 1);
    assert_int_equal(weir_snapshot_build(fixture.builder, &snapshot), 0);
    assert_non_null(weir_snapshot_find_deployment(snapshot, WEIR_SLICE("d1")));
    assert_true(weir_slice_eq(weir_snapshot_group_name(snapshot, 0), WEIR_SLICE("g")));
    weir_snapshot_unref(snapshot);
    fixture_close(&fixture);
}

static void snapshot_deployments_keep_their_order(void **state)
{
    (void)state;
    KIT(kit, "z g; a h; m g\n");
    assert_int_equal(weir_snapshot_deployment_count(kit->snapshot), 3);
    assert_memory_equal(weir_deployment_id(weir_snapshot_deployment(kit->snapshot, 0)).ptr, "z", 1);
    assert_memory_equal(weir_deployment_id(weir_snapshot_deployment(kit->snapshot, 1)).ptr, "a", 1);
    assert_memory_equal(weir_deployment_id(weir_snapshot_deployment(kit->snapshot, 2)).ptr, "m", 1);
    assert_memory_equal(weir_deployment_group(weir_snapshot_deployment(kit->snapshot, 1)).ptr, "h", 1);
}

static void snapshot_tiers_rise_by_order_and_keep_the_sequence_within(void **state)
{
    enum { DEPLOYMENTS = 500, ORDERS = 37 };
    struct weir_deployment_spec spec;
    struct fixture fixture;
    weir_snapshot *snapshot;
    uint32_t met = 0;
    char id[8];

    (void)state;
    fixture_open(&fixture);
    for (int i = 0; i < DEPLOYMENTS; i++) {
        weir_deployment_spec_init(&spec);
        spec.id = (struct weir_slice){id, (size_t)snprintf(id, sizeof(id), "d%03d", i)};
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.order = i * 7 % ORDERS - 18;
        spec.blocked = i % 5 == 0;
        assert_int_equal(weir_snapshot_add_deployment(fixture.builder, &spec), 0);
    }
    assert_int_equal(weir_snapshot_build(fixture.builder, &snapshot), 0);
    assert_true(weir_snapshot_validate(snapshot));
    assert_int_equal(snapshot->groups[0]->tier_count, ORDERS);
    for (uint32_t t = 0; t < ORDERS; t++) {
        const struct weir_tier *tier = &snapshot->groups[0]->tiers[t];

        for (uint32_t m = 1; m < tier->count; m++)
            assert_true(memcmp(tier->members[m - 1]->spec.id.ptr, tier->members[m]->spec.id.ptr, 4) < 0);
        met += tier->count;
    }
    assert_int_equal(met, DEPLOYMENTS / 5 * 4);
    weir_snapshot_unref(snapshot);
    fixture_close(&fixture);
}

static void snapshot_groups_come_in_the_order_of_their_first_deployment(void **state)
{
    (void)state;
    KIT(kit, "d1 zeta; d2 alpha; d3 zeta; d4 a*\n");
    assert_int_equal(weir_snapshot_group_count(kit->snapshot), 3);
    assert_true(weir_slice_eq(weir_snapshot_group_name(kit->snapshot, 0), WEIR_SLICE("zeta")));
    assert_true(weir_slice_eq(weir_snapshot_group_name(kit->snapshot, 1), WEIR_SLICE("alpha")));
    assert_true(weir_slice_eq(weir_snapshot_group_name(kit->snapshot, 2), WEIR_SLICE("a*")));
}

static void snapshot_has_a_group_by_its_own_name_alone(void **state)
{
    (void)state;
    KIT(kit, "d1 zeta; d2 a*; alias nick zeta\n");
    assert_true(weir_snapshot_has_group(kit->snapshot, WEIR_SLICE("zeta")));
    assert_true(weir_snapshot_has_group(kit->snapshot, WEIR_SLICE("a*")));
    assert_false(weir_snapshot_has_group(kit->snapshot, WEIR_SLICE("alpha")));
    assert_false(weir_snapshot_has_group(kit->snapshot, WEIR_SLICE("nick")));
    assert_false(weir_snapshot_has_group(kit->snapshot, WEIR_SLICE("d1")));
}

static void snapshot_references_are_counted(void **state)
{
    struct fixture fixture;
    weir_snapshot *snapshot = NULL;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add(&fixture, "d1", "g"), 0);
    assert_int_equal(weir_snapshot_build(fixture.builder, &snapshot), 0);
    assert_ptr_equal(weir_snapshot_ref(snapshot), snapshot);
    weir_snapshot_unref(snapshot);
    assert_int_equal(weir_snapshot_deployment_count(snapshot), 1);
    weir_snapshot_unref(snapshot);
    fixture_close(&fixture);
}

static void snapshot_may_be_empty(void **state)
{
    (void)state;
    KIT(kit, "");
    assert_int_equal(weir_snapshot_deployment_count(kit->snapshot), 0);
    expect(kit, "g", "fail:400");
}

static void snapshot_a_builder_may_be_freed_half_filled(void **state)
{
    struct fixture fixture;
    (void)state;

    fixture_open(&fixture);
    assert_int_equal(add(&fixture, "d1", "g"), 0);
    assert_int_equal(add_chain(&fixture, WEIR_LIST_GENERIC, WEIR_SOURCE_ROUTER, "b"), 0);
    fixture_close(&fixture);
}

static void snapshot_every_allocation_may_fail(void **state)
{
    struct kit_config *config = test_malloc(sizeof(*config));
    (void)state;

    kit_parse_config(config,
                     "d1 g order=1; d2 acme/*; alias x g; fallbacks g: b c{x:1}; context g: b; default d\n"
                     "process-default e; policy g internal=1; process-content *: f; d3 h\n");
    for (size_t number = 1;; number++) {
        struct test_mem mem;
        weir_snapshot *snapshot = NULL;
        int rc;

        test_mem_init(&mem, number);
        rc = kit_build(config, &mem.mem, &snapshot);
        if (rc == 0) {
            weir_snapshot_unref(snapshot);
            assert_int_equal(mem.live_blocks, 0);
            break;
        }
        assert_int_equal(rc, WEIR_ERR_NOMEM);
        assert_null(snapshot);
        assert_int_equal(mem.live_blocks, 0);
    }
    kit_config_deinit(config);
    test_free(config);
}

static int build_with(double threshold, uint64_t initial_ns, uint64_t max_ns)
{
    struct weir_router_spec router;
    struct fixture fixture;
    weir_snapshot *snapshot = NULL;
    int rc;

    fixture_open(&fixture);
    weir_router_spec_init(&router);
    router.failure_threshold = threshold;
    router.initial_retry_delay_ns = initial_ns;
    router.max_retry_delay_ns = max_ns;
    weir_snapshot_set_router(fixture.builder, &router);
    rc = weir_snapshot_build(fixture.builder, &snapshot);
    weir_snapshot_unref(snapshot);
    fixture_close(&fixture);
    return rc;
}

static void snapshot_contradicting_numbers_are_refused(void **state)
{
    (void)state;
    assert_int_equal(build_with(0.5, 1, 2), 0);
    assert_int_equal(build_with((double)NAN, 1, 2), WEIR_ERR_INVALID);
    assert_int_equal(build_with(-0.1, 1, 2), WEIR_ERR_INVALID);
}

KIT_TESTS_MAIN(TESTS)
