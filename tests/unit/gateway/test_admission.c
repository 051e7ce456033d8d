#include "unit.h"

#include "base/rand.h"
#include "base/time.h"
#include "gateway/admission.h"

enum { TICKETS = 16 };

static struct weir_admission admission;
static struct weir_ticket tickets[TICKETS];

static void start(uint32_t max_running, uint32_t max_waiting, uint64_t wait_ns)
{
    memset(tickets, 0, sizeof(tickets));
    weir_admission_init(&admission, max_running, max_waiting, wait_ns);
}

static void assert_enter(unsigned which, uint64_t now_ns, int outcome)
{
    assert_int_equal(weir_admission_enter(&admission, &tickets[which], now_ns), outcome);
    assert_true(weir_admission_validate(&admission));
}

static void leave(unsigned which)
{
    weir_admission_leave(&admission, &tickets[which]);
    assert_true(weir_admission_validate(&admission));
}

static void without_a_limit_everybody_has_a_turn(void **state)
{
    (void)state;
    start(0, 0, 100);
    for (unsigned i = 0; i < TICKETS; i++)
        assert_enter(i, 5, 0);
    assert_int_equal(weir_admission_expiry(&admission), WEIR_TIME_NEVER);
    for (unsigned i = 0; i < TICKETS; i++)
        leave(i);
    assert_int_equal(admission.running, 0);
}

static void what_is_beyond_turns_and_queue_is_turned_away(void **state)
{
    (void)state;
    start(2, 1, 100);
    assert_enter(0, 5, 0);
    assert_enter(1, 5, 0);
    assert_enter(2, 5, WEIR_ADMISSION_WAIT);
    assert_enter(3, 5, WEIR_ADMISSION_FULL);
    leave(3);
    assert_int_equal(admission.running, 2);
    assert_int_equal(admission.waiting, 1);
}

static void without_a_queue_nobody_waits(void **state)
{
    (void)state;
    start(1, 0, 100);
    assert_enter(0, 5, 0);
    assert_enter(1, 5, WEIR_ADMISSION_FULL);
    leave(0);
    assert_enter(1, 6, 0);
}

static void turns_go_to_those_who_wait_in_their_order(void **state)
{
    (void)state;
    start(1, 3, 100);
    assert_enter(0, 5, 0);
    assert_enter(1, 6, WEIR_ADMISSION_WAIT);
    assert_enter(2, 7, WEIR_ADMISSION_WAIT);
    assert_null(weir_admission_next(&admission));
    leave(0);
    assert_int_equal(weir_admission_expiry(&admission), 0);
    assert_enter(3, 8, WEIR_ADMISSION_WAIT); /* behind them, though a turn is free */
    assert_ptr_equal(weir_admission_next(&admission), &tickets[1]);
    assert_null(weir_admission_next(&admission));
    leave(1);
    assert_ptr_equal(weir_admission_next(&admission), &tickets[2]);
    leave(2);
    assert_ptr_equal(weir_admission_next(&admission), &tickets[3]);
    leave(3);
    assert_int_equal(weir_admission_expiry(&admission), WEIR_TIME_NEVER);
}

static void who_leaves_the_queue_takes_no_turn(void **state)
{
    (void)state;
    start(1, 3, 100);
    for (unsigned i = 0; i < 4; i++)
        assert_enter(i, i, i == 0 ? 0 : WEIR_ADMISSION_WAIT);
    leave(2); /* from the middle */
    leave(3); /* the last */
    leave(3);
    leave(0);
    assert_ptr_equal(weir_admission_next(&admission), &tickets[1]);
    assert_null(weir_admission_next(&admission));
    assert_int_equal(admission.running, 1);
}

static void a_wait_ends_at_its_time_and_no_earlier(void **state)
{
    (void)state;
    start(1, 3, 100);
    assert_enter(0, 5, 0);
    assert_enter(1, 10, WEIR_ADMISSION_WAIT);
    assert_enter(2, 20, WEIR_ADMISSION_WAIT);
    assert_int_equal(weir_admission_expiry(&admission), 110);
    assert_null(weir_admission_overdue(&admission, 109));
    assert_ptr_equal(weir_admission_overdue(&admission, 110), &tickets[1]);
    assert_null(weir_admission_overdue(&admission, 110));
    assert_int_equal(weir_admission_expiry(&admission), 120);
    leave(1); /* it has no turn to give back */
    assert_int_equal(admission.running, 1);
    assert_true(weir_admission_validate(&admission));
}

static void a_wait_of_any_length_does_not_wrap(void **state)
{
    (void)state;
    start(1, 1, UINT64_MAX);
    assert_enter(0, 5, 0);
    assert_enter(1, UINT64_MAX - 1, WEIR_ADMISSION_WAIT);
    assert_int_equal(weir_admission_expiry(&admission), WEIR_TIME_NEVER);
    assert_null(weir_admission_overdue(&admission, UINT64_MAX - 1));
}

/* Random plays: counts never pass the limits, and all are free in the end. */
static void counts_agree_after_random_plays(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 7);
    for (unsigned play = 0; play < 200; play++) {
        start((uint32_t)weir_rand_below(&rand, 4), (uint32_t)weir_rand_below(&rand, 6), 50);
        for (uint64_t now_ns = 0; now_ns < 300; now_ns++) {
            struct weir_ticket *ticket = &tickets[weir_rand_below(&rand, TICKETS)];

            if (ticket->turn != WEIR_TURN_NONE)
                weir_admission_leave(&admission, ticket);
            else
                (void)!weir_admission_enter(&admission, ticket, now_ns);
            while (weir_rand_below(&rand, 3) > 0 && weir_admission_next(&admission) != NULL)
                ;
            while (weir_admission_overdue(&admission, now_ns) != NULL)
                ;
            assert_true(weir_admission_validate(&admission));
        }
        for (unsigned i = 0; i < TICKETS; i++)
            leave(i);
        assert_int_equal(admission.running + admission.waiting, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_everybody_has_a_turn),
        cmocka_unit_test(what_is_beyond_turns_and_queue_is_turned_away),
        cmocka_unit_test(without_a_queue_nobody_waits),
        cmocka_unit_test(turns_go_to_those_who_wait_in_their_order),
        cmocka_unit_test(who_leaves_the_queue_takes_no_turn),
        cmocka_unit_test(a_wait_ends_at_its_time_and_no_earlier),
        cmocka_unit_test(a_wait_of_any_length_does_not_wrap),
        cmocka_unit_test(counts_agree_after_random_plays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
