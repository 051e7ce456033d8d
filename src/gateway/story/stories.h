/*
 * The newest stories of the process: a ring with a maximum of calls and one of bytes, for all workers.
 *
 * Thread-safe, but for init and deinit; the lock is held for moments.  It lasts over reloads; what it knows
 * begins with the process.
 */
#ifndef WEIR_GATEWAY_STORIES_H
#define WEIR_GATEWAY_STORIES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "gateway/story/story.h"

struct weir_stories {
    const struct weir_mem *mem;
    uint64_t since_ns; /* wall clock: what ended before is not known */
    pthread_mutex_t lock;
    struct weir_story **slots; /* of number n: n % cap */
    size_t cap;
    uint64_t first; /* number of the oldest that is kept */
    uint64_t next;  /* number of the next that comes */
    size_t bytes;
    size_t max_bytes;
};

/* What there is of them. */
struct weir_stories_view {
    uint64_t since_ns;
    size_t count;
    size_t max;
    size_t bytes;
};

/* Holds none yet; weir_stories_resize gives it room. */
void weir_stories_init(struct weir_stories *ret_stories, uint64_t since_ns, const struct weir_mem *mem);

/* Accepts a zeroed one. */
void weir_stories_deinit(struct weir_stories *stories);

/*
 * From one thread at a time: keeps at most so many calls (0: none) and bytes from now on; of those that there
 * are the newest.  0 or WEIR_ERR_NOMEM, then nothing is changed.
 */
WEIR_MUST_USE int weir_stories_resize(struct weir_stories *stories, size_t max_calls, size_t max_bytes);

/* Takes a reference of its own, if the story fits at all; the oldest make room. */
void weir_stories_put(struct weir_stories *stories, struct weir_story *story);

/*
 * Newest first: fills at most max stories that came before number *cursor (UINT64_MAX: the newest), which is
 * moved on; returns how many, 0 at the end.  The references are the caller's to give back.
 */
size_t weir_stories_before(struct weir_stories *stories, uint64_t *cursor, struct weir_story **ret_stories,
                           size_t max);

/* A reference to the story of that call, or NULL. */
struct weir_story *weir_stories_find(struct weir_stories *stories, struct weir_slice call_id);

void weir_stories_view(struct weir_stories *stories, struct weir_stories_view *ret_view);

#endif
