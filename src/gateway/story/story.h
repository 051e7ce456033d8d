/*
 * The story of a call that is over: its facts and all its events, in one block of memory that nobody changes
 * any more.
 *
 * Counted by references, atomically: any thread may hold one and read it, after a reload too.  What is read
 * from a story lives as long as the story.
 */
#ifndef WEIR_GATEWAY_STORY_H
#define WEIR_GATEWAY_STORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/mem.h>

#include "gateway/answer/headers.h"
#include "gateway/log/access_log.h"
#include "gateway/story/codec.h"
#include "gateway/story/state.h"

/* To be read; only what this file declares changes it. */
struct weir_story {
    atomic_uint refs;
    uint32_t bytes; /* of all of it */
    const struct weir_mem *mem;
    struct weir_story *next; /* of those that a ring has dropped */
    uint64_t begun_ns;       /* monotonic, as the events' times are: when the request's head had come ... */
    uint64_t wall_ns;        /* ... and the wall clock's time then, since 1970 */
    uint64_t kinds;          /* a bit for each weir_event_kind that is in it */
    uint32_t events_lost;    /* that found no room */
    weir_call_state state;
    uint32_t facts_at;
    uint32_t end;
    char call_id[WEIR_CALL_ID_LEN];
    char block[];
};

_Static_assert(WEIR_EVENT_KINDS <= 64, "the kinds of a story's events stand in one number");

struct weir_story *weir_story_ref(struct weir_story *story);

/* Accepts NULL. */
void weir_story_unref(struct weir_story *story);

static inline struct weir_slice weir_story_call_id(const struct weir_story *story)
{
    return (struct weir_slice){story->call_id, WEIR_CALL_ID_LEN};
}

/* What the access log told of the call, but for the client's address. */
void weir_story_facts(const struct weir_story *story, struct weir_access *ret_access);

/* Reads the events from the first one on, by weir_story_next: oldest first; false at the end. */
void weir_story_read(const struct weir_story *story, struct weir_story_reader *ret_reader);

static inline bool weir_story_next(struct weir_story_reader *reader, struct weir_event *ret_event)
{
    return weir_story_take_event(reader, ret_event);
}

/* A time of the monotonic clock as the wall clock's, by how the two stood when the call began. */
static inline uint64_t weir_story_wall(const struct weir_story *story, uint64_t time_ns)
{
    return story->wall_ns + (time_ns - story->begun_ns);
}

#endif
