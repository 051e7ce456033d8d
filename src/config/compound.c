/*
 * Maps and lists: policies, limits that are maps, lists of words; and names from a table.
 *
 * Model: each key or item is read by a row of its own; what is wrong inside is told there, a key that is not
 * known is told with the nearest one and left out.
 */
#include "config/compound.h"

#include <weir/error.h>
#include <weir/failure.h>

#include "base/slice.h"
#include "config/limits.h"
#include "config/near.h"
#include "config/settings.h"
#include "config/strategy.h"
#include "config/value.h"

enum { POLICY_MAX = 1000000 };

/* An item of a list of text, for messages. */
static const struct weir_setting_row name_row = {.type = WEIR_VALUE_TEXT};

/* The numbers within a policy, for messages. */
static const struct weir_setting_row policy_count = {.type = WEIR_VALUE_U32, .max = POLICY_MAX};

static bool find_policy_field(struct weir_slice key, bool retries, size_t *ret_field)
{
    for (size_t i = 0; i < WEIR_POLICY_FIELDS; i++) {
        if (!weir_slice_eq(weir_policy_field_key((weir_policy_field)i, retries), key))
            continue;
        *ret_field = i;
        return key.len > 0;
    }
    return false;
}

/* An unknown field of a policy, with the nearest known one. */
static void tell_policy_field(struct weir_loader *loader, const struct weir_yaml *key,
                              const struct weir_path *path, bool retries)
{
    struct weir_slice best = WEIR_SLICE_EMPTY;
    size_t limit = weir_loader_near_limit(key->text);

    for (size_t i = 0; i < WEIR_POLICY_FIELDS; i++) {
        struct weir_slice name = weir_policy_field_key((weir_policy_field)i, retries);
        size_t distance = weir_near_distance(name, key->text, limit);

        if (name.len == 0 || distance > limit)
            continue;
        best = name;
        limit = distance - 1;
        if (distance <= 1)
            break;
    }
    if (best.len > 0)
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, did you mean "), best,
                    WEIR_SLICE("?"));
    else
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, no kind of failure is called so"));
}

static int read_policy(struct weir_loader *loader, const struct weir_setting_row *row,
                       const struct weir_yaml *node, const struct weir_path *path,
                       enum weir_severity severity, struct weir_policy *out)
{
    bool retries = row->type == WEIR_VALUE_RETRIES;
    struct weir_policy policy;

    if (node->kind != WEIR_YAML_MAP)
        return weir_value_complain(loader, row, node, path, severity);
    weir_policy_init(&policy);
    for (size_t i = 0; i < node->count; i++) {
        const struct weir_yaml_pair *pair = &node->pairs[i];
        struct weir_path here = {path, pair->key->text, 0};
        uint64_t count;
        size_t field;

        if (!find_policy_field(pair->key->text, retries, &field)) {
            tell_policy_field(loader, pair->key, &here, retries);
            continue;
        }
        if (pair->value->kind == WEIR_YAML_NULL)
            continue;
        if (!weir_value_whole(pair->value, POLICY_MAX, &count))
            return weir_value_complain(loader, &policy_count, pair->value, &here, severity);
        policy.count[field] = (uint32_t)count;
    }
    *out = policy;
    return 0;
}

/* One key of a limit that is a map. */
static int read_limit_field(struct weir_loader *loader, enum weir_section section,
                            const struct weir_yaml_pair *pair, const struct weir_path *path,
                            enum weir_severity severity, union weir_limit_value *value)
{
    const struct weir_setting_row *field = weir_loader_find(loader, section, pair->key->text);
    struct weir_path here = {path, pair->key->text, 0};

    if (field != NULL)
        return weir_value_read(loader, field, pair->value, &here, severity, (char *)value + field->offset);
    weir_loader_unread_key(loader, section, pair->key, &here);
    return 0;
}

static int read_limit(struct weir_loader *loader, const struct weir_setting_row *row,
                      const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity,
                      void *out)
{
    bool off = (node->kind == WEIR_YAML_INT && node->integer == 0) ||
               (node->kind == WEIR_YAML_BOOL && !node->boolean);
    union weir_limit_value value;
    int rv = 0;

    if (node->kind != WEIR_YAML_MAP)
        return weir_limit_word(row, off ? WEIR_SLICE("0") : node->text, out)
                   ? 0
                   : weir_value_complain(loader, row, node, path, severity);
    weir_limit_begin(row, &value);
    for (size_t i = 0; rv == 0 && i < node->count; i++)
        rv = read_limit_field(loader, weir_limit_section(row), &node->pairs[i], path, severity, &value);
    if (rv == 0 && !weir_limit_end(row, &value, out))
        rv = weir_value_complain(loader, row, node, path, severity);
    return rv;
}

static const struct {
    struct weir_slice word;
    weir_continue_to to;
} sources[] = {
#define X(word, to) {WEIR_SLICE_INIT(word), to},
#include "config/tbl/continue_to.h"
#undef X
};

static weir_continue_to source_of(const struct weir_yaml *node)
{
    for (size_t i = 0; node->kind == WEIR_YAML_TEXT && i < sizeof(sources) / sizeof(*sources); i++)
        if (weir_slice_eq(node->text, sources[i].word))
            return sources[i].to;
    return WEIR_CONTINUE_NOWHERE;
}

static bool sources_of(const struct weir_yaml *node, struct weir_continue_list *ret_list)
{
    struct weir_continue_list list = {{WEIR_CONTINUE_NOWHERE}};

    if (node->kind != WEIR_YAML_LIST || node->count == 0 || node->count > WEIR_CONTINUE_SOURCES)
        return false;
    for (size_t i = 0; i < node->count; i++) {
        list.to[i] = source_of(node->items[i]);
        if (list.to[i] == WEIR_CONTINUE_NOWHERE || (i > 0 && list.to[i] == list.to[i - 1]))
            return false;
    }
    *ret_list = list;
    return true;
}

/* The name that is meant by a misspelt one; a setting of another use is none. */
static const struct weir_setting_row *nearest_override(const struct weir_yaml *node)
{
    size_t limit = weir_loader_near_limit(node->text);
    const struct weir_setting_row *near;

    if (weir_schema_find(WEIR_SECTION_WEIR, node->text) != NULL)
        return NULL;
    near = weir_schema_nearest(WEIR_SECTION_LIMIT, node->text, limit);
    return near != NULL ? near : weir_schema_nearest(WEIR_SECTION_OVERRIDE, node->text, limit);
}

/* One name of what requests may set; a wrong one allows nothing. */
static uint32_t override_of(struct weir_loader *loader, const struct weir_yaml *node,
                            const struct weir_path *path)
{
    const struct weir_setting_row *near;

    for (int id = 0; id < WEIR_OVERRIDES; id++)
        if (weir_slice_eq(weir_schema_override(id)->key, node->text))
            return WEIR_OVERRIDE_BIT(id);
    near = nearest_override(node);
    if (near != NULL)
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("unknown name, did you mean "), near->key,
                    WEIR_SLICE("?"));
    else
        WEIR_REPORT(loader, WARNING, node, path,
                    WEIR_SLICE("nothing that a request may set; it is not allowed"));
    return 0;
}

static int read_names(struct weir_loader *loader, const struct weir_setting_row *row,
                      const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity,
                      struct weir_names *out)
{
    struct weir_slice *items;

    if (node->kind != WEIR_YAML_LIST)
        return weir_value_complain(loader, row, node, path, severity);
    items = weir_arena_zalloc(loader->arena, node->count + 1, sizeof(*items));
    if (items == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < node->count; i++) {
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};

        if (node->items[i]->kind != WEIR_YAML_TEXT || node->items[i]->text.len == 0)
            return weir_value_complain(loader, &name_row, node->items[i], &here, severity);
        items[i] = node->items[i]->text;
    }
    *out = (struct weir_names){items, node->count};
    return 0;
}

/* A name that stands for a bit of a list. */
struct word {
    struct weir_slice name;
    bool supported;
    struct weir_slice about;
};

#define X(word, name, supported, about) {WEIR_SLICE_INIT(name), supported, WEIR_SLICE_INIT(about)},

static const struct word checks[WEIR_CHECKS] = {
#include "config/tbl/pre_call_checks.h"
};

static const struct word channels[WEIR_ALERT_CHANNELS] = {
#include "config/tbl/alert_channels.h"
};

static const struct word alert_types[WEIR_ALERT_TYPES] = {
#include "config/tbl/alert_types.h"
};

#undef X

/* One name of such a list; one that is not known is told with the nearest. */
static uint32_t bit_of_word(struct weir_loader *loader, const struct weir_yaml *node,
                            const struct weir_path *path, const struct word *words, size_t count,
                            struct weir_slice what)
{
    struct weir_slice near = WEIR_SLICE_EMPTY;
    size_t limit = weir_near_limit(node->text, weir_loader_near_limit(node->text));

    for (size_t i = 0; i < count; i++) {
        size_t distance = weir_near_distance(words[i].name, node->text, limit);

        if (distance == 0) {
            if (!words[i].supported)
                WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("known, not supported ("), words[i].about,
                            WEIR_SLICE("); it has no effect"));
            return UINT32_C(1) << i;
        }
        if (distance > limit)
            continue;
        near = words[i].name;
        limit = distance - 1;
    }
    if (near.len > 0)
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("unknown "), what, WEIR_SLICE(", did you mean "),
                    near, WEIR_SLICE("?"));
    else
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("unknown "), what,
                    WEIR_SLICE("; it has no effect"));
    return 0;
}

static uint32_t check_of(struct weir_loader *loader, const struct weir_yaml *node,
                         const struct weir_path *path)
{
    return bit_of_word(loader, node, path, checks, WEIR_CHECKS, WEIR_SLICE("check"));
}

static uint32_t channel_of(struct weir_loader *loader, const struct weir_yaml *node,
                           const struct weir_path *path)
{
    return bit_of_word(loader, node, path, channels, WEIR_ALERT_CHANNELS, WEIR_SLICE("place for alerts"));
}

uint32_t weir_compound_alert_type(struct weir_loader *loader, const struct weir_yaml *node,
                                  const struct weir_path *path)
{
    return bit_of_word(loader, node, path, alert_types, WEIR_ALERT_TYPES, WEIR_SLICE("type of alerts"));
}

typedef uint32_t bit_of_fn(struct weir_loader *loader, const struct weir_yaml *node,
                           const struct weir_path *path);

/* A list of names, each of which stands for a bit. */
static int read_bits(bit_of_fn *bit_of, struct weir_loader *loader, const struct weir_setting_row *row,
                     const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity,
                     uint32_t *out)
{
    uint32_t bits = 0;

    if (node->kind != WEIR_YAML_LIST)
        return weir_value_complain(loader, row, node, path, severity);
    for (size_t i = 0; i < node->count; i++) {
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};

        bits |= bit_of(loader, node->items[i], &here);
    }
    *out = bits;
    return 0;
}

bool weir_compound_is(const struct weir_setting_row *row)
{
    static const bool is[WEIR_VALUE_NONE + 1] = {
        [WEIR_VALUE_RETRIES] = true,   [WEIR_VALUE_FAILS] = true,    [WEIR_VALUE_RATE] = true,
        [WEIR_VALUE_HOLD] = true,      [WEIR_VALUE_STRATEGY] = true, [WEIR_VALUE_SOURCES] = true,
        [WEIR_VALUE_BUDGET] = true,    [WEIR_VALUE_HEDGE] = true,    [WEIR_VALUE_GROWTH] = true,
        [WEIR_VALUE_OVERRIDES] = true, [WEIR_VALUE_NAMES] = true,    [WEIR_VALUE_CHECKS] = true,
        [WEIR_VALUE_CHANNELS] = true,  [WEIR_VALUE_ALERTS] = true};

    return is[row->type];
}

int weir_compound_read(struct weir_loader *loader, const struct weir_setting_row *row,
                       const struct weir_yaml *node, const struct weir_path *path,
                       enum weir_severity severity, void *out)
{
    if (row->type == WEIR_VALUE_RETRIES || row->type == WEIR_VALUE_FAILS)
        return read_policy(loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_STRATEGY)
        return weir_strategy_read(loader, node, path, false, out);
    if (row->type == WEIR_VALUE_NAMES)
        return read_names(loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_CHECKS)
        return read_bits(check_of, loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_CHANNELS)
        return read_bits(channel_of, loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_ALERTS)
        return read_bits(weir_compound_alert_type, loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_OVERRIDES)
        return read_bits(override_of, loader, row, node, path, severity, out);
    if (row->type != WEIR_VALUE_SOURCES)
        return read_limit(loader, row, node, path, severity, out);
    return sources_of(node, out) ? 0 : weir_value_complain(loader, row, node, path, severity);
}
