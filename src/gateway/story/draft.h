/*
 * The story of a call while it runs: its events are written down as they come, in the memory of its job.
 */
#ifndef WEIR_GATEWAY_STORY_DRAFT_H
#define WEIR_GATEWAY_STORY_DRAFT_H

#include <stdint.h>

#include <weir/event.h>

#include "base/arena.h"
#include "gateway/story/codec.h"
#include "gateway/story/story.h"

/* All events of a call together; what comes behind that is counted and lost. */
enum { WEIR_STORY_EVENTS_MAX = 16 * 1024 };

struct weir_draft {
    struct weir_arena *arena;
    uint64_t begun_ns;
    uint64_t kinds;
    uint32_t events_lost;
    struct weir_story_pen pen;
};

/* In the arena, which must outlive it; NULL without memory. */
struct weir_draft *weir_draft_new(struct weir_arena *arena, uint64_t begun_ns);

/* The texts of the event must live as long as the draft. */
void weir_draft_add(struct weir_draft *draft, const struct weir_event *event);

/* The events so far; until the next one is added. */
struct weir_story_reader weir_draft_read(const struct weir_draft *draft);

/*
 * The story of a call that is over, or NULL without memory; the draft takes no more.  now_ns is the monotonic
 * clock's time at wall_ns.
 */
struct weir_story *weir_draft_end(struct weir_draft *draft, const struct weir_access *access, uint64_t now_ns,
                                  uint64_t wall_ns, const struct weir_mem *mem);

#endif
