/* Calls on their way to become spans: the maximum, and threads that lay down while one takes. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "base/slice.h"
#include "gateway/setup.h"
#include "gateway/span/calls.h"
#include "gateway/span/trace.h"
#include "gateway/story/draft.h"
#include "gateway/story/story.h"
#include "test_mem.h"

enum { THREADS = 4, CALLS = 5000 };

static struct weir_span_calls calls;
static struct weir_setup setup; /* counts its references, and is never without one */
static struct test_mem mem;

static struct weir_story *make_story(void)
{
    struct weir_access access = {.call_id = WEIR_SLICE_INIT("000000000000000000000000000000000001")};
    struct weir_arena arena;
    struct weir_draft *draft;
    struct weir_story *story;

    weir_arena_init(&arena, weir_mem_libc(), 4096, 1024 * 1024);
    draft = weir_draft_new(&arena, 0);
    story = draft == NULL ? NULL : weir_draft_end(draft, &access, 0, 0, weir_mem_libc());
    weir_arena_deinit(&arena);
    if (story == NULL)
        abort();
    return story;
}

static void put(uint64_t trace_low, uint64_t attempts, struct weir_slice state)
{
    const struct weir_trace trace = {
        .recorded = true, .context = {.trace_low = trace_low, .span = 1}, .parent = 7, .state = state};
    struct weir_story *story = make_story();

    weir_span_calls_put(&calls, story, &setup, &trace, attempts);
    weir_story_unref(story);
}

static int begin(void **state)
{
    (void)state;
    memset(&setup, 0, sizeof(setup));
    atomic_init(&setup.refs, 1);
    test_mem_init(&mem, 0);
    weir_span_calls_init(&calls, &mem.mem);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_span_calls_deinit(&calls);
    test_mem_assert_empty(&mem);
    assert_int_equal(atomic_load(&setup.refs), 1);
    return 0;
}

static void test_where_nobody_takes_them_none_is_kept(void **state)
{
    (void)state;
    put(1, 2, WEIR_SLICE_EMPTY);
    assert_null(weir_span_calls_take(&calls));
    assert_int_equal(atomic_load(&calls.counts.dropped), 3);
}

static void test_they_come_in_their_order(void **state)
{
    struct weir_span_call *call;

    (void)state;
    weir_span_calls_open(&calls, 1 << 20);
    for (uint64_t i = 0; i < 10; i++)
        put(i, 1, WEIR_SLICE("a=b"));
    call = weir_span_calls_take(&calls);
    for (uint64_t i = 0; i < 10; i++) {
        struct weir_span_call *next = call->next;

        assert_true(call->context.trace_low == i && call->parent == 7 && call->spans == 2);
        assert_slice_is(((struct weir_slice){call->state, call->state_len}), "a=b");
        weir_span_call_free(&calls, call);
        call = next;
    }
    assert_null(call);
    assert_int_equal(atomic_load(&calls.bytes), 0);
}

static void test_what_is_beyond_the_maximum_is_dropped_and_counted(void **state)
{
    struct weir_span_call *call;
    size_t kept = 0;

    (void)state;
    weir_span_calls_open(&calls, 4096);
    for (uint64_t i = 0; i < 100; i++)
        put(i, 1000, WEIR_SLICE_EMPTY);
    assert_true(atomic_load(&calls.bytes) <= 4096);
    for (call = weir_span_calls_take(&calls); call != NULL; kept++) {
        struct weir_span_call *next = call->next;

        weir_span_call_free(&calls, call);
        call = next;
    }
    assert_true(kept > 0 && kept < 100);
    assert_int_equal(atomic_load(&calls.counts.dropped), (100 - kept) * (WEIR_SPAN_ATTEMPTS_MAX + 1));
    put(1, 1, WEIR_SLICE_EMPTY);
    assert_true(atomic_load(&calls.bytes) > 0);
}

static void test_without_memory_they_are_dropped_and_counted(void **state)
{
    (void)state;
    weir_span_calls_open(&calls, 1 << 20);
    mem.fail_from = 1;
    put(1, 1, WEIR_SLICE_EMPTY);
    mem.fail_from = 0;
    assert_int_equal(atomic_load(&calls.counts.dropped), 2);
    assert_int_equal(atomic_load(&calls.bytes), 0);
}

static void *lay_down(void *user)
{
    uint64_t thread = *(const uint64_t *)user;

    for (uint64_t i = 0; i < CALLS; i++)
        put(thread << 32 | i, 0, WEIR_SLICE_EMPTY);
    return NULL;
}

static uint64_t take_all(uint64_t next[THREADS])
{
    struct weir_span_call *call = weir_span_calls_take(&calls);
    uint64_t taken = 0;

    while (call != NULL) {
        struct weir_span_call *following = call->next;
        uint64_t thread = call->context.trace_low >> 32, number = call->context.trace_low & UINT32_MAX;

        assert_true(number >= next[thread]); /* some were dropped, none comes before its time */
        next[thread] = number + 1;
        taken++;
        weir_span_call_free(&calls, call);
        call = following;
    }
    return taken;
}

static void test_threads_lay_down_while_one_takes(void **state)
{
    uint64_t numbers[THREADS], next[THREADS] = {0}, taken = 0;
    pthread_t threads[THREADS];

    (void)state;
    weir_span_calls_deinit(&calls);
    weir_span_calls_init(&calls, weir_mem_libc());
    weir_span_calls_open(&calls, 64 * 1024);
    for (uint64_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, lay_down, &numbers[i]), 0);
    }
    while (taken + atomic_load(&calls.counts.dropped) < THREADS * CALLS)
        taken += take_all(next);
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    taken += take_all(next);
    assert_int_equal(taken + atomic_load(&calls.counts.dropped), THREADS * CALLS);
    assert_int_equal(atomic_load(&calls.bytes), 0);
    weir_span_calls_deinit(&calls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_where_nobody_takes_them_none_is_kept),
        TEST(test_they_come_in_their_order),
        TEST(test_what_is_beyond_the_maximum_is_dropped_and_counted),
        TEST(test_without_memory_they_are_dropped_and_counted),
        TEST(test_threads_lay_down_while_one_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
