/*
 * What a pick costs by each strategy: nanoseconds for groups of 1 to 10,000 deployments, when all are
 * healthy, when every other one cools down, and when all but one do; the same where tags route and every
 * other one cools down; and what a whole call costs that its first attempt answers.  Every deployment is
 * busy, was used this minute and has been measured, so no strategy finds one that is the best without a
 * doubt.  Each figure is the best of many short rounds in the thread's own time: whatever else runs on the
 * machine only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weir/call.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/live/latency.h"
#include "engine/live/usage.h"
#include "engine/pick/filter.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"

static const uint64_t now_ns = 1000 * WEIR_NS_PER_S;

enum { ROUNDS = 25, MOST = 10 * 1000 };

enum cooling { NONE_COOL, HALF_COOL, ALL_BUT_ONE_COOL, COOLINGS };

static const char *const cooling_names[COOLINGS] = {"all healthy", "half cooled", "all but one"};

/* What a request says where tags route: each deployment has one of TAGS tags, and every fifth is of the
 * default pool. */
enum tags { NO_ROUTING, NOBODY_TAGGED, NO_TAG, ONE_TAG, TWO_TAGS, WITHOUT_TAG, TAG_CASES };

static const char *const tag_names[TAG_CASES] = {"",        "none tagged", "no tag",
                                                 "one tag", "two tags",    "not one"};

enum { TAGS = 7 };

static const struct weir_slice tags[TAGS] = {WEIR_SLICE_INIT("a"), WEIR_SLICE_INIT("b"), WEIR_SLICE_INIT("c"),
                                             WEIR_SLICE_INIT("d"), WEIR_SLICE_INIT("e"), WEIR_SLICE_INIT("f"),
                                             WEIR_SLICE_INIT("g")};

static void must(int r, const char *what)
{
    if (r == 0)
        return;
    fprintf(stderr, "bench_pick: %s: %d\n", what, r);
    exit(1);
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* What is picked by: a strategy, and whether there are weights. */
struct way {
    const char *name;
    weir_strategy strategy;
    bool weighted;
    double buffer; /* of latency-based-routing */
    bool equal;    /* all were used the same and are as fast */
};

static const struct way ways[] = {{"shuffle, uniform", WEIR_STRATEGY_SIMPLE_SHUFFLE, false, 0},
                                  {"shuffle, weights", WEIR_STRATEGY_SIMPLE_SHUFFLE, true, 0},
                                  {"least-busy", WEIR_STRATEGY_LEAST_BUSY, false, 0},
                                  {"usage", WEIR_STRATEGY_USAGE, false, 0},
                                  {"usage, equals", WEIR_STRATEGY_USAGE, false, 0, true},
                                  {"latency", WEIR_STRATEGY_LATENCY, false, 0},
                                  {"latency, equals", WEIR_STRATEGY_LATENCY, false, 0, true},
                                  {"latency, buffer", WEIR_STRATEGY_LATENCY, false, 0.5},
                                  {"cost", WEIR_STRATEGY_COST, false, 0},
                                  {"lar1", WEIR_STRATEGY_LAR1, false, 0},
                                  {"p2c-ewma", WEIR_STRATEGY_P2C_EWMA, false, 0}};

static void add_deployment(weir_snapshot_builder *builder, size_t i, const struct way *way, bool tagged)
{
    const struct weir_slice carried[] = {tags[i % TAGS], WEIR_SLICE("default")};
    struct weir_deployment_spec spec;
    char id[32];

    snprintf(id, sizeof(id), "d%zu", i);
    weir_deployment_spec_init(&spec);
    spec.id = weir_slice_str(id);
    spec.group = WEIR_SLICE("g");
    spec.model = WEIR_SLICE("openai/m");
    spec.weight = way->weighted ? (double)(i % 7 + 1) : 0;
    spec.input_cost = spec.output_cost = (double)(i % 13 + 1);
    spec.lar1_class = (weir_lar1_class)(i % 5);
    spec.minute.tokens = spec.minute.requests = 1000 * 1000 * 1000;
    spec.tags = carried;
    spec.tag_count = !tagged ? 0 : i % 5 == 0 ? 2 : 1;
    must(weir_snapshot_add_deployment(builder, &spec), "deployment");
}

static weir_snapshot *make_snapshot(weir_router *router, size_t count, const struct way *way, enum tags with)
{
    struct weir_router_spec router_spec;
    weir_snapshot_builder *builder;
    weir_snapshot *snapshot;

    must(weir_snapshot_builder_new(weir_mem_libc(), &builder), "builder");
    for (size_t i = 0; i < count; i++)
        add_deployment(builder, i, way, with > NOBODY_TAGGED);
    weir_router_spec_init(&router_spec);
    weir_strategy_spec_init(&router_spec.strategy, way->strategy);
    router_spec.strategy.lowest_latency_buffer = way->buffer;
    router_spec.tag_filtering = with != NO_ROUTING;
    weir_snapshot_set_router(builder, &router_spec);
    must(weir_snapshot_build(builder, &snapshot), "snapshot");
    weir_snapshot_builder_free(builder);
    must(weir_router_adopt(router, snapshot), "adopt");
    return snapshot;
}

static void cool(weir_router *router, const weir_snapshot *snapshot, enum cooling cooling)
{
    const struct weir_failure cause = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    size_t count = weir_snapshot_deployment_count(snapshot);

    for (size_t i = 0; i < count; i++) {
        if (cooling == NONE_COOL || (cooling == HALF_COOL && i % 2 == 0) ||
            (cooling == ALL_BUT_ONE_COOL && i == count / 2))
            continue;
        weir_live_cool(&router->live, weir_snapshot_deployment(snapshot, i)->slot, now_ns * 2, &cause,
                       WEIR_COOLDOWN_RULES, now_ns);
    }
}

/* Everybody has something to do, tokens, and a latency. */
static void use(weir_router *router, const weir_snapshot *snapshot, bool equal)
{
    const struct weir_strategy_spec *strategy = &weir_snapshot_router(snapshot)->strategy;
    struct weir_live *live = &router->live;
    struct weir_rand rand;

    weir_rand_init(&rand, 3);
    for (uint32_t slot = 0; slot < live->slots; slot++) {
        uint64_t running = 1 + weir_rand_below(&rand, 8), tokens = 1 + weir_rand_below(&rand, 1000 * 1000);
        double latency = 0.1 + weir_rand_unit(&rand), peak = 0.1 + weir_rand_unit(&rand);

        while (running-- > 0)
            (void)weir_usage_begin(live, slot, UINT32_MAX);
        weir_usage_add(live, slot, WEIR_USAGE_TOKENS, weir_usage_minute(live, now_ns), equal ? 1 : tokens);
        weir_latency_sample(live, slot, WEIR_PACE_WHOLE, equal ? 1 : latency, strategy, now_ns);
        weir_latency_note_peak(live, slot, WEIR_PACE_WHOLE, peak, strategy->decay_ns, now_ns);
    }
}

static void let_go(weir_router *router)
{
    for (uint32_t slot = 0; slot < router->live.slots; slot++)
        while (weir_usage_running(&router->live, slot) > 0)
            weir_usage_end(&router->live, slot);
}

/* The least time of one of `times` calls of run(context), in the best of the rounds. */
static double best_ns(void (*run)(void *context, size_t times), void *context, size_t times)
{
    uint64_t best = UINT64_MAX, start;

    for (int round = 0; round < ROUNDS; round++) {
        start = clock_ns();
        run(context, times);
        start = clock_ns() - start;
        best = start < best ? start : best;
    }
    return (double)best / (double)times;
}

struct picker {
    struct weir_pick pick;
    struct weir_request request;
    struct weir_resolution from;
    struct weir_rand rand;
};

static void run_picks(void *context, size_t times)
{
    struct picker *picker = context;
    struct weir_trail trail;

    for (size_t i = 0; i < times; i++)
        must(weir_filter_pick(&picker->pick, &picker->rand, &trail) != NULL ? 0 : 1, "a pick found nobody");
}

static void ask(struct weir_request *request, enum tags with)
{
    static const struct weir_tag plain[] = {{WEIR_TAG_PLAIN, WEIR_SLICE_INIT("a"), false},
                                            {WEIR_TAG_PLAIN, WEIR_SLICE_INIT("b"), false}},
                                 excluded[] = {{WEIR_TAG_EXCLUDED, WEIR_SLICE_INIT("b"), false}};

    weir_request_init(request);
    request->tags = with == WITHOUT_TAG ? excluded : plain;
    request->tag_count = with == TWO_TAGS ? 2 : with >= ONE_TAG ? 1 : 0;
}

static double pick_ns(size_t count, const struct way *way, enum cooling cooling, enum tags with)
{
    static uint64_t pool[(MOST + 63) / 64];
    struct picker picker;
    weir_router *router;
    weir_snapshot *snapshot;
    double ns;

    must(weir_router_new(weir_mem_libc(), 1, &router), "router");
    snapshot = make_snapshot(router, count, way, with);
    use(router, snapshot, way->equal);
    cool(router, snapshot, count == 1 ? NONE_COOL : cooling);
    must(weir_resolve(snapshot, WEIR_SLICE("g"), WEIR_SLICE_EMPTY, &picker.from), "resolve");
    weir_rand_init(&picker.rand, 7);
    ask(&picker.request, with);
    picker.pick = (struct weir_pick){.snapshot = snapshot,
                                     .request = &picker.request,
                                     .live = &router->live,
                                     .from = &picker.from,
                                     .pool = {pool},
                                     .now_ns = now_ns};
    ns = best_ns(run_picks, &picker, count < 1000 ? 10000 : 200);
    let_go(router);
    weir_snapshot_unref(snapshot);
    weir_router_free(router);
    return ns;
}

struct caller {
    weir_router *router;
    weir_snapshot *snapshot;
    uint32_t note_candidates;
};

static void run_calls(void *context, size_t times)
{
    const struct caller *caller = context;
    const struct weir_outcome outcome = {0};
    struct weir_request request;
    struct weir_event event;
    struct weir_step step;
    weir_call *call;

    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    request.note_candidates = caller->note_candidates;
    for (size_t i = 0; i < times; i++) {
        must(weir_call_begin(caller->router, caller->snapshot, &request, weir_mem_libc(), now_ns, &call),
             "begin");
        must(weir_call_next(call, now_ns, &step), "next");
        weir_call_on_finished(call, step.attempt, &outcome, now_ns);
        must(weir_call_next(call, now_ns, &step), "next");
        must(step.kind == WEIR_STEP_DELIVER ? 0 : 1, "no answer");
        while (weir_call_event(call, &event))
            ;
        weir_call_free(call);
    }
}

static double call_ns(size_t count, uint32_t note_candidates)
{
    struct caller caller = {.note_candidates = note_candidates};
    double ns;

    must(weir_router_new(weir_mem_libc(), 1, &caller.router), "router");
    caller.snapshot = make_snapshot(caller.router, count, &ways[1], NO_ROUTING);
    ns = best_ns(run_calls, &caller, 10000);
    weir_snapshot_unref(caller.snapshot);
    weir_router_free(caller.router);
    return ns;
}

static const size_t counts[] = {1, 10, 100, 1000, MOST};

enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static void print_picks(const struct way *way, enum cooling cooling, enum tags with)
{
    printf("\n%-18s %-13s", way->name, with == NO_ROUTING ? cooling_names[cooling] : tag_names[with]);
    for (size_t i = 0; i < COUNTS; i++)
        printf("%9.1f", pick_ns(counts[i], way, cooling, with));
}

static void print_calls(const char *name, uint32_t note_candidates)
{
    printf("\n%-32s", name);
    for (size_t i = 0; i < COUNTS; i++)
        printf("%9.1f", call_ns(counts[i], note_candidates));
}

/* With an argument only calls are measured. */
int main(int argc, char **argv)
{
    (void)argv;
    printf("%-32s", "ns per pick, deployments:");
    for (size_t i = 0; i < COUNTS; i++)
        printf("%9zu", counts[i]);
    for (size_t way = 0; argc == 1 && way < sizeof(ways) / sizeof(ways[0]); way++) {
        for (int cooling = 0; cooling < COOLINGS; cooling++)
            print_picks(&ways[way], (enum cooling)cooling, NO_ROUTING);
        for (int with = NOBODY_TAGGED; with < TAG_CASES; with++)
            print_picks(&ways[way], HALF_COOL, (enum tags)with);
    }
    print_calls("ns per call, answered at once", 0);
    print_calls("the same, 16 candidates told", 16);
    printf("\n");
    return 0;
}
