/* Messages that wait for their webhooks, in virtual time. */
#include "unit.h"

#include <stdio.h>

#include "base/time.h"
#include "gateway/alert/outbox.h"
#include "test_mem.h"

#define S WEIR_NS_PER_S

static struct test_mem counted;
static struct weir_alert_outbox outbox;
static uint64_t now_ns;

static int begin(void **state)
{
    (void)state;
    now_ns = 1000 * S;
    test_mem_init(&counted, 0);
    weir_alert_outbox_init(&outbox, &counted.mem);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_alert_outbox_deinit(&outbox);
    test_mem_assert_empty(&counted);
    return 0;
}

static void put(uint64_t hook, const char *body)
{
    assert_int_equal(weir_alert_outbox_put(&outbox, hook, WEIR_ALERT_SLOW, weir_slice_str(body), now_ns), 0);
}

static struct weir_alert_letter *next(uint64_t hook, const char *body)
{
    struct weir_alert_letter *letter = weir_alert_outbox_next(&outbox, hook, now_ns);

    if (body == NULL) {
        assert_null(letter);
        return NULL;
    }
    assert_non_null(letter);
    assert_slice_is(((struct weir_slice){letter->body, letter->body_len}), body);
    return letter;
}

static void messages_go_out_in_their_order_one_at_a_time(void **state)
{
    struct weir_alert_letter *letter;

    (void)state;
    put(1, "a");
    put(1, "b");
    put(2, "c");
    letter = next(1, "a");
    (void)next(1, NULL);
    weir_alert_outbox_done(&outbox, next(2, "c"));
    (void)next(2, NULL);
    weir_alert_outbox_done(&outbox, letter);
    weir_alert_outbox_done(&outbox, next(1, "b"));
    (void)next(1, NULL);
    assert_int_equal(outbox.count, 0);
}

static void what_is_not_taken_is_tried_again_after_a_while_and_given_up(void **state)
{
    (void)state;
    put(1, "a");
    put(1, "b");
    assert_true(weir_alert_outbox_again(&outbox, next(1, "a"), 0, now_ns));
    assert_int_equal(weir_alert_outbox_due(&outbox), now_ns + S);
    now_ns += S - 1;
    (void)next(1, NULL); /* nor is the one behind it sent */
    now_ns += 1;
    assert_true(weir_alert_outbox_again(&outbox, next(1, "a"), 0, now_ns));
    now_ns += 4 * S - 1;
    (void)next(1, NULL);
    now_ns += 1;
    assert_false(weir_alert_outbox_again(&outbox, next(1, "a"), 0, now_ns));
    (void)next(1, "b");
}

static void a_webhook_may_ask_for_a_longer_wait_up_to_a_minute(void **state)
{
    (void)state;
    put(1, "a");
    assert_true(weir_alert_outbox_again(&outbox, next(1, "a"), 30 * S, now_ns));
    assert_int_equal(weir_alert_outbox_due(&outbox), now_ns + 30 * S);
    now_ns += 30 * S;
    assert_true(weir_alert_outbox_again(&outbox, next(1, "a"), 3600 * S, now_ns));
    assert_int_equal(weir_alert_outbox_due(&outbox), now_ns + 60 * S);
}

static void what_was_cut_off_was_no_try(void **state)
{
    (void)state;
    put(1, "a");
    for (int i = 0; i < 10; i++)
        weir_alert_outbox_back(next(1, "a"));
    assert_true(weir_alert_outbox_again(&outbox, next(1, "a"), 0, now_ns));
}

static void the_next_time_is_that_of_the_first_message_of_a_webhook_that_is_not_busy(void **state)
{
    struct weir_alert_letter *letter;

    (void)state;
    assert_int_equal(weir_alert_outbox_due(&outbox), WEIR_TIME_NEVER);
    put(1, "a");
    put(1, "b");
    assert_int_equal(weir_alert_outbox_due(&outbox), now_ns);
    letter = next(1, "a");
    assert_int_equal(weir_alert_outbox_due(&outbox), WEIR_TIME_NEVER);
    assert_true(weir_alert_outbox_again(&outbox, letter, 0, now_ns));
    assert_int_equal(weir_alert_outbox_due(&outbox), now_ns + S); /* b, which is due, waits behind a */
}

static void there_is_an_end_to_messages(void **state)
{
    (void)state;
    for (int i = 0; i < WEIR_ALERT_MESSAGES_MAX; i++)
        put(1, "a");
    assert_int_equal(weir_alert_outbox_put(&outbox, 1, WEIR_ALERT_SLOW, WEIR_SLICE("b"), now_ns),
                     WEIR_ALERT_OUTBOX_FULL);
    weir_alert_outbox_done(&outbox, next(1, "a"));
    put(1, "b");
}

static void without_memory_there_is_no_room(void **state)
{
    (void)state;
    counted.fail_from = 1;
    assert_int_equal(weir_alert_outbox_put(&outbox, 1, WEIR_ALERT_SLOW, WEIR_SLICE("b"), now_ns),
                     WEIR_ALERT_OUTBOX_FULL);
    assert_int_equal(outbox.count, 0);
}

static void messages_of_webhooks_that_are_gone_are_found(void **state)
{
    const uint64_t hooks[] = {1, 3};
    struct weir_alert_letter *stray;

    (void)state;
    put(1, "a");
    put(2, "b");
    put(3, "c");
    stray = weir_alert_outbox_stray(&outbox, hooks, 2);
    assert_non_null(stray);
    assert_int_equal(stray->hook, 2);
    weir_alert_outbox_done(&outbox, stray);
    assert_null(weir_alert_outbox_stray(&outbox, hooks, 2));
    assert_non_null(weir_alert_outbox_stray(&outbox, hooks, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_go_out_in_their_order_one_at_a_time),
        TEST(what_is_not_taken_is_tried_again_after_a_while_and_given_up),
        TEST(a_webhook_may_ask_for_a_longer_wait_up_to_a_minute),
        TEST(what_was_cut_off_was_no_try),
        TEST(the_next_time_is_that_of_the_first_message_of_a_webhook_that_is_not_busy),
        TEST(there_is_an_end_to_messages),
        TEST(without_memory_there_is_no_room),
        TEST(messages_of_webhooks_that_are_gone_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
