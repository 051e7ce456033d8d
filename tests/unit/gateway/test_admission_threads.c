/*
 * Threads that take and give turns as fast as they can, for ThreadSanitizer and for what one thread cannot
 * show: more calls than turns at once, a wake that is lost, a ticket that is called and left at the same
 * time.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/container.h"
#include "base/rand.h"
#include "gateway/admission.h"

enum { THREADS = 4, CALLS = 8, ROUNDS = 4000, MAX_RUNNING = 3, MAX_WAITING = 12 };

/* A loop with a single task, and its calls. */
struct worker {
    struct weir_waiters waiters;
    pthread_t thread;
    pthread_mutex_t lock; /* guards posted */
    pthread_cond_t knock;
    bool posted;
    struct weir_rand rand;
    struct call {
        struct weir_ticket ticket;
        bool waits;
        bool begun;
    } calls[CALLS];
    unsigned served;
};

static struct weir_admission admission;
static struct worker workers[THREADS];
static pthread_barrier_t start;
static atomic_uint running;

/* Cmocka's checks are for the test's own thread. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void on_wake(struct weir_waiters *waiters)
{
    struct worker *worker = WEIR_CONTAINER(waiters, struct worker, waiters);

    pthread_mutex_lock(&worker->lock);
    must(!worker->posted);
    worker->posted = true;
    pthread_cond_signal(&worker->knock);
    pthread_mutex_unlock(&worker->lock);
}

/* Whether the task is to run; with patience, waits until it is. */
static bool posted(struct worker *worker, bool patience)
{
    bool was;

    pthread_mutex_lock(&worker->lock);
    while (patience && !worker->posted)
        pthread_cond_wait(&worker->knock, &worker->lock);
    was = worker->posted;
    worker->posted = false;
    pthread_mutex_unlock(&worker->lock);
    return was;
}

static void begin(struct call *call)
{
    must(atomic_fetch_add(&running, 1) < MAX_RUNNING);
    call->waits = false;
    call->begun = true;
}

static void end(struct call *call)
{
    if (call->begun)
        atomic_fetch_sub(&running, 1);
    call->begun = false;
    call->waits = false;
    weir_admission_leave(&admission, &call->ticket);
}

static void run(struct worker *worker, bool patience)
{
    struct weir_ticket *ticket;

    if (!posted(worker, patience))
        return;
    while ((ticket = weir_admission_called(&admission, &worker->waiters)) != NULL) {
        begin(WEIR_CONTAINER(ticket, struct call, ticket));
        worker->served++;
    }
}

static void enter(struct worker *worker, struct call *call)
{
    int outcome = weir_admission_enter(&admission, &worker->waiters, &call->ticket);

    call->waits = outcome == WEIR_ADMISSION_WAIT;
    if (outcome == 0)
        begin(call);
}

/* Enters, leaves and gives up at random. */
static void *play(void *user)
{
    struct worker *worker = user;

    (void)pthread_barrier_wait(&start);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct call *call = &worker->calls[weir_rand_below(&worker->rand, CALLS)];

        if (!call->begun && !call->waits)
            enter(worker, call);
        else if (call->waits && weir_rand_below(&worker->rand, 2) == 0)
            call->waits = !weir_admission_give_up(&admission, &call->ticket);
        else
            end(call);
        run(worker, false);
        if (i % 8 == 0)
            (void)sched_yield();
        must(i % 64 > 0 || weir_admission_validate(&admission));
    }
    for (unsigned i = 0; i < CALLS; i++)
        end(&worker->calls[i]);
    return NULL;
}

/* One call after the other, each of which waits for its turn however long that takes. */
static void *insist(void *user)
{
    struct worker *worker = user;
    struct call *call = &worker->calls[0];

    (void)pthread_barrier_wait(&start);
    for (unsigned i = 0; i < ROUNDS; i++) {
        enter(worker, call);
        must(call->begun || call->waits); /* the queue has room for all */
        while (!call->begun)
            run(worker, true);
        (void)sched_yield(); /* holds its turn while others come */
        end(call);
    }
    return NULL;
}

static void together(uint32_t max_running, void *(*what)(void *))
{
    weir_admission_init(&admission, max_running, MAX_WAITING);
    atomic_store(&running, 0);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){0};
        weir_waiters_init(&workers[i].waiters, on_wake);
        weir_rand_init(&workers[i].rand, i);
        pthread_mutex_init(&workers[i].lock, NULL);
        pthread_cond_init(&workers[i].knock, NULL);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, what, &workers[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&running), 0);
    assert_int_equal(admission.running, 0);
    assert_int_equal(admission.waiting, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_cond_destroy(&workers[i].knock);
        pthread_mutex_destroy(&workers[i].lock);
    }
    (void)pthread_barrier_destroy(&start);
    weir_admission_deinit(&admission);
}

static void no_more_calls_than_turns_however_they_come_and_go(void **state)
{
    (void)state;
    together(MAX_RUNNING, play);
    together(1, play);
}

static void nobody_who_waits_is_forgotten(void **state)
{
    unsigned served = 0;

    (void)state;
    together(1, insist);
    for (unsigned i = 0; i < THREADS; i++)
        served += workers[i].served;
    assert_true(served > 0); /* some did wait */
    together(2, insist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_calls_than_turns_however_they_come_and_go),
        cmocka_unit_test(nobody_who_waits_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
