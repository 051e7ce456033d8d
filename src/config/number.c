/*
 * One place knows which numbers a row takes and how they are kept.
 */
#include "config/number.h"

#include <math.h>
#include <stdint.h>

#include "base/time.h"
#include "config/yaml/tree_json.h"

static bool in_range(const struct weir_setting_row *row, double value)
{
    bool any = !(row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0);

    return any || (value >= row->min && value <= row->max);
}

double weir_number_clamp(const struct weir_setting_row *row, double value)
{
    if (value < row->min)
        return row->min;
    return value > row->max ? row->max : value;
}

bool weir_number_is_whole(double value)
{
    return fabs(value) <= 9e15 && (double)(int64_t)value - value == 0;
}

bool weir_number_put(const struct weir_setting_row *row, double value, void *out)
{
    bool whole = weir_number_is_whole(value);

    if (!in_range(row, value))
        return false;
    if (row->type == WEIR_VALUE_NUMBER || row->type == WEIR_VALUE_PRICE)
        *(double *)out = value;
    else if (row->type == WEIR_VALUE_SECONDS || row->type == WEIR_VALUE_KEEPALIVE)
        *(uint64_t *)out = weir_time_from_s(value);
    else if (row->type == WEIR_VALUE_I32 && whole)
        *(int32_t *)out = (int32_t)value;
    else if (row->type == WEIR_VALUE_U32 && whole)
        *(uint32_t *)out = (uint32_t)value;
    else if ((row->type == WEIR_VALUE_WHOLE || row->type == WEIR_VALUE_BYTES) && whole)
        *(uint64_t *)out = (uint64_t)value;
    else
        return false;
    return true;
}

struct weir_slice weir_number_text(double value, struct weir_arena *arena)
{
    struct weir_yaml node = {.kind = WEIR_YAML_FLOAT, .number = value};

    return weir_tree_json(&node, false, arena);
}

struct weir_slice weir_number_range(const struct weir_setting_row *row, struct weir_arena *arena)
{
    struct weir_slice parts[] = {WEIR_SLICE(" from "), weir_number_text(row->min, arena), WEIR_SLICE(" to "),
                                 weir_number_text(row->max, arena)};

    if (!(row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0))
        return WEIR_SLICE_EMPTY;
    return weir_arena_join(arena, parts, row->max > 1e11 ? 2 : sizeof(parts) / sizeof(*parts));
}
