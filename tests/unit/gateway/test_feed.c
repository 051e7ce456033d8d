/* The ring of events and its readers: what they take, what they lose, and threads that publish meanwhile. */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "gateway/feed/feed.h"

enum { RETRY = WEIR_EVENT_RETRY, FALLBACK = WEIR_EVENT_FALLBACK };

#define BIT(kind) (UINT64_C(1) << (kind))

static weir_loop *loop;
static struct weir_feed feed;
static struct weir_feed_port port;
static struct weir_buf text;
static unsigned runs;

static void on_run(struct weir_loop_task *task)
{
    assert_ptr_equal(task, &port.task);
    runs++;
    weir_feed_begin(&feed, &port);
    weir_loop_stop(loop);
}

static int begin(void **state)
{
    (void)state;
    runs = 0;
    assert_int_equal(weir_loop_new(weir_mem_libc(), &loop), 0);
    weir_feed_init(&feed, weir_mem_libc());
    weir_feed_port_init(&port, loop, on_run);
    weir_buf_init(&text, weir_mem_libc(), 1 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_feed_deinit(&feed);
    weir_buf_deinit(&text);
    weir_loop_free(loop);
    return 0;
}

static void join(struct weir_feed_reader *reader, uint64_t wanted)
{
    assert_int_equal(weir_feed_join(&feed, &port, wanted, reader), 0);
}

static void publish(size_t kind, const char *what)
{
    weir_feed_publish(&feed, kind, weir_slice_str(what));
}

/* The next item is this event. */
static void expect_event(struct weir_feed_reader *reader, uint64_t id, size_t kind, const char *what)
{
    struct weir_feed_item item;

    weir_buf_clear(&text);
    assert_int_equal(weir_feed_take(&feed, reader, WEIR_SLICE(">"), &text, &item), WEIR_FEED_EVENT);
    assert_slice_is(weir_slice_sub(weir_buf_slice(&text), 1, WEIR_SLICE_NONE), what);
    assert_int_equal(item.id, id);
    assert_int_equal(item.kind, kind);
}

static void expect_nothing(struct weir_feed_reader *reader)
{
    struct weir_feed_item item;

    weir_buf_clear(&text);
    assert_int_equal(weir_feed_take(&feed, reader, WEIR_SLICE(">"), &text, &item), WEIR_FEED_NONE);
    assert_int_equal(weir_buf_len(&text), 0);
}

static void expect_lost(struct weir_feed_reader *reader, uint64_t lost)
{
    struct weir_feed_item item;

    assert_int_equal(weir_feed_take(&feed, reader, WEIR_SLICE(">"), &text, &item), WEIR_FEED_LOST);
    assert_int_equal(item.lost, lost);
}

static void kinds_have_the_names_of_events(void **state)
{
    (void)state;
    assert_slice_is(weir_feed_kind_name(RETRY), "Retry");
    assert_slice_is(weir_feed_kind_name(WEIR_EVENT_KINDS + WEIR_ROUTER_EVENT_HEALTH_CHANGED),
                    "HealthChanged");
    assert_true(weir_feed_kinds_named(WEIR_SLICE("Retry")) == BIT(RETRY));
    assert_true(weir_feed_kinds_named(WEIR_SLICE("CooldownSet")) ==
                (BIT(WEIR_EVENT_COOLDOWN_SET) | BIT(WEIR_EVENT_KINDS + WEIR_ROUTER_EVENT_COOLDOWN_SET)));
    assert_true(weir_feed_kinds_named(WEIR_SLICE("retry")) == 0);
    assert_true(weir_feed_kinds_named(WEIR_SLICE("")) == 0);
}

static void nothing_is_kept_where_nobody_listens(void **state)
{
    struct weir_feed_reader reader;

    (void)state;
    assert_false(weir_feed_is_heard(&feed));
    publish(RETRY, "before");
    join(&reader, UINT64_MAX);
    assert_true(weir_feed_is_heard(&feed));
    expect_nothing(&reader);
    publish(RETRY, "a");
    expect_event(&reader, 1, RETRY, "a");
    weir_feed_leave(&feed, &port);
    assert_false(weir_feed_is_heard(&feed));
    publish(RETRY, "between");
    join(&reader, UINT64_MAX);
    publish(FALLBACK, "b");
    expect_event(&reader, 2, FALLBACK, "b");
    expect_nothing(&reader);
    weir_feed_leave(&feed, &port);
}

static void a_reader_takes_what_it_wants(void **state)
{
    struct weir_feed_reader all, some;

    (void)state;
    join(&all, UINT64_MAX);
    join(&some, BIT(FALLBACK));
    publish(RETRY, "a");
    publish(FALLBACK, "b");
    publish(RETRY, "c");
    expect_event(&some, 2, FALLBACK, "b");
    expect_nothing(&some);
    expect_event(&all, 1, RETRY, "a");
    expect_event(&all, 2, FALLBACK, "b");
    expect_event(&all, 3, RETRY, "c");
    expect_nothing(&all);
    weir_feed_leave(&feed, &port);
    weir_feed_leave(&feed, &port);
}

/* So many texts of one kibibyte that the ring holds the last of them alone. */
static void overflow(size_t kind, unsigned count)
{
    char long_text[1025];

    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    for (unsigned i = 0; i < count; i++)
        publish(kind, long_text);
}

static void a_slow_reader_is_told_what_it_has_lost(void **state)
{
    struct weir_feed_reader slow, picky, quick;
    uint64_t left = 0, lost;
    struct weir_feed_item item;

    (void)state;
    join(&slow, UINT64_MAX);
    join(&picky, BIT(FALLBACK));
    publish(FALLBACK, "a");
    publish(RETRY, "b");
    expect_event(&slow, 1, FALLBACK, "a");
    overflow(RETRY, 3000);
    publish(FALLBACK, "last");
    /* Which one wants nothing of what is gone but the first, has lost that. */
    expect_lost(&picky, 1);
    expect_event(&picky, 3003, FALLBACK, "last");
    expect_nothing(&picky);
    assert_int_equal(weir_feed_take(&feed, &slow, WEIR_SLICE(""), &text, &item), WEIR_FEED_LOST);
    lost = item.lost;
    while (weir_feed_take(&feed, &slow, WEIR_SLICE(""), &text, &item) == WEIR_FEED_EVENT) {
        weir_buf_clear(&text);
        left++;
    }
    /* All but the first, which it took. */
    assert_int_equal(lost + left, 3002);
    assert_int_equal(item.lost, 0);
    join(&quick, UINT64_MAX);
    expect_nothing(&quick);
    for (int i = 0; i < 3; i++)
        weir_feed_leave(&feed, &port);
}

static void a_text_that_finds_no_room_stays_to_be_taken(void **state)
{
    struct weir_feed_reader reader;
    struct weir_feed_item item;
    struct weir_buf small;

    (void)state;
    weir_buf_init(&small, weir_mem_libc(), 4);
    join(&reader, UINT64_MAX);
    publish(RETRY, "longer");
    assert_true(weir_feed_take(&feed, &reader, WEIR_SLICE(""), &small, &item) < 0);
    expect_event(&reader, 1, RETRY, "longer");
    weir_feed_leave(&feed, &port);
    weir_buf_deinit(&small);
}

static void the_port_is_told_once_until_it_has_looked(void **state)
{
    struct weir_feed_reader reader;

    (void)state;
    join(&reader, UINT64_MAX);
    publish(RETRY, "a");
    publish(RETRY, "b");
    weir_loop_run(loop);
    assert_int_equal(runs, 1);
    weir_feed_again(&feed, &port);
    weir_loop_run(loop);
    assert_int_equal(runs, 2);
    publish(RETRY, "c");
    weir_feed_leave(&feed, &port); /* which takes the task back */
    weir_feed_again(&feed, &port);
}

static void only_so_many_may_listen(void **state)
{
    struct weir_feed_reader readers[WEIR_FEED_READERS_MAX + 1];

    (void)state;
    for (size_t i = 0; i < WEIR_FEED_READERS_MAX; i++)
        join(&readers[i], UINT64_MAX);
    assert_int_equal(weir_feed_join(&feed, &port, UINT64_MAX, &readers[WEIR_FEED_READERS_MAX]),
                     WEIR_FEED_FULL);
    weir_feed_leave(&feed, &port);
    join(&readers[0], UINT64_MAX);
    for (size_t i = 0; i < WEIR_FEED_READERS_MAX; i++)
        weir_feed_leave(&feed, &port);
}

/* ---- threads ---- */

enum { PUBLISHERS = 3, EVENTS = 20000 };

static void *publisher_main(void *user)
{
    size_t number = *(const size_t *)user;
    char what[64];

    for (unsigned i = 0; i < EVENTS; i++) {
        (void)snprintf(what, sizeof(what), "event %u of publisher %zu, as long as others", i, number);
        weir_feed_publish(&feed, number, weir_slice_str(what));
    }
    return NULL;
}

struct tally {
    uint64_t taken;
    uint64_t lost;
    struct weir_feed_reader reader;
    unsigned next[PUBLISHERS];
};

static struct tally tally;

/* The events of one publisher come in their order. */
static void take_all(void)
{
    struct weir_feed_item item;
    int found;

    weir_buf_clear(&text);
    while ((found = weir_feed_take(&feed, &tally.reader, WEIR_SLICE_EMPTY, &text, &item)) > 0) {
        char copy[64] = "";
        unsigned number;
        size_t publisher;

        if (found == WEIR_FEED_LOST) {
            tally.lost += item.lost;
            continue;
        }
        memcpy(copy, weir_buf_slice(&text).ptr, weir_buf_len(&text));
        assert_int_equal(sscanf(copy, "event %u of publisher %zu,", &number, &publisher), 2);
        assert_int_equal(item.kind, publisher);
        assert_true(number >= tally.next[publisher]);
        tally.next[publisher] = number + 1;
        tally.taken++;
        weir_buf_clear(&text);
    }
    assert_int_equal(found, 0);
}

static void on_news(struct weir_loop_task *task)
{
    (void)task;
    weir_feed_begin(&feed, &port);
    take_all();
    if (tally.taken + tally.lost == (uint64_t)PUBLISHERS * EVENTS)
        weir_loop_stop(loop);
}

static void every_event_is_taken_or_counted_as_lost(void **state)
{
    pthread_t threads[PUBLISHERS];
    size_t numbers[PUBLISHERS];

    (void)state;
    tally = (struct tally){0};
    port.task.run = on_news;
    join(&tally.reader, UINT64_MAX);
    for (size_t i = 0; i < PUBLISHERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, publisher_main, &numbers[i]), 0);
    }
    weir_loop_run(loop); /* the last event wakes it too, or it hangs */
    for (size_t i = 0; i < PUBLISHERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    weir_feed_leave(&feed, &port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_the_names_of_events),
        cmocka_unit_test_setup_teardown(nothing_is_kept_where_nobody_listens, begin, end),
        cmocka_unit_test_setup_teardown(a_reader_takes_what_it_wants, begin, end),
        cmocka_unit_test_setup_teardown(a_slow_reader_is_told_what_it_has_lost, begin, end),
        cmocka_unit_test_setup_teardown(a_text_that_finds_no_room_stays_to_be_taken, begin, end),
        cmocka_unit_test_setup_teardown(the_port_is_told_once_until_it_has_looked, begin, end),
        cmocka_unit_test_setup_teardown(only_so_many_may_listen, begin, end),
        cmocka_unit_test_setup_teardown(every_event_is_taken_or_counted_as_lost, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
