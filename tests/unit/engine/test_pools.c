/*
 * The pools of a set, made for its tags when the snapshot is built, against the filter that goes through all
 * members: whatever the members carry, what cools down and what is asked, both leave the same deployments
 * (router-semantics 20).
 */
#include <stdio.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"
#include "engine/pick/tags.h"
#include "engine/router.h"
#include "engine/snapshot/pools.h"
#include "engine/snapshot/snapshot.h"

#include "test_mem.h"
#include "unit.h"

#define NOW_NS (1000 * WEIR_NS_PER_S)

enum { MEMBERS_MAX = 150, TAGS = 6, SEEDS = 400 };

static const struct weir_slice names[TAGS] = {WEIR_SLICE_INIT("a"), WEIR_SLICE_INIT("b"),
                                              WEIR_SLICE_INIT("c"), WEIR_SLICE_INIT("default"),
                                              WEIR_SLICE_INIT("d"), WEIR_SLICE_INIT("nobody's")};

struct world {
    weir_router *router;
    weir_snapshot *snapshot;
    struct weir_resolution from;
    struct weir_rand rand;
    struct weir_tag asked[3];
    uint64_t words[(MEMBERS_MAX + 63) / 64];
    struct weir_request request;
};

/* Most carry one of a few tags, some none, some one twice; how many carry any is up to the seed. */
static void add_deployment(weir_snapshot_builder *builder, struct weir_rand *rand, size_t number, size_t some)
{
    struct weir_deployment_spec spec;
    struct weir_slice tags[3];
    char id[32];

    snprintf(id, sizeof(id), "d%zu", number);
    weir_deployment_spec_init(&spec);
    spec.id = weir_slice_str(id);
    spec.group = WEIR_SLICE("g");
    spec.model = WEIR_SLICE("openai/m");
    spec.order = (int32_t)weir_rand_below(rand, 2);
    spec.blocked = weir_rand_below(rand, 8) == 0;
    spec.tags = tags;
    spec.tag_count = weir_rand_below(rand, 3) < some ? weir_rand_below(rand, 4) : 0;
    for (size_t i = 0; i < spec.tag_count; i++)
        tags[i] = names[weir_rand_below(rand, TAGS - 1)];
    spec.has_tag_pattern = some == 3 && weir_rand_below(rand, 20) == 0;
    assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
}

static void open_world(struct world *w, uint64_t seed)
{
    weir_snapshot_builder *builder = NULL;
    struct weir_router_spec spec;
    size_t count, some;

    *w = (struct world){0};
    weir_rand_init(&w->rand, seed);
    count = WEIR_POOLS_SET_MIN + weir_rand_below(&w->rand, MEMBERS_MAX - WEIR_POOLS_SET_MIN);
    some = weir_rand_below(&w->rand, 4);
    assert_int_equal(weir_router_new(weir_mem_libc(), seed, &w->router), 0);
    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < count; i++)
        add_deployment(builder, &w->rand, i, some);
    weir_router_spec_init(&spec);
    spec.tag_filtering = true;
    spec.tag_match_all = weir_rand_below(&w->rand, 2) == 0;
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &w->snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(w->router, w->snapshot), 0);
    assert_true(weir_snapshot_validate(w->snapshot));
    assert_int_equal(weir_resolve(w->snapshot, WEIR_SLICE("g"), WEIR_SLICE_EMPTY, &w->from), 0);
}

static void close_world(struct world *w)
{
    weir_snapshot_unref(w->snapshot);
    weir_router_free(w->router);
}

/* Some cool down: nobody, a few, most, or all who carry a tag. */
static void cool(struct world *w)
{
    const struct weir_failure cause = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    uint64_t way = weir_rand_below(&w->rand, 4);
    struct weir_slice tag = names[weir_rand_below(&w->rand, TAGS)];

    for (size_t i = 0; i < weir_snapshot_deployment_count(w->snapshot); i++) {
        const weir_deployment *d = weir_snapshot_deployment(w->snapshot, i);
        bool cools = weir_rand_below(&w->rand, 10) < way * way;

        for (size_t t = 0; way == 2 && t < d->spec.tag_count; t++)
            cools |= weir_slice_eq(d->spec.tags[t], tag);
        if (cools)
            (void)weir_live_cool(&w->router->live, d->slot, NOW_NS + 1, &cause, WEIR_COOLDOWN_RULES, NOW_NS);
    }
}

static void ask(struct world *w)
{
    weir_request_init(&w->request);
    w->request.tags = w->asked;
    w->request.tag_count = weir_rand_below(&w->rand, 4);
    for (size_t i = 0; i < w->request.tag_count; i++) {
        bool plain = weir_rand_below(&w->rand, 8) != 0;

        w->asked[i] = (struct weir_tag){.kind = plain ? WEIR_TAG_PLAIN : WEIR_TAG_EXCLUDED,
                                        .name = names[weir_rand_below(&w->rand, TAGS)]};
    }
}

static struct weir_pick pick_of(struct world *w)
{
    return (struct weir_pick){.snapshot = w->snapshot,
                              .request = &w->request,
                              .live = &w->router->live,
                              .from = &w->from,
                              .pool = {w->words},
                              .now_ns = NOW_NS};
}

/* Whether the slot is one of the set's members that do not cool down. */
static bool is_left(const struct world *w, const struct weir_set *set, uint32_t slot)
{
    for (uint32_t t = 0; set != NULL && t < set->tier_count; t++)
        for (uint32_t m = 0; m < set->tiers[t].count; m++)
            if (set->tiers[t].slots[m] == slot)
                return !weir_live_is_cooling(&w->router->live, slot, NOW_NS);
    return false;
}

/* Returns whether there was a pool to compare. */
static bool compare(struct world *w)
{
    const struct weir_pick pick = pick_of(w);
    const struct weir_set *pool;
    int r = weir_tags_pool(&pick, WEIR_FILTER_BIT(COOLDOWN), &pool);

    (void)weir_tags_fill(&pick, WEIR_FILTER_BIT(COOLDOWN));
    for (uint32_t slot = 0; r == 0 && slot < w->snapshot->slot_limit; slot++)
        assert_int_equal(weir_slot_set_has(&pick.pool, slot), is_left(w, pool, slot));
    return r == 0;
}

static void a_pool_is_what_the_filter_leaves(void **state)
{
    unsigned compared = 0;
    struct world w;
    (void)state;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        open_world(&w, seed);
        cool(&w);
        for (int turn = 0; turn < 8; turn++) {
            ask(&w);
            compared += compare(&w);
        }
        close_world(&w);
    }
    assert_in_range(compared, SEEDS, 8 * SEEDS - SEEDS);
}

static int build_once(const struct weir_mem *mem, weir_snapshot **ret_snapshot)
{
    weir_snapshot_builder *builder = NULL;
    struct weir_deployment_spec spec;
    char id[32];
    int r = weir_snapshot_builder_new(mem, &builder);

    for (int i = 0; r == 0 && i < 2 * WEIR_POOLS_SET_MIN; i++) {
        snprintf(id, sizeof(id), "d%d", i);
        weir_deployment_spec_init(&spec);
        spec.id = weir_slice_str(id);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.tags = names;
        spec.tag_count = TAGS;
        r = weir_snapshot_add_deployment(builder, &spec);
    }
    if (r == 0)
        r = weir_snapshot_build(builder, ret_snapshot);
    weir_snapshot_builder_free(builder);
    return r;
}

static void memory_that_runs_out_is_told(void **state)
{
    int r = WEIR_ERR_NOMEM;
    (void)state;

    for (size_t number = 1; r != 0; number++) {
        weir_snapshot *snapshot = NULL;
        struct test_mem mem;

        test_mem_init(&mem, number);
        r = build_once(&mem.mem, &snapshot);
        assert_true(r == 0 || r == WEIR_ERR_NOMEM);
        weir_snapshot_unref(snapshot);
        test_mem_assert_empty(&mem);
    }
}

static bool fits_no_pattern(void *user, const weir_deployment *deployment)
{
    (void)user;
    (void)deployment;
    return false;
}

static void patterns_leave_the_pools_alone(void **state)
{
    const struct weir_set *pool;
    unsigned patterned = 0;
    struct world w;
    (void)state;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        open_world(&w, seed);
        weir_request_init(&w.request);
        w.request.matches = fits_no_pattern;
        patterned += w.from.set->has_tag_patterns;
        const struct weir_pick pick = pick_of(&w);

        assert_int_equal(weir_tags_pool(&pick, 0, &pool), w.from.set->has_tag_patterns ? WEIR_TAGS_MIXED : 0);
        close_world(&w);
    }
    assert_in_range(patterned, 1, 39);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_is_what_the_filter_leaves),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(patterns_leave_the_pools_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
