/*
 * Threads that change what is shared, one that tells and learns it, one that looks on, and one that reloads:
 * for ThreadSanitizer, and for what must hold at the end: everything was told once, though the teller takes
 * only when it was notified.
 *
 * The time stands still, so that nothing ends and every count can be added up.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"
#include "engine/live/cooldown.h"
#include "engine/live/latency.h"
#include "engine/live/quota.h"
#include "engine/live/usage.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"

#include "unit.h"

enum { WORKERS = 4, TURNS = 20000, RELOADS = 60, DEPLOYMENTS = 130, FOREIGN = 7, MINUTE = 16 };

#define NOW_NS (1000 * WEIR_NS_PER_S)

struct shared {
    weir_router *router;
    weir_snapshot *snapshot;
    sem_t wake;
    atomic_uint notes;
    atomic_bool stop;
    int64_t told[DEPLOYMENTS][WEIR_USAGES]; /* the teller's, and so are the rest */
    int64_t told_running[DEPLOYMENTS];
    uint64_t told_fails[DEPLOYMENTS];
    uint64_t takes;
};

static void note(void *user)
{
    struct shared *shared = user;

    atomic_fetch_add(&shared->notes, 1);
    sem_post(&shared->wake);
}

static weir_snapshot *make_snapshot(weir_router *router, size_t count)
{
    struct weir_router_spec spec;
    weir_snapshot_builder *builder = NULL;
    weir_snapshot *snapshot = NULL;
    char id[24];

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < count; i++) {
        struct weir_deployment_spec deployment;

        weir_deployment_spec_init(&deployment);
        snprintf(id, sizeof(id), "d%zu", i);
        deployment.id = weir_slice_str(id);
        deployment.group = WEIR_SLICE("g");
        deployment.model = WEIR_SLICE("openai/m");
        assert_int_equal(weir_snapshot_add_deployment(builder, &deployment), 0);
    }
    weir_router_spec_init(&spec);
    spec.allowed_fails = 1000;
    spec.health_check_routing = true;
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    for (size_t i = 0; i < count; i++)
        snapshot->deployments[i]->shares = UINT8_MAX;
    assert_int_equal(weir_router_adopt(router, snapshot), 0);
    return snapshot;
}

static void *reload(void *user)
{
    struct shared *shared = user;

    for (size_t i = 0; i < RELOADS; i++)
        weir_snapshot_unref(make_snapshot(shared->router, DEPLOYMENTS + 10 * i));
    return NULL;
}

static void attempt(struct weir_live *live, const weir_deployment *deployment, struct weir_rand *rand)
{
    const struct weir_quota_ask ask = {.rule = WEIR_QUOTA_ALL, .input = 9, .now_ns = NOW_NS};
    struct weir_quota quota;
    struct weir_refusal refusal;

    assert_int_equal(weir_quota_take(live, deployment, &ask, &quota, &refusal), 0);
    weir_quota_end(live, deployment->slot, &quota);
    weir_quota_settle(live, deployment->slot, &quota, weir_rand_below(rand, 9), weir_rand_below(rand, 9),
                      NOW_NS);
}

static void *work(void *user)
{
    const struct weir_failure failure = {
        .kind = WEIR_KIND_INTERNAL, .status = 500, .origin = WEIR_ORIGIN_PROVIDER};
    struct shared *shared = user;
    struct weir_live *live = &shared->router->live;
    struct weir_cooldown cooldown;
    struct weir_rand rand;

    weir_rand_init(&rand, (uintptr_t)&rand);
    for (int i = 0; i < TURNS; i++) {
        const weir_deployment *d = shared->snapshot->deployments[weir_rand_below(&rand, DEPLOYMENTS)];

        attempt(live, d, &rand);
        if (i % 16 == 0)
            (void)weir_cooldown_count(live, shared->snapshot, d, &failure, NOW_NS, &cooldown);
        if (i % 8 == 0)
            weir_latency_sample(live, d->slot, WEIR_PACE_WHOLE, 0.5, d->group->strategy, NOW_NS);
        if (i % 32 == 0)
            (void)weir_live_run_is_cooling(live, d->slot / WEIR_LIVE_RUN_SLOTS * WEIR_LIVE_RUN_SLOTS, NOW_NS);
    }
    return NULL;
}

static void *look_on(void *user)
{
    struct shared *shared = user;
    struct weir_live_view view;

    for (size_t i = 0; !atomic_load(&shared->stop); i++) {
        weir_router_view(shared->router, shared->snapshot->deployments[i % DEPLOYMENTS], NOW_NS, &view);
        if (view.cooldown_elsewhere && view.cooldown_by.len != 0)
            assert_memory_equal(view.cooldown_by.text, "other", 5);
    }
    return NULL;
}

static void tell(struct shared *shared, const struct weir_change *change)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(shared->snapshot, change->id);
    size_t d = 0;
    uint64_t count = 0;

    if (deployment == NULL)
        return;
    while (shared->snapshot->deployments[d] != deployment)
        d++;
    if (change->kind == WEIR_SHARED_USAGE) {
        shared->told[d][change->u.usage.usage] += change->u.usage.amount;
        count = (uint64_t)(shared->told[d][change->u.usage.usage] + FOREIGN);
    } else if (change->kind == WEIR_SHARED_RUNNING) {
        shared->told_running[d] += change->u.running.amount;
        count = (uint64_t)(shared->told_running[d] + FOREIGN);
    } else if (change->kind == WEIR_SHARED_FAILS) {
        shared->told_fails[d] += change->u.fails.amount;
        count = shared->told_fails[d];
    }
    weir_router_change_done(shared->router, shared->snapshot, change, count, NOW_NS);
}

static void learn(struct shared *shared)
{
    static const float samples[] = {0.25f, 0.75f};
    static const struct weir_failure failure = {.kind = WEIR_KIND_INTERNAL, .status = 500};
    const weir_deployment *d = shared->snapshot->deployments[shared->takes % DEPLOYMENTS];
    const struct weir_learned_cooldown cooldown = {.remaining_ns = (10 + shared->takes % 50) * WEIR_NS_PER_S,
                                                   .kind = WEIR_KIND_RATE_LIMIT,
                                                   .status = 429,
                                                   .by = WEIR_SLICE("other")};
    struct weir_router_event event;
    uint64_t until = weir_router_learn_cooldown(shared->router, d, &cooldown, NOW_NS);

    if (shared->takes % 2 == 0)
        (void)weir_router_lift_cooldown(shared->router, d, until, NOW_NS);
    weir_router_learn_latency(shared->router, d, WEIR_PACE_WHOLE, samples, 2, NOW_NS);
    weir_router_probe(shared->router, shared->snapshot, d, shared->takes % 3 == 0 ? &failure : NULL, NOW_NS);
    while (weir_router_event(shared->router, &event))
        ;
}

static void *tell_all(void *user)
{
    static struct weir_change changes[2 * WEIR_CHANGES_MAX];
    struct shared *shared = user;
    size_t count;

    while (!atomic_load(&shared->stop) || atomic_load(&shared->notes) > 0) {
        sem_wait(&shared->wake);
        if (atomic_exchange(&shared->notes, 0) == 0)
            continue;
        do {
            count = weir_router_take_changes(shared->router, NOW_NS, changes, 2 * WEIR_CHANGES_MAX);
            for (size_t i = 0; i < count; i++)
                tell(shared, &changes[i]);
            shared->takes++;
        } while (count > WEIR_CHANGES_MAX);
        if (!atomic_load(&shared->stop)) /* it makes a change itself */
            learn(shared);
    }
    return NULL;
}

static void check(struct shared *shared)
{
    const struct weir_live *live = &shared->router->live;

    for (size_t d = 0; d < DEPLOYMENTS; d++) {
        uint32_t slot = shared->snapshot->deployments[d]->slot;

        for (size_t u = 0; u < WEIR_USAGES; u++)
            if (shared->told[d][u] > 0)
                assert_int_equal(weir_usage_of(live, slot, (weir_usage_kind)u, MINUTE),
                                 shared->told[d][u] + FOREIGN);
        assert_int_equal(shared->told_running[d], 0);
        assert_int_equal(weir_usage_running(live, slot), 0);
        assert_int_equal(shared->told_fails[d],
                         weir_live_counter_count(weir_live_counter(live, slot, WEIR_LIVE_COUNTER_ROUTER)));
    }
    assert_true(weir_live_validate(live, NOW_NS));
}

static void everything_is_told_once(void **state)
{
    struct shared *shared = test_calloc(1, sizeof(*shared));
    pthread_t workers[WORKERS], teller, reloader, looker;
    (void)state;

    sem_init(&shared->wake, 0, 0);
    assert_int_equal(weir_router_new(weir_mem_libc(), 1, &shared->router), 0);
    assert_int_equal(weir_router_share(shared->router, note, shared), 0);
    shared->snapshot = make_snapshot(shared->router, DEPLOYMENTS);
    pthread_create(&teller, NULL, tell_all, shared);
    pthread_create(&looker, NULL, look_on, shared);
    pthread_create(&reloader, NULL, reload, shared);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, shared);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(reloader, NULL);
    atomic_store(&shared->stop, true);
    sem_post(&shared->wake);
    pthread_join(teller, NULL);
    pthread_join(looker, NULL);
    check(shared);
    weir_snapshot_unref(shared->snapshot);
    weir_router_free(shared->router);
    sem_destroy(&shared->wake);
    test_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_told_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
