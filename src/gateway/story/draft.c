/*
 * A call that goes well fits into the first room; that of one that does not is doubled until it is at its
 * maximum.  The first is small since a stream holds it as long as it runs, and the arena's second page with
 * it. The facts come last, and have room of their own.
 */
#include "gateway/story/draft.h"

#include <string.h>

#include "base/slice.h"

enum { FIRST_BYTES = 512, FACTS_BYTES = 8 * 1024 };

struct weir_draft *weir_draft_new(struct weir_arena *arena, uint64_t begun_ns)
{
    struct weir_draft *draft = weir_arena_alloc(arena, sizeof(*draft) + FIRST_BYTES);

    if (draft == NULL)
        return NULL;
    draft->arena = arena;
    draft->begun_ns = begun_ns;
    draft->kinds = 0;
    draft->events_lost = 0;
    weir_story_pen_init(&draft->pen, (char *)(draft + 1), FIRST_BYTES);
    return draft;
}

/* Doubles the room, at most up to max_bytes; false: it stays as it is. */
static bool grow(struct weir_draft *draft, size_t max_bytes)
{
    struct weir_story_pen *pen = &draft->pen;
    size_t cap = 2 * (size_t)pen->cap < max_bytes ? 2 * (size_t)pen->cap : max_bytes;
    char *bytes = cap <= pen->cap ? NULL : weir_arena_alloc(draft->arena, cap);

    if (bytes == NULL)
        return false;
    memcpy(bytes, pen->bytes, pen->len);
    weir_story_pen_move(pen, bytes, cap);
    return true;
}

void weir_draft_add(struct weir_draft *draft, const struct weir_event *event)
{
    while (weir_story_put_event(&draft->pen, event, draft->begun_ns) == WEIR_STORY_FULL)
        if (!grow(draft, WEIR_STORY_EVENTS_MAX)) {
            draft->events_lost++;
            return;
        }
    draft->kinds |= UINT64_C(1) << event->kind;
}

struct weir_story_reader weir_draft_read(const struct weir_draft *draft)
{
    struct weir_story_reader reader;

    weir_story_reader_init(&reader, draft->pen.bytes, 0, draft->pen.len, draft->begun_ns);
    return reader;
}

struct weir_story *weir_draft_end(struct weir_draft *draft, const struct weir_access *access, uint64_t now_ns,
                                  uint64_t wall_ns, const struct weir_mem *mem)
{
    uint32_t facts_at = draft->pen.len;
    struct weir_story *story;
    size_t bytes;

    while (weir_story_put_facts(&draft->pen, access) == WEIR_STORY_FULL)
        if (!grow(draft, WEIR_STORY_EVENTS_MAX + FACTS_BYTES))
            return NULL;
    bytes = sizeof(*story) + draft->pen.len;
    story = mem->alloc(mem->user, bytes);
    if (story == NULL)
        return NULL;
    *story = (struct weir_story){.bytes = (uint32_t)bytes,
                                 .mem = mem,
                                 .begun_ns = draft->begun_ns,
                                 .wall_ns = wall_ns - (now_ns - draft->begun_ns),
                                 .kinds = draft->kinds,
                                 .events_lost = draft->events_lost,
                                 .state = weir_call_state_of(access),
                                 .facts_at = facts_at,
                                 .end = draft->pen.len};
    atomic_init(&story->refs, 1);
    memcpy(story->call_id, access->call_id.ptr, WEIR_CALL_ID_LEN);
    memcpy(story->block, draft->pen.bytes, draft->pen.len);
    return story;
}
