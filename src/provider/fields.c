/*
 * Every member of every request is looked up here.  The table is in the order of the lengths, and a list of
 * these alone is searched, which is quick; the few names that are as long are told apart by their first
 * letter.
 */
#include "provider/fields.h"

#include <limits.h>
#include <string.h>

#include "base/slice.h"
#include "wire/json_read.h"

static const struct weir_field rows[] = {
#define X(name, class_id, place_id) {WEIR_SLICE_INIT(name), WEIR_FIELD_##class_id, WEIR_PLACE_##place_id},
#include "provider/tbl/router_fields.h"
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* The lengths of the names, row by row. */
static const unsigned char lengths[ROWS] = {
#define X(name, class_id, place_id) sizeof(name) - 1,
#include "provider/tbl/router_fields.h"
#undef X
};

const struct weir_field *weir_field_find(struct weir_slice name)
{
    const unsigned char *first = name.len > UCHAR_MAX ? NULL : memchr(lengths, (int)name.len, ROWS);

    if (first == NULL)
        return NULL;
    for (const struct weir_field *row = &rows[first - lengths]; row < rows + ROWS; row++) {
        if (row->name.len != name.len)
            return NULL;
        if (row->name.ptr[0] == name.ptr[0] && weir_slice_eq(row->name, name))
            return row;
    }
    return NULL;
}

const struct weir_field *weir_field_of(const struct weir_json_item *member)
{
    if (!member->key_escaped)
        return weir_field_find(member->key);
    for (size_t i = 0; i < ROWS; i++)
        if (weir_json_key_is(member, rows[i].name))
            return &rows[i];
    return NULL;
}

size_t weir_field_count(void)
{
    return ROWS;
}

const struct weir_field *weir_field_at(size_t index)
{
    return index < weir_field_count() ? &rows[index] : NULL;
}
