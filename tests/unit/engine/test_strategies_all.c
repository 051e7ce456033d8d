/*
 * What holds for every strategy there is, whatever it chooses by: it takes candidates only, and somebody when
 * there are any; it finds nobody without harm; it has a pick and a name.
 *
 * Each property is tried on tiers of many sizes and states: members that run attempts, have tokens, are
 * measured or are not, cool down, failed, or are excluded; slots that follow one another and slots that do
 * not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
#include "engine/snapshot/sort.h"
#include "engine/strategy/strategy.h"

#include "unit.h"

#define NOW_NS (1000 * WEIR_NS_PER_S)

struct world {
    weir_strategy strategy;
    weir_router *router;
    weir_snapshot *snapshot;
    struct weir_request request;
    struct weir_rand rand;
    uint64_t failed[256];
    uint64_t excluded[256];
    uint64_t pool[256];
};

static void add_deployment(weir_snapshot_builder *builder, struct weir_rand *rand, size_t number)
{
    struct weir_deployment_spec spec;
    char id[32];

    snprintf(id, sizeof(id), "d%zu", number);
    weir_deployment_spec_init(&spec);
    spec.id = weir_slice_str(id);
    spec.group = WEIR_SLICE("g");
    spec.model = WEIR_SLICE("openai/m");
    spec.weight = (double)weir_rand_below(rand, 3);
    spec.input_cost = (double)weir_rand_below(rand, 3);
    spec.lar1_class = (weir_lar1_class)weir_rand_below(rand, 5);
    spec.minute.tokens = weir_rand_below(rand, 2) == 0 ? WEIR_UNSET_NS : 50;
    spec.minute.requests = weir_rand_below(rand, 2) == 0 ? WEIR_UNSET_NS : 2;
    spec.no_web_search = weir_rand_below(rand, 3) == 0;
    spec.max_input_tokens = weir_rand_below(rand, 3) == 0 ? 10 : WEIR_UNSET_NS;
    spec.region = weir_rand_below(rand, 3) == 0 ? WEIR_SLICE("us") : WEIR_SLICE_EMPTY;
    assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
}

/* The numbers of the deployments in the order in which a snapshot has them: from the first, or mixed up. */
static weir_snapshot *make_snapshot(struct world *w, size_t count, size_t step)
{
    weir_snapshot_builder *builder = NULL;
    weir_snapshot *snapshot = NULL;
    struct weir_router_spec spec;

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < count; i++)
        add_deployment(builder, &w->rand, i * step % count);
    weir_router_spec_init(&spec);
    weir_strategy_spec_init(&spec.strategy, w->strategy);
    spec.strategy.lowest_latency_buffer = 0.2;
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(w->router, snapshot), 0);
    assert_true(weir_snapshot_validate(snapshot));
    return snapshot;
}

static void use(struct world *w, uint32_t slot)
{
    const struct weir_failure cause = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    const struct weir_strategy_spec *strategy = &w->snapshot->spec.strategy;
    struct weir_live *live = &w->router->live;

    for (uint64_t i = weir_rand_below(&w->rand, 3); i > 0; i--)
        (void)weir_usage_begin(live, slot, UINT32_MAX);
    if (weir_rand_below(&w->rand, 2) == 0) {
        weir_usage_add(live, slot, WEIR_USAGE_TOKENS, weir_usage_minute(live, NOW_NS),
                       weir_rand_below(&w->rand, 60));
        weir_usage_add(live, slot, WEIR_USAGE_REQUESTS, weir_usage_minute(live, NOW_NS),
                       weir_rand_below(&w->rand, 3));
    }
    if (weir_rand_below(&w->rand, 2) == 0) {
        weir_latency_sample(live, slot, WEIR_PACE_WHOLE, weir_rand_unit(&w->rand), strategy, NOW_NS);
        weir_latency_note_peak(live, slot, WEIR_PACE_FIRST, weir_rand_unit(&w->rand), strategy->decay_ns,
                               NOW_NS);
    }
    if (weir_rand_below(&w->rand, 3) == 0)
        (void)weir_live_cool(live, slot, NOW_NS + 1, &cause, WEIR_COOLDOWN_RULES, NOW_NS);
}

static void mark(struct world *w, uint64_t *words, uint32_t slot)
{
    if (weir_rand_below(&w->rand, 4) == 0)
        words[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* A router whose slots are numbered as the first snapshot has them, and a second one in another order. */
static void open_world(struct world *w, weir_strategy strategy, uint64_t seed, size_t count, size_t step)
{
    *w = (struct world){.strategy = strategy};
    weir_rand_init(&w->rand, seed);
    assert_int_equal(weir_router_new(weir_mem_libc(), seed, &w->router), 0);
    weir_snapshot_unref(make_snapshot(w, count, 1));
    w->snapshot = make_snapshot(w, count, step);
    weir_request_init(&w->request);
    w->request.stream = seed % 2 == 0;
    w->request.lar1.confidence = weir_rand_unit(&w->rand);
    w->request.region = WEIR_SLICE("eu");
    for (uint32_t slot = 0; slot < w->router->live.slots; slot++) {
        use(w, slot);
        mark(w, w->failed, slot);
        mark(w, w->excluded, slot);
        mark(w, w->pool, slot);
    }
}

static void close_world(struct world *w)
{
    struct weir_live *live = &w->router->live;

    for (uint32_t slot = 0; slot < live->slots; slot++)
        while (weir_usage_running(live, slot) > 0)
            weir_usage_end(live, slot);
    weir_snapshot_unref(w->snapshot);
    weir_router_free(w->router);
}

static struct weir_candidates candidates_of(struct world *w, const struct weir_tier *tier, unsigned filters)
{
    return (struct weir_candidates){.snapshot = w->snapshot,
                                    .request = &w->request,
                                    .live = &w->router->live,
                                    .tier = tier,
                                    .failed = {w->failed},
                                    .excluded = {w->excluded},
                                    .pool = {w->pool},
                                    .now_ns = NOW_NS,
                                    .minute = weir_usage_minute(&w->router->live, NOW_NS),
                                    .prompt_tokens = (filters & WEIR_FILTER_BIT(CONTEXT)) != 0 ? 11 : 0,
                                    .strategy = &w->snapshot->spec.strategy,
                                    .group = WEIR_SLICE("g"),
                                    .filters = filters};
}

/* Whether the strategy looks at limits of the minute, so that it may have no use for a candidate. */
static bool minds_limits(weir_strategy strategy)
{
    return strategy == WEIR_STRATEGY_USAGE || strategy == WEIR_STRATEGY_LATENCY ||
           strategy == WEIR_STRATEGY_COST;
}

static bool is_in_limits(const struct weir_candidates *c, uint32_t member)
{
    const struct weir_minute_limits *limits = &c->tier->members[member]->spec.minute;
    struct weir_minute_usage used = weir_usage_view(c->live, c->tier->slots[member], c->minute);

    return used.requests < limits->requests &&
           (limits->tokens == WEIR_UNSET_NS || used.tokens + c->prompt_tokens <= limits->tokens);
}

static bool has_use_for_any(const struct weir_candidates *c, weir_strategy strategy)
{
    for (uint32_t i = 0; i < c->tier->count; i++)
        if (weir_filter_keeps(c, i) && (!minds_limits(strategy) || is_in_limits(c, i)))
            return true;
    return false;
}

static void try_filters(struct world *w, unsigned filters)
{
    const struct weir_set *set = w->snapshot->groups[0];
    const struct weir_candidates c = candidates_of(w, &set->tiers[0], filters);
    uint32_t member;

    for (int i = 0; i < 20; i++) {
        member = weir_strategy_of(w->strategy)->pick(&c, &w->rand);
        if (member == WEIR_PICK_NONE) {
            assert_false(has_use_for_any(&c, w->strategy));
            continue;
        }
        assert_in_range(member, 0, c.tier->count - 1);
        assert_true(weir_filter_keeps(&c, member));
        assert_true(!minds_limits(w->strategy) || is_in_limits(&c, member));
    }
}

static void try_world(weir_strategy strategy, uint64_t seed, size_t count, size_t step)
{
    static const unsigned filters[] = {0,
                                       WEIR_FILTER_BIT(COOLDOWN),
                                       WEIR_FILTER_BIT(SKIP),
                                       WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(EXCLUSION),
                                       WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(SKIP) |
                                           WEIR_FILTER_BIT(EXCLUSION),
                                       WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(WEB_SEARCH) |
                                           WEIR_FILTER_BIT(CONTEXT) | WEIR_FILTER_BIT(REGION),
                                       WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(TAGS)};
    struct world w;

    open_world(&w, strategy, seed, count, step);
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
        try_filters(&w, filters[i]);
    close_world(&w);
}

static void every_strategy_takes_candidates_and_misses_none(void **state)
{
    static const size_t counts[] = {1, 2, 3, 5, 10, 31, 33, 64, 65, 127, 128, 129, 200, 257, 700, 10000};
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        if (weir_strategy_of((weir_strategy)strategy) == NULL)
            continue;
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
            for (uint64_t seed = 0; seed < (counts[i] > 1000 ? 1U : 6U); seed++)
                try_world((weir_strategy)strategy, seed, counts[i], 1);
            try_world((weir_strategy)strategy, 99, counts[i], 17);
        }
    }
}

/* Picks fall as the odds say: each share is within six standard deviations of its own. */
static void expect_odds(struct world *w, unsigned filters, uint32_t picks)
{
    const struct weir_candidates c = candidates_of(w, &w->snapshot->groups[0]->tiers[0], filters);
    double *odds = calloc(c.tier->count, sizeof(*odds)), sum = 0;
    uint32_t *taken = calloc(c.tier->count, sizeof(*taken));
    struct weir_sort_key *scratch = calloc(c.tier->count, sizeof(*scratch));
    uint32_t member;

    assert_true(odds != NULL && taken != NULL && scratch != NULL);
    weir_strategy_of(w->strategy)->odds(&c, odds, scratch);
    for (uint32_t i = 0; i < picks; i++) {
        member = weir_strategy_of(w->strategy)->pick(&c, &w->rand);
        if (member != WEIR_PICK_NONE)
            taken[member]++;
    }
    for (uint32_t i = 0; i < c.tier->count; i++) {
        sum += odds[i];
        assert_true(odds[i] == 0
                        ? taken[i] == 0
                        : fabs(taken[i] - picks * odds[i]) <= 6 * sqrt(picks * odds[i] * (1 - odds[i])) + 1);
    }
    assert_float_equal(sum, has_use_for_any(&c, w->strategy) ? 1 : 0, 1e-9);
    free(scratch);
    free(taken);
    free(odds);
}

static void every_strategy_picks_by_the_odds_that_it_tells(void **state)
{
    static const size_t counts[] = {1, 2, 3, 7, 33, 100, 150, 400};
    struct world w;
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++)
        for (size_t i = 0;
             weir_strategy_of((weir_strategy)strategy) != NULL && i < 2 * sizeof(counts) / sizeof(*counts);
             i++) {
            open_world(&w, (weir_strategy)strategy, i, counts[i / 2], i % 3 == 0 ? 17 : 1);
            expect_odds(&w, WEIR_FILTER_BIT(COOLDOWN), 4000);
            expect_odds(&w, WEIR_FILTER_BIT(COOLDOWN) | WEIR_FILTER_BIT(SKIP) | WEIR_FILTER_BIT(EXCLUSION),
                        4000);
            close_world(&w);
        }
}

/* What the strategy takes the lowest of; 0 for all where it does not. */
static double rank_of(const struct weir_candidates *c, uint32_t member, weir_strategy strategy)
{
    uint32_t slot = c->tier->slots[member];

    if (strategy == WEIR_STRATEGY_USAGE)
        return (double)weir_usage_of(c->live, slot, WEIR_USAGE_TOKENS, c->minute);
    if (strategy == WEIR_STRATEGY_LATENCY)
        return weir_latency_mean(c->live, slot, WEIR_PACE_WHOLE, c->strategy->ttl_ns, c->now_ns);
    if (strategy == WEIR_STRATEGY_COST)
        return weir_deployment_cost(c->tier->members[member]);
    return strategy == WEIR_STRATEGY_LEAST_BUSY && c->tier->count <= 128
               ? (double)weir_usage_running(c->live, slot)
               : 0;
}

static void expect_lowest(struct world *w)
{
    const struct weir_candidates c =
        candidates_of(w, &w->snapshot->groups[0]->tiers[0], WEIR_FILTER_BIT(COOLDOWN));
    uint32_t member = weir_strategy_of(w->strategy)->pick(&c, &w->rand);
    double buffer = w->strategy == WEIR_STRATEGY_LATENCY ? c.strategy->lowest_latency_buffer : 0;
    double least = HUGE_VAL, rank;

    if (member == WEIR_PICK_NONE)
        return;
    for (uint32_t i = 0; i < c.tier->count; i++) {
        rank = rank_of(&c, i, w->strategy);
        if (rank < least && weir_filter_keeps(&c, i) && (!minds_limits(w->strategy) || is_in_limits(&c, i)))
            least = rank;
    }
    assert_true(rank_of(&c, member, w->strategy) <= least * (1 + buffer) * (1 + 1e-6));
}

static void a_strategy_that_takes_the_lowest_finds_it(void **state)
{
    static const size_t counts[] = {2, 10, 64, 70, 200, 1000, 10000};
    struct world w;
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        for (size_t i = 0;
             weir_strategy_of((weir_strategy)strategy) != NULL && i < 2 * sizeof(counts) / sizeof(*counts);
             i++) {
            open_world(&w, (weir_strategy)strategy, 2 * i + 1, counts[i / 2], i % 2 == 0 ? 1 : 17);
            w.request.stream = false;
            for (uint32_t slot = 0; slot < w.router->live.slots; slot++) {
                weir_usage_add(&w.router->live, slot, WEIR_USAGE_TOKENS,
                               weir_usage_minute(&w.router->live, NOW_NS), 1);
                weir_latency_sample(&w.router->live, slot, WEIR_PACE_WHOLE, weir_rand_unit(&w.rand),
                                    &w.snapshot->spec.strategy, NOW_NS);
            }
            for (int turn = 0; turn < 20; turn++)
                expect_lowest(&w);
            close_world(&w);
        }
    }
}

static void every_strategy_finds_nobody_without_harm(void **state)
{
    static const size_t counts[] = {1, 3, 40, 130, 300};
    const struct weir_failure cause = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    struct world w;
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        if (weir_strategy_of((weir_strategy)strategy) == NULL)
            continue;
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
            open_world(&w, (weir_strategy)strategy, 5, counts[i], 1);
            for (uint32_t slot = 0; slot < w.router->live.slots; slot++)
                (void)weir_live_cool(&w.router->live, slot, 2 * NOW_NS, &cause, WEIR_COOLDOWN_RULES, NOW_NS);
            const struct weir_candidates c =
                candidates_of(&w, &w.snapshot->groups[0]->tiers[0], WEIR_FILTER_BIT(COOLDOWN));

            assert_int_equal(weir_strategy_of(w.strategy)->pick(&c, &w.rand), WEIR_PICK_NONE);
            close_world(&w);
        }
    }
}

static uint64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Of picks that find somebody, in the thread's own time; a figure to look at (tests/bench/bench_pick.c
 * measures). */
static double ns_of_a_pick(weir_strategy strategy, size_t count)
{
    enum { PICKS = 200 };
    struct world w;
    uint64_t start;

    open_world(&w, strategy, 3, count, 1);
    const struct weir_candidates c =
        candidates_of(&w, &w.snapshot->groups[0]->tiers[0], WEIR_FILTER_BIT(COOLDOWN));

    start = thread_ns();
    for (int i = 0; i < PICKS; i++)
        (void)weir_strategy_of(strategy)->pick(&c, &w.rand);
    start = thread_ns() - start;
    close_world(&w);
    return (double)start / PICKS;
}

static void every_strategy_says_what_a_pick_costs(void **state)
{
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        const struct weir_strategy_row *row = weir_strategy_of((weir_strategy)strategy);

        if (row != NULL)
            print_message("%-24.*s %6.0f ns a pick at ten, %6.0f ns at ten thousand\n", (int)row->name.len,
                          row->name.ptr, ns_of_a_pick((weir_strategy)strategy, 10),
                          ns_of_a_pick((weir_strategy)strategy, 10000));
    }
}

static void every_strategy_but_priority_has_a_name_and_a_pick(void **state)
{
    (void)state;

    for (int strategy = 0; strategy < WEIR_STRATEGY_COUNT; strategy++) {
        const struct weir_strategy_row *row = weir_strategy_of((weir_strategy)strategy);

        if (strategy == WEIR_STRATEGY_PRIORITY) {
            assert_null(row);
            continue;
        }
        assert_non_null(row);
        assert_true(row->name.len > 0);
    }
    assert_null(weir_strategy_of(WEIR_STRATEGY_COUNT));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_takes_candidates_and_misses_none),
        cmocka_unit_test(every_strategy_picks_by_the_odds_that_it_tells),
        cmocka_unit_test(a_strategy_that_takes_the_lowest_finds_it),
        cmocka_unit_test(every_strategy_finds_nobody_without_harm),
        cmocka_unit_test(every_strategy_says_what_a_pick_costs),
        cmocka_unit_test(every_strategy_but_priority_has_a_name_and_a_pick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
