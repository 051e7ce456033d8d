/*
 * What both readers of limits share, so that a request and the file mean the same by the same words.
 */
#include "config/limits.h"

#include <stddef.h>
#include <string.h>

#include <weir/snapshot.h>

#include "base/slice.h"
#include "config/value.h"

/* The types that are maps: the section with their keys, and what "0" stands for.  The last row is no map. */
static const struct map_type {
    enum weir_value_type type;
    enum weir_section section;
    size_t size;
    union weir_limit_value none;
} map_types[] = {
#define MAP(type) WEIR_VALUE_##type, WEIR_SECTION_##type, sizeof(WEIR_SETTING_TYPE_##type)
    {MAP(RATE), {.rate = {0, WEIR_UNSET_NS, WEIR_UNSET_NS}}},
    {MAP(HOLD), {.hold = {true, 0, 0}}},
    {MAP(BUDGET), {.budget = {true, -1, 0}}},
    {MAP(HEDGE), {.hedge = {0, 0}}},
    {MAP(GROWTH), {.growth = {1, 0}}},
    {WEIR_VALUE_NONE, WEIR_SECTIONS, 0, {.hold = {false, 0, 0}}},
#undef MAP
};

static const struct weir_stream_hold whole_answer = {true, WEIR_UNSET, WEIR_UNSET_NS};

static const struct map_type *map_type_of(const struct weir_setting_row *row)
{
    const struct map_type *type = map_types;

    while (type->type != WEIR_VALUE_NONE && type->type != row->type)
        type++;
    return type;
}

enum weir_section weir_limit_section(const struct weir_setting_row *row)
{
    return map_type_of(row)->section;
}

void weir_limit_begin(const struct weir_setting_row *row, union weir_limit_value *ret_value)
{
    enum weir_section section = weir_limit_section(row);

    weir_value_default(row, ret_value);
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *field = weir_schema_row(i);

        if (field->section == section && field->fallback.len > 0)
            weir_value_default(field, (char *)ret_value + field->offset);
    }
}

/* Whether the keys that it needs were said. */
static bool is_complete(enum weir_section section, const union weir_limit_value *value)
{
    if (section == WEIR_SECTION_RATE)
        return value->rate.tokens_per_s >= 0;
    if (section == WEIR_SECTION_HOLD)
        return value->hold.tokens != WEIR_UNSET || value->hold.window_ns != WEIR_UNSET_NS;
    if (section == WEIR_SECTION_BUDGET)
        return value->budget.ratio >= 0;
    if (section == WEIR_SECTION_HEDGE)
        return value->hedge.after_ns != WEIR_UNSET_NS;
    return value->growth.factor >= 0;
}

bool weir_limit_end(const struct weir_setting_row *row, union weir_limit_value *value, void *out)
{
    const struct map_type *type = map_type_of(row);

    if (!is_complete(type->section, value))
        return false;
    if (row->type == WEIR_VALUE_HOLD)
        value->hold.said = true;
    if (row->type == WEIR_VALUE_BUDGET)
        value->budget.said = true;
    if (row->type == WEIR_VALUE_HOLD && (value->hold.tokens == 0 || value->hold.window_ns == 0))
        *value = type->none;
    memcpy(out, value, type->size);
    return true;
}

bool weir_limit_word(const struct weir_setting_row *row, struct weir_slice word, void *out)
{
    const struct map_type *type = map_type_of(row);

    if (weir_slice_eq(word, WEIR_SLICE("0")))
        memcpy(out, &type->none, type->size);
    else if (row->type == WEIR_VALUE_HOLD && weir_slice_eq(word, WEIR_SLICE("all")))
        memcpy(out, &whole_answer, sizeof(whole_answer));
    else
        return false;
    return true;
}
