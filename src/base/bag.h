/*
 * A growing array of pointers in an arena, for things that are counted only while they are read.
 *
 * What the array outgrows stays behind in the arena, which bounds it; items are borrowed.
 */
#ifndef WEIR_BASE_BAG_H
#define WEIR_BASE_BAG_H

#include <stddef.h>

#include <weir/attr.h>

#include "base/arena.h"

/* Zeroed, it is empty. */
struct weir_bag {
    void **items;
    size_t count;
    size_t cap;
};

/* Adds an item at the end.  0 or WEIR_ERR_NOMEM, with the arena's flag set. */
WEIR_MUST_USE int weir_bag_add(struct weir_bag *bag, struct weir_arena *arena, void *item);

#endif
