/* The hash is kept beside the key, so growing does not hash again and most misses end at one comparison. */
#include "base/map.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

enum { FIRST_CAPACITY = 16 };

static const uint64_t hash_seed = 0x7765697200000001U;

void weir_map_init(struct weir_map *map, const struct weir_mem *mem, size_t max_count)
{
    *map = (struct weir_map){.mem = mem, .max_count = max_count};
}

void weir_map_deinit(struct weir_map *map)
{
    if (map->entries != NULL)
        map->mem->free(map->mem->user, map->entries, map->cap * sizeof(*map->entries));
    weir_map_init(map, map->mem, map->max_count);
}

/* The entry of the key, or the free place where it belongs.  The table is never full. */
static struct weir_map_entry *place(const struct weir_map *map, struct weir_slice key, uint64_t hash)
{
    size_t at = (size_t)hash & (map->cap - 1);

    while (map->entries[at].value != NULL &&
           (map->entries[at].hash != hash || !weir_slice_eq(map->entries[at].key, key)))
        at = (at + 1) & (map->cap - 1);
    return &map->entries[at];
}

void *weir_map_get(const struct weir_map *map, struct weir_slice key)
{
    if (map->count == 0)
        return NULL;
    return place(map, key, weir_slice_hash(key, hash_seed))->value;
}

static int grow(struct weir_map *map)
{
    struct weir_map bigger = {
        .mem = map->mem, .cap = map->cap == 0 ? FIRST_CAPACITY : map->cap * 2, .max_count = map->max_count};
    size_t at = 0;
    const struct weir_map_entry *e;

    bigger.entries = map->mem->alloc(map->mem->user, bigger.cap * sizeof(*bigger.entries));
    if (bigger.entries == NULL)
        return WEIR_ERR_NOMEM;
    memset(bigger.entries, 0, bigger.cap * sizeof(*bigger.entries));
    while ((e = weir_map_next(map, &at)) != NULL)
        *place(&bigger, e->key, e->hash) = *e;
    bigger.count = map->count;
    weir_map_deinit(map);
    *map = bigger;
    return 0;
}

int weir_map_add(struct weir_map *map, struct weir_slice key, void *value)
{
    uint64_t hash = weir_slice_hash(key, hash_seed);
    struct weir_map_entry *e;
    int r;

    if (map->count >= map->max_count)
        return weir_map_get(map, key) != NULL ? WEIR_MAP_EXISTS : WEIR_ERR_LIMIT;
    if (map->count + 1 > map->cap / 4 * 3) {
        r = grow(map);
        if (r < 0)
            return r;
    }
    e = place(map, key, hash);
    if (e->value != NULL)
        return WEIR_MAP_EXISTS;
    *e = (struct weir_map_entry){key, hash, value};
    map->count++;
    return 0;
}

const struct weir_map_entry *weir_map_next(const struct weir_map *map, size_t *at)
{
    while (*at < map->cap) {
        const struct weir_map_entry *e = &map->entries[(*at)++];

        if (e->value != NULL)
            return e;
    }
    return NULL;
}

bool weir_map_validate(const struct weir_map *map)
{
    size_t at = 0, count = 0;
    const struct weir_map_entry *e;

    while ((e = weir_map_next(map, &at)) != NULL) {
        count++;
        if (place(map, e->key, e->hash) != e)
            return false;
    }
    return count == map->count && (map->cap & (map->cap - 1)) == 0 && map->count <= map->cap &&
           map->count <= map->max_count;
}
