/*
 * Reading values by type.
 *
 * Model: one function for each type turns a node into its C value or says no; what is expected is in the
 * table of types, so that one place words all complaints.
 */
#include "config/value.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <weir/error.h>
#include <weir/failure.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/near.h"
#include "config/settings.h"
#include "config/yaml/scalar.h"
#include "config/yaml/tree_json.h"

enum { SHOWN_MAX = 40, POLICY_MAX = 1000000 };

/* The numbers within a policy, for messages. */
static const struct weir_setting_row policy_count = {.type = WEIR_VALUE_U32, .max = POLICY_MAX};

/* A number, or text that reads as one ("60", "0.5", "1e3"). */
static bool number_of(const struct weir_yaml *node, double *ret_value)
{
    if (node->kind == WEIR_YAML_INT || node->kind == WEIR_YAML_FLOAT) {
        *ret_value = node->number;
        return isfinite(node->number);
    }
    return node->kind == WEIR_YAML_TEXT && node->quoted &&
           weir_slice_number(weir_slice_trim(node->text), ret_value) == 0;
}

static bool in_range(const struct weir_setting_row *row, double value)
{
    bool any = !(row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0);

    return any || (value >= row->min && value <= row->max);
}

static bool is_whole(double value)
{
    return fabs(value) <= 9e15 && (double)(int64_t)value - value == 0;
}

/* A whole number from 0 to max, written as a number or in quotes; false when it is not. */
static bool whole_of(const struct weir_yaml *node, double max, uint64_t *ret_value)
{
    double value;

    if (!number_of(node, &value) || !is_whole(value) || value < 0 || value > max)
        return false;
    *ret_value = (uint64_t)value;
    return true;
}

static bool bool_of(const struct weir_yaml *node, bool *ret_value)
{
    struct weir_scalar scalar;

    if (node->kind == WEIR_YAML_BOOL) {
        *ret_value = node->boolean;
        return true;
    }
    if (node->kind == WEIR_YAML_INT && (node->integer == 0 || node->integer == 1)) {
        *ret_value = node->integer == 1;
        return true;
    }
    if (node->kind != WEIR_YAML_TEXT)
        return false;
    scalar = weir_scalar_resolve(weir_slice_trim(node->text));
    if (scalar.kind == WEIR_SCALAR_INT && (scalar.integer == 0 || scalar.integer == 1)) {
        *ret_value = scalar.integer == 1;
        return true;
    }
    *ret_value = scalar.boolean;
    return scalar.kind == WEIR_SCALAR_BOOL;
}

/* "64MiB", "512 KiB", "1GiB", or a plain number of bytes. */
static bool bytes_of(const struct weir_yaml *node, double *ret_value)
{
    static const struct {
        struct weir_slice suffix;
        double factor;
    } units[] = {{WEIR_SLICE_INIT("KiB"), 1024.0},
                 {WEIR_SLICE_INIT("MiB"), 1024.0 * 1024},
                 {WEIR_SLICE_INIT("GiB"), 1024.0 * 1024 * 1024}};
    struct weir_slice text = weir_slice_trim(node->text);

    if (number_of(node, ret_value))
        return true;
    for (size_t i = 0; node->kind == WEIR_YAML_TEXT && i < sizeof(units) / sizeof(*units); i++) {
        if (!weir_slice_ends(text, units[i].suffix))
            continue;
        text = weir_slice_trim(weir_slice_sub(text, 0, text.len - units[i].suffix.len));
        if (weir_slice_number(text, ret_value) != 0)
            return false;
        *ret_value *= units[i].factor;
        return true;
    }
    return false;
}

static bool text_of(const struct weir_yaml *node, bool strictly, struct weir_slice *ret_value)
{
    bool number = node->kind == WEIR_YAML_INT || node->kind == WEIR_YAML_FLOAT;

    if ((node->kind != WEIR_YAML_TEXT || node->date) && (strictly || !(number || node->date)))
        return false;
    *ret_value = node->text;
    return true;
}

static bool verify_of(const struct weir_yaml *node, struct weir_tls_verify *ret_value)
{
    bool on = true;
    struct weir_slice file = WEIR_SLICE_EMPTY;

    if (!bool_of(node, &on) && !text_of(node, true, &file))
        return false;
    *ret_value = (struct weir_tls_verify){true, !on && file.len == 0, file};
    return true;
}

static bool log_format_of(const struct weir_yaml *node, enum weir_log_format *ret_value)
{
    bool json = weir_slice_eq(node->text, WEIR_SLICE("json"));

    if (node->kind != WEIR_YAML_TEXT || (!json && !weir_slice_eq(node->text, WEIR_SLICE("logfmt"))))
        return false;
    *ret_value = json ? WEIR_LOG_JSON : WEIR_LOG_LOGFMT;
    return true;
}

/* The number of a row of a number's type into out. */
static bool put_number(const struct weir_setting_row *row, double value, void *out)
{
    bool whole = is_whole(value);

    if (!in_range(row, value))
        return false;
    if (row->type == WEIR_VALUE_NUMBER)
        *(double *)out = value;
    else if (row->type == WEIR_VALUE_SECONDS)
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

/* arena: for JSON alone. */
static bool read_simple(struct weir_arena *arena, const struct weir_setting_row *row,
                        const struct weir_yaml *node, void *out)
{
    double number;

    switch (row->type) {
    case WEIR_VALUE_BOOL:
        return bool_of(node, out);
    case WEIR_VALUE_BYTES:
        return bytes_of(node, &number) && put_number(row, number, out);
    case WEIR_VALUE_U32:
    case WEIR_VALUE_I32:
    case WEIR_VALUE_WHOLE:
    case WEIR_VALUE_NUMBER:
    case WEIR_VALUE_SECONDS:
        return number_of(node, &number) && put_number(row, number, out);
    case WEIR_VALUE_TEXT:
    case WEIR_VALUE_SECRET:
    case WEIR_VALUE_NAME:
        return text_of(node, row->type == WEIR_VALUE_NAME, out);
    case WEIR_VALUE_VERIFY:
        return verify_of(node, out);
    case WEIR_VALUE_LOG_FORMAT:
        return log_format_of(node, out);
    case WEIR_VALUE_OBJECT:
        if (node->kind != WEIR_YAML_MAP)
            return false;
        *(struct weir_slice *)out = weir_tree_json(node, false, arena);
        return true;
    case WEIR_VALUE_ANY:
        *(struct weir_slice *)out = weir_tree_json(node, false, arena);
        return true;
    case WEIR_VALUE_RETRIES:
    case WEIR_VALUE_FAILS:
    case WEIR_VALUE_STRATEGY:
    case WEIR_VALUE_PART:
    case WEIR_VALUE_NONE:
        break;
    }
    return false;
}

static struct weir_slice bound(double value, struct weir_arena *arena)
{
    struct weir_yaml node = {.kind = WEIR_YAML_FLOAT, .number = value};

    return weir_tree_json(&node, false, arena);
}

/* ` "lots"` where it is safe to repeat what is written. */
static struct weir_slice shown(const struct weir_setting_row *row, const struct weir_yaml *node,
                               struct weir_arena *arena)
{
    struct weir_slice parts[] = {WEIR_SLICE(" `"), weir_slice_sub(node->text, 0, SHOWN_MAX), WEIR_SLICE("`")};

    if (node->variable)
        return WEIR_SLICE(" from an environment variable");
    if (node->kind >= WEIR_YAML_LIST || node->kind == WEIR_YAML_NULL || row->type == WEIR_VALUE_SECRET ||
        node->text.len > SHOWN_MAX)
        return WEIR_SLICE_EMPTY;
    return weir_arena_join(arena, parts, sizeof(parts) / sizeof(*parts));
}

/* " from 0 to 1000", or the empty slice where any number will do. */
static struct weir_slice range(const struct weir_setting_row *row, struct weir_arena *arena)
{
    struct weir_slice parts[] = {WEIR_SLICE(" from "), bound(row->min, arena), WEIR_SLICE(" to "),
                                 bound(row->max, arena)};

    if (!(row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0))
        return WEIR_SLICE_EMPTY;
    return weir_arena_join(arena, parts, row->max > 1e11 ? 2 : sizeof(parts) / sizeof(*parts));
}

static int complain(struct weir_loader *loader, const struct weir_setting_row *row,
                    const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity)
{
    bool quote = row->type == WEIR_VALUE_NAME && node->kind < WEIR_YAML_LIST;

    WEIR_DIAG(loader->diags, severity, &node->place, weir_path_text(path, loader->arena),
              WEIR_SLICE("found "), weir_yaml_kind_name(node), shown(row, node, loader->arena),
              WEIR_SLICE(", expected "), weir_schema_expected(row), range(row, loader->arena),
              quote ? WEIR_SLICE("; write it in quotes") : WEIR_SLICE_EMPTY, loader->consequence);
    return WEIR_VALUE_WRONG;
}

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
        return complain(loader, row, node, path, severity);
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
        if (!whole_of(pair->value, POLICY_MAX, &count))
            return complain(loader, &policy_count, pair->value, &here, severity);
        policy.count[field] = (uint32_t)count;
    }
    *out = policy;
    return 0;
}

static const struct {
    struct weir_slice name;
    weir_strategy strategy;
    bool supported;
} strategies[] = {
#define X(name, strategy, supported) {WEIR_SLICE_INIT(name), strategy, supported},
#include "config/tbl/strategies.h"
#undef X
};

enum { STRATEGIES = sizeof(strategies) / sizeof(*strategies) };

/* An unknown name refuses the start whatever the severity of other mistakes is (RS 2.4). */
static int read_strategy(struct weir_loader *loader, const struct weir_yaml *node,
                         const struct weir_path *path, weir_strategy *out)
{
    struct weir_slice names[2 * STRATEGIES];

    for (size_t i = 0; i < STRATEGIES; i++) {
        names[2 * i] = i == 0 ? WEIR_SLICE("") : WEIR_SLICE(", ");
        names[2 * i + 1] = strategies[i].name;
        if (node->kind != WEIR_YAML_TEXT || !weir_slice_eq(node->text, strategies[i].name))
            continue;
        if (!strategies[i].supported)
            WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("known, not supported: "), strategies[i].name,
                        WEIR_SLICE("; simple-shuffle serves"));
        *out = strategies[i].strategy;
        return 0;
    }
    WEIR_REPORT(loader, FATAL, node, path, WEIR_SLICE("unknown routing strategy `"),
                node->variable ? WEIR_SLICE("from an environment variable")
                               : weir_slice_sub(node->text, 0, SHOWN_MAX),
                WEIR_SLICE("`, expected one of "),
                weir_arena_join(loader->arena, names, sizeof(names) / sizeof(*names)));
    return WEIR_CONFIG_REFUSED;
}

int weir_value_read(struct weir_loader *loader, const struct weir_setting_row *row,
                    const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity,
                    void *out)
{
    if (node->kind == WEIR_YAML_NULL)
        return 0;
    if (row->type == WEIR_VALUE_RETRIES || row->type == WEIR_VALUE_FAILS)
        return read_policy(loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_STRATEGY)
        return read_strategy(loader, node, path, out);
    if (!read_simple(loader->arena, row, node, out))
        return complain(loader, row, node, path, severity);
    return weir_arena_failed(loader->arena) ? WEIR_ERR_NOMEM : 0;
}

void weir_value_default(const struct weir_setting_row *row, void *out)
{
    struct weir_yaml node = {.kind = WEIR_YAML_TEXT, .quoted = true, .text = row->fallback};

    switch (row->type) {
    case WEIR_VALUE_U32:
        *(uint32_t *)out = WEIR_UNSET;
        break;
    case WEIR_VALUE_I32:
        *(int32_t *)out = WEIR_UNSET_ORDER;
        break;
    case WEIR_VALUE_SECONDS:
    case WEIR_VALUE_WHOLE:
    case WEIR_VALUE_BYTES:
        *(uint64_t *)out = WEIR_UNSET_NS;
        break;
    case WEIR_VALUE_NUMBER:
        *(double *)out = 0;
        break;
    case WEIR_VALUE_BOOL:
        *(bool *)out = false;
        break;
    case WEIR_VALUE_RETRIES:
    case WEIR_VALUE_FAILS:
        weir_policy_init(out);
        break;
    case WEIR_VALUE_STRATEGY:
        *(weir_strategy *)out = WEIR_STRATEGY_SIMPLE_SHUFFLE;
        break;
    case WEIR_VALUE_LOG_FORMAT:
        *(enum weir_log_format *)out = WEIR_LOG_JSON;
        break;
    case WEIR_VALUE_VERIFY:
        *(struct weir_tls_verify *)out = (struct weir_tls_verify){.said = false};
        break;
    case WEIR_VALUE_TEXT:
    case WEIR_VALUE_NAME:
    case WEIR_VALUE_SECRET:
    case WEIR_VALUE_OBJECT:
    case WEIR_VALUE_ANY:
        *(struct weir_slice *)out = row->fallback;
        break;
    case WEIR_VALUE_PART:
    case WEIR_VALUE_NONE:
        break;
    }
    /* Defaults fit their rows: the dump of them is loaded by a test. */
    if (row->fallback.len > 0)
        (void)read_simple(NULL, row, &node, out);
}
