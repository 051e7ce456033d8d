/*
 * One array of rows, made from the tables in the order: settings, limits, what else a request may set, a
 * group's settings, keys of values that are maps, arguments of strategies, parts of the settings, keys of
 * routing groups, a deployment's fields, their parts, what is known only.
 *
 * Keys are found by walking the array and comparing the section first; with a few hundred rows and keys of a
 * dozen letters that costs less than an index would.
 */
#include "config/schema.h"

#include "base/slice.h"
#include "config/near.h"
#include "config/settings.h"

static const struct weir_slice expected[] = {
#define X(type, text) WEIR_SLICE_INIT(text),
    WEIR_VALUE_TABLE(X)
#undef X
};

static const struct weir_setting_row rows[] = {
#define ROW(...) ROW_READ(false, __VA_ARGS__)
#define ROW_READ(at_start_, section_, key_, owner, member, type_, unit_, min_, max_, dflt_, prose_)          \
    {.section = WEIR_SECTION_##section_,                                                                     \
     .status = WEIR_ROW_READ,                                                                                \
     .type = WEIR_VALUE_##type_,                                                                             \
     .at_start = (at_start_),                                                                                \
     .offset = offsetof(struct owner, member),                                                               \
     .min = (min_),                                                                                          \
     .max = (max_),                                                                                          \
     .key = WEIR_SLICE_INIT(#key_),                                                                          \
     .unit = WEIR_SLICE_INIT(unit_),                                                                         \
     .fallback = WEIR_SLICE_INIT(dflt_),                                                                     \
     .prose = WEIR_SLICE_INIT(prose_)},
#define SETTING(section, key, member, type, unit, min, max, dflt, prose)                                     \
    ROW(section, key, weir_settings, member, type, unit, min, max, dflt, prose)
#define SETTING_AT_START(section, key, member, type, unit, min, max, dflt, prose)                            \
    ROW_READ(true, section, key, weir_settings, member, type, unit, min, max, dflt, prose)
#include "config/tbl/settings.h"
#define LIMIT(key, member, type, unit, min, max, prose, router)                                              \
    ROW(LIMIT, key, weir_limits, member, type, unit, min, max, "", prose)
#include "config/tbl/limits.h"
#define CALL_SHARE(key, member, type, unit, min, max, prose)                                                 \
    ROW(OVERRIDE, key, weir_controls, member, type, unit, min, max, "", prose)
#include "config/tbl/resilience.h"
#define GROUP(key, member, type, unit, min, max, dflt, prose)                                                \
    ROW(GROUP, key, weir_group_settings, member, type, unit, min, max, dflt, prose)
#include "config/tbl/group.h"
#define RATE_FIELD(key, member, type, unit, min, max, dflt, prose)                                           \
    ROW(RATE, key, weir_stream_rate, member, type, unit, min, max, dflt, prose)
#define HOLD_FIELD(key, member, type, unit, min, max, dflt, prose)                                           \
    ROW(HOLD, key, weir_stream_hold, member, type, unit, min, max, dflt, prose)
#include "config/tbl/limits.h"
#define BUDGET_FIELD(key, member, type, unit, min, max, dflt, prose)                                         \
    ROW(BUDGET, key, weir_retry_budget, member, type, unit, min, max, dflt, prose)
#define HEDGE_FIELD(key, member, type, unit, min, max, dflt, prose)                                          \
    ROW(HEDGE, key, weir_hedge, member, type, unit, min, max, dflt, prose)
#define GROWTH_FIELD(key, member, type, unit, min, max, dflt, prose)                                         \
    ROW(GROWTH, key, weir_cooldown_growth, member, type, unit, min, max, dflt, prose)
#include "config/tbl/resilience.h"
#define ARG(key, member, type, unit, min, max, dflt, prose)                                                  \
    ROW(ARGS, key, weir_strategy_spec, member, type, unit, min, max, dflt, prose)
#include "config/tbl/strategy_args.h"
#define PART_ROW(section_, key_, shape_, prose_)                                                             \
    {.section = WEIR_SECTION_##section_,                                                                     \
     .status = WEIR_ROW_READ,                                                                                \
     .type = WEIR_VALUE_PART,                                                                                \
     .key = WEIR_SLICE_INIT(#key_),                                                                          \
     .shape = WEIR_SLICE_INIT(shape_),                                                                       \
     .prose = WEIR_SLICE_INIT(prose_)},
#define PART(section, key, shape, prose) PART_ROW(section, key, shape, prose)
#include "config/tbl/settings.h"
#define RGROUP(key, shape, prose) PART_ROW(RGROUP, key, shape, prose)
#include "config/tbl/routing_group.h"
#define FIELD(section, key, member, type, unit, min, max, dflt, prose)                                       \
    ROW(section, key, weir_deployment_settings, member, type, unit, min, max, dflt, prose)
#include "config/tbl/deployment.h"
#define FIELD_PART(section, key, shape, prose) PART_ROW(section, key, shape, prose)
#include "config/tbl/deployment.h"
#define KNOWN(section_, key_, status_, prose_)                                                               \
    {.section = WEIR_SECTION_##section_,                                                                     \
     .status = WEIR_ROW_##status_,                                                                           \
     .type = WEIR_VALUE_NONE,                                                                                \
     .key = WEIR_SLICE_INIT(#key_),                                                                          \
     .prose = WEIR_SLICE_INIT(prose_)},
#define KNOWN_FAMILY(section_, key_, status_, prose_)                                                        \
    {.section = WEIR_SECTION_##section_,                                                                     \
     .status = WEIR_ROW_##status_,                                                                           \
     .type = WEIR_VALUE_NONE,                                                                                \
     .family = true,                                                                                         \
     .key = WEIR_SLICE_INIT(#key_),                                                                          \
     .prose = WEIR_SLICE_INIT(prose_)},
#include "config/tbl/known.h"
};

static const struct {
    struct weir_slice key;
    struct weir_slice name;
} sections[WEIR_SECTIONS] = {
#define X(section, key, name) {WEIR_SLICE_INIT(key), WEIR_SLICE_INIT(name)},
    WEIR_SECTION_TABLE(X)
#undef X
};

size_t weir_schema_count(void)
{
    return sizeof(rows) / sizeof(*rows);
}

const struct weir_setting_row *weir_schema_row(size_t index)
{
    return &rows[index];
}

const struct weir_setting_row *weir_schema_limit(enum weir_limit_id id)
{
    return &rows[WEIR_SETTING_COUNT + id];
}

const struct weir_setting_row *weir_schema_override(int id)
{
    return &rows[WEIR_SETTING_COUNT + id];
}

size_t weir_schema_index(const struct weir_setting_row *row)
{
    return (size_t)(row - rows);
}

struct weir_slice weir_schema_expected(const struct weir_setting_row *row)
{
    return row->type < WEIR_VALUE_PART ? expected[row->type] : row->shape;
}

const struct weir_setting_row *weir_schema_find(enum weir_section section, struct weir_slice key)
{
    const struct weir_setting_row *family = NULL;

    for (size_t i = 0; i < weir_schema_count(); i++) {
        if (rows[i].section != section)
            continue;
        if (!rows[i].family && weir_slice_eq(rows[i].key, key))
            return &rows[i];
        if (rows[i].family && weir_slice_starts(key, rows[i].key))
            family = &rows[i];
    }
    return family;
}

const struct weir_setting_row *weir_schema_elsewhere(enum weir_section section, struct weir_slice key)
{
    /* Ends with SECTIONS.  Provider arguments share names with much of the outer sections, so few are asked
     * for those. */
    static const enum weir_section of_params[] = {WEIR_SECTION_INFO, WEIR_SECTION_ENTRY, WEIR_SECTION_ROUTER,
                                                  WEIR_SECTIONS};
    static const enum weir_section of_entry[] = {WEIR_SECTION_PARAMS, WEIR_SECTION_INFO,   WEIR_SECTION_ENTRY,
                                                 WEIR_SECTION_TOP,    WEIR_SECTION_ROUTER, WEIR_SECTIONS};
    static const enum weir_section others[] = {
        WEIR_SECTION_ROUTER, WEIR_SECTION_LITELLM, WEIR_SECTION_GENERAL, WEIR_SECTION_WEIR,
        WEIR_SECTION_TOP,    WEIR_SECTION_PARAMS,  WEIR_SECTIONS};
    const enum weir_section *from = others;

    if (section == WEIR_SECTION_PARAMS)
        from = of_params;
    else if (section == WEIR_SECTION_ENTRY || section == WEIR_SECTION_INFO)
        from = of_entry;
    for (; *from != WEIR_SECTIONS; from++) {
        const struct weir_setting_row *row = *from == section ? NULL : weir_schema_find(*from, key);
        /* Much of what is shown is an argument in litellm_params, so only an entry's keys are held to it. */
        bool shown = row != NULL && row->status == WEIR_ROW_SHOWN && section == WEIR_SECTION_ENTRY;

        if (row != NULL && (row->status == WEIR_ROW_READ || row->status == WEIR_ROW_LATER || shown))
            return row;
    }
    return NULL;
}

const struct weir_setting_row *weir_schema_nearest(enum weir_section section, struct weir_slice key,
                                                   size_t limit)
{
    const struct weir_setting_row *best = NULL;

    for (size_t i = 0; i < weir_schema_count(); i++) {
        size_t most = weir_near_limit(rows[i].key, limit), distance;

        if (rows[i].section != section || rows[i].family || rows[i].key.len > key.len + most ||
            key.len > rows[i].key.len + most)
            continue;
        distance = weir_near_distance(rows[i].key, key, most);
        if (distance > most)
            continue;
        best = &rows[i];
        limit = distance - 1;
        if (distance <= 1)
            break;
    }
    return best;
}

struct weir_slice weir_section_key(enum weir_section section)
{
    return sections[section].key;
}

struct weir_slice weir_section_name(enum weir_section section)
{
    return sections[section].name;
}
