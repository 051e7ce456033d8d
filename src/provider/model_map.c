/*
 * A map has thousands of models and a configuration few of them, so an entry is kept as text.  What is of
 * another type or size than its key promises says nothing: maps hold samples and notes among the models.
 */
#include "provider/model_map.h"

#include <weir/error.h>

#include "base/slice.h"
#include "provider/parameter.h"
#include "wire/json_read.h"

enum { MODELS_MAX = 100000, DEPTH_MAX = 32 };

#define NUMBER_MAX 1e15 /* of tokens or dollars: nobody's, and exact as a whole number */

static int add(struct weir_model_map *map, const struct weir_json_item *item, struct weir_arena *arena)
{
    struct weir_json_value *value;
    struct weir_slice name;
    int r;

    if (item->value.type != WEIR_JSON_OBJECT)
        return WEIR_JSON_OTHER;
    r = weir_json_key(item, arena, &name);
    if (r != 0)
        return r;
    value = weir_arena_alloc(arena, sizeof(*value));
    if (value == NULL)
        return WEIR_ERR_NOMEM;
    *value = item->value;
    r = weir_map_add(&map->models, name, value);
    return r == WEIR_MAP_EXISTS ? 0 : r;
}

int weir_model_map_read(struct weir_slice text, struct weir_arena *arena, struct weir_model_map *ret_map,
                        size_t *ret_bad_at)
{
    struct weir_model_map map;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    struct weir_json_value root;
    int r = weir_json_check(text, DEPTH_MAX, &root, ret_bad_at);

    if (r != 0)
        return r;
    if (root.type != WEIR_JSON_OBJECT)
        return WEIR_JSON_OTHER;
    weir_map_init(&map.models, weir_arena_mem(arena), MODELS_MAX);
    r = weir_json_enter(&cursor, root.text, DEPTH_MAX);
    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        r = add(&map, &item, arena);
    if (r == 0)
        *ret_map = map;
    return r;
}

/* ---- one model ---- */

/* What the figure may be: yes or no, at least a token, or a price. */
static bool is_figure(enum weir_figure figure, const struct weir_json_value *value, double *ret_number)
{
    double number;
    bool yes;

    if (figure == WEIR_FIGURE_PREFILL || figure == WEIR_FIGURE_WEB_SEARCH) {
        if (weir_json_bool(value, &yes) != 0)
            return false;
        *ret_number = yes ? 1 : 0;
        return true;
    }
    if (weir_json_number(value, &number) != 0 || !(number >= 0 && number <= NUMBER_MAX) ||
        (figure == WEIR_FIGURE_CONTEXT && number < 1))
        return false;
    *ret_number = number;
    return true;
}

static void read_figure(struct weir_model_facts *facts, enum weir_figure figure,
                        const struct weir_json_value *value)
{
    double number;

    if (is_figure(figure, value, &number))
        weir_figure_set(facts, figure, number, WEIR_FACT_MAP);
}

/* Of "input_cost_per_token_above_200k_tokens" the 200,000; false: the key is not the base's of a long prompt.
 */
static bool step_of(struct weir_slice key, enum weir_figure base, double *ret_from)
{
    struct weir_slice above = WEIR_SLICE("_above_"), tail = WEIR_SLICE("k_tokens");
    struct weir_slice rest;
    uint64_t thousands;

    if (!weir_slice_starts(key, weir_figure_key(base)))
        return false;
    rest = weir_slice_sub(key, weir_figure_key(base).len, key.len);
    if (!weir_slice_starts(rest, above) || !weir_slice_ends(rest, tail) ||
        weir_slice_u64(weir_slice_sub(rest, above.len, rest.len - tail.len), &thousands) != 0)
        return false;
    *ret_from = (double)thousands * 1000;
    return true;
}

/* Of several steps the lowest is taken. */
static void read_step(struct weir_model_facts *facts, const struct weir_json_item *item)
{
    double from, price;

    if (!step_of(item->key, WEIR_FIGURE_INPUT, &from) || weir_json_number(&item->value, &price) != 0)
        return;
    if (!weir_figure_known(facts, WEIR_FIGURE_LONG_FROM) || from < facts->figures[WEIR_FIGURE_LONG_FROM])
        weir_figure_set(facts, WEIR_FIGURE_LONG_FROM, from, WEIR_FACT_MAP);
}

static void read_long(struct weir_model_facts *facts, const struct weir_json_item *item,
                      enum weir_figure base, enum weir_figure figure)
{
    double from, step = facts->figures[WEIR_FIGURE_LONG_FROM];

    if (step_of(item->key, base, &from) && !(from < step || from > step))
        read_figure(facts, figure, &item->value);
}

/* What a flag of the map says of parameters when it is false. */
static const struct {
    struct weir_slice flag;
    struct weir_slice names;
} flags[] = {
    {WEIR_SLICE_INIT("supports_function_calling"),
     WEIR_SLICE_INIT("tools tool_choice parallel_tool_calls functions function_call")},
    {WEIR_SLICE_INIT("supports_parallel_function_calling"), WEIR_SLICE_INIT("parallel_tool_calls")},
    {WEIR_SLICE_INIT("supports_tool_choice"), WEIR_SLICE_INIT("tool_choice")},
    {WEIR_SLICE_INIT("supports_response_schema"), WEIR_SLICE_INIT("response_format")},
    {WEIR_SLICE_INIT("supports_reasoning"), WEIR_SLICE_INIT("reasoning_effort thinking")},
};

static void read_flag(struct weir_model_facts *facts, const struct weir_json_item *item)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (item->value.type == WEIR_JSON_FALSE && weir_json_key_is(item, flags[i].flag))
            facts->lacks |= weir_parameter_set(flags[i].names);
}

static void read_member(struct weir_model_facts *facts, const struct weir_json_item *item)
{
    for (int i = 0; i < WEIR_FIGURES; i++) {
        struct weir_slice key = weir_figure_key((enum weir_figure)i);

        if (key.len > 0 && weir_json_key_is(item, key))
            read_figure(facts, (enum weir_figure)i, &item->value);
    }
    read_step(facts, item);
    read_flag(facts, item);
}

static void read_long_prices(struct weir_model_facts *facts, const struct weir_json_item *item)
{
    read_long(facts, item, WEIR_FIGURE_INPUT, WEIR_FIGURE_LONG_INPUT);
    read_long(facts, item, WEIR_FIGURE_OUTPUT, WEIR_FIGURE_LONG_OUTPUT);
    read_long(facts, item, WEIR_FIGURE_CACHE_READ, WEIR_FIGURE_LONG_CACHE_READ);
    read_long(facts, item, WEIR_FIGURE_CACHE_WRITE, WEIR_FIGURE_LONG_CACHE_WRITE);
}

typedef void member_fn(struct weir_model_facts *facts, const struct weir_json_item *item);

static void each_member(const struct weir_json_value *value, struct weir_model_facts *facts, member_fn *read)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    if (weir_json_enter(&cursor, value->text, DEPTH_MAX) != 0)
        return;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        read(facts, &item);
}

static void read_model(const struct weir_json_value *value, struct weir_model_facts *ret_facts)
{
    weir_model_facts_init(ret_facts);
    each_member(value, ret_facts, read_member);
    if (weir_figure_known(ret_facts, WEIR_FIGURE_LONG_FROM))
        each_member(value, ret_facts, read_long_prices);
    if (ret_facts->lacks != 0)
        ret_facts->lacks_source = WEIR_FACT_MAP;
}

static bool is_of(const struct weir_json_value *value, const struct weir_provider *provider)
{
    struct weir_json_value maker;

    return weir_json_find(value->text, WEIR_SLICE("litellm_provider"), &maker) == 0 &&
           weir_json_string_is(&maker, provider->name);
}

bool weir_model_map_find(const struct weir_model_map *map, const struct weir_provider *provider,
                         struct weir_slice model, struct weir_model_facts *ret_facts)
{
    const struct weir_json_value *value = weir_map_get(&map->models, model);
    struct weir_slice name = weir_provider_strip(provider, model);

    if (value == NULL && name.len < model.len) {
        value = weir_map_get(&map->models, name);
        if (value != NULL && !is_of(value, provider))
            value = NULL;
    }
    if (value == NULL) {
        weir_model_facts_init(ret_facts);
        return false;
    }
    read_model(value, ret_facts);
    return true;
}
