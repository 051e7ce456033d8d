/*
 * Positions run modulo cap, a power of two; growing lays the items out from the front.
 */
#include "state/pending.h"

#include <assert.h>

#include <weir/error.h>

enum { FIRST_CAP = 64 };

void weir_pending_init(struct weir_pending *pending, const struct weir_mem *mem, size_t max)
{
    *pending = (struct weir_pending){.mem = mem, .max = max};
}

void weir_pending_deinit(struct weir_pending *pending)
{
    assert(pending->count == 0);
    if (pending->items != NULL)
        pending->mem->free(pending->mem->user, pending->items, pending->cap * sizeof(pending->items[0]));
    pending->items = NULL;
    pending->cap = 0;
    pending->first = 0;
}

static struct weir_pending_item *at(const struct weir_pending *pending, size_t i)
{
    return &pending->items[(pending->first + i) & (pending->cap - 1)];
}

int weir_pending_reserve(struct weir_pending *pending)
{
    size_t cap = pending->cap == 0 ? FIRST_CAP : pending->cap * 2;
    struct weir_pending_item *items;

    if (pending->count >= pending->max)
        return WEIR_ERR_LIMIT;
    if (pending->count < pending->cap)
        return 0;
    items = pending->mem->alloc(pending->mem->user, cap * sizeof(items[0]));
    if (items == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < pending->count; i++)
        items[i] = *at(pending, i);
    if (pending->items != NULL)
        pending->mem->free(pending->mem->user, pending->items, pending->cap * sizeof(items[0]));
    pending->items = items;
    pending->cap = cap;
    pending->first = 0;
    return 0;
}

void weir_pending_put(struct weir_pending *pending, struct weir_pending_item item)
{
    assert(pending->count < pending->cap);
    *at(pending, pending->count) = item;
    pending->count++;
}

const struct weir_pending_item *weir_pending_first(const struct weir_pending *pending)
{
    return pending->count == 0 ? NULL : at(pending, 0);
}

struct weir_pending_item weir_pending_take(struct weir_pending *pending)
{
    struct weir_pending_item item = *at(pending, 0);

    pending->first = (pending->first + 1) & (pending->cap - 1);
    pending->count--;
    return item;
}
