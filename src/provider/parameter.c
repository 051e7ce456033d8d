/* A few dozen names; requests have fewer members than that, and are only looked at where someone asks. */
#include "provider/parameter.h"

#include "base/slice.h"
#include "wire/json_read.h"

typedef bool asks_fn(const struct weir_json_value *value);

static bool asks_ASKS(const struct weir_json_value *value)
{
    return value->type != WEIR_JSON_NULL;
}

static bool is_number(const struct weir_json_value *value, double wanted)
{
    double number;

    return weir_json_number(value, &number) == 0 && !(number < wanted || number > wanted);
}

static bool asks_UNLESS_1(const struct weir_json_value *value)
{
    return !is_number(value, 1);
}

static bool asks_UNLESS_0(const struct weir_json_value *value)
{
    return !is_number(value, 0);
}

static bool asks_UNLESS_FALSE(const struct weir_json_value *value)
{
    return value->type != WEIR_JSON_FALSE && !is_number(value, 0);
}

static bool asks_UNLESS_EMPTY(const struct weir_json_value *value)
{
    return weir_slice_trim(weir_slice_sub(value->text, 1, value->text.len - 1)).len > 0;
}

static bool asks_UNLESS_NONE(const struct weir_json_value *value)
{
    return !weir_json_string_is(value, WEIR_SLICE("none"));
}

static bool asks_SCHEMA(const struct weir_json_value *value)
{
    struct weir_json_value type;

    return value->type == WEIR_JSON_OBJECT && weir_json_find(value->text, WEIR_SLICE("type"), &type) == 0 &&
           weir_json_string_is(&type, WEIR_SLICE("json_schema"));
}

static const struct {
    struct weir_slice name;
    asks_fn *asks;
} rows[] = {
#define X(name, rule) {WEIR_SLICE_INIT(name), asks_##rule},
#include "provider/tbl/parameters.h"
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert(ROWS <= 64, "a set of parameters is one word");

uint64_t weir_parameter_bit(struct weir_slice name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (weir_slice_eq(rows[i].name, name))
            return UINT64_C(1) << i;
    return 0;
}

uint64_t weir_parameter_asked(const struct weir_json_item *member)
{
    for (size_t i = 0; i < ROWS; i++)
        if (weir_json_key_is(member, rows[i].name))
            return member->value.type != WEIR_JSON_NULL && rows[i].asks(&member->value) ? UINT64_C(1) << i
                                                                                        : 0;
    return 0;
}

uint64_t weir_parameter_set(struct weir_slice names)
{
    uint64_t set = 0;
    bool done = false;
    struct weir_slice name;

    while (weir_slice_cut(&names, ' ', &done, &name))
        set |= weir_parameter_bit(name);
    return set;
}

struct weir_slice weir_parameter_first(uint64_t set)
{
    for (size_t i = 0; i < ROWS; i++)
        if ((set >> i & 1) != 0)
            return rows[i].name;
    return WEIR_SLICE_EMPTY;
}
