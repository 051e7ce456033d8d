/* The header x-weir-trace: what it makes of events, of names, and of too many of both. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"
#include "base/time.h"
#include "gateway/story/draft.h"
#include "gateway/story/trace.h"
#include "test_mem.h"

#define MS(number) ((uint64_t)(number)*WEIR_NS_PER_MS)

static struct weir_arena arena;
static struct weir_draft *draft;

static int begin(void **state)
{
    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1024 * 1024);
    draft = weir_draft_new(&arena, 0);
    return draft == NULL ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    weir_arena_deinit(&arena);
    return 0;
}

static struct weir_event event_at(weir_event_kind kind, uint64_t ms, uint32_t attempt, const char *deployment)
{
    return (struct weir_event){.kind = kind,
                               .time_ns = MS(ms),
                               .attempt = attempt,
                               .group = WEIR_SLICE("g"),
                               .deployment = weir_slice_str(deployment)};
}

static void add(struct weir_event event)
{
    weir_draft_add(draft, &event);
}

static void lose(uint64_t ms, uint32_t attempt, const char *deployment, uint64_t took_ms)
{
    struct weir_event event = event_at(WEIR_EVENT_ATTEMPT_FAILED, ms, attempt, deployment);

    event.u.attempt_failed.failure =
        (struct weir_failure){WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER};
    event.u.attempt_failed.duration_ns = MS(took_ms);
    add(event);
}

static void hop(weir_hop_kind kind, int32_t order)
{
    struct weir_event event = event_at(WEIR_EVENT_FALLBACK, 0, 0, "d2");

    event.u.fallback.kind = kind;
    event.u.fallback.source = WEIR_SLICE("g");
    event.u.fallback.target = WEIR_SLICE("h");
    event.u.fallback.order = order;
    add(event);
}

static void assert_trace(uint32_t serving, uint64_t now_ms, const char *expected)
{
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 64 * 1024);
    assert_int_equal(weir_trace_write(draft, serving, MS(now_ms), &buf), 0);
    assert_slice_is(weir_buf_slice(&buf), expected);
    weir_buf_deinit(&buf);
}

static void nothing_has_happened(void **state)
{
    (void)state;
    assert_trace(0, 5, "");
}

static void a_cooldown_stands_with_the_failure_that_set_it(void **state)
{
    struct weir_event cooldown = event_at(WEIR_EVENT_COOLDOWN_SET, 12, 1, "d1");
    struct weir_event retry = event_at(WEIR_EVENT_RETRY, 512, 0, "");

    (void)state;
    cooldown.u.cooldown_set.length_ns = MS(5000);
    retry.u.retry.waited_ns = MS(500);
    add(event_at(WEIR_EVENT_ATTEMPT_STARTED, 0, 1, "d1"));
    lose(12, 1, "d1", 12);
    add(cooldown);
    add(retry);
    add(event_at(WEIR_EVENT_ATTEMPT_STARTED, 512, 2, "d2"));
    add(event_at(WEIR_EVENT_SUCCEEDED, 1343, 2, "d2"));
    assert_trace(2, 1350, "g/d1 429 rate_limit 12ms cooldown=5; wait 0.5; g/d2 200 831ms");
}

static void each_hop_has_its_word(void **state)
{
    (void)state;
    hop(WEIR_HOP_GROUP, WEIR_UNSET_ORDER);
    hop(WEIR_HOP_ORDER, 3);
    hop(WEIR_HOP_ORDER, -3);
    hop(WEIR_HOP_ORDER, INT32_MIN);
    hop(WEIR_HOP_ORDER, WEIR_UNSET_ORDER);
    hop(WEIR_HOP_SIBLING, WEIR_UNSET_ORDER);
    assert_trace(0, 0, "fallback h; order 3; order -3; order -2147483648; order last; sibling d2");
}

static void attempts_without_an_end_stand_last_or_before_the_calls_failure(void **state)
{
    struct weir_event failed = event_at(WEIR_EVENT_FAILED, 400, 0, "");

    (void)state;
    add(event_at(WEIR_EVENT_ATTEMPT_STARTED, 0, 1, "d1"));
    add(event_at(WEIR_EVENT_HEDGED, 100, 1, "d1"));
    add(event_at(WEIR_EVENT_ATTEMPT_STARTED, 100, 2, "d2"));
    assert_trace(2, 150, "hedge; g/d1 running 150ms; g/d2 200 50ms");
    lose(200, 1, "d1", 200);
    assert_trace(0, 300, "hedge; g/d1 429 rate_limit 200ms; g/d2 running 200ms");
    failed.u.failed.failure = (struct weir_failure){WEIR_KIND_TIMEOUT, 408, 0, WEIR_ORIGIN_ROUTER};
    add(failed);
    assert_trace(0, 500, "hedge; g/d1 429 rate_limit 200ms; g/d2 stopped 300ms; g 408 timeout");
}

static void names_become_printable_and_whole_words(void **state)
{
    struct weir_event event = event_at(WEIR_EVENT_ATTEMPT_STARTED, 0, 1, "d;1\r\nx: y");

    (void)state;
    event.group = WEIR_SLICE("\xc3\xa9 \x7f/~");
    add(event);
    assert_trace(1, 0, "____/~/d_1__x:_y 200 0ms");
}

static void what_is_too_long_is_cut_behind_a_whole_step(void **state)
{
    static char name[300];
    struct weir_buf buf;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    for (uint32_t i = 1; i < 40; i++)
        lose(i, i, name, 1);
    for (size_t max = WEIR_TRACE_MAX; max > WEIR_TRACE_MAX - 2; max--) {
        weir_buf_init(&buf, weir_mem_libc(), max);
        if (max < WEIR_TRACE_MAX) {
            assert_int_equal(weir_trace_write(draft, 0, 0, &buf), WEIR_ERR_LIMIT);
        } else {
            assert_int_equal(weir_trace_write(draft, 0, 0, &buf), 0);
            assert_in_range(weir_buf_len(&buf), WEIR_TRACE_MAX - 350, WEIR_TRACE_MAX);
            assert_true(weir_slice_ends(weir_buf_slice(&buf), WEIR_SLICE(" 1ms; ...")));
        }
        weir_buf_deinit(&buf);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(nothing_has_happened),
        TEST(a_cooldown_stands_with_the_failure_that_set_it),
        TEST(each_hop_has_its_word),
        TEST(attempts_without_an_end_stand_last_or_before_the_calls_failure),
        TEST(names_become_printable_and_whole_words),
        TEST(what_is_too_long_is_cut_behind_a_whole_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
