/* Growth doubles, so that what stays behind in the arena is at most as much again. */
#include "base/bag.h"

#include <string.h>

#include <weir/error.h>

enum { FIRST_CAPACITY = 8 };

static int grow(struct weir_bag *bag, struct weir_arena *arena)
{
    size_t cap = bag->cap == 0 ? FIRST_CAPACITY : bag->cap * 2;
    void **bigger = weir_arena_zalloc(arena, cap, sizeof(*bigger));

    if (bigger == NULL)
        return WEIR_ERR_NOMEM;
    if (bag->count > 0)
        memcpy(bigger, bag->items, bag->count * sizeof(*bigger));
    bag->items = bigger;
    bag->cap = cap;
    return 0;
}

int weir_bag_add(struct weir_bag *bag, struct weir_arena *arena, void *item)
{
    int r = bag->count == bag->cap ? grow(bag, arena) : 0;

    if (r == 0)
        bag->items[bag->count++] = item;
    return r;
}
