/*
 * Every member of every request is looked up here, so the table is searched in halves: by length first, which
 * settles most comparisons without a look at the bytes.
 */
#include "provider/fields.h"

#include <string.h>

#include "base/slice.h"
#include "wire/json_read.h"

static const struct weir_field rows[] = {
#define X(name, class_id, place_id) {WEIR_SLICE_INIT(name), WEIR_FIELD_##class_id, WEIR_PLACE_##place_id},
#include "provider/tbl/router_fields.h"
#undef X
};

/* Of two names that are not empty. */
static inline int compare(struct weir_slice a, struct weir_slice b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    if (a.ptr[0] != b.ptr[0])
        return a.ptr[0] - b.ptr[0];
    return memcmp(a.ptr, b.ptr, a.len);
}

const struct weir_field *weir_field_find(struct weir_slice name)
{
    size_t low = 0, high = sizeof(rows) / sizeof(rows[0]);

    if (name.len == 0)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(name, rows[middle].name);

        if (order == 0)
            return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct weir_field *weir_field_of(const struct weir_json_item *member)
{
    if (!member->key_escaped)
        return weir_field_find(member->key);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (weir_json_key_is(member, rows[i].name))
            return &rows[i];
    return NULL;
}

size_t weir_field_count(void)
{
    return sizeof(rows) / sizeof(rows[0]);
}

const struct weir_field *weir_field_at(size_t index)
{
    return index < weir_field_count() ? &rows[index] : NULL;
}
