/*
 * What holds for every strategy in groups of any size: equals share evenly, by chi-square tests with fixed
 * seeds, or the first of them serves; limits of the minute hold to the request and the token, until the
 * minute turns; and what a pick costs, which is printed.
 *
 * Strategies look at small tiers and at large ones in different ways, so each is tried on both sides of the
 * sizes at which they change over.
 */
#include <stdio.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"
#include "engine/live/latency.h"
#include "engine/live/usage.h"
#include "engine/pick/filter.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"
#include "engine/strategy/strategy.h"

#include "unit.h"

#define MINUTE_NS (60 * WEIR_NS_PER_S)
#define NOW_NS    (20 * MINUTE_NS - 1) /* the last moment of a minute */

enum {
    REQUESTS = 5,
    TOKENS = 100,
    PROMPT = 10,
    CELLS = 10,
    PICKS = 2000,
    SAME_PICKS = 50,
    ROUNDS = 20,
    ROUND_PICKS = 100
};

/* Of a chi-square distribution with as many degrees of freedom less one: passed once in a thousand times. */
static const double chi_square_bounds[CELLS + 1] = {0,     0,     10.83, 13.82, 16.27, 18.47,
                                                    20.52, 22.46, 24.32, 26.12, 27.88};

static const size_t counts[] = {1, 3, 32, 40, 128, 130, 300, 1500, 10000};

struct world {
    weir_strategy strategy;
    weir_router *router;
    weir_snapshot *snapshot;
    struct weir_request request;
    struct weir_rand rand;
    uint64_t now_ns;
};

static void add_deployments(weir_snapshot_builder *builder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weir_deployment_spec spec;
        char id[32];

        snprintf(id, sizeof(id), "d%zu", i);
        weir_deployment_spec_init(&spec);
        spec.id = weir_slice_str(id);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.input_cost = spec.output_cost = 1;
        spec.minute.requests = REQUESTS;
        spec.minute.tokens = TOKENS;
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
}

static void open_world(struct world *w, weir_strategy strategy, size_t count)
{
    weir_snapshot_builder *builder = NULL;
    struct weir_router_spec spec;

    *w = (struct world){.strategy = strategy, .now_ns = NOW_NS};
    weir_rand_init(&w->rand, count);
    weir_request_init(&w->request);
    assert_int_equal(weir_router_new(weir_mem_libc(), count, &w->router), 0);
    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    add_deployments(builder, count);
    weir_router_spec_init(&spec);
    weir_strategy_spec_init(&spec.strategy, strategy);
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &w->snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(w->router, w->snapshot), 0);
}

static void close_world(struct world *w)
{
    for (uint32_t slot = 0; slot < w->router->live.slots; slot++)
        while (weir_usage_running(&w->router->live, slot) > 0)
            weir_usage_end(&w->router->live, slot);
    weir_snapshot_unref(w->snapshot);
    weir_router_free(w->router);
}

static const struct weir_tier *tier_of(const struct world *w)
{
    return &w->snapshot->groups[0]->tiers[0];
}

static uint32_t pick(struct world *w)
{
    const struct weir_candidates c = {.snapshot = w->snapshot,
                                      .request = &w->request,
                                      .live = &w->router->live,
                                      .tier = tier_of(w),
                                      .prompt_tokens = PROMPT,
                                      .now_ns = w->now_ns,
                                      .minute = weir_usage_minute(&w->router->live, w->now_ns),
                                      .strategy = &w->snapshot->spec.strategy,
                                      .group = WEIR_SLICE("g"),
                                      .filters = WEIR_FILTER_BIT(COOLDOWN)};

    return weir_strategy_of(w->strategy)->pick(&c, &w->rand);
}

/* Tries a property for each strategy that can pick, in each size. */
static void for_all(void (*try)(struct world *w, uint32_t count))
{
    struct world w;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
            if (weir_strategy_of((weir_strategy)strategy) == NULL)
                continue;
            open_world(&w, (weir_strategy)strategy, counts[i]);
            try(&w, (uint32_t)counts[i]);
            close_world(&w);
        }
    }
}

/* ---- equals ---- */

/* A third of them, but not the only one, cools down. */
static bool cools(uint32_t member)
{
    return member % 3 == 1;
}

static void cool_a_third(struct world *w, uint32_t count)
{
    const struct weir_failure cause = {.kind = WEIR_KIND_INTERNAL, .status = 500};

    for (uint32_t i = 0; i < count; i++)
        if (cools(i))
            (void)weir_live_cool(&w->router->live, tier_of(w)->slots[i], 2 * NOW_NS, &cause,
                                 WEIR_COOLDOWN_RULES, NOW_NS);
}

/* Picks fall evenly on those that do not cool down, counted in cells of neighbours. */
static void expect_even(struct world *w, uint32_t count)
{
    uint32_t candidates = (count + 2) / 3 + count / 3, cells = candidates < CELLS ? candidates : CELLS, cell;
    double seen[CELLS] = {0}, width[CELLS] = {0}, chi = 0, expected;

    for (uint32_t i = 0; i < candidates; i++)
        width[(uint64_t)i * cells / candidates]++;
    for (int i = 0; i < PICKS; i++) {
        uint32_t member = pick(w);

        assert_in_range(member, 0, count - 1);
        assert_false(cools(member));
        cell = member - (member + 1) / 3; /* its place among the candidates */
        seen[(uint64_t)cell * cells / candidates]++;
    }
    for (uint32_t i = 0; i < cells; i++) {
        expected = PICKS * width[i] / candidates;
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    if (cells > 1 && chi > chi_square_bounds[cells])
        fail_msg("strategy %d, %u deployments: chi-square %g over %u cells", (int)w->strategy, count, chi,
                 cells);
}

static void expect_the_first(struct world *w, uint32_t count)
{
    (void)count;
    for (int i = 0; i < SAME_PICKS; i++)
        assert_int_equal(pick(w), 0);
}

static void expect_fair(struct world *w, uint32_t count)
{
    if (w->strategy == WEIR_STRATEGY_COST || w->strategy == WEIR_STRATEGY_LAR1)
        expect_the_first(w, count);
    else
        expect_even(w, count);
}

static void try_unseen(struct world *w, uint32_t count)
{
    cool_a_third(w, count);
    expect_fair(w, count);
}

static void the_unseen_are_equals(void **state)
{
    (void)state;
    for_all(try_unseen);
}

/* All were measured and have the same to do, so nobody is the best without a doubt. */
static void use_all(struct world *w, uint32_t count)
{
    struct weir_live *live = &w->router->live;
    const struct weir_strategy_spec *spec = &w->snapshot->spec.strategy;

    for (uint32_t slot = 0; slot < count; slot++) {
        (void)weir_usage_begin(live, slot, UINT32_MAX);
        weir_usage_add(live, slot, WEIR_USAGE_TOKENS, weir_usage_minute(live, NOW_NS), 3);
        weir_latency_sample(live, slot, WEIR_PACE_WHOLE, 0.5, spec, NOW_NS);
        weir_latency_note_peak(live, slot, WEIR_PACE_WHOLE, 0.5, spec->decay_ns, NOW_NS);
    }
}

static void try_used(struct world *w, uint32_t count)
{
    cool_a_third(w, count);
    use_all(w, count);
    expect_fair(w, count);
}

static void the_equally_used_are_equals(void **state)
{
    (void)state;
    for_all(try_used);
}

/* ---- limits of the minute ---- */

static bool minds_limits(weir_strategy strategy)
{
    return strategy == WEIR_STRATEGY_USAGE || strategy == WEIR_STRATEGY_LATENCY ||
           strategy == WEIR_STRATEGY_COST;
}

static void use(struct world *w, uint32_t member, weir_usage_kind usage, uint64_t number)
{
    struct weir_live *live = &w->router->live;

    weir_usage_add(live, tier_of(w)->slots[member], usage, weir_usage_minute(live, w->now_ns), number);
}

/* Who minds limits finds nobody, until the next minute. */
static void expect_nobody_this_minute(struct world *w)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(pick(w) == WEIR_PICK_NONE, minds_limits(w->strategy));
    w->now_ns++;
    for (int i = 0; i < 3; i++)
        assert_int_not_equal(pick(w), WEIR_PICK_NONE);
}

static void try_last(struct world *w, uint32_t count, weir_usage_kind usage, uint64_t room_left)
{
    uint32_t last = (uint32_t)weir_rand_below(&w->rand, count);

    for (uint32_t i = 0; i < count; i++)
        use(w, i, usage, i == last ? room_left : room_left + 1);
    for (int i = 0; i < 3; i++)
        if (minds_limits(w->strategy))
            assert_int_equal(pick(w), last);
    use(w, last, usage, 1);
    expect_nobody_this_minute(w);
}

static void try_requests(struct world *w, uint32_t count)
{
    try_last(w, count, WEIR_USAGE_REQUESTS, REQUESTS - 1);
}

static void the_last_request_of_the_minute_is_found(void **state)
{
    (void)state;
    for_all(try_requests);
}

static void try_tokens(struct world *w, uint32_t count)
{
    try_last(w, count, WEIR_USAGE_TOKENS, TOKENS - PROMPT);
}

static void the_last_tokens_of_the_minute_are_found(void **state)
{
    (void)state;
    for_all(try_tokens);
}

/* ---- cost ---- */

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The best of a few rounds: whatever else runs on the machine only adds. */
static void print_cost(struct world *w, uint32_t count)
{
    struct weir_slice name = weir_strategy_of(w->strategy)->name;
    uint64_t best = UINT64_MAX, took;

    use_all(w, count);
    for (int round = 0; round < ROUNDS; round++) {
        took = clock_ns();
        for (int i = 0; i < ROUND_PICKS; i++)
            assert_int_not_equal(pick(w), WEIR_PICK_NONE);
        took = clock_ns() - took;
        best = took < best ? took : best;
    }
    print_message("%-24.*s %5u deployments: %8.1f ns a pick\n", (int)name.len, name.ptr, count,
                  (double)best / ROUND_PICKS);
}

static void what_a_pick_costs(void **state)
{
    (void)state;
    for_all(print_cost);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_unseen_are_equals),
        cmocka_unit_test(the_equally_used_are_equals),
        cmocka_unit_test(the_last_request_of_the_minute_is_found),
        cmocka_unit_test(the_last_tokens_of_the_minute_are_found),
        cmocka_unit_test(what_a_pick_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
