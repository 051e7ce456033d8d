/* The way of signals from workers to one taker: none is lost without being counted, whoever comes when. */
#include "unit.h"

#include <pthread.h>

#include <weir/mem_libc.h>

#include "base/container.h"
#include "gateway/alert/alerts.h"

enum { TELLERS = 3, SIGNALS = 20000 };

static struct weir_alerts alerts;
static weir_loop *loop;
static struct weir_loop_task task;
static struct weir_loop_task last_task;
static size_t taken;
static size_t more; /* signals that come while others are taken */

static void run_take(struct weir_loop_task *ran)
{
    struct weir_alert_signal signal;

    if (ran != NULL)
        weir_alerts_begin(&alerts);
    while (weir_alerts_take(&alerts, &signal)) {
        taken++;
        if (more > 0) {
            more--;
            weir_alerts_tell(&alerts, &signal);
        }
    }
}

static void run_last(struct weir_loop_task *ran)
{
    (void)ran;
    weir_loop_stop(loop);
}

static int begin(void **state)
{
    (void)state;
    taken = more = 0;
    task = (struct weir_loop_task){.run = run_take};
    last_task = (struct weir_loop_task){.run = run_last};
    weir_alerts_init(&alerts, weir_mem_libc());
    return weir_loop_new(weir_mem_libc(), &loop);
}

static int end(void **state)
{
    (void)state;
    weir_alerts_detach(&alerts);
    weir_loop_unpost(loop, &task);
    weir_loop_free(loop);
    weir_alerts_deinit(&alerts);
    return 0;
}

static void *teller_main(void *user)
{
    struct weir_alert_signal signal = {.kind = WEIR_ALERT_SLOW};

    (void)user;
    for (int i = 0; i < SIGNALS; i++)
        weir_alerts_tell(&alerts, &signal);
    return NULL;
}

static uint64_t dropped(void)
{
    return weir_alerts_count(&alerts, WEIR_ALERT_SLOW, WEIR_ALERT_OUTCOME_DROPPED);
}

static void *tellers_main(void *user)
{
    pthread_t threads[TELLERS];

    (void)user;
    for (size_t i = 0; i < TELLERS; i++)
        if (pthread_create(&threads[i], NULL, teller_main, NULL) != 0)
            return NULL;
    for (size_t i = 0; i < TELLERS; i++)
        (void)pthread_join(threads[i], NULL);
    weir_loop_post(loop, &last_task);
    return NULL;
}

static void every_signal_is_taken_or_counted(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    weir_alerts_want(&alerts, UINT32_MAX, 1);
    assert_int_equal(pthread_create(&thread, NULL, tellers_main, NULL), 0);
    weir_loop_run(loop);
    (void)pthread_join(thread, NULL);
    run_take(NULL);
    assert_int_equal(taken + dropped(), TELLERS * SIGNALS);
    assert_true(taken >= WEIR_ALERT_SIGNALS_MAX);
}

/* Whoever finds the queue empty while the task is in the loop's own queue must not put it there again. */
static void what_comes_while_others_are_taken_is_taken_too(void **state)
{
    const struct weir_alert_signal signal = {.kind = WEIR_ALERT_SLOW};

    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    weir_alerts_want(&alerts, UINT32_MAX, 1);
    more = 5;
    weir_alerts_tell(&alerts, &signal);
    weir_loop_post(loop, &last_task);
    weir_loop_run(loop);
    assert_int_equal(taken, 6);
    weir_alerts_tell(&alerts, &signal); /* the task is still posted, and has found nothing else to do */
    weir_loop_post(loop, &last_task);
    weir_loop_run(loop);
    assert_int_equal(taken, 7);
    assert_int_equal(dropped(), 0);
}

static void what_nobody_wants_is_not_put_in(void **state)
{
    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    (void)teller_main(NULL);
    weir_alerts_want(&alerts, WEIR_ALERT_BIT(WEIR_ALERT_TYPE_OUTAGE), 1);
    (void)teller_main(NULL);
    run_take(NULL);
    assert_int_equal(taken, 0);
    assert_int_equal(dropped(), 0);
}

/* For an outage is that all cool down. */
static void cooldowns_are_news_for_outages_too(void **state)
{
    const struct weir_alert_signal signal = {.kind = WEIR_ALERT_COOLDOWN};

    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    weir_alerts_want(&alerts, WEIR_ALERT_BIT(WEIR_ALERT_TYPE_OUTAGE), 1);
    weir_alerts_tell(&alerts, &signal);
    run_take(NULL);
    assert_int_equal(taken, 1);
}

static void a_cooldown_that_finds_no_room_is_remembered_once(void **state)
{
    const struct weir_alert_signal cooldown = {.kind = WEIR_ALERT_COOLDOWN};

    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    weir_alerts_want(&alerts, UINT32_MAX, 1);
    weir_alerts_tell(&alerts, &cooldown);
    (void)teller_main(NULL);
    assert_int_equal(dropped(), SIGNALS - WEIR_ALERT_SIGNALS_MAX + 1);
    assert_false(weir_alerts_missed(&alerts)); /* one was taken, others are none */
    weir_alerts_tell(&alerts, &cooldown);
    assert_int_equal(weir_alerts_count(&alerts, WEIR_ALERT_COOLDOWN, WEIR_ALERT_OUTCOME_DROPPED), 1);
    run_take(NULL);
    assert_true(weir_alerts_missed(&alerts));
    assert_false(weir_alerts_missed(&alerts));
}

static void without_a_taker_signals_are_counted(void **state)
{
    (void)state;
    weir_alerts_want(&alerts, UINT32_MAX, 1);
    (void)teller_main(NULL);
    assert_int_equal(dropped(), SIGNALS);
}

static void cooldowns_of_other_processes_are_theirs_to_tell(void **state)
{
    struct weir_router_event event = {.kind = WEIR_ROUTER_EVENT_COOLDOWN_LEARNED};

    (void)state;
    assert_int_equal(weir_alerts_attach(&alerts, loop, &task), 0);
    weir_alerts_want(&alerts, UINT32_MAX, 1);
    weir_alerts_router(&alerts, &event);
    run_take(NULL);
    assert_int_equal(taken, 0);
    event.kind = WEIR_ROUTER_EVENT_COOLDOWN_SET;
    weir_alerts_router(&alerts, &event);
    run_take(NULL);
    assert_int_equal(taken, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_signal_is_taken_or_counted),
        TEST(what_comes_while_others_are_taken_is_taken_too),
        TEST(what_nobody_wants_is_not_put_in),
        TEST(cooldowns_are_news_for_outages_too),
        TEST(a_cooldown_that_finds_no_room_is_remembered_once),
        TEST(without_a_taker_signals_are_counted),
        TEST(cooldowns_of_other_processes_are_theirs_to_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
