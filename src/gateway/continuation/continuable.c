/*
 * One table names the members that matter and what they may say.  What does not fit its rule, whatever its
 * type, forbids: a continuation that never happens does less harm than a wrong one.
 */
#include "gateway/continuation/continuable.h"

#include "base/slice.h"
#include "wire/json_read.h"

typedef bool rule_fn(const struct weir_json_value *value);

static bool is_NOTHING(const struct weir_json_value *value)
{
    return value->type == WEIR_JSON_NULL;
}

static bool is_OFF(const struct weir_json_value *value)
{
    uint64_t number;

    return value->type == WEIR_JSON_FALSE || (weir_json_u64(value, &number) == 0 && number == 0);
}

static bool is_ONE(const struct weir_json_value *value)
{
    uint64_t number;

    return weir_json_u64(value, &number) == 0 && number == 1;
}

static bool is_FREE(const struct weir_json_value *value)
{
    return weir_json_string_is(value, WEIR_SLICE("auto")) || weir_json_string_is(value, WEIR_SLICE("none"));
}

static bool is_TEXT_FORMAT(const struct weir_json_value *value)
{
    struct weir_json_value type;

    return value->type == WEIR_JSON_OBJECT && weir_json_find(value->text, WEIR_SLICE("type"), &type) == 0 &&
           weir_json_string_is(&type, WEIR_SLICE("text"));
}

static bool is_TEXT_LIST(const struct weir_json_value *value)
{
    struct weir_json_value item;

    return value->type == WEIR_JSON_ARRAY && weir_json_find(value->text, WEIR_SLICE("0"), &item) == 0 &&
           weir_json_string_is(&item, WEIR_SLICE("text")) &&
           weir_json_find(value->text, WEIR_SLICE("1"), &item) != 0;
}

static const struct {
    struct weir_slice name;
    rule_fn *fits;
} rows[] = {
#define X(name, rule) {WEIR_SLICE_INIT(name), is_##rule},
#include "gateway/continuation/tbl/continuable_fields.h"
#undef X
};

static bool allows(const struct weir_json_item *member)
{
    if (member->value.type == WEIR_JSON_NULL)
        return true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (weir_json_key_is(member, rows[i].name))
            return rows[i].fits(&member->value);
    return true;
}

bool weir_continuable(weir_route route, const struct weir_asked *asked)
{
    if (route != WEIR_ROUTE_CHAT || !asked->request.stream)
        return false;
    for (size_t i = 0; i < asked->member_count; i++)
        if (!allows(&asked->members[i]))
            return false;
    return true;
}

bool weir_continuable_with(struct weir_slice params)
{
    struct weir_json_cursor cursor;
    struct weir_json_item member;

    if (params.len == 0)
        return true;
    if (weir_json_enter(&cursor, params, WEIR_JSON_DEPTH_MAX) != 0)
        return false;
    while (weir_json_next(&cursor, &member) == WEIR_JSON_ITEM)
        if (!allows(&member))
            return false;
    return true;
}
