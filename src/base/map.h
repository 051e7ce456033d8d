/*
 * A hash map from slices to pointers, for names that a configuration brings: groups, ids, keys.
 *
 * Open addressing with linear probing, at most three quarters full; entries are never removed one by one.
 * Keys are borrowed: they must outlive the map.  Reading is safe from several threads while nobody adds.
 * Invariant (weir_map_validate): each stored key is found by its own look-up, and the count is right.
 */
#ifndef WEIR_BASE_MAP_H
#define WEIR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

struct weir_map_entry {
    struct weir_slice key;
    uint64_t hash;
    void *value; /* NULL: the place is free */
};

struct weir_map {
    const struct weir_mem *mem;
    struct weir_map_entry *entries;
    size_t cap; /* 0 or a power of two */
    size_t count;
    size_t max_count;
};

/* Makes an empty map, without memory so far, that takes up to max_count keys. */
void weir_map_init(struct weir_map *map, const struct weir_mem *mem, size_t max_count);

/* Gives the table back; the values are the caller's.  Accepts a zeroed map. */
void weir_map_deinit(struct weir_map *map);

/* The value of the key, or NULL. */
void *weir_map_get(const struct weir_map *map, struct weir_slice key);

/* The key was there already; its value is unchanged. */
#define WEIR_MAP_EXISTS 1

/* Adds a key with a value that is not NULL.  0, WEIR_MAP_EXISTS, WEIR_ERR_LIMIT (the map is
 * full) or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_map_add(struct weir_map *map, struct weir_slice key, void *value);

/* Walks the entries in no particular order: start with *at = 0; NULL at the end. */
const struct weir_map_entry *weir_map_next(const struct weir_map *map, size_t *at);

bool weir_map_validate(const struct weir_map *map);

#endif
