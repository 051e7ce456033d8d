/* Heapsort: it needs no memory, and no order of the input makes it slow. */
#include "engine/snapshot/sort.h"

#include <stdbool.h>

static bool is_above(const struct weir_sort_key *a, const struct weir_sort_key *b)
{
    return a->rank != b->rank ? a->rank > b->rank : a->place > b->place;
}

/* Lets the key at a place of the heap sink below the greater ones. */
static void sink(struct weir_sort_key *keys, uint32_t count, uint32_t at)
{
    struct weir_sort_key key = keys[at];

    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < count; at = (uint32_t)child) {
        child += child + 1 < count && is_above(&keys[child + 1], &keys[child]);
        if (!is_above(&keys[child], &key))
            break;
        keys[at] = keys[child];
    }
    keys[at] = key;
}

void weir_sort(struct weir_sort_key *keys, uint32_t count)
{
    for (uint32_t at = count / 2; at > 0; at--)
        sink(keys, count, at - 1);
    for (uint32_t left = count; left > 1; left--) {
        struct weir_sort_key greatest = keys[0];

        keys[0] = keys[left - 1];
        keys[left - 1] = greatest;
        sink(keys, left - 1, 0);
    }
}
