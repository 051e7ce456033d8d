/*
 * What a pick costs: nanoseconds for groups of 1 to 10,000 deployments, when all are healthy, when every
 * other one cools down, and when all but one do; and what a whole call costs that its first attempt answers.
 * Each figure is the best of five rounds: whatever else runs on the machine only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weir/call.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/filter.h"
#include "engine/router.h"
#include "engine/snapshot.h"

static const uint64_t now_ns = 1000 * WEIR_NS_PER_S;

enum { ROUNDS = 5 };

enum cooling { NONE_COOL, HALF_COOL, ALL_BUT_ONE_COOL, COOLINGS };

static const char *const cooling_names[COOLINGS] = {"all healthy", "half cooled", "all but one"};

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

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

static weir_snapshot *make_snapshot(weir_router *router, size_t count, bool weighted)
{
    weir_snapshot_builder *builder;
    weir_snapshot *snapshot;
    struct weir_deployment_spec spec;
    char id[32];

    must(weir_snapshot_builder_new(weir_mem_libc(), &builder), "builder");
    for (size_t i = 0; i < count; i++) {
        snprintf(id, sizeof(id), "d%zu", i);
        weir_deployment_spec_init(&spec);
        spec.id = weir_slice_str(id);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.weight = weighted ? (double)(i % 7 + 1) : 0;
        must(weir_snapshot_add_deployment(builder, &spec), "deployment");
    }
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
                       now_ns);
    }
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

    for (size_t i = 0; i < times; i++)
        must(weir_filter_pick(&picker->pick, &picker->rand) != NULL ? 0 : 1, "a pick found nobody");
}

static double pick_ns(size_t count, bool weighted, enum cooling cooling)
{
    struct picker picker;
    weir_router *router;
    weir_snapshot *snapshot;
    double ns;

    must(weir_router_new(weir_mem_libc(), 1, &router), "router");
    snapshot = make_snapshot(router, count, weighted);
    cool(router, snapshot, count == 1 ? NONE_COOL : cooling);
    must(weir_resolve(snapshot, WEIR_SLICE("g"), WEIR_SLICE_EMPTY, &picker.from), "resolve");
    weir_rand_init(&picker.rand, 7);
    weir_request_init(&picker.request);
    picker.pick = (struct weir_pick){.snapshot = snapshot,
                                     .request = &picker.request,
                                     .live = &router->live,
                                     .from = &picker.from,
                                     .now_ns = now_ns};
    ns = best_ns(run_picks, &picker, count < 1000 ? 200000 : 20000);
    weir_snapshot_unref(snapshot);
    weir_router_free(router);
    return ns;
}

struct caller {
    weir_router *router;
    weir_snapshot *snapshot;
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

static double call_ns(size_t count)
{
    struct caller caller;
    double ns;

    must(weir_router_new(weir_mem_libc(), 1, &caller.router), "router");
    caller.snapshot = make_snapshot(caller.router, count, true);
    ns = best_ns(run_calls, &caller, 100000);
    weir_snapshot_unref(caller.snapshot);
    weir_router_free(caller.router);
    return ns;
}

int main(void)
{
    static const size_t counts[] = {1, 10, 100, 1000, 10000};

    printf("%-32s", "ns per pick, deployments:");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        printf("%9zu", counts[i]);
    for (int weighted = 0; weighted < 2; weighted++) {
        for (int cooling = 0; cooling < COOLINGS; cooling++) {
            printf("\n%-12s %-19s", weighted ? "by weight" : "uniform", cooling_names[cooling]);
            for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
                printf("%9.1f", pick_ns(counts[i], weighted != 0, (enum cooling)cooling));
        }
    }
    printf("\n%-32s", "ns per call, answered at once");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        printf("%9.1f", call_ns(counts[i]));
    printf("\n");
    return 0;
}
