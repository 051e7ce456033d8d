/*
 * One router, threads that cool deployments down by hand and lift that again, that look, that explain, and
 * one that reloads: for ThreadSanitizer, and for what must hold at the end whatever the order was.
 *
 * Whoever has done something takes one event of the router, so never more of them wait than there are threads
 * and none is lost: as many are taken as were told, and each of them says what somebody has done.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "unit.h"

enum { HANDS = 6, TURNS = 4000, RELOADS = 300, DEPLOYMENTS = 4 };

#define NOW_NS (1000 * WEIR_NS_PER_S)

struct shared {
    weir_router *router;
    pthread_mutex_t lock; /* of current: a host's own business */
    weir_snapshot *current;
    atomic_uint cooled, lifted; /* by hand */
    atomic_uint set_events, lift_events;
    atomic_uint faults;
};

struct hand {
    struct shared *shared;
    unsigned number;
};

static weir_snapshot *make_snapshot(weir_router *router)
{
    static const char *const ids[DEPLOYMENTS] = {"d0", "d1", "d2", "d3"};
    weir_snapshot_builder *builder = NULL;
    weir_snapshot *snapshot = NULL;
    struct weir_deployment_spec spec;

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < DEPLOYMENTS; i++) {
        weir_deployment_spec_init(&spec);
        spec.id = weir_slice_str(ids[i]);
        spec.group = WEIR_SLICE("g");
        spec.model = WEIR_SLICE("openai/m");
        assert_int_equal(weir_snapshot_add_deployment(builder, &spec), 0);
    }
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

static void expect(struct shared *shared, bool holds)
{
    if (!holds)
        atomic_fetch_add(&shared->faults, 1);
}

static void take_event(struct shared *shared)
{
    struct weir_router_event event;

    if (!weir_router_event(shared->router, &event))
        return;
    expect(shared, event.deployment.len == 2 && event.deployment.ptr[0] == 'd');
    expect(shared, weir_slice_eq(event.group, WEIR_SLICE("g")));
    expect(shared, event.by.len == 5 && memcmp(event.by.text, "hand", 4) == 0);
    expect(shared, event.kind != WEIR_ROUTER_EVENT_COOLDOWN_SET || event.rule == WEIR_COOLDOWN_BY_HAND);
    atomic_fetch_add(
        event.kind == WEIR_ROUTER_EVENT_COOLDOWN_SET ? &shared->set_events : &shared->lift_events, 1);
}

/* A name is seen as a whole, or not at all. */
static void look(struct shared *shared, const weir_deployment *deployment)
{
    struct weir_live_view view;

    weir_router_view(shared->router, deployment, NOW_NS, &view);
    expect(shared, view.cooldown_by.len == 0 ||
                       (view.cooldown_by.len == 5 && memcmp(view.cooldown_by.text, "hand", 4) == 0));
}

static void explain(struct shared *shared, weir_snapshot *snapshot)
{
    struct weir_explanation explanation;
    struct weir_request request;
    double sum = 0;

    weir_request_init(&request);
    request.model = WEIR_SLICE("g");
    request.note_candidates = DEPLOYMENTS;
    if (weir_router_explain(shared->router, snapshot, &request, weir_mem_libc(), NOW_NS, &explanation) != 0) {
        expect(shared, false);
        return;
    }
    for (uint32_t i = 0; i < explanation.count; i++)
        sum += explanation.candidates[i].odds;
    expect(shared, explanation.count == DEPLOYMENTS && (sum == 0 || (sum > 0.999 && sum < 1.001)));
    weir_explanation_deinit(&explanation, weir_mem_libc());
}

static void *work(void *user)
{
    const struct hand *hand = user;
    struct shared *shared = hand->shared;
    struct weir_rand rand;
    char name[8];

    weir_rand_init(&rand, hand->number);
    snprintf(name, sizeof(name), "hand%u", hand->number % 10);
    for (int i = 0; i < TURNS; i++) {
        weir_snapshot *snapshot = take_snapshot(shared);
        const weir_deployment *deployment =
            weir_snapshot_deployment(snapshot, weir_rand_below(&rand, DEPLOYMENTS));
        struct weir_slice by = weir_slice_str(name);

        if (weir_rand_below(&rand, 2) == 0) {
            expect(shared, weir_router_cool(shared->router, deployment,
                                            1 + weir_rand_below(&rand, WEIR_NS_PER_S), by, NOW_NS) == 0);
            atomic_fetch_add(&shared->cooled, 1);
        } else if (weir_router_lift(shared->router, deployment, by, NOW_NS)) {
            atomic_fetch_add(&shared->lifted, 1);
        }
        take_event(shared);
        look(shared, deployment);
        if (i % 16 == 0)
            explain(shared, snapshot);
        weir_snapshot_unref(snapshot);
    }
    return NULL;
}

static void *reload(void *user)
{
    struct shared *shared = user;

    for (int i = 0; i < RELOADS; i++) {
        weir_snapshot *next = make_snapshot(shared->router), *old;

        pthread_mutex_lock(&shared->lock);
        old = shared->current;
        shared->current = next;
        pthread_mutex_unlock(&shared->lock);
        weir_snapshot_unref(old);
    }
    return NULL;
}

static void hands_may_do_what_they_will_at_once(void **state)
{
    struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct hand hands[HANDS];
    pthread_t threads[HANDS + 1];
    (void)state;

    assert_int_equal(weir_router_new(weir_mem_libc(), 1, &shared.router), 0);
    shared.current = make_snapshot(shared.router);
    for (unsigned i = 0; i < HANDS; i++) {
        hands[i] = (struct hand){&shared, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &hands[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[HANDS], NULL, reload, &shared), 0);
    for (unsigned i = 0; i <= HANDS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < HANDS; i++)
        take_event(&shared);
    assert_int_equal(atomic_load(&shared.faults), 0);
    assert_int_equal(atomic_load(&shared.set_events), atomic_load(&shared.cooled));
    assert_int_equal(atomic_load(&shared.lift_events), atomic_load(&shared.lifted));
    assert_true(atomic_load(&shared.lifted) > 0);
    weir_snapshot_unref(shared.current);
    weir_router_free(shared.router);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(hands_may_do_what_they_will_at_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
