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

#include "base/slice.h"
#include "base/time.h"
#include "config/compound.h"
#include "config/number.h"
#include "config/settings.h"
#include "config/yaml/scalar.h"
#include "config/yaml/tree_json.h"

enum { SHOWN_MAX = 40 };

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

/* `3e-6`, which is text to YAML 1.1, is how prices are written. */
static bool price_of(const struct weir_yaml *node, double *ret_value)
{
    return number_of(node, ret_value) ||
           (node->kind == WEIR_YAML_TEXT && weir_slice_number(weir_slice_trim(node->text), ret_value) == 0);
}

bool weir_value_whole(const struct weir_yaml *node, double max, uint64_t *ret_value)
{
    double value;

    if (!number_of(node, &value) || !weir_number_is_whole(value) || value < 0 || value > max)
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

/* Without quotes `off` is a boolean. */
static bool place_of(const struct weir_yaml *node, struct weir_slice *ret_value)
{
    if (node->kind != WEIR_YAML_BOOL || node->boolean)
        return text_of(node, true, ret_value);
    *ret_value = WEIR_SLICE("off");
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

static bool empty_of(const struct weir_yaml *node, enum weir_empty_answer *ret_value)
{
    bool fail = weir_slice_eq(node->text, WEIR_SLICE("fail"));

    if (node->kind != WEIR_YAML_TEXT || (!fail && !weir_slice_eq(node->text, WEIR_SLICE("pass"))))
        return false;
    *ret_value = fail ? WEIR_EMPTY_FAIL : WEIR_EMPTY_PASS;
    return true;
}

static bool yes_no_of(const struct weir_yaml *node, enum weir_yes_no *ret_value)
{
    bool yes;

    if (!bool_of(node, &yes))
        return false;
    *ret_value = yes ? WEIR_YES : WEIR_NO;
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

static bool alert_form_of(const struct weir_yaml *node, enum weir_alert_form *ret_value)
{
    bool json = weir_slice_eq(node->text, WEIR_SLICE("json"));

    if (node->kind != WEIR_YAML_TEXT || (!json && !weir_slice_eq(node->text, WEIR_SLICE("slack"))))
        return false;
    *ret_value = json ? WEIR_ALERT_JSON : WEIR_ALERT_SLACK;
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
        return bytes_of(node, &number) && weir_number_put(row, number, out);
    case WEIR_VALUE_U32:
    case WEIR_VALUE_I32:
    case WEIR_VALUE_WHOLE:
    case WEIR_VALUE_NUMBER:
    case WEIR_VALUE_SECONDS:
    case WEIR_VALUE_KEEPALIVE:
        return number_of(node, &number) && weir_number_put(row, number, out);
    case WEIR_VALUE_PRICE:
        return price_of(node, &number) && weir_number_put(row, number, out);
    case WEIR_VALUE_TEXT:
    case WEIR_VALUE_SECRET:
    case WEIR_VALUE_NAME:
        return text_of(node, row->type == WEIR_VALUE_NAME, out);
    case WEIR_VALUE_PLACE:
        return place_of(node, out);
    case WEIR_VALUE_VERIFY:
        return verify_of(node, out);
    case WEIR_VALUE_LOG_FORMAT:
        return log_format_of(node, out);
    case WEIR_VALUE_ALERT_FORM:
        return alert_form_of(node, out);
    case WEIR_VALUE_EMPTY:
        return empty_of(node, out);
    case WEIR_VALUE_YES_NO:
        return yes_no_of(node, out);
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
    case WEIR_VALUE_RATE:
    case WEIR_VALUE_HOLD:
    case WEIR_VALUE_BUDGET:
    case WEIR_VALUE_HEDGE:
    case WEIR_VALUE_GROWTH:
    case WEIR_VALUE_STRATEGY:
    case WEIR_VALUE_SOURCES:
    case WEIR_VALUE_OVERRIDES:
    case WEIR_VALUE_NAMES:
    case WEIR_VALUE_CHECKS:
    case WEIR_VALUE_CHANNELS:
    case WEIR_VALUE_ALERTS:
    case WEIR_VALUE_PART:
    case WEIR_VALUE_NONE:
        break;
    }
    return false;
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

int weir_value_complain(struct weir_loader *loader, const struct weir_setting_row *row,
                        const struct weir_yaml *node, const struct weir_path *path,
                        enum weir_severity severity)
{
    bool quote = row->type == WEIR_VALUE_NAME && node->kind < WEIR_YAML_LIST;

    WEIR_DIAG(loader->diags, severity, &node->place, weir_path_text(path, loader->arena),
              WEIR_SLICE("found "), weir_yaml_kind_name(node), shown(row, node, loader->arena),
              WEIR_SLICE(", expected "), weir_schema_expected(row), weir_number_range(row, loader->arena),
              quote ? WEIR_SLICE("; write it in quotes") : WEIR_SLICE_EMPTY, loader->consequence);
    return WEIR_VALUE_WRONG;
}

/* A number outside its bounds is brought to the nearer one, and said to be. */
static int read_keepalive(struct weir_loader *loader, const struct weir_setting_row *row,
                          const struct weir_yaml *node, const struct weir_path *path,
                          enum weir_severity severity, uint64_t *out)
{
    double number, clamped;

    if (!number_of(node, &number) || number < 0)
        return weir_value_complain(loader, row, node, path, severity);
    clamped = number > 0 ? weir_number_clamp(row, number) : number;
    if (clamped < number || clamped > number)
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("found "), weir_yaml_kind_name(node),
                    shown(row, node, loader->arena), WEIR_SLICE(", brought to "),
                    weir_number_text(clamped, loader->arena), WEIR_SLICE(": it must be 0, or"),
                    weir_number_range(row, loader->arena), WEIR_SLICE(" seconds"));
    *out = weir_time_from_s(clamped);
    return 0;
}

int weir_value_read(struct weir_loader *loader, const struct weir_setting_row *row,
                    const struct weir_yaml *node, const struct weir_path *path, enum weir_severity severity,
                    void *out)
{
    if (node->kind == WEIR_YAML_NULL)
        return 0;
    if (weir_compound_is(row))
        return weir_compound_read(loader, row, node, path, severity, out);
    if (row->type == WEIR_VALUE_KEEPALIVE)
        return read_keepalive(loader, row, node, path, severity, out);
    if (!read_simple(loader->arena, row, node, out))
        return weir_value_complain(loader, row, node, path, severity);
    return weir_arena_failed(loader->arena) ? WEIR_ERR_NOMEM : 0;
}

/* The "not set" of a type. */
#define UNSET(type, ...)                                                                                     \
    [WEIR_VALUE_##type] = {&(const WEIR_SETTING_TYPE_##type)__VA_ARGS__, sizeof(WEIR_SETTING_TYPE_##type)}

static const struct {
    const void *value;
    size_t size;
} unset[WEIR_VALUE_NONE + 1] = {
    UNSET(BOOL, {false}),
    UNSET(U32, {WEIR_UNSET}),
    UNSET(I32, {WEIR_UNSET_ORDER}),
    UNSET(WHOLE, {WEIR_UNSET_NS}),
    UNSET(BYTES, {WEIR_UNSET_NS}),
    UNSET(NUMBER, {0}),
    UNSET(SECONDS, {WEIR_UNSET_NS}),
    UNSET(KEEPALIVE, {WEIR_UNSET_NS}),
    UNSET(TEXT, {NULL, 0}),
    UNSET(NAME, {NULL, 0}),
    UNSET(SECRET, {NULL, 0}),
    UNSET(PLACE, {NULL, 0}),
    UNSET(OBJECT, {NULL, 0}),
    UNSET(ANY, {NULL, 0}),
    UNSET(VERIFY, {.said = false}),
    UNSET(STRATEGY, {WEIR_STRATEGY_SIMPLE_SHUFFLE}),
    UNSET(LOG_FORMAT, {WEIR_LOG_JSON}),
    UNSET(RATE, {-1, WEIR_UNSET_NS, WEIR_UNSET_NS}),
    UNSET(HOLD, {false, WEIR_UNSET, WEIR_UNSET_NS}),
    UNSET(BUDGET, {false, -1, 0}),
    UNSET(HEDGE, {WEIR_UNSET_NS, 1}),
    UNSET(GROWTH, {-1, WEIR_UNSET_NS}),
    UNSET(SOURCES, {{WEIR_CONTINUE_NOWHERE}}),
    UNSET(EMPTY, {WEIR_EMPTY_UNSAID}),
    UNSET(OVERRIDES, {0}),
    UNSET(YES_NO, {WEIR_UNSAID}),
    UNSET(PRICE, {-1}),
    UNSET(NAMES, {NULL, 0}),
    UNSET(CHECKS, {0}),
    UNSET(CHANNELS, {0}),
    UNSET(ALERTS, {0}),
    UNSET(ALERT_FORM, {WEIR_ALERT_JSON}),
};

void weir_value_default(const struct weir_setting_row *row, void *out)
{
    struct weir_yaml node = {.kind = WEIR_YAML_TEXT, .quoted = true, .text = row->fallback};

    if (row->type == WEIR_VALUE_RETRIES || row->type == WEIR_VALUE_FAILS)
        weir_policy_init(out);
    else if (unset[row->type].size > 0)
        memcpy(out, unset[row->type].value, unset[row->type].size);
    /* Defaults fit their rows: the dump of them is loaded by a test. */
    if (row->fallback.len > 0)
        (void)read_simple(NULL, row, &node, out);
}
