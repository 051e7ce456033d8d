/*
 * One router, eight threads with calls, one that reloads: for ThreadSanitizer, and for what must hold at the
 * end whatever the order was.
 *
 * Each worker takes the snapshot of the moment, as a worker of the gateway does, and plays calls on it: some
 * succeed, some fail with what cools, some give nothing until another attempt joins them, some are freed
 * half-way.  The time is each worker's own and only grows;
 * all stay inside one minute, so that nothing is dropped and every entry can be added up.  Every deployment
 * has fewer slots than there are workers, and the first one fewer requests a minute than they would make.
 * Each reload brings the next strategy, so all of them pick from the same live state; the last one looks at
 * no limits, so it runs into them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "unit.h"

enum { WORKERS = 8, CALLS = 3000, RELOADS = 504, DEPLOYMENTS = 6, SLOTS = 2, REQUESTS = 500 };

#define START_NS   (1000 * WEIR_NS_PER_S)
#define LONGEST_NS (4 * WEIR_NS_PER_MS) /* to which cooldowns grow */
#define HEDGE_NS   (1 * WEIR_NS_PER_MS)

struct shared {
    weir_router *router;
    pthread_mutex_t lock; /* of current: a host's own business, not the router's */
    weir_snapshot *current;
    atomic_uint successes[DEPLOYMENTS];
    atomic_uint failures[DEPLOYMENTS];
    atomic_uint starts[DEPLOYMENTS];
    atomic_uint running[DEPLOYMENTS];
    atomic_uint refused_by_minute;
    atomic_uint hedges_lost;
    atomic_uint faults;
};

struct worker {
    struct shared *shared;
    struct weir_rand rand;
    uint64_t now_ns;
    uint32_t silent; /* attempt of the call that gives nothing; 0: none */
    uintptr_t silent_index;
};

static void add_deployments(weir_snapshot_builder *builder, unsigned turn)
{
    static const char *const ids[DEPLOYMENTS] = {"d0", "d1", "d2", "d3", "d4", "d5"};

    for (unsigned i = 0; i < DEPLOYMENTS; i++) {
        struct weir_deployment_spec spec;

        weir_deployment_spec_init(&spec);
        /* each reload has another order of the same deployments, so their slots are not their places */
        spec.id = weir_slice_str(ids[(i + turn) % DEPLOYMENTS]);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        spec.user = (void *)(uintptr_t)((i + turn) % DEPLOYMENTS);
        spec.max_parallel = SLOTS;
        if ((i + turn) % DEPLOYMENTS == 0)
            spec.minute.requests = REQUESTS;
        spec.minute.input_tokens = UINT32_MAX;
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
}

static weir_snapshot *make_snapshot(weir_router *router, unsigned turn)
{
    struct weir_router_spec spec;
    weir_snapshot_builder *builder = NULL;
    weir_snapshot *snapshot = NULL;

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    add_deployments(builder, turn);
    weir_router_spec_init(&spec);
    spec.num_retries = 3;
    spec.cooldown_ns = WEIR_NS_PER_MS;
    spec.resilience.retry_budget = (struct weir_retry_budget){.said = true, .ratio = 3};
    spec.resilience.cooldown_growth = (struct weir_cooldown_growth){2, LONGEST_NS};
    spec.resilience.hedge = (struct weir_hedge){HEDGE_NS, 1};
    spec.resilience.cooldown_ramp_ns = 2 * WEIR_NS_PER_MS;
    spec.enforce_minute_limits = true;
    /* those before PRIORITY, which is none to pick by */
    weir_strategy_spec_init(&spec.strategy, (weir_strategy)(turn % WEIR_STRATEGY_PRIORITY));
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    assert_int_equal(weir_router_adopt(router, snapshot), 0);
    return snapshot;
}

static weir_snapshot *take_snapshot(struct shared *shared)
{
    weir_snapshot *snapshot;

    pthread_mutex_lock(&shared->lock);
    snapshot = weir_snapshot_ref(shared->current);
    pthread_mutex_unlock(&shared->lock);
    return snapshot;
}

static void swap_snapshot(struct shared *shared, weir_snapshot *snapshot)
{
    weir_snapshot *old;

    pthread_mutex_lock(&shared->lock);
    old = shared->current;
    shared->current = snapshot;
    pthread_mutex_unlock(&shared->lock);
    weir_snapshot_unref(old);
}

/* The silent attempt is about to end: another one answers, it fails, or the call is freed. */
static void end_silent(struct worker *worker)
{
    if (worker->silent != 0)
        atomic_fetch_sub(&worker->shared->running[worker->silent_index], 1);
    worker->silent = 0;
}

static void fail_silent(struct worker *worker, weir_call *call)
{
    static const struct weir_failure failure = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER};
    uint32_t silent = worker->silent;

    end_silent(worker);
    atomic_fetch_add(&worker->shared->failures[worker->silent_index], 1);
    weir_call_on_failed(call, silent, &failure, worker->now_ns);
}

/* Ends the attempt in one of the ways, or lets the first one be silent; returns false when the call is to be
 * freed as it is. */
static bool end_attempt(struct worker *worker, weir_call *call, const struct weir_step *step)
{
    static const struct weir_failure failures[] = {
        {WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER},
        {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_PROVIDER},
        {WEIR_KIND_AUTH, 401, 0, WEIR_ORIGIN_PROVIDER},
    };
    static const struct weir_outcome fine = {.prompt_tokens = 2, .completion_tokens = 3};
    uintptr_t index = (uintptr_t)weir_deployment_user(step->u.start.deployment);
    uint64_t turn = weir_rand_below(&worker->rand, worker->silent == 0 ? 9 : 8);

    atomic_fetch_add(&worker->shared->starts[index], 1);
    if (atomic_fetch_add(&worker->shared->running[index], 1) >= SLOTS)
        atomic_fetch_add(&worker->shared->faults, 1);
    weir_call_on_opened(call, step->attempt, worker->now_ns);
    if (turn == 8) {
        worker->silent = step->attempt;
        worker->silent_index = index;
        return true;
    }
    if (turn >= 3)
        end_silent(worker);
    if (turn >= 3 && turn < 7)
        weir_call_on_chunk(call, step->attempt, &(struct weir_stream_chunk){.deltas = 1}, worker->now_ns);
    atomic_fetch_sub(&worker->shared->running[index], 1);
    if (turn == 7)
        return false;
    if (turn < 3) {
        weir_call_on_failed(call, step->attempt, &failures[turn], worker->now_ns);
        atomic_fetch_add(&worker->shared->failures[index], 1);
        return true;
    }
    weir_call_on_finished(call, step->attempt, &fine, worker->now_ns);
    atomic_fetch_add(&worker->shared->successes[index], 1);
    return true;
}

/* Time passes until the call wants to be woken, or the silent attempt fails that no other one joins. */
static void pass_time(struct worker *worker, weir_call *call)
{
    uint64_t expiry_ns = weir_call_expiry(call);

    if (worker->silent != 0 && expiry_ns > worker->now_ns + HEDGE_NS)
        fail_silent(worker, call);
    else
        worker->now_ns = expiry_ns;
}

/* A refusal has no step; one by a limit of the minute is a failure of the deployment. */
static void count_events(struct shared *shared, weir_call *call)
{
    struct weir_event event;

    while (weir_call_event(call, &event)) {
        atomic_fetch_add(&shared->hedges_lost, event.kind == WEIR_EVENT_HEDGE_LOST);
        if (event.kind != WEIR_EVENT_ATTEMPT_REFUSED)
            continue;
        if (event.u.attempt_failed.failure.origin == WEIR_ORIGIN_ROUTER)
            continue;
        atomic_fetch_add(&shared->refused_by_minute, 1);
        atomic_fetch_add(&shared->failures[event.deployment.ptr[1] - '0'], 1);
    }
}

static void play_call(struct worker *worker, weir_snapshot *snapshot)
{
    struct weir_request request;
    struct weir_step step = {.kind = WEIR_STEP_START};
    weir_call *call = NULL;
    bool goes_on = true;

    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    request.stream = true;
    request.prompt_tokens = 100;
    if (weir_call_begin(worker->shared->router, snapshot, &request, weir_mem_libc(), worker->now_ns, &call) !=
        0) {
        atomic_fetch_add(&worker->shared->faults, 1);
        return;
    }
    while (goes_on) {
        if (weir_call_next(call, worker->now_ns, &step) != 0)
            atomic_fetch_add(&worker->shared->faults, 1);
        count_events(worker->shared, call);
        if (step.kind == WEIR_STEP_START)
            goes_on = end_attempt(worker, call, &step);
        else if (step.kind == WEIR_STEP_DELIVER || step.kind == WEIR_STEP_FAIL)
            goes_on = false;
        else if (step.kind == WEIR_STEP_NONE)
            pass_time(worker, call);
    }
    end_silent(worker);
    weir_call_free(call);
    worker->now_ns += weir_rand_below(&worker->rand, WEIR_NS_PER_MS);
}

static void *work(void *user)
{
    struct worker *worker = user;

    for (unsigned i = 0; i < CALLS; i++) {
        weir_snapshot *snapshot = take_snapshot(worker->shared);
        struct weir_live_view view;

        play_call(worker, snapshot);
        weir_router_view(worker->shared->router, weir_snapshot_deployment(snapshot, i % DEPLOYMENTS),
                         worker->now_ns, &view);
        weir_snapshot_unref(snapshot);
    }
    return NULL;
}

static void *reload(void *user)
{
    struct shared *shared = user;

    for (unsigned i = 1; i <= RELOADS; i++)
        swap_snapshot(shared, make_snapshot(shared->router, i));
    return NULL;
}

static void check_views(struct shared *shared, uint64_t now_ns)
{
    for (size_t i = 0; i < DEPLOYMENTS; i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(shared->current, i);
        uintptr_t index = (uintptr_t)weir_deployment_user(deployment);
        struct weir_live_view view;

        weir_router_view(shared->router, deployment, now_ns, &view);
        assert_int_equal(view.successes, atomic_load(&shared->successes[index]));
        assert_int_equal(view.failures, atomic_load(&shared->failures[index]));
        assert_true(view.failures > 0 && view.successes > 0);
        assert_int_equal(view.running, 0);
        assert_int_equal(view.minute.requests, atomic_load(&shared->starts[index]));
        /* what was reserved for the others was given back */
        assert_int_equal(view.minute.tokens, 5 * view.successes);
        assert_int_equal(view.minute.input_tokens, 2 * view.successes);
        assert_int_equal(view.minute.output_tokens, 3 * view.successes);
        assert_true(view.cooldown_until_ns > START_NS && view.cooldown_until_ns <= now_ns + LONGEST_NS);
    }
}

static void threads_share_one_router_over_reloads(void **state)
{
    struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS + 1];
    uint64_t last_ns = 0;
    (void)state;

    assert_int_equal(weir_router_new(weir_mem_libc(), 1, &shared.router), 0);
    weir_router_set_wall(shared.router, 0, START_NS);
    shared.current = make_snapshot(shared.router, 0);
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.shared = &shared, .now_ns = START_NS};
        weir_rand_init(&workers[i].rand, i);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[WORKERS], NULL, reload, &shared), 0);
    for (size_t i = 0; i <= WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < WORKERS; i++)
        last_ns = workers[i].now_ns > last_ns ? workers[i].now_ns : last_ns;
    assert_true(last_ns < START_NS + 60 * WEIR_NS_PER_S);
    assert_int_equal(atomic_load(&shared.faults), 0);
    check_views(&shared, last_ns);
    assert_int_equal(atomic_load(&shared.starts[0]), REQUESTS);
    assert_true(atomic_load(&shared.refused_by_minute) > 0);
    assert_true(atomic_load(&shared.hedges_lost) > 0);
    weir_snapshot_unref(shared.current);
    weir_router_free(shared.router);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_one_router_over_reloads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
