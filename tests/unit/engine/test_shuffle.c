/*
 * The distribution of simple-shuffle (router-semantics 6.1) by chi-square tests with fixed seeds.
 */
#include "engine_kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/slice.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 6.1", rs_6_weights_share_the_traffic) \
    X("RS 6.1", rs_6_rpm_serves_where_no_weight_is_set) \
    X("RS 6.1", rs_6_tpm_serves_where_neither_is_set) \
    X("RS 6.1", rs_6_no_source_means_uniform) \
    X("RS 6.1", rs_6_weight_beats_rpm_beats_tpm) \
    X("RS 6.1", rs_6_one_without_the_metric_gets_nothing) \
    X("RS 6.1", rs_6_a_source_whose_maximum_is_not_positive_is_passed_over) \
    X("RS 6.1", rs_6_weights_are_renormalised_over_the_filtered_candidates) \
    X("RS 6.1", rs_6_the_source_is_chosen_among_the_filtered_candidates) \
    X("RS 6.1", rs_6_all_zero_weights_after_filtering_mean_uniform) \
    X("RS 6.1", rs_6_huge_and_tiny_weights_do_not_overflow) \
    X("RS 6.1", rs_6_a_group_of_tiny_weights_may_stand_beside_one_of_huge_ones) \
    X("RS 6.1", rs_6_orders_share_by_weight_within_their_tier) \
    X("RS 6.1", rs_6_a_group_of_ten_thousand_is_shared_by_weight) \
    X("RS 6.1", rs_6_a_group_of_ten_thousand_with_all_but_one_blocked)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static void rs_6_weights_share_the_traffic(void **state)
{
    static const double shares[] = {3, 1, 0.5, 5.5};
    (void)state;
    KIT(kit, "d1 g w=3; d2 g w=1; d3 g w=0.5; d4 g w=5.5\n");
    kit_expect_shares(kit, "g", shares, 4);
}

static void rs_6_rpm_serves_where_no_weight_is_set(void **state)
{
    static const double shares[] = {9, 1};
    (void)state;
    KIT(kit, "d1 g rpm=9000; d2 g rpm=1000\n");
    kit_expect_shares(kit, "g", shares, 2);
}

static void rs_6_tpm_serves_where_neither_is_set(void **state)
{
    static const double shares[] = {2, 1, 1};
    (void)state;
    KIT(kit, "d1 g tpm=2000000; d2 g tpm=1000000; d3 g tpm=1000000\n");
    kit_expect_shares(kit, "g", shares, 3);
}

static void rs_6_no_source_means_uniform(void **state)
{
    static const double shares[] = {1, 1, 1, 1, 1, 1, 1};
    (void)state;
    KIT(kit, "d1 g; d2 g; d3 g; d4 g; d5 g; d6 g; d7 g\n");
    kit_expect_shares(kit, "g", shares, 7);
}

static void rs_6_weight_beats_rpm_beats_tpm(void **state)
{
    static const double shares[] = {1, 3};
    (void)state;
    KIT(kit, "d1 g w=1 rpm=9 tpm=9; d2 g w=3 rpm=1 tpm=1\n");
    kit_expect_shares(kit, "g", shares, 2);
    KIT(rpm, "d1 g rpm=1 tpm=9; d2 g rpm=3 tpm=1\n");
    kit_expect_shares(rpm, "g", shares, 2);
}

static void rs_6_one_without_the_metric_gets_nothing(void **state)
{
    static const double shares[] = {1, 0, 2};
    (void)state;
    KIT(kit, "d1 g w=1; d2 g rpm=1000; d3 g w=2\n");
    kit_expect_shares(kit, "g", shares, 3);
}

static void rs_6_a_source_whose_maximum_is_not_positive_is_passed_over(void **state)
{
    static const double shares[] = {1, 3};
    (void)state;
    KIT(kit, "d1 g w=0 rpm=100; d2 g w=-1 rpm=300\n");
    kit_expect_shares(kit, "g", shares, 2);
}

static void rs_6_weights_are_renormalised_over_the_filtered_candidates(void **state)
{
    static const double shares[] = {0, 1, 3};
    (void)state;
    KIT(kit, "d1 g w=1000 blocked; d2 g w=1; d3 g w=3\n");
    kit_expect_shares(kit, "g", shares, 3);
}

static void rs_6_the_source_is_chosen_among_the_filtered_candidates(void **state)
{
    static const double shares[] = {0, 1, 4};
    (void)state;
    /* the only weight is that of a blocked deployment, so rpm speaks */
    KIT(kit, "d1 g w=1000 blocked; d2 g rpm=10; d3 g rpm=40\n");
    kit_expect_shares(kit, "g", shares, 3);
}

static void rs_6_all_zero_weights_after_filtering_mean_uniform(void **state)
{
    static const double shares[] = {0, 1, 1};
    (void)state;
    KIT(kit, "d1 g w=7 blocked; d2 g w=0; d3 g w=0\n");
    kit_expect_shares(kit, "g", shares, 3);
}

static void rs_6_huge_and_tiny_weights_do_not_overflow(void **state)
{
    static const double shares[] = {1, 1};
    (void)state;
    KIT(kit, "d1 g w=1e308; d2 g w=1e308\n");
    kit_expect_shares(kit, "g", shares, 2);
    KIT(tiny, "d1 g w=1e-300; d2 g w=1e-300\n");
    kit_expect_shares(tiny, "g", shares, 2);
}

static void rs_6_a_group_of_tiny_weights_may_stand_beside_one_of_huge_ones(void **state)
{
    static const double shares[] = {3, 1};
    (void)state;
    KIT(kit, "d1 g w=3e-300; d2 g w=1e-300; d3 h w=1e300\n");
    kit_expect_shares(kit, "g", shares, 2);
}

static void rs_6_orders_share_by_weight_within_their_tier(void **state)
{
    static const double shares[] = {1, 2, 0};
    (void)state;
    KIT(kit, "d1 g order=1 w=1; d2 g order=1 w=2; d3 g order=2 w=100\n");
    kit_expect_shares(kit, "g", shares, 3);
}

/* A group that is too large for a kit. */
struct crowd {
    weir_router *router;
    weir_snapshot *snapshot;
    size_t *picks;
    size_t count;
};

static void crowd_open(struct crowd *crowd, size_t count, size_t unblocked)
{
    weir_snapshot_builder *builder = NULL;

    crowd->count = count;
    crowd->picks = calloc(count, sizeof(*crowd->picks));
    assert_non_null(crowd->picks);
    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < count; i++) {
        struct weir_deployment_spec spec;
        char id[24];

        weir_deployment_spec_init(&spec);
        snprintf(id, sizeof(id), "d%zu", i);
        spec.id = weir_slice_str(id);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.weight = (double)(i % 4 + 1);
        spec.blocked = unblocked != SIZE_MAX && i != unblocked;
        spec.user = &crowd->picks[i];
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
    assert_int_equal(weir_snapshot_build(builder, &crowd->snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_new(weir_mem_libc(), 7, &crowd->router), 0);
    assert_int_equal(weir_router_adopt(crowd->router, crowd->snapshot), 0);
}

static void crowd_close(struct crowd *crowd)
{
    weir_snapshot_unref(crowd->snapshot);
    weir_router_free(crowd->router);
    free(crowd->picks);
}

static void crowd_pick(struct crowd *crowd)
{
    struct weir_request request;

    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    ++*(size_t *)weir_deployment_user(kit_pick(crowd->router, crowd->snapshot, &request, KIT_EPOCH_NS));
}

static void rs_6_a_group_of_ten_thousand_is_shared_by_weight(void **state)
{
    struct crowd crowd;
    size_t by_weight[4] = {0, 0, 0, 0};
    size_t by_half[2] = {0, 0};
    double chi = 0;
    size_t seen = 0;
    (void)state;

    crowd_open(&crowd, 10000, SIZE_MAX);
    for (size_t i = 0; i < KIT_PICKS; i++)
        crowd_pick(&crowd);
    for (size_t i = 0; i < crowd.count; i++) {
        by_weight[i % 4] += crowd.picks[i];
        by_half[i >= crowd.count / 2] += crowd.picks[i];
        seen += crowd.picks[i] > 0;
    }
    for (size_t i = 0; i < 4; i++) {
        double expected = KIT_PICKS * (double)(i + 1) / 10;

        chi += ((double)by_weight[i] - expected) * ((double)by_weight[i] - expected) / expected;
    }
    assert_true(chi < kit_chi_square_bound(4));
    assert_in_range(by_half[0], KIT_PICKS * 48 / 100, KIT_PICKS * 52 / 100);
    assert_true(seen > 7500);
    crowd_close(&crowd);
}

static void rs_6_a_group_of_ten_thousand_with_all_but_one_blocked(void **state)
{
    struct crowd crowd;
    (void)state;

    crowd_open(&crowd, 10000, 6789);
    for (size_t i = 0; i < 200; i++)
        crowd_pick(&crowd);
    assert_int_equal(crowd.picks[6789], 200);
    crowd_close(&crowd);
}

KIT_TESTS_MAIN(TESTS)
