/*
 * A story that is dropped is unhooked under the lock and let go of behind it, since that may free memory.
 * Whoever looks for something takes a few references at a time, so that no look holds up a worker.
 */
#include "gateway/story/stories.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

enum { BATCH = 64 };

void weir_stories_init(struct weir_stories *ret_stories, uint64_t since_ns, const struct weir_mem *mem)
{
    *ret_stories = (struct weir_stories){.mem = mem, .since_ns = since_ns};
    (void)pthread_mutex_init(&ret_stories->lock, NULL);
}

/* Unhooks the oldest and puts it before the dropped ones. */
static void drop_first(struct weir_stories *stories, struct weir_story **dropped)
{
    struct weir_story *story = stories->slots[stories->first++ % stories->cap];

    stories->bytes -= story->bytes;
    story->next = *dropped;
    *dropped = story;
}

static void let_go(struct weir_story *dropped)
{
    while (dropped != NULL) {
        struct weir_story *next = dropped->next;

        weir_story_unref(dropped);
        dropped = next;
    }
}

static void free_slots(struct weir_stories *stories, struct weir_story **slots, size_t cap)
{
    if (slots != NULL)
        stories->mem->free(stories->mem->user, slots, cap * sizeof(struct weir_story *));
}

void weir_stories_deinit(struct weir_stories *stories)
{
    struct weir_story *dropped = NULL;

    if (stories->mem == NULL)
        return;
    while (stories->first < stories->next)
        drop_first(stories, &dropped);
    let_go(dropped);
    free_slots(stories, stories->slots, stories->cap);
    (void)pthread_mutex_destroy(&stories->lock);
    *stories = (struct weir_stories){.mem = NULL};
}

/* Makes room for so many calls more, of so many bytes. */
static void make_room(struct weir_stories *stories, size_t max_calls, size_t calls, size_t bytes,
                      struct weir_story **dropped)
{
    while (stories->first < stories->next && (stories->next - stories->first + calls > max_calls ||
                                              stories->bytes + bytes > stories->max_bytes))
        drop_first(stories, dropped);
}

int weir_stories_resize(struct weir_stories *stories, size_t max_calls, size_t max_bytes)
{
    struct weir_story **slots = NULL, **old_slots;
    struct weir_story *dropped = NULL;
    size_t old_cap;

    if (max_calls > 0) {
        slots = stories->mem->alloc(stories->mem->user, max_calls * sizeof(struct weir_story *));
        if (slots == NULL)
            return WEIR_ERR_NOMEM;
    }
    (void)pthread_mutex_lock(&stories->lock);
    stories->max_bytes = max_bytes;
    make_room(stories, max_calls, 0, 0, &dropped);
    for (uint64_t n = stories->first; max_calls > 0 && n < stories->next; n++)
        slots[n % max_calls] = stories->slots[n % stories->cap];
    old_slots = stories->slots;
    old_cap = stories->cap;
    stories->slots = slots;
    stories->cap = max_calls;
    (void)pthread_mutex_unlock(&stories->lock);
    free_slots(stories, old_slots, old_cap);
    let_go(dropped);
    return 0;
}

void weir_stories_put(struct weir_stories *stories, struct weir_story *story)
{
    struct weir_story *dropped = NULL;

    (void)pthread_mutex_lock(&stories->lock);
    if (stories->cap > 0 && story->bytes <= stories->max_bytes) {
        make_room(stories, stories->cap, 1, story->bytes, &dropped);
        stories->slots[stories->next++ % stories->cap] = weir_story_ref(story);
        stories->bytes += story->bytes;
    }
    (void)pthread_mutex_unlock(&stories->lock);
    let_go(dropped);
}

size_t weir_stories_before(struct weir_stories *stories, uint64_t *cursor, struct weir_story **ret_stories,
                           size_t max)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&stories->lock);
    if (*cursor > stories->next)
        *cursor = stories->next;
    for (; stories->first < *cursor && count < max; count++)
        ret_stories[count] = weir_story_ref(stories->slots[--*cursor % stories->cap]);
    (void)pthread_mutex_unlock(&stories->lock);
    return count;
}

struct weir_story *weir_stories_find(struct weir_stories *stories, struct weir_slice call_id)
{
    struct weir_story *batch[BATCH];
    struct weir_story *found = NULL;
    uint64_t cursor = UINT64_MAX;
    size_t count;

    do {
        count = weir_stories_before(stories, &cursor, batch, BATCH);
        for (size_t i = 0; i < count; i++) {
            if (found == NULL && weir_slice_eq(weir_story_call_id(batch[i]), call_id))
                found = batch[i];
            else
                weir_story_unref(batch[i]);
        }
    } while (found == NULL && count > 0);
    return found;
}

void weir_stories_view(struct weir_stories *stories, struct weir_stories_view *ret_view)
{
    (void)pthread_mutex_lock(&stories->lock);
    *ret_view = (struct weir_stories_view){.since_ns = stories->since_ns,
                                           .count = (size_t)(stories->next - stories->first),
                                           .max = stories->cap,
                                           .bytes = stories->bytes};
    (void)pthread_mutex_unlock(&stories->lock);
}
