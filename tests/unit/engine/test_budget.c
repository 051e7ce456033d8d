/* Retries and hedges in proportion to the requests of the last ten seconds (beyond 4). */
#include "engine_kit.h"

#include "engine/live/budget.h"

#define RULES(X)                                                                                             \
    X("beyond 4", a_budget_pays_up_to_its_ratio)                                                             \
    X("beyond 4", a_budget_pays_its_minimum_without_requests)                                                \
    X("beyond 4", what_is_older_than_ten_seconds_is_forgotten)                                               \
    X("beyond 4", counts_stop_at_their_maximum)                                                              \
    X("beyond 4", a_ratio_is_met_to_the_request)                                                             \
    X("beyond 4", a_spent_budget_sends_a_failure_to_the_fallbacks)                                           \
    X("beyond 4", a_spent_budget_is_told)                                                                    \
    X("beyond 4", hedges_spend_the_budget)                                                                   \
    X("beyond 4", a_retry_is_no_request)                                                                     \
    X("beyond 4", each_group_has_a_budget_of_its_own)                                                        \
    X("beyond 4", a_hop_is_a_request_of_its_group)                                                           \
    X("beyond 4", a_retry_that_would_not_be_made_costs_nothing)                                              \
    X("beyond 4", a_budget_survives_a_reload)                                                                \
    X("beyond 4", without_a_budget_nothing_is_refused)                                                       \
    X("beyond 4", a_budget_of_nothing_refuses_every_retry)

RULES(KIT_TEST_DECLARE)

#define S_NS(s) ((uint64_t)((s)*1e9))

static void a_budget_pays_up_to_its_ratio(void **state)
{
    const struct weir_retry_budget limit = {.said = true, .ratio = 0.2};
    struct weir_budget budget = {0};
    (void)state;

    for (int i = 0; i < 10; i++)
        weir_budget_count(&budget, S_NS(100));
    assert_true(weir_budget_spend(&budget, &limit, S_NS(100)));
    assert_true(weir_budget_spend(&budget, &limit, S_NS(100)));
    assert_false(weir_budget_spend(&budget, &limit, S_NS(100)));
    for (int i = 0; i < 4; i++)
        weir_budget_count(&budget, S_NS(101));
    assert_false(weir_budget_spend(&budget, &limit, S_NS(101)));
    weir_budget_count(&budget, S_NS(101));
    assert_true(weir_budget_spend(&budget, &limit, S_NS(101)));
    assert_int_equal(weir_budget_use(&budget, S_NS(101)).requests, 15);
    assert_int_equal(weir_budget_use(&budget, S_NS(101)).spent, 3);
}

static void a_budget_pays_its_minimum_without_requests(void **state)
{
    const struct weir_retry_budget limit = {.said = true, .ratio = 0, .min_per_s = 0.3};
    struct weir_budget budget = {0};
    (void)state;

    for (int i = 0; i < 3; i++)
        assert_true(weir_budget_spend(&budget, &limit, S_NS(100)));
    assert_false(weir_budget_spend(&budget, &limit, S_NS(100)));
}

static void what_is_older_than_ten_seconds_is_forgotten(void **state)
{
    const struct weir_retry_budget limit = {.said = true, .ratio = 0, .min_per_s = 0.1};
    struct weir_budget budget = {0};
    (void)state;

    assert_true(weir_budget_spend(&budget, &limit, S_NS(100.5)));
    assert_false(weir_budget_spend(&budget, &limit, S_NS(109.999)));
    assert_true(weir_budget_spend(&budget, &limit, S_NS(110)));
    assert_int_equal(weir_budget_use(&budget, S_NS(120)).spent, 0);
}

static void counts_stop_at_their_maximum(void **state)
{
    struct weir_budget budget = {0};
    (void)state;

    for (int i = 0; i < (1 << 20) + 5; i++)
        weir_budget_count(&budget, S_NS(100));
    assert_int_equal(weir_budget_use(&budget, S_NS(100)).requests, (1 << 20) - 1);
    assert_int_equal(weir_budget_use(&budget, S_NS(100)).spent, 0);
}

/* Where the product of the two is a rounding below a whole number. */
static void a_ratio_is_met_to_the_request(void **state)
{
    const struct weir_retry_budget limit = {.said = true, .ratio = 0.29};
    struct weir_budget budget = {0};
    (void)state;

    for (int i = 0; i < 100; i++)
        weir_budget_count(&budget, S_NS(100));
    for (int i = 0; i < 29; i++)
        assert_true(weir_budget_spend(&budget, &limit, S_NS(100)));
    assert_false(weir_budget_spend(&budget, &limit, S_NS(100)));
}

static void a_spent_budget_sends_a_failure_to_the_fallbacks(void **state)
{
    KIT(kit,
        "d1 g w=1 : 500; d2 g w=0 : 500; b B : ok; router retries=1 budget=0.5 no_cooldowns; fallbacks g: B");
    (void)state;

    expect(kit, "g", "d1:500 b:ok");
    expect(kit, "g", "d1:500 d2:500 b:ok");
    expect(kit, "g", "d1:500 b:ok");
    expect(kit, "g", "d1:500 d2:500 b:ok");
    kit_advance(kit, 10);
    expect(kit, "g", "d1:500 b:ok");
}

static void a_spent_budget_is_told(void **state)
{
    KIT(kit, "d1 g w=1 : 500; d2 g w=0 : ok; router retries=1 budget=0.5");
    (void)state;

    expect_events(kit_call(kit, "g"), "RetryRefused,AttemptFailed,Failed",
                  "RetryRefused d1 retry 0/1, AttemptFailed d1 500 leave, Failed 500");
}

static void hedges_spend_the_budget(void **state)
{
    KIT(kit, "d1 g w=1 : ok+3; d2 g w=0 : ok+0.1; router hedge=1 budget=0.5");
    (void)state;

    expect_events(expect_call(kit, "g", "d1:ok"), "RetryRefused,Hedged", "RetryRefused d1 hedge 0/1");
    expect(kit, "g", "d1 d2 d1:cancel d2:ok");
    expect(kit, "g", "d1:ok");
}

static void a_retry_is_no_request(void **state)
{
    KIT(kit, "d1 g : 500 500 500 ok; router retries=5 budget=0.5/0.2 no_cooldowns initial=0 jitter=0");
    (void)state;

    /* one request: half a retry of it, and two beside */
    expect(kit, "g", "d1:500 d1:500 d1:500 fail:500");
}

static void each_group_has_a_budget_of_its_own(void **state)
{
    KIT(kit, "d1 g w=1 : 500; d2 g w=0 : ok; e1 h w=1 : 500; e2 h w=0 : ok\n"
             "router retries=1 no_cooldowns; group g budget=0; group h budget=1");
    (void)state;

    expect(kit, "g", "d1:500 fail:500");
    expect(kit, "h", "e1:500 e2:ok");
    expect(kit, "g", "d1:500 fail:500");
}

static void a_hop_is_a_request_of_its_group(void **state)
{
    KIT(kit, "a A : 500; b1 B w=1 : 500; b2 B w=0 : ok\n"
             "router retries=1 no_cooldowns; group A budget=0; group B budget=1; fallbacks A: B");
    (void)state;

    expect(kit, "A", "a:500 b1:500 b2:ok");
}

static void a_retry_that_would_not_be_made_costs_nothing(void **state)
{
    KIT(kit, "d1 g w=1 : 400 500 ok; d2 g w=0 : ok; router retries=1 budget=0/0.1 no_cooldowns");
    (void)state;

    expect(kit, "g", "d1:400 fail:400");
    expect(kit, "g", "d1:500 d2:ok");
}

static void a_budget_survives_a_reload(void **state)
{
    static const char *const config =
        "d1 g w=1 : 500; d2 g w=0 : ok; router retries=1 budget=0/0.1 no_cooldowns";
    KIT(kit, config);
    (void)state;

    expect(kit, "g", "d1:500 d2:ok");
    kit_reload(kit, config);
    expect(kit, "g", "d1:500 fail:500");
}

static void without_a_budget_nothing_is_refused(void **state)
{
    KIT(kit, "d1 g : 500; router retries=30 no_cooldowns; group h budget=0");
    (void)state;

    assert_int_equal(kit_call(kit, "g")->attempt_count, 31);
}

static void a_budget_of_nothing_refuses_every_retry(void **state)
{
    KIT(kit, "d1 g w=1 : 500; d2 g w=0 : ok; router retries=3 budget=0");
    (void)state;

    expect_each(kit, 3, "g", "d1:500 fail:500");
}

KIT_TESTS_MAIN(RULES)
