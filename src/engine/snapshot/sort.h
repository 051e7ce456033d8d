/*
 * Sorting of places by a rank, for what is built from a configuration.
 */
#ifndef WEIR_ENGINE_SORT_H
#define WEIR_ENGINE_SORT_H

#include <stdint.h>

struct weir_sort_key {
    uint64_t rank;
    uint32_t place; /* settles equal ranks */
};

/* Sorts the keys, rising.  In place, and n log n for whatever a configuration brings. */
void weir_sort(struct weir_sort_key *keys, uint32_t count);

#endif
