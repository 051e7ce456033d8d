/*
 * The search that several strategies share: the candidate with the lowest number, evenly among equals.
 *
 * A number of a tier's member is cheap to read, the filters and limits are not, so they are asked only of a
 * member whose number would do.  Where the members of a tier have slots side by side, as in a large one that
 * was configured at once, the words that hold the numbers are gone through as an array, and runs of them that
 * cool down as a whole are passed over.  Equals are settled as they come by reservoir sampling: of n of them
 * each is kept with the odds of 1 / n, and how many are passed over until the next is taken is drawn at once.
 * In a large tier only as many equals are looked at as make it likely to draw one: the rest are as good.
 *
 * All functions are compiled into the strategy that calls them, with what it looks for.
 */
#ifndef WEIR_ENGINE_STRATEGY_LOWEST_H
#define WEIR_ENGINE_STRATEGY_LOWEST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/strategy/strategy.h"

#define WEIR_LOWEST_INLINE static inline __attribute__((always_inline))

/* One of many, evenly, of which nobody knows how many will come. */
struct weir_reservoir {
    double count;
    double passed_over; /* so many come before another is taken */
};

/* The first of new ones has come: it is taken. */
WEIR_LOWEST_INLINE void weir_reservoir_begin(struct weir_reservoir *r, struct weir_rand *rand)
{
    r->count = 1;
    r->passed_over = 1 / (1 - weir_rand_unit(rand));
}

/* Another has come; whether it takes the place of the one before. */
WEIR_LOWEST_INLINE bool weir_reservoir_takes(struct weir_reservoir *r, struct weir_rand *rand)
{
    if (++r->count <= r->passed_over)
        return false;
    r->passed_over = r->count / (1 - weir_rand_unit(rand));
    return true;
}

/* What a strategy looks for the lowest of; constants. */
struct weir_lowest_by {
    uint64_t (*number_of)(const struct weir_candidates *c, uint32_t member);
    bool (*fits)(const struct weir_candidates *c, uint32_t member);
    /* Where the numbers of a block's slots are written; whether those words say enough in the run that begins
       at a slot; whether such a word is above a number. */
    const _Atomic uint64_t *(*words_of)(const struct weir_live_block *block);
    bool (*words_suffice)(const struct weir_candidates *c, uint32_t slot);
    bool (*is_above)(const struct weir_candidates *c, uint64_t word, uint64_t number);
};

struct weir_lowest {
    struct weir_reservoir equals;
    double most;     /* equals to look at */
    uint64_t least;  /* found so far ... */
    bool is_bound;   /* ... or given, and everybody who is not above it is an equal */
    uint64_t useful; /* what is above this is of no use: least, or below it after the most equals */
    uint32_t best;
};

WEIR_LOWEST_INLINE void weir_lowest_look(struct weir_lowest *s, const struct weir_candidates *c,
                                         const struct weir_lowest_by *by, uint32_t member,
                                         struct weir_rand *rand)
{
    uint64_t number = by->number_of(c, member);

    if (number > s->useful || !weir_filter_keeps(c, member) || !by->fits(c, member))
        return;
    if ((number == s->least || s->is_bound) && s->best != WEIR_PICK_NONE) {
        s->best = weir_reservoir_takes(&s->equals, rand) ? member : s->best;
        s->useful -= s->equals.count == s->most && s->least > 0;
        return;
    }
    weir_reservoir_begin(&s->equals, rand);
    s->useful = s->least = s->is_bound ? s->least : number;
    s->best = member;
}

/* Looks at the members of a whole run of slots, whose words lie side by side. */
WEIR_LOWEST_INLINE void weir_lowest_look_at_run(struct weir_lowest *s, const struct weir_candidates *c,
                                                const struct weir_lowest_by *by, uint32_t member,
                                                struct weir_rand *rand)
{
    uint32_t slot = c->tier->slots[member];
    const _Atomic uint64_t *words =
        by->words_of(c->live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]) + slot % WEIR_LIVE_BLOCK_SLOTS;
    bool suffice = by->words_suffice(c, slot);
    uint64_t useful = s->useful;

    for (uint32_t i = 0; i < WEIR_LIVE_RUN_SLOTS; i++) {
        if (suffice && by->is_above(c, atomic_load_explicit(&words[i], memory_order_relaxed), useful))
            continue;
        weir_lowest_look(s, c, by, member + i, rand);
        useful = s->useful;
    }
}

WEIR_LOWEST_INLINE uint32_t weir_lowest_search(struct weir_lowest *s, const struct weir_candidates *c,
                                               const struct weir_lowest_by *by, struct weir_rand *rand)
{
    for (uint32_t i = 0; i < c->tier->count;) {
        if (!weir_filter_begins_run(c, i)) {
            weir_lowest_look(s, c, by, i++, rand);
            continue;
        }
        if (!weir_filter_run_is_cooling(c, i))
            weir_lowest_look_at_run(s, c, by, i, rand);
        i += WEIR_LIVE_RUN_SLOTS;
    }
    return s->best;
}

/* One of the candidates that fit and whose number is not above the bound, evenly; WEIR_PICK_NONE. */
WEIR_LOWEST_INLINE uint32_t weir_lowest_within(const struct weir_candidates *c,
                                               const struct weir_lowest_by *by, uint64_t bound,
                                               struct weir_rand *rand)
{
    struct weir_lowest s = {.least = bound, .useful = bound, .is_bound = true, .best = WEIR_PICK_NONE};

    return weir_lowest_search(&s, c, by, rand);
}

/*
 * A few draws before the search: whoever has no higher number than the bound is taken, and draws are even.
 * In a large tier where many would do the search is spared.  WEIR_PICK_NONE: none was drawn.
 */
WEIR_LOWEST_INLINE uint32_t weir_lowest_draw(const struct weir_candidates *c, const struct weir_lowest_by *by,
                                             uint64_t bound, int draws, struct weir_rand *rand)
{
    enum { SMALL_TIER = 32 };
    uint32_t member;

    for (int i = 0; c->tier->count > SMALL_TIER && i < draws; i++) {
        member = weir_draw_member(c->tier->count, rand);
        if (by->number_of(c, member) <= bound && weir_filter_keeps(c, member) && by->fits(c, member))
            return member;
    }
    return WEIR_PICK_NONE;
}

/* The candidate with the lowest number among those that fit, evenly among equals; WEIR_PICK_NONE.  Numbers
 * may change meanwhile. */
WEIR_LOWEST_INLINE uint32_t weir_lowest_of(const struct weir_candidates *c, const struct weir_lowest_by *by,
                                           struct weir_rand *rand)
{
    enum { LARGE_TIER = 1024, PART = 256, DRAWS = 3 * PART };
    struct weir_lowest s = {.most = c->tier->count > LARGE_TIER ? c->tier->count / PART : 0,
                            .least = UINT64_MAX,
                            .useful = UINT64_MAX,
                            .best = WEIR_PICK_NONE};
    uint32_t best = weir_lowest_search(&s, c, by, rand), member;

    if (s.useful >= s.least)
        return best;
    member = weir_lowest_draw(c, by, s.least, DRAWS, rand);
    if (member == WEIR_PICK_NONE)
        member = weir_lowest_within(c, by, s.least, rand);
    return member != WEIR_PICK_NONE ? member : best;
}

#endif
