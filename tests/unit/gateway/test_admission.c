/* One thread plays all: two workers in virtual time, each with its waiters, a wheel of timers, and a flag for
 * the task that a wake posts. */
#include "unit.h"

#include "base/container.h"
#include "base/rand.h"
#include "base/time.h"
#include "gateway/admission.h"
#include "net/timer.h"

enum { WORKERS = 2, CALLS = 16, WAIT_MS = 100 };

struct worker {
    struct weir_waiters waiters;
    struct weir_timer_wheel wheel;
    bool posted;
    unsigned wakes;
};

struct call {
    struct weir_ticket ticket;
    struct weir_timer timer;
    struct worker *worker;
    bool begun;
    bool turned_away;
};

static struct weir_admission admission;
static struct worker workers[WORKERS];
static struct call calls[CALLS];
static uint64_t now_ms;

static void on_wake(struct weir_waiters *waiters)
{
    struct worker *worker = WEIR_CONTAINER(waiters, struct worker, waiters);

    assert_false(worker->posted);
    worker->posted = true;
    worker->wakes++;
}

static void on_timer(struct weir_timer *timer)
{
    struct call *call = WEIR_CONTAINER(timer, struct call, timer);

    call->turned_away = weir_admission_give_up(&admission, &call->ticket);
}

/* Call i is one of worker i modulo WORKERS. */
static void start(uint32_t max_running, uint32_t max_waiting)
{
    now_ms = 0;
    weir_admission_init(&admission, max_running, max_waiting);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){0};
        weir_waiters_init(&workers[i].waiters, on_wake);
        weir_timer_wheel_init(&workers[i].wheel, 0);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        calls[i] = (struct call){.worker = &workers[i % WORKERS]};
        weir_timer_init(&calls[i].timer, on_timer);
    }
}

static int enter(unsigned which)
{
    struct call *call = &calls[which];
    int outcome = weir_admission_enter(&admission, &call->worker->waiters, &call->ticket);

    call->begun = outcome == 0;
    call->turned_away = outcome == WEIR_ADMISSION_FULL;
    if (outcome == WEIR_ADMISSION_WAIT)
        weir_timer_wheel_add(&call->worker->wheel, &call->timer, (now_ms + WAIT_MS) * WEIR_NS_PER_MS);
    assert_true(weir_admission_validate(&admission));
    return outcome;
}

static void leave(unsigned which)
{
    struct call *call = &calls[which];

    weir_timer_wheel_remove(&call->worker->wheel, &call->timer);
    weir_admission_leave(&admission, &call->ticket);
    call->begun = false;
    assert_true(weir_admission_validate(&admission));
}

/* The task of the worker, when it is posted. */
static void run(unsigned which)
{
    struct worker *worker = &workers[which];
    struct weir_ticket *ticket;

    if (!worker->posted)
        return;
    worker->posted = false;
    while ((ticket = weir_admission_called(&admission, &worker->waiters)) != NULL) {
        struct call *call = WEIR_CONTAINER(ticket, struct call, ticket);

        assert_ptr_equal(call->worker, worker);
        weir_timer_wheel_remove(&worker->wheel, &call->timer);
        call->begun = true;
    }
}

/* Lets time pass in one worker, whose clock may be behind the other's. */
static void pass(unsigned which, uint64_t at_ms)
{
    weir_timer_wheel_run(&workers[which].wheel, at_ms * WEIR_NS_PER_MS);
    assert_true(weir_admission_validate(&admission));
}

static void stop(void)
{
    for (unsigned i = 0; i < CALLS; i++)
        leave(i);
    weir_admission_deinit(&admission);
}

static void without_a_limit_everybody_has_a_turn(void **state)
{
    (void)state;
    start(0, 0);
    for (unsigned i = 0; i < CALLS; i++)
        assert_int_equal(enter(i), 0);
    assert_int_equal(admission.running, 0); /* nothing is counted */
    stop();
}

static void what_is_beyond_turns_and_queue_is_turned_away(void **state)
{
    (void)state;
    start(2, 1);
    assert_int_equal(enter(0), 0);
    assert_int_equal(enter(1), 0);
    assert_int_equal(enter(2), WEIR_ADMISSION_WAIT);
    assert_int_equal(enter(3), WEIR_ADMISSION_FULL);
    leave(3);
    assert_int_equal(admission.running, 2);
    assert_int_equal(admission.waiting, 1);
    stop();
}

static void the_limits_are_of_all_workers_together(void **state)
{
    (void)state;
    start(3, 2);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(enter(i), 0);
    assert_int_equal(enter(3), WEIR_ADMISSION_WAIT);
    assert_int_equal(enter(4), WEIR_ADMISSION_WAIT);
    assert_int_equal(enter(5), WEIR_ADMISSION_FULL);
    assert_int_equal(enter(6), WEIR_ADMISSION_FULL);
    stop();
}

static void without_a_queue_nobody_waits(void **state)
{
    (void)state;
    start(1, 0);
    assert_int_equal(enter(0), 0);
    assert_int_equal(enter(1), WEIR_ADMISSION_FULL);
    leave(0);
    assert_int_equal(enter(1), 0);
    stop();
}

static void turns_go_in_the_order_of_coming_whatever_the_worker(void **state)
{
    static const unsigned coming[] = {1, 2, 4, 3, 5};
    unsigned last = 0;

    (void)state;
    start(1, 5);
    assert_int_equal(enter(0), 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(enter(coming[i]), WEIR_ADMISSION_WAIT);
    for (unsigned i = 0; i < 5; i++) {
        leave(last);
        last = coming[i];
        assert_false(calls[last].begun);
        assert_false(workers[(last + 1) % WORKERS].posted); /* nobody else is woken */
        run(last % WORKERS);
        assert_true(calls[last].begun);
    }
    stop();
}

static void a_turn_that_is_handed_on_is_never_free(void **state)
{
    (void)state;
    start(1, 3);
    assert_int_equal(enter(0), 0);
    assert_int_equal(enter(1), WEIR_ADMISSION_WAIT);
    leave(0); /* its turn is for call 1, whose worker sleeps still */
    assert_int_equal(enter(2), WEIR_ADMISSION_WAIT);
    assert_int_equal(admission.running, 1);
    run(1);
    assert_true(calls[1].begun);
    assert_false(calls[2].begun);
    stop();
}

static void a_worker_is_woken_once_for_all_its_calls(void **state)
{
    (void)state;
    start(4, 8);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(enter(i), 0);
    for (unsigned i = 4; i < 12; i += 2)
        assert_int_equal(enter(i), WEIR_ADMISSION_WAIT);
    for (unsigned i = 0; i < 3; i++)
        leave(i);
    assert_int_equal(workers[0].wakes, 1);
    run(0);
    leave(3);
    assert_int_equal(workers[0].wakes, 2);
    run(0);
    for (unsigned i = 4; i < 12; i += 2)
        assert_true(calls[i].begun);
    assert_int_equal(workers[1].wakes, 0);
    stop();
}

static void who_leaves_the_queue_takes_no_turn(void **state)
{
    (void)state;
    start(1, 3);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(enter(i), i == 0 ? 0 : WEIR_ADMISSION_WAIT);
    leave(2); /* from the middle */
    leave(3); /* the last */
    leave(3);
    leave(0);
    run(0);
    run(1);
    assert_true(calls[1].begun);
    assert_int_equal(admission.running, 1);
    assert_int_equal(admission.waiting, 0);
    stop();
}

static void who_leaves_between_call_and_beginning_hands_the_turn_on(void **state)
{
    (void)state;
    start(1, 3);
    assert_int_equal(enter(0), 0);
    assert_int_equal(enter(1), WEIR_ADMISSION_WAIT);
    assert_int_equal(enter(2), WEIR_ADMISSION_WAIT);
    leave(0);
    leave(1);
    run(1); /* for nothing */
    assert_false(calls[1].begun);
    run(0);
    assert_true(calls[2].begun);
    leave(2);
    assert_int_equal(enter(3), 0);
    stop();
}

static void a_wait_ends_at_its_time_by_its_own_workers_clock(void **state)
{
    (void)state;
    start(1, 3);
    assert_int_equal(enter(0), 0);
    now_ms = 10;
    assert_int_equal(enter(1), WEIR_ADMISSION_WAIT);
    now_ms = 20;
    assert_int_equal(enter(2), WEIR_ADMISSION_WAIT);
    pass(0, 115); /* worker 1 does not know yet */
    pass(1, 109);
    assert_false(calls[1].turned_away || calls[2].turned_away);
    pass(0, 122);                      /* a timer may be a tick late */
    assert_true(calls[2].turned_away); /* though one that came before it waits still */
    assert_false(calls[1].turned_away);
    pass(1, 112);
    assert_true(calls[1].turned_away);
    leave(1); /* it has no turn to give back */
    assert_int_equal(admission.running, 1);
    assert_int_equal(admission.waiting, 0);
    stop();
}

static void a_turn_in_the_last_moment_is_a_turn(void **state)
{
    (void)state;
    start(1, 3);
    assert_int_equal(enter(0), 0);
    assert_int_equal(enter(1), WEIR_ADMISSION_WAIT);
    leave(0);
    pass(1, 200); /* before the task */
    assert_false(calls[1].turned_away);
    run(1);
    assert_true(calls[1].begun);
    assert_int_equal(admission.running, 1);
    stop();
}

static void play_on(struct weir_rand *rand, unsigned which)
{
    if (calls[which].ticket.turn != WEIR_TURN_NONE)
        leave(which);
    else
        (void)!enter(which);
    for (unsigned i = 0; i < WORKERS; i++)
        if (weir_rand_below(rand, 3) > 0)
            run(i);
    pass((unsigned)weir_rand_below(rand, WORKERS), now_ms);
}

/* Random plays: counts never pass the limits, nobody is left waiting, and all are free in the end. */
static void counts_agree_after_random_plays(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 7);
    for (unsigned play = 0; play < 200; play++) {
        start((uint32_t)weir_rand_below(&rand, 4), (uint32_t)weir_rand_below(&rand, 6));
        for (now_ms = 0; now_ms < 600; now_ms += 2)
            play_on(&rand, (unsigned)weir_rand_below(&rand, CALLS));
        for (unsigned i = 0; i < WORKERS; i++)
            run(i);
        for (unsigned i = 0; i < CALLS; i++)
            assert_int_not_equal(calls[i].ticket.turn, WEIR_TURN_CALLED);
        stop();
        assert_int_equal(admission.running + admission.waiting, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_everybody_has_a_turn),
        cmocka_unit_test(what_is_beyond_turns_and_queue_is_turned_away),
        cmocka_unit_test(the_limits_are_of_all_workers_together),
        cmocka_unit_test(without_a_queue_nobody_waits),
        cmocka_unit_test(turns_go_in_the_order_of_coming_whatever_the_worker),
        cmocka_unit_test(a_turn_that_is_handed_on_is_never_free),
        cmocka_unit_test(a_worker_is_woken_once_for_all_its_calls),
        cmocka_unit_test(who_leaves_the_queue_takes_no_turn),
        cmocka_unit_test(who_leaves_between_call_and_beginning_hands_the_turn_on),
        cmocka_unit_test(a_wait_ends_at_its_time_by_its_own_workers_clock),
        cmocka_unit_test(a_turn_in_the_last_moment_is_a_turn),
        cmocka_unit_test(counts_agree_after_random_plays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
