/*
 * Model: a list of blocks, newest first; an allocation is a pointer bump in the newest one.  What does not
 * fit opens a new block; what is larger than a usual block gets one of its own, put behind the newest so that
 * the space left there stays in use.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

struct weir_arena_block {
    struct weir_arena_block *next;
    size_t size; /* with this head */
    size_t used; /* likewise */
};

enum { ALIGNMENT = alignof(max_align_t) };

static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static size_t head_bytes(void)
{
    return round_up(sizeof(struct weir_arena_block));
}

void weir_arena_init(struct weir_arena *arena, const struct weir_mem *mem, size_t block_bytes,
                     size_t max_bytes)
{
    *arena = (struct weir_arena){.mem = mem, .block_bytes = block_bytes, .max = max_bytes};
}

static void free_blocks(struct weir_arena *arena, struct weir_arena_block *keep)
{
    struct weir_arena_block *next;

    for (struct weir_arena_block *b = arena->blocks; b != NULL; b = next) {
        next = b->next;
        if (b == keep)
            continue;
        arena->total -= b->size;
        arena->mem->free(arena->mem->user, b, b->size);
    }
    arena->blocks = keep;
    if (keep != NULL) {
        keep->next = NULL;
        keep->used = head_bytes();
    }
}

void weir_arena_deinit(struct weir_arena *arena)
{
    free_blocks(arena, NULL);
    arena->failed = false;
}

void weir_arena_reset(struct weir_arena *arena)
{
    struct weir_arena_block *keep = WEIR_POOLS ? arena->blocks : NULL;

    while (keep != NULL && keep->size != arena->block_bytes)
        keep = keep->next;
    free_blocks(arena, keep);
    arena->failed = false;
}

static void *fail(struct weir_arena *arena)
{
    arena->failed = true;
    return NULL;
}

static struct weir_arena_block *add_block(struct weir_arena *arena, size_t size)
{
    struct weir_arena_block *b;

    if (size > arena->max || arena->total > arena->max - size)
        return fail(arena);
    b = arena->mem->alloc(arena->mem->user, size);
    if (b == NULL)
        return fail(arena);
    arena->total += size;
    b->size = size;
    b->used = head_bytes();
    return b;
}

static void push_front(struct weir_arena *arena, struct weir_arena_block *b)
{
    b->next = arena->blocks;
    arena->blocks = b;
}

static void push_second(struct weir_arena *arena, struct weir_arena_block *b)
{
    if (arena->blocks == NULL) {
        push_front(arena, b);
        return;
    }
    b->next = arena->blocks->next;
    arena->blocks->next = b;
}

static void *bump(struct weir_arena_block *b, size_t size)
{
    void *at = (char *)b + b->used;

    b->used += size;
    return at;
}

static struct weir_arena_block *block_for(struct weir_arena *arena, size_t size)
{
    struct weir_arena_block *b = arena->blocks;
    size_t room = arena->block_bytes > head_bytes() ? arena->block_bytes - head_bytes() : 0;
    bool own = size > room || !WEIR_POOLS;

    if (!own && b != NULL && b->size - b->used >= size)
        return b;
    b = add_block(arena, own ? head_bytes() + size : arena->block_bytes);
    if (b == NULL)
        return NULL;
    if (own)
        push_second(arena, b);
    else
        push_front(arena, b);
    return b;
}

void *weir_arena_alloc(struct weir_arena *arena, size_t size)
{
    struct weir_arena_block *b;

    if (size > SIZE_MAX / 2)
        return fail(arena);
    size = WEIR_POOLS ? round_up(size) : size;
    b = block_for(arena, size);
    return b == NULL ? NULL : bump(b, size);
}

void *weir_arena_zalloc(struct weir_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    void *at;

    if (__builtin_mul_overflow(count, size, &bytes))
        return fail(arena);
    at = weir_arena_alloc(arena, bytes);
    if (at != NULL)
        memset(at, 0, bytes);
    return at;
}

struct weir_slice weir_arena_copy(struct weir_arena *arena, struct weir_slice bytes)
{
    return weir_arena_join(arena, &bytes, 1);
}

struct weir_slice weir_arena_join(struct weir_arena *arena, const struct weir_slice *parts, size_t count)
{
    size_t total = 0, at = 0;
    char *out;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, parts[i].len, &total))
            total = SIZE_MAX;
    if (total == 0)
        return WEIR_SLICE_EMPTY;
    out = weir_arena_alloc(arena, total);
    if (out == NULL)
        return WEIR_SLICE_EMPTY;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(out + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return (struct weir_slice){out, total};
}

bool weir_arena_validate(const struct weir_arena *arena)
{
    size_t total = 0;

    for (const struct weir_arena_block *b = arena->blocks; b != NULL; b = b->next) {
        if (b->used < head_bytes() || b->used > b->size)
            return false;
        total += b->size;
    }
    return total == arena->total && total <= arena->max;
}

static void *mem_alloc(void *user, size_t size)
{
    return weir_arena_alloc(user, size);
}

static void *mem_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    void *at;

    if (ptr != NULL && new_size <= old_size)
        return ptr;
    at = weir_arena_alloc(user, new_size);
    if (at != NULL && ptr != NULL)
        memcpy(at, ptr, old_size);
    return at;
}

static void mem_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
}

const struct weir_mem *weir_arena_mem(struct weir_arena *arena)
{
    arena->as_mem = (struct weir_mem){arena, mem_alloc, mem_resize, mem_free};
    return &arena->as_mem;
}
