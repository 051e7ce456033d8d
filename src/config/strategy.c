/* The names are those of the engine's table; what an argument may be is in tbl/strategy_args.h. */
#include "config/strategy.h"

#include "base/slice.h"
#include "base/text.h"
#include "config/value.h"

enum { SHOWN_MAX = 40 };

static const struct {
    const char *name;
    const char *other_name; /* NULL: none */
} names[WEIR_STRATEGY_COUNT] = {
#define X(strategy, name_, other_name_, prose) [WEIR_STRATEGY_##strategy] = {name_, other_name_},
#include <weir/tbl/strategies.h>
#undef X
};

static bool may_be(int strategy, bool of_group)
{
    return of_group || strategy != WEIR_STRATEGY_PRIORITY;
}

/* "a, b, c": those that may stand there. */
static struct weir_slice valid_names(bool of_group, struct weir_arena *arena)
{
    struct weir_slice parts[2 * WEIR_STRATEGY_COUNT];
    size_t count = 0;

    for (int i = 0; i < WEIR_STRATEGY_COUNT; i++) {
        if (!may_be(i, of_group))
            continue;
        parts[count] = count == 0 ? WEIR_SLICE("") : WEIR_SLICE(", ");
        parts[count + 1] = weir_slice_str(names[i].name);
        count += 2;
    }
    return weir_arena_join(arena, parts, count);
}

int weir_strategy_read(struct weir_loader *loader, const struct weir_yaml *node, const struct weir_path *path,
                       bool of_group, weir_strategy *out)
{
    for (int i = 0; i < WEIR_STRATEGY_COUNT && node->kind == WEIR_YAML_TEXT; i++) {
        bool other =
            names[i].other_name != NULL && weir_slice_eq(node->text, weir_slice_str(names[i].other_name));

        if (!may_be(i, of_group) || (!other && !weir_slice_eq(node->text, weir_slice_str(names[i].name))))
            continue;
        if (other)
            WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("another name of "),
                        weir_slice_str(names[i].name), WEIR_SLICE(", which serves"));
        *out = (weir_strategy)i;
        return 0;
    }
    WEIR_REPORT(loader, FATAL, node, path, WEIR_SLICE("unknown routing strategy `"),
                node->variable ? WEIR_SLICE("from an environment variable")
                               : weir_slice_sub(node->text, 0, SHOWN_MAX),
                WEIR_SLICE("`, expected one of "), valid_names(of_group, loader->arena));
    return WEIR_CONFIG_REFUSED;
}

static int read_arg(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                    const struct weir_path *path, struct weir_strategy_spec *spec)
{
    const struct weir_setting_row *row = weir_loader_find(loader, WEIR_SECTION_ARGS, pair->key->text);
    struct weir_path here = {path, pair->key->text, 0};
    int rv;

    if (row == NULL) {
        weir_loader_unread_key(loader, WEIR_SECTION_ARGS, pair->key, &here);
        return 0;
    }
    rv = weir_value_read(loader, row, pair->value, &here, WEIR_SEVERITY_FATAL, (char *)spec + row->offset);
    return rv == WEIR_VALUE_WRONG ? WEIR_CONFIG_REFUSED : rv;
}

/* What no single value shows. */
static int check_args(struct weir_loader *loader, const struct weir_yaml *map, const struct weir_path *path,
                      struct weir_strategy_spec *spec)
{
    char digits[WEIR_TEXT_U64_MAX];

    if (spec->max_latency_samples > WEIR_LATENCY_SAMPLES_MAX) {
        WEIR_REPORT(loader, WARNING, map, path, WEIR_SLICE("max_latency_list_size is brought to "),
                    weir_text_u64(WEIR_LATENCY_SAMPLES_MAX, digits), WEIR_SLICE(", the most there can be"));
        spec->max_latency_samples = WEIR_LATENCY_SAMPLES_MAX;
    }
    if (0 < spec->confidence_low && spec->confidence_low < spec->confidence_medium &&
        spec->confidence_medium < spec->confidence_high && spec->confidence_high < 1)
        return 0;
    WEIR_REPORT(
        loader, FATAL, map, path,
        WEIR_SLICE("confidence_threshold_low, _medium and _high must be 0 < low < medium < high < 1"));
    return WEIR_CONFIG_REFUSED;
}

int weir_strategy_args_read(struct weir_loader *loader, const struct weir_yaml *map,
                            const struct weir_path *path, struct weir_strategy_spec *spec)
{
    int worst = 0;

    if (map == NULL)
        return 0;
    if (map->kind != WEIR_YAML_MAP) {
        WEIR_REPORT(loader, FATAL, map, path, WEIR_SLICE("found "), weir_yaml_kind_name(map),
                    WEIR_SLICE(", expected a map of arguments"));
        return WEIR_CONFIG_REFUSED;
    }
    for (size_t i = 0; i < map->count; i++) {
        int rv = read_arg(loader, &map->pairs[i], path, spec);

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst == 0 ? check_args(loader, map, path, spec) : worst;
}
