/* Spans on their way to a collector, in virtual time: when they are sent, sent again, dropped, and counted.
 */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "base/time.h"
#include "gateway/span/batches.h"
#include "gateway/span/calls.h"
#include "test_mem.h"

enum { ROOM = 1 << 20 };

#define INTERVAL (5 * WEIR_NS_PER_S)

static struct weir_span_batches batches;
static struct weir_span_counts counts;
static char text[WEIR_BATCH_BYTES];

static int begin(void **state)
{
    (void)state;
    memset(&counts, 0, sizeof(counts));
    memset(text, 'x', sizeof(text));
    weir_span_batches_init(&batches, &counts, 7, weir_mem_libc());
    weir_span_batches_configure(&batches, INTERVAL, ROOM);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_span_batches_deinit(&batches);
    return 0;
}

static void add(size_t bytes, uint32_t spans, uint64_t now_ns)
{
    weir_span_batches_add(&batches, (struct weir_slice){text, bytes}, spans, now_ns);
}

static void done(unsigned status, uint64_t now_ns)
{
    const struct weir_batch_outcome outcome = {.status = status};

    weir_span_batches_done(&batches, &outcome, now_ns);
}

static void expect(uint64_t sent, uint64_t rejected, uint64_t refused, uint64_t dropped)
{
    assert_int_equal(atomic_load(&counts.sent), sent);
    assert_int_equal(atomic_load(&counts.rejected), rejected);
    assert_int_equal(atomic_load(&counts.refused), refused);
    assert_int_equal(atomic_load(&counts.dropped), dropped);
}

static void test_nothing_is_due_of_nothing(void **state)
{
    (void)state;
    assert_true(weir_span_batches_due(&batches) == WEIR_TIME_NEVER);
    assert_true(weir_span_batches_empty(&batches));
}

static void test_spans_are_gathered_for_an_interval_from_the_first(void **state)
{
    const struct weir_span_batch *batch;

    (void)state;
    add(100, 2, 1000);
    add(50, 3, 2000);
    assert_true(weir_span_batches_due(&batches) == 1000 + INTERVAL);
    batch = weir_span_batches_take(&batches);
    assert_int_equal(batch->spans, 5);
    assert_int_equal(weir_buf_len(&batch->bytes), 150);
    assert_true(weir_span_batches_due(&batches) == WEIR_TIME_NEVER);
    done(200, 1000 + INTERVAL);
    assert_true(weir_span_batches_empty(&batches));
    expect(5, 0, 0, 0);
}

static void test_a_batch_begins_in_the_room_of_one_that_is_gone(void **state)
{
    const struct weir_span_batch *batch;
    const char *room;

    (void)state;
    add(1000, 1, 0);
    batch = weir_span_batches_take(&batches);
    room = batch->bytes.ptr;
    done(200, 0);
    add(10, 1, 0);
    batch = weir_span_batches_take(&batches);
    assert_ptr_equal(batch->bytes.ptr, room);
    assert_int_equal(weir_buf_len(&batch->bytes), 10);
    add(2000, 1, 0); /* while that one is under way, in a room of its own */
    done(200, 0);
    batch = weir_span_batches_take(&batches);
    assert_int_equal(weir_buf_len(&batch->bytes), 2000);
    done(200, 0);
    assert_true(batches.spare.cap >= 2000);
}

static void test_a_full_batch_is_due_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++)
        add(10, 2, 1000);
    assert_true(weir_span_batches_due(&batches) == 0);
    assert_int_equal(weir_span_batches_take(&batches)->spans, WEIR_BATCH_SPANS);
    done(200, 1000);
    expect(512, 0, 0, 0);
}

static void test_the_spans_of_a_call_stay_together(void **state)
{
    (void)state;
    add(10, 500, 1000);
    add(10, 100, 2000);
    assert_true(weir_span_batches_due(&batches) == 0); /* what comes next would not fit */
    assert_int_equal(weir_span_batches_take(&batches)->spans, 500);
    done(200, 3000);
    assert_true(weir_span_batches_due(&batches) == 2000 + INTERVAL);
    assert_int_equal(weir_span_batches_take(&batches)->spans, 100);
    done(200, 4000);
    add(WEIR_BATCH_BYTES / 2, 1, 5000);
    add(WEIR_BATCH_BYTES / 2, 1, 5000);
    assert_int_equal(weir_span_batches_take(&batches)->spans, 2);
}

static void test_one_batch_is_under_way_and_the_next_one_gathers(void **state)
{
    (void)state;
    add(10, 1, 1000);
    (void)weir_span_batches_take(&batches);
    add(10, 1, 2000);
    assert_true(weir_span_batches_due(&batches) == WEIR_TIME_NEVER);
    done(200, 3000);
    assert_true(weir_span_batches_due(&batches) == 2000 + INTERVAL);
    expect(1, 0, 0, 0);
}

static void test_what_may_pass_is_tried_again(void **state)
{
    static const unsigned statuses[] = {0, 429, 502, 503, 504};

    (void)state;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        uint64_t now_ns = 1000;

        add(10, 2, now_ns);
        for (unsigned tries = 1; tries < WEIR_BATCH_TRIES; tries++) {
            uint64_t most_ns = WEIR_NS_PER_S << (tries - 1), due_ns;

            assert_int_equal(weir_span_batches_take(&batches)->spans, 2);
            done(statuses[i], now_ns);
            due_ns = weir_span_batches_due(&batches);
            assert_true(due_ns >= now_ns + most_ns / 2 && due_ns <= now_ns + most_ns);
            now_ns = due_ns;
        }
        (void)weir_span_batches_take(&batches);
        done(statuses[i], now_ns);
        assert_true(weir_span_batches_empty(&batches));
        expect(0, 0, 2 * (i + 1), 0);
    }
}

static void test_the_collector_says_when_to_come_again(void **state)
{
    struct weir_batch_outcome outcome = {.status = 429, .retry_after_ns = 7 * WEIR_NS_PER_S};

    (void)state;
    add(10, 1, 1000);
    (void)weir_span_batches_take(&batches);
    weir_span_batches_done(&batches, &outcome, 2000);
    assert_true(weir_span_batches_due(&batches) == 2000 + 7 * WEIR_NS_PER_S);
    (void)weir_span_batches_take(&batches);
    outcome.retry_after_ns = 3600 * WEIR_NS_PER_S;
    weir_span_batches_done(&batches, &outcome, 3000);
    assert_true(weir_span_batches_due(&batches) == 3000 + WEIR_BATCH_WAIT_MAX_S * WEIR_NS_PER_S);
}

static void test_what_will_not_pass_is_dropped_at_once(void **state)
{
    static const unsigned statuses[] = {301, 400, 401, 403, 404, 413, 500, 501};

    (void)state;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        add(10, 3, 1000);
        (void)weir_span_batches_take(&batches);
        done(statuses[i], 2000);
        assert_true(weir_span_batches_empty(&batches));
        expect(0, 0, 3 * (i + 1), 0);
    }
}

static void test_a_batch_that_was_given_up_makes_way(void **state)
{
    (void)state;
    add(10, 1, 1000);
    (void)weir_span_batches_take(&batches);
    add(10, 2, 1000);
    done(503, 1000);
    assert_true(weir_span_batches_due(&batches) < 1000 + INTERVAL);
    (void)weir_span_batches_take(&batches);
    done(400, 2000);
    assert_true(weir_span_batches_due(&batches) == 1000 + INTERVAL);
    assert_int_equal(weir_span_batches_take(&batches)->spans, 2);
    done(200, 3000);
    expect(2, 0, 1, 0);
}

static void test_a_part_may_be_rejected(void **state)
{
    struct weir_batch_outcome outcome = {.status = 200, .rejected = 2};

    (void)state;
    add(10, 5, 1000);
    (void)weir_span_batches_take(&batches);
    weir_span_batches_done(&batches, &outcome, 2000);
    expect(3, 2, 0, 0);
    add(10, 5, 1000);
    (void)weir_span_batches_take(&batches);
    outcome.rejected = UINT64_MAX; /* of a collector that cannot count */
    weir_span_batches_done(&batches, &outcome, 2000);
    expect(3, 7, 0, 0);
}

static void test_what_waits_has_a_maximum(void **state)
{
    (void)state;
    add(ROOM / 2, 1, 1000);
    add(ROOM / 2, 2, 1000);
    add(1, 4, 1000);
    expect(0, 0, 0, 4);
    (void)weir_span_batches_take(&batches);
    add(1, 4, 2000); /* what is under way takes room too */
    expect(0, 0, 0, 8);
    done(200, 3000);
    add(1, 4, 3000);
    expect(3, 0, 0, 8);
}

static void test_the_end_sends_all_once(void **state)
{
    (void)state;
    add(10, 400, 1000);
    add(10, 400, 1000);
    add(10, 400, 1000);
    (void)weir_span_batches_take(&batches);
    weir_span_batches_end(&batches);
    done(503, 2000);
    assert_true(weir_span_batches_due(&batches) == 0);
    (void)weir_span_batches_take(&batches);
    done(200, 2000);
    expect(400, 0, 400, 0);
    weir_span_batches_deinit(&batches);
    expect(400, 0, 800, 0);
}

static void test_without_memory_spans_are_dropped_and_counted(void **state)
{
    struct test_mem mem;

    (void)state;
    for (size_t failing = 1; failing <= 3; failing++) {
        memset(&counts, 0, sizeof(counts));
        test_mem_init(&mem, failing);
        weir_span_batches_init(&batches, &counts, 7, &mem.mem);
        weir_span_batches_configure(&batches, INTERVAL, ROOM);
        add(10, 2, 1000);
        expect(0, 0, 0, failing < 3 ? 2 : 0);
        assert_int_equal(weir_span_batches_empty(&batches), failing < 3);
        weir_span_batches_deinit(&batches);
        test_mem_assert_empty(&mem);
    }
}

/* Whatever happens, each span is counted once, and no more waits than may. */
static void test_the_counts_add_up(void **state)
{
    struct weir_rand rand;
    uint64_t added = 0, now_ns = 0;

    (void)state;
    weir_rand_init(&rand, 3);
    for (int i = 0; i < 20000; i++) {
        static const unsigned statuses[] = {200, 200, 202, 0, 429, 503, 400, 500};
        const struct weir_batch_outcome outcome = {.status = statuses[weir_rand_below(&rand, 8)],
                                                   .retry_after_ns = weir_rand_below(&rand, 2) * 1000,
                                                   .rejected = weir_rand_below(&rand, 4)};
        uint32_t spans = 1 + (uint32_t)weir_rand_below(&rand, 129);

        now_ns += weir_rand_below(&rand, WEIR_NS_PER_S);
        if (weir_rand_below(&rand, 3) > 0) {
            add(1 + weir_rand_below(&rand, 20000), spans, now_ns);
            added += spans;
        } else if (batches.under_way) {
            weir_span_batches_done(&batches, &outcome, now_ns);
        } else if (weir_span_batches_due(&batches) <= now_ns) {
            assert_true(weir_span_batches_take(&batches)->spans <= WEIR_BATCH_SPANS);
        }
        assert_true(batches.bytes <= ROOM);
    }
    weir_span_batches_deinit(&batches);
    assert_true(atomic_load(&counts.sent) > 0 && atomic_load(&counts.dropped) > 0);
    assert_int_equal(atomic_load(&counts.sent) + atomic_load(&counts.rejected) +
                         atomic_load(&counts.refused) + atomic_load(&counts.dropped),
                     added);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_due_of_nothing),
        TEST(test_spans_are_gathered_for_an_interval_from_the_first),
        TEST(test_a_batch_begins_in_the_room_of_one_that_is_gone),
        TEST(test_a_full_batch_is_due_at_once),
        TEST(test_the_spans_of_a_call_stay_together),
        TEST(test_one_batch_is_under_way_and_the_next_one_gathers),
        TEST(test_what_may_pass_is_tried_again),
        TEST(test_the_collector_says_when_to_come_again),
        TEST(test_what_will_not_pass_is_dropped_at_once),
        TEST(test_a_batch_that_was_given_up_makes_way),
        TEST(test_a_part_may_be_rejected),
        TEST(test_what_waits_has_a_maximum),
        TEST(test_the_end_sends_all_once),
        TEST(test_without_memory_spans_are_dropped_and_counted),
        TEST(test_the_counts_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
