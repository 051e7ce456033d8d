/*
 * Every strategy under the same ten minutes of traffic, in virtual time, as the rows of a table: what
 * docs/routing.md draws.
 *
 *     strategy_traffic [SEED]
 *
 * Four deployments of different speed, size and price serve one routing group.  Their answers take longer the
 * more they have in hand; beyond a size they refuse, and so they do beyond their requests a minute, which the
 * configuration knows too.  Requests come at random times, the same for each strategy, as do their lengths
 * and the luck of each attempt.  From minute to minute something happens: see phases.
 *
 * A row is for the requests that came in twenty seconds: their number, mean and 99th percentile of the time
 * to the answer (of those that got one), dollars for a thousand answers, and the share of requests without
 * one. The last row of a strategy, whose time is "all", is for all.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

enum {
    DEPLOYMENTS = 4,
    MINUTES = 10,
    WINDOW_S = 20,
    WINDOWS = MINUTES * 60 / WINDOW_S,
    REQUESTS_MAX = 16000,
    ATTEMPTS_MAX = 16,
    EVENTS_MAX = 4 * REQUESTS_MAX,
    REFUSE_TIMES = 3
};

static const struct shape {
    const char *name;
    double slowness; /* times the usual answer time */
    unsigned size;   /* calls in hand that double it */
    uint64_t rpm;
    double input_price; /* dollars for a million tokens */
    double output_price;
    weir_lar1_class lar1_class;
} shapes[DEPLOYMENTS] = {{"east", 1.0, 40, 400, 2.5, 10, WEIR_LAR1_CLOUD_SMART},
                         {"west", 1.2, 40, 400, 2.5, 10, WEIR_LAR1_CLOUD_FAST},
                         {"small", 1.8, 20, 240, 0.5, 1.5, WEIR_LAR1_LOCAL},
                         {"swift", 0.5, 20, 200, 6, 24, WEIR_LAR1_DEEP}};

/* Two minutes each: how many requests come a second, and what goes wrong. */
static const struct phase {
    double rate;
    double east_slowness;
    double west_failures;
} phases[] = {{8, 1, 0}, {16, 1, 0}, {8, 4, 0}, {8, 1, 0.5}, {19, 1, 0}};

struct attempt {
    unsigned deployment;
    bool running;
};

struct request {
    uint64_t came_ns;
    uint64_t ended_ns;
    uint64_t prompt_tokens;
    uint64_t completion_tokens;
    double confidence;
    bool answered;
    double dollars;
    struct weir_request asked;
    weir_call *call;
    uint64_t timer_ns; /* of the earliest event that only asks for the time */
    struct attempt attempts[ATTEMPTS_MAX];
};

/* Attempt 0: a request comes, or its call wanted to be asked. */
struct event {
    uint64_t at_ns;
    uint64_t order; /* of equal times */
    struct request *request;
    uint32_t attempt;
    int status; /* 200: the attempt's answer is there */
};

struct deployment {
    const struct shape *shape;
    unsigned running;
    uint64_t minute; /* of the count */
    uint64_t requests;
};

static struct request requests[REQUESTS_MAX];
static size_t request_count;
static struct event events[EVENTS_MAX];
static size_t event_count;
static uint64_t event_order;
static struct deployment deployments[DEPLOYMENTS];
static uint64_t now_ns;
static uint64_t seed = 1;

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "strategy_traffic: %s\n", what);
    exit(1);
}

/* ---- events: a heap, the earliest first ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void swap(size_t a, size_t b)
{
    struct event kept = events[a];

    events[a] = events[b];
    events[b] = kept;
}

static void push(uint64_t at_ns, struct request *request, uint32_t attempt, int status)
{
    size_t at = event_count++;

    must(event_count < EVENTS_MAX, "too many events");
    events[at] = (struct event){at_ns, event_order++, request, attempt, status};
    for (; at > 0 && is_before(&events[at], &events[(at - 1) / 2]); at = (at - 1) / 2)
        swap(at, (at - 1) / 2);
}

static bool pop(struct event *ret_event)
{
    if (event_count == 0)
        return false;
    *ret_event = events[0];
    events[0] = events[--event_count];
    for (size_t at = 0, least = 0;; at = least) {
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < event_count; child++)
            if (is_before(&events[child], &events[least]))
                least = child;
        if (least == at)
            return true;
        swap(at, least);
    }
}

/* ---- traffic ---- */

static const struct phase *phase_at(uint64_t time_ns)
{
    size_t index = (size_t)(time_ns / (120 * WEIR_NS_PER_S));

    return &phases[index < sizeof(phases) / sizeof(phases[0]) ? index
                                                              : sizeof(phases) / sizeof(phases[0]) - 1];
}

/* With the mean 1: few are long, most are short. */
static double skewed(struct weir_rand *rand)
{
    double a = weir_rand_unit(rand);
    double b = weir_rand_unit(rand);

    return 0.2 + 3.2 * a * b * b * 1.5;
}

/* The time to the next request, around 1 / rate: the least of many even draws, nearly exponential. */
static double gap_s(struct weir_rand *rand, double rate)
{
    double least = 1;

    for (int i = 0; i < 50; i++) {
        double drawn = weir_rand_unit(rand);

        least = drawn < least ? drawn : least;
    }
    return least * 51 / rate;
}

static void make_traffic(void)
{
    struct weir_rand rand;
    double at_s = 0;

    weir_rand_init(&rand, seed);
    for (request_count = 0;; request_count++) {
        struct request *request = &requests[request_count];

        at_s += gap_s(&rand, phase_at(weir_time_from_s(at_s))->rate);
        if (at_s >= MINUTES * 60)
            return;
        must(request_count + 1 < REQUESTS_MAX, "too many requests");
        *request = (struct request){.came_ns = weir_time_from_s(at_s),
                                    .prompt_tokens = (uint64_t)(800 * skewed(&rand)),
                                    .completion_tokens = (uint64_t)(150 * skewed(&rand)) + 1,
                                    .confidence = weir_rand_unit(&rand)};
    }
}

/* ---- deployments ---- */

/* The same for an attempt whatever the strategy. */
static double luck(const struct request *request, uint32_t attempt, unsigned deployment, unsigned which)
{
    struct weir_rand rand;
    uint64_t index = (uint64_t)(request - requests);

    weir_rand_init(&rand, ((index * ATTEMPTS_MAX + attempt) * DEPLOYMENTS + deployment) * 2 + which + seed);
    return weir_rand_unit(&rand);
}

static bool is_over_its_minute(struct deployment *d)
{
    uint64_t minute = now_ns / (60 * WEIR_NS_PER_S);

    if (d->minute != minute)
        d->requests = 0;
    d->minute = minute;
    return ++d->requests > d->shape->rpm;
}

static double answer_s(const struct request *request, uint32_t attempt, unsigned index)
{
    const struct deployment *d = &deployments[index];
    double load = (double)d->running / d->shape->size;
    double slowness = d->shape->slowness * (index == 0 ? phase_at(now_ns)->east_slowness : 1);

    return (0.3 + 0.012 * (double)request->completion_tokens) * slowness * (1 + load * load) *
           (0.7 + 0.6 * luck(request, attempt, index, 0));
}

static void start(struct request *request, uint32_t attempt, unsigned index)
{
    struct deployment *d = &deployments[index];
    bool fails = index == 1 && luck(request, attempt, index, 1) < phase_at(now_ns)->west_failures;

    must(attempt < ATTEMPTS_MAX, "too many attempts");
    request->attempts[attempt] = (struct attempt){index, true};
    if (is_over_its_minute(d))
        push(now_ns + 50 * WEIR_NS_PER_MS, request, attempt, 429);
    else if (d->running >= d->shape->size * REFUSE_TIMES)
        push(now_ns + 50 * WEIR_NS_PER_MS, request, attempt, 503);
    else if (fails)
        push(now_ns + 500 * WEIR_NS_PER_MS, request, attempt, 500);
    else
        push(now_ns + weir_time_from_s(answer_s(request, attempt, index)), request, attempt, 200);
    d->running++;
}

static void stop(struct request *request, uint32_t attempt)
{
    request->attempts[attempt].running = false;
    deployments[request->attempts[attempt].deployment].running--;
}

/* ---- the router's host ---- */

static void end(struct request *request, uint32_t attempt)
{
    const struct shape *shape = &shapes[request->attempts[attempt].deployment];

    request->ended_ns = now_ns;
    if (attempt == 0)
        return;
    request->answered = true;
    request->dollars = ((double)request->prompt_tokens * shape->input_price +
                        (double)request->completion_tokens * shape->output_price) /
                       1e6;
}

static void perform(struct request *request, const struct weir_step *step)
{
    switch (step->kind) {
    case WEIR_STEP_START:
        start(request, step->attempt, (unsigned)(uintptr_t)weir_deployment_user(step->u.start.deployment));
        return;
    case WEIR_STEP_CANCEL:
        stop(request, step->attempt);
        return;
    case WEIR_STEP_DELIVER:
        end(request, step->attempt);
        return;
    case WEIR_STEP_FAIL:
        end(request, 0);
        return;
    case WEIR_STEP_NONE:
    case WEIR_STEP_CONTINUE:
    case WEIR_STEP_ASK:
    case WEIR_STEP_COMMIT:
        must(false, "a step that plain calls do not have");
    }
}

static void pump(struct request *request)
{
    struct weir_step step;
    uint64_t at_ns;

    for (;;) {
        must(weir_call_next(request->call, now_ns, &step) == 0, "a call broke");
        if (step.kind == WEIR_STEP_NONE)
            break;
        perform(request, &step);
    }
    at_ns = weir_call_expiry(request->call);
    if (request->ended_ns > 0) {
        weir_call_free(request->call);
        request->call = NULL;
    } else if (at_ns < request->timer_ns) {
        request->timer_ns = at_ns;
        push(at_ns, request, 0, 0);
    }
}

static void tell(struct request *request, const struct event *event)
{
    const struct weir_outcome outcome = {.prompt_tokens = request->prompt_tokens,
                                         .completion_tokens = request->completion_tokens};
    const struct weir_failure failure = {.kind = event->status == 429   ? WEIR_KIND_RATE_LIMIT
                                                 : event->status == 503 ? WEIR_KIND_SERVICE_UNAVAILABLE
                                                                        : WEIR_KIND_INTERNAL,
                                         .status = event->status,
                                         .origin = WEIR_ORIGIN_PROVIDER};

    stop(request, event->attempt);
    if (event->status == 200)
        weir_call_on_finished(request->call, event->attempt, &outcome, now_ns);
    else
        weir_call_on_failed(request->call, event->attempt, &failure, now_ns);
}

static void begin(weir_router *router, weir_snapshot *snapshot, struct request *request)
{
    weir_request_init(&request->asked);
    request->asked.model = WEIR_SLICE("chat");
    request->asked.prompt_tokens = request->prompt_tokens;
    request->asked.lar1.confidence = request->confidence;
    request->timer_ns = WEIR_TIME_NEVER;
    must(weir_call_begin(router, snapshot, &request->asked, weir_mem_libc(), now_ns, &request->call) == 0,
         "no call");
}

static void play(weir_router *router, weir_snapshot *snapshot)
{
    struct event event;

    for (size_t i = 0; i < request_count; i++)
        push(requests[i].came_ns, &requests[i], 0, 0);
    while (pop(&event)) {
        struct request *request = event.request;

        now_ns = event.at_ns;
        if (request->ended_ns > 0)
            continue;
        if (request->call == NULL)
            begin(router, snapshot, request);
        else if (event.attempt > 0 && request->attempts[event.attempt].running)
            tell(request, &event);
        if (request->timer_ns <= now_ns)
            request->timer_ns = WEIR_TIME_NEVER;
        pump(request);
    }
}

/* ---- the configuration ---- */

static void add_deployment(weir_snapshot_builder *builder, unsigned index)
{
    const struct shape *shape = &shapes[index];
    struct weir_deployment_spec spec;

    weir_deployment_spec_init(&spec);
    spec.id = spec.group = weir_slice_str(shape->name);
    spec.model = WEIR_SLICE("openai/m");
    spec.rpm = (double)shape->rpm;
    spec.minute.requests = shape->rpm;
    spec.input_cost = shape->input_price / 1e6;
    spec.output_cost = shape->output_price / 1e6;
    spec.lar1_class = shape->lar1_class;
    spec.user = (void *)(uintptr_t)index;
    must(weir_snapshot_add_deployment(builder, &spec) == 0, "no deployment");
}

/* A routing group of four model groups with one deployment each. */
static weir_snapshot *make_snapshot(weir_strategy strategy)
{
    static const int32_t priorities[DEPLOYMENTS] = {1, 2, 3, 4};
    struct weir_slice models[DEPLOYMENTS];
    struct weir_routing_group group = {
        .name = WEIR_SLICE("chat"), .models = models, .priorities = NULL, .count = DEPLOYMENTS};
    struct weir_router_spec router;
    weir_snapshot_builder *builder;
    weir_snapshot *snapshot;

    must(weir_snapshot_builder_new(weir_mem_libc(), &builder) == 0, "no builder");
    for (unsigned i = 0; i < DEPLOYMENTS; i++) {
        add_deployment(builder, i);
        models[i] = weir_slice_str(shapes[i].name);
    }
    if (strategy == WEIR_STRATEGY_PRIORITY)
        group.priorities = priorities;
    weir_strategy_spec_init(&group.strategy, strategy);
    must(weir_snapshot_add_routing_group(builder, &group) == 0, "no routing group");
    weir_router_spec_init(&router);
    router.limits.timeout_ns = 60 * WEIR_NS_PER_S;
    weir_snapshot_set_router(builder, &router);
    must(weir_snapshot_build(builder, &snapshot) == 0, "no snapshot");
    weir_snapshot_builder_free(builder);
    return snapshot;
}

/* ---- the table ---- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Of the requests that came in [from_s, to_s). */
static void print_row(const char *strategy, const char *when, unsigned from_s, unsigned to_s)
{
    static double seconds[REQUESTS_MAX];
    size_t came = 0, answered = 0;
    double sum = 0, dollars = 0;

    for (size_t i = 0; i < request_count; i++) {
        const struct request *request = &requests[i];

        if (request->came_ns < from_s * WEIR_NS_PER_S || request->came_ns >= to_s * WEIR_NS_PER_S)
            continue;
        came++;
        if (!request->answered)
            continue;
        seconds[answered] = weir_time_to_s(request->ended_ns - request->came_ns);
        sum += seconds[answered++];
        dollars += request->dollars;
    }
    qsort(seconds, answered, sizeof(*seconds), by_size);
    printf("%s,%s,%zu,%.2f,%.2f,%.2f,%.2f\n", strategy, when, came,
           answered == 0 ? 0 : sum / (double)answered, answered == 0 ? 0 : seconds[(answered * 99 - 1) / 100],
           answered == 0 ? 0 : dollars * 1000 / (double)answered,
           came == 0 ? 0 : 100 * (double)(came - answered) / (double)came);
}

static void check_ends(void)
{
    for (unsigned i = 0; i < DEPLOYMENTS; i++)
        must(deployments[i].running == 0, "an attempt runs on");
    for (size_t i = 0; i < request_count; i++)
        must(requests[i].ended_ns > 0, "a request has no end");
}

static void show(weir_strategy strategy, const char *name)
{
    weir_snapshot *snapshot = make_snapshot(strategy);
    weir_router *router;

    must(weir_router_new(weir_mem_libc(), seed, &router) == 0 && weir_router_adopt(router, snapshot) == 0,
         "no router");
    now_ns = 0;
    event_order = 0;
    for (unsigned i = 0; i < DEPLOYMENTS; i++)
        deployments[i] = (struct deployment){.shape = &shapes[i]};
    make_traffic();
    play(router, snapshot);
    check_ends();
    for (unsigned w = 0; w < WINDOWS; w++) {
        char when[16];

        (void)snprintf(when, sizeof(when), "%u", w * WINDOW_S);
        print_row(name, when, w * WINDOW_S, (w + 1) * WINDOW_S);
    }
    print_row(name, "all", 0, MINUTES * 60);
    weir_snapshot_unref(snapshot);
    weir_router_free(router);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    printf("strategy,from_s,requests,mean_s,p99_s,dollars_per_1000,errors_percent\n");
#define X(strategy, name, other_name, prose) show(WEIR_STRATEGY_##strategy, name);
#include <weir/tbl/strategies.h>
#undef X
    return 0;
}
