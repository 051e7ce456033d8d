/* Whoever takes the last reference frees the block, on whichever thread that is. */
#include "gateway/story/story.h"

struct weir_story *weir_story_ref(struct weir_story *story)
{
    atomic_fetch_add_explicit(&story->refs, 1, memory_order_relaxed);
    return story;
}

void weir_story_unref(struct weir_story *story)
{
    if (story != NULL && atomic_fetch_sub_explicit(&story->refs, 1, memory_order_acq_rel) == 1)
        story->mem->free(story->mem->user, story, story->bytes);
}

void weir_story_facts(const struct weir_story *story, struct weir_access *ret_access)
{
    struct weir_story_reader reader;

    weir_story_reader_init(&reader, story->block, story->facts_at, story->end, story->begun_ns);
    weir_story_take_facts(&reader, ret_access);
    ret_access->call_id = weir_story_call_id(story);
}

void weir_story_read(const struct weir_story *story, struct weir_story_reader *ret_reader)
{
    weir_story_reader_init(ret_reader, story->block, 0, story->facts_at, story->begun_ns);
}
