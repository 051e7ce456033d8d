/* The ring of stories: its bounds, its order, and threads that write while others read. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "base/slice.h"
#include "gateway/story/draft.h"
#include "gateway/story/stories.h"

enum { ROOMY = 1024 * 1024 };

/* The id of call number n. */
static void write_id(unsigned n, char room[WEIR_CALL_ID_LEN + 1])
{
    (void)snprintf(room, WEIR_CALL_ID_LEN + 1, "%036u", n);
}

static struct weir_story *make_with(unsigned n, size_t events)
{
    struct weir_event event = {.kind = WEIR_EVENT_RETRY, .group = WEIR_SLICE_INIT("a group"), .attempt = n};
    char id[WEIR_CALL_ID_LEN + 1];
    struct weir_access access = {.call_id = {id, WEIR_CALL_ID_LEN}, .model = WEIR_SLICE_INIT("a group")};
    struct weir_arena arena;
    struct weir_draft *draft;
    struct weir_story *story;

    write_id(n, id);
    weir_arena_init(&arena, weir_mem_libc(), 4096, ROOMY);
    draft = weir_draft_new(&arena, 0);
    if (draft == NULL)
        abort();
    for (size_t i = 0; i < events; i++)
        weir_draft_add(draft, &event);
    story = weir_draft_end(draft, &access, 0, 0, weir_mem_libc());
    weir_arena_deinit(&arena);
    if (story == NULL)
        abort();
    return story;
}

static void put(struct weir_stories *stories, unsigned n)
{
    struct weir_story *story = make_with(n, 1);

    weir_stories_put(stories, story);
    weir_story_unref(story);
}

static bool has(struct weir_stories *stories, unsigned n)
{
    char id[WEIR_CALL_ID_LEN + 1];
    struct weir_story *story;

    write_id(n, id);
    story = weir_stories_find(stories, (struct weir_slice){id, WEIR_CALL_ID_LEN});
    weir_story_unref(story);
    return story != NULL;
}

static size_t count(struct weir_stories *stories)
{
    struct weir_stories_view view;

    weir_stories_view(stories, &view);
    return view.count;
}

static void make_ring(struct weir_stories *stories, size_t calls, size_t bytes)
{
    weir_stories_init(stories, 77, weir_mem_libc());
    assert_int_equal(weir_stories_resize(stories, calls, bytes), 0);
}

static void the_oldest_goes_when_a_call_more_comes(void **state)
{
    struct weir_stories stories;

    (void)state;
    make_ring(&stories, 3, ROOMY);
    for (unsigned n = 0; n < 5; n++)
        put(&stories, n);
    assert_int_equal(count(&stories), 3);
    assert_false(has(&stories, 1));
    for (unsigned n = 2; n < 5; n++)
        assert_true(has(&stories, n));
    weir_stories_deinit(&stories);
}

static void the_oldest_go_when_there_are_too_many_bytes(void **state)
{
    struct weir_story *large = make_with(9, 300);
    struct weir_stories_view view;
    struct weir_stories stories;

    (void)state;
    make_ring(&stories, 1000, large->bytes + 300);
    for (unsigned n = 0; n < 8; n++)
        put(&stories, n);
    weir_stories_put(&stories, large);
    weir_stories_view(&stories, &view);
    assert_in_range(view.bytes, large->bytes, large->bytes + 300);
    assert_true(has(&stories, 9));
    assert_true(has(&stories, 7));
    assert_false(has(&stories, 0));
    weir_story_unref(large);
    weir_stories_deinit(&stories);
}

static void a_story_that_is_larger_than_the_ring_pushes_nothing_out(void **state)
{
    struct weir_story *large = make_with(9, 300);
    struct weir_stories stories;

    (void)state;
    make_ring(&stories, 10, large->bytes - 1);
    put(&stories, 0);
    weir_stories_put(&stories, large);
    weir_story_unref(large);
    assert_true(has(&stories, 0));
    assert_false(has(&stories, 9));
    weir_stories_deinit(&stories);
}

static void a_ring_of_no_calls_keeps_none(void **state)
{
    struct weir_stories stories;

    (void)state;
    make_ring(&stories, 0, ROOMY);
    put(&stories, 0);
    assert_int_equal(count(&stories), 0);
    assert_false(has(&stories, 0));
    weir_stories_deinit(&stories);
}

static void another_size_keeps_the_newest(void **state)
{
    static const size_t sizes[] = {100, 5, 7, 2, 0, 3};
    struct weir_stories stories;

    (void)state;
    make_ring(&stories, 10, ROOMY);
    for (unsigned n = 0; n < 13; n++)
        put(&stories, n);
    for (size_t i = 0, kept = 10; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(weir_stories_resize(&stories, sizes[i], ROOMY), 0);
        kept = kept < sizes[i] ? kept : sizes[i];
        assert_int_equal(count(&stories), kept);
        for (unsigned n = 0; n < 13; n++)
            assert_int_equal(has(&stories, n), n >= 13 - kept);
    }
    put(&stories, 50);
    assert_true(has(&stories, 50));
    weir_stories_deinit(&stories);
}

static void they_are_told_newest_first_in_batches(void **state)
{
    uint64_t cursor = UINT64_MAX;
    struct weir_stories stories;
    unsigned expected = 10;
    size_t got;

    (void)state;
    make_ring(&stories, 20, ROOMY);
    for (unsigned n = 0; n < 10; n++)
        put(&stories, n);
    do {
        struct weir_story *batch[3];

        got = weir_stories_before(&stories, &cursor, batch, 3);
        for (size_t i = 0; i < got; i++) {
            char id[WEIR_CALL_ID_LEN + 1];

            write_id(--expected, id);
            assert_slice_is(weir_story_call_id(batch[i]), id);
            weir_story_unref(batch[i]);
        }
        put(&stories, 100); /* what comes meanwhile is not told */
    } while (got > 0);
    assert_int_equal(expected, 0);
    weir_stories_deinit(&stories);
}

static void a_story_that_is_held_outlives_the_ring(void **state)
{
    struct weir_stories stories;
    struct weir_story *story = make_with(1, 2);
    struct weir_story_reader reader;
    struct weir_event event;

    (void)state;
    make_ring(&stories, 1, ROOMY);
    weir_stories_put(&stories, story);
    put(&stories, 2);
    weir_stories_deinit(&stories);
    weir_story_read(story, &reader);
    assert_true(weir_story_next(&reader, &event));
    assert_slice_is(event.group, "a group");
    weir_story_unref(story);
}

/* ---- threads ---- */

enum { WRITERS = 3, READERS = 2, ROUNDS = 3000 };

static struct weir_stories shared;
static atomic_uint writing;

static void *write_main(void *user)
{
    unsigned first = *(const unsigned *)user;

    for (unsigned n = first; n < first + ROUNDS; n++)
        put(&shared, n);
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void *read_main(void *user)
{
    (void)user;
    while (atomic_load(&writing) > 0) {
        struct weir_story *batch[16];
        uint64_t cursor = UINT64_MAX;
        size_t got;

        while ((got = weir_stories_before(&shared, &cursor, batch, 16)) > 0)
            for (size_t i = 0; i < got; i++) {
                struct weir_story_reader reader;
                struct weir_event event;
                char id[WEIR_CALL_ID_LEN + 1];

                weir_story_read(batch[i], &reader);
                if (!weir_story_next(&reader, &event))
                    abort();
                write_id(event.attempt, id);
                if (!weir_slice_eq(weir_story_call_id(batch[i]), weir_slice_str(id)))
                    abort();
                weir_story_unref(batch[i]);
            }
    }
    return NULL;
}

static void threads_write_while_others_read_and_one_resizes(void **state)
{
    static unsigned firsts[WRITERS];
    pthread_t threads[WRITERS + READERS];

    (void)state;
    make_ring(&shared, 50, ROOMY);
    atomic_store(&writing, WRITERS);
    for (unsigned i = 0; i < WRITERS; i++) {
        firsts[i] = i * ROUNDS;
        assert_int_equal(pthread_create(&threads[i], NULL, write_main, &firsts[i]), 0);
    }
    for (unsigned i = WRITERS; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_main, NULL), 0);
    for (size_t i = 0; atomic_load(&writing) > 0; i++)
        assert_int_equal(weir_stories_resize(&shared, 20 + i % 60, ROOMY), 0);
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.next, WRITERS * ROUNDS);
    weir_stories_deinit(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_goes_when_a_call_more_comes),
        cmocka_unit_test(the_oldest_go_when_there_are_too_many_bytes),
        cmocka_unit_test(a_story_that_is_larger_than_the_ring_pushes_nothing_out),
        cmocka_unit_test(a_ring_of_no_calls_keeps_none),
        cmocka_unit_test(another_size_keeps_the_newest),
        cmocka_unit_test(they_are_told_newest_first_in_batches),
        cmocka_unit_test(a_story_that_is_held_outlives_the_ring),
        cmocka_unit_test(threads_write_while_others_read_and_one_resizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
