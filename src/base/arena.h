/*
 * A bump allocator for things that die together: one per call, one per configuration.
 *
 * The arena takes blocks from its allocator up to a maximum and gives all of them back at once.  A failed
 * allocation returns NULL and sets a sticky flag, so a long run of allocations may be checked once at its end
 * (weir_arena_failed).  Not safe for several threads.
 *
 * Built with WEIR_POOLS=0 each allocation is a block of its own, so that sanitizers see its bounds.
 */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

struct weir_arena_block;

struct weir_arena {
    const struct weir_mem *mem;
    struct weir_arena_block *blocks; /* newest first; allocations come from the newest */
    size_t block_bytes;              /* the usual size of a block */
    size_t total;                    /* bytes taken from the allocator */
    size_t max;
    bool failed;
    struct weir_mem as_mem; /* see weir_arena_mem */
};

/* Blocks of block_bytes (larger for larger objects), max_bytes in all.  Allocates nothing yet. */
void weir_arena_init(struct weir_arena *arena, const struct weir_mem *mem, size_t block_bytes,
                     size_t max_bytes);

/* Gives every block back.  Accepts a zeroed arena. */
void weir_arena_deinit(struct weir_arena *arena);

/* Empties the arena for the next use, keeping one block of the usual size. */
void weir_arena_reset(struct weir_arena *arena);

/* Memory aligned for any object, uninitialised; NULL when memory or the maximum is exhausted. */
void *weir_arena_alloc(struct weir_arena *arena, size_t size);

/* The same, zeroed, for count objects of size bytes; NULL on overflow too. */
void *weir_arena_zalloc(struct weir_arena *arena, size_t count, size_t size);

/* A copy of the bytes; empty, with the flag set, when there is no room. */
struct weir_slice weir_arena_copy(struct weir_arena *arena, struct weir_slice bytes);

/* The parts joined (count of them); empty, with the flag set, when there is no room. */
struct weir_slice weir_arena_join(struct weir_arena *arena, const struct weir_slice *parts, size_t count);

static inline bool weir_arena_failed(const struct weir_arena *arena)
{
    return arena->failed;
}

/* Every block is within its size, and together they are the total, which is at most the maximum. */
bool weir_arena_validate(const struct weir_arena *arena);

/* The arena as an allocator whose free does nothing; lives as long as the arena does. */
const struct weir_mem *weir_arena_mem(struct weir_arena *arena);

#endif
