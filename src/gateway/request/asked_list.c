/*
 * A list is walked element by element.  Elements without a group gather in one chain for "*", which stands
 * for whatever group fails; elements with a group become chains of their own.  What a target's dict says
 * beside its name goes on as JSON text: limits and counts are for the engine, the rest for the provider.
 */
#include "gateway/request/asked_list.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "gateway/request/asked_limits.h"
#include "provider/fields.h"
#include "wire/json_read.h"

struct list_reader {
    const struct weir_asked_rules *rules;
    struct weir_arena *arena;
    struct weir_asked *asked;
    struct weir_slice field; /* the list's name, for messages */
    struct weir_problem *problem;
    struct weir_target plain[WEIR_ASKED_TARGETS_MAX];
    size_t plain_count;
    struct weir_chain chains[WEIR_ASKED_TARGETS_MAX];
    size_t chain_count;
};

int weir_asked_place(const struct weir_asked_rules *rules, const struct weir_field *field,
                     const struct weir_json_item *item, struct weir_arena *arena, struct weir_asked *asked,
                     struct weir_problem *ret_problem)
{
    uint32_t bit = WEIR_PLACE_BIT(field->place);

    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if ((rules->caller_places & bit) == 0)
        return WEIR_REFUSE(
            ret_problem, arena, 400, field->name, field->name,
            WEIR_SLICE(" may not be set by a request: where it goes, and with which key, is the "
                       "configuration's to say"));
    asked->places |= bit;
    asked->request.caller_credentials = true;
    return 0;
}

static int bad_shape(struct list_reader *list)
{
    return WEIR_REFUSE(
        list->problem, list->arena, 400, list->field, list->field,
        WEIR_SLICE(" must be a list of model names, of objects with a \"model\", or of objects "
                   "{\"group\": [targets]}"));
}

static int too_many(struct list_reader *list)
{
    char digits[WEIR_TEXT_U64_MAX];

    return WEIR_REFUSE(list->problem, list->arena, 400, list->field, list->field,
                       WEIR_SLICE(" has more entries in one place than "),
                       weir_text_u64(WEIR_ASKED_TARGETS_MAX, digits));
}

/* The other members of a target's dict as an object of their own; empty when there are none. */
static struct weir_slice join_overrides(struct list_reader *list, const struct weir_slice *members,
                                        size_t count)
{
    struct weir_slice parts[2 * WEIR_ASKED_TARGETS_MAX + 1];
    size_t n = 0;

    if (count == 0)
        return WEIR_SLICE_EMPTY;
    for (size_t i = 0; i < count; i++) {
        parts[n++] = i == 0 ? WEIR_SLICE("{") : WEIR_SLICE(",");
        parts[n++] = members[i];
    }
    parts[n++] = WEIR_SLICE("}");
    return weir_arena_join(list->arena, parts, n);
}

static int read_target_member(struct list_reader *list, const struct weir_json_item *item,
                              struct weir_target *target, bool *ret_override)
{
    const struct weir_field *field = weir_field_of(item);
    bool known;
    int r;

    *ret_override = false;
    if (weir_json_key_is(item, WEIR_SLICE("model"))) {
        r = weir_json_string(&item->value, list->arena, &target->model);
        return r == WEIR_JSON_OTHER ? bad_shape(list) : r;
    }
    if (field != NULL && field->field_class == WEIR_FIELD_PLACE) {
        r = weir_asked_place(list->rules, field, item, list->arena, list->asked, list->problem);
        *ret_override = r == 0;
        return r;
    }
    r = weir_asked_control(list->rules, item, list->arena, &target->controls, &known, list->problem);
    *ret_override = r == 0 && !known;
    return r;
}

static int read_target_object(struct list_reader *list, const struct weir_json_value *value,
                              struct weir_target *ret_target)
{
    struct weir_target target = {.controls = WEIR_CONTROLS_NONE};
    struct weir_slice members[WEIR_ASKED_TARGETS_MAX];
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    size_t count = 0;
    bool override;
    int r;

    if (weir_json_enter(&cursor, value->text, list->rules->max_depth) != 0)
        return bad_shape(list);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        r = read_target_member(list, &item, &target, &override);
        if (r != 0)
            return r;
        if (override && count == WEIR_ASKED_TARGETS_MAX)
            return too_many(list);
        if (override)
            members[count++] = weir_json_item_text(&item);
    }
    if (target.model.len == 0)
        return bad_shape(list);
    target.overrides = join_overrides(list, members, count);
    *ret_target = target;
    return weir_arena_failed(list->arena) ? WEIR_ERR_NOMEM : 0;
}

static int read_target(struct list_reader *list, const struct weir_json_value *value,
                       struct weir_target *ret_target)
{
    int r;

    if (value->type == WEIR_JSON_OBJECT)
        return read_target_object(list, value, ret_target);
    *ret_target = (struct weir_target){.controls = WEIR_CONTROLS_NONE};
    r = weir_json_string(value, list->arena, &ret_target->model);
    if (r == WEIR_JSON_OTHER || (r == 0 && ret_target->model.len == 0))
        return bad_shape(list);
    return r;
}

static int read_chain(struct list_reader *list, const struct weir_json_item *entry)
{
    struct weir_target targets[WEIR_ASKED_TARGETS_MAX];
    struct weir_chain *chain = &list->chains[list->chain_count];
    struct weir_target *kept;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    size_t count = 0;
    int r;

    if (list->chain_count == WEIR_ASKED_TARGETS_MAX)
        return too_many(list);
    r = weir_json_key(entry, list->arena, &chain->group);
    if (r != 0)
        return r;
    if (weir_json_enter(&cursor, entry->value.text, list->rules->max_depth) != 0)
        return bad_shape(list);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        if (count == WEIR_ASKED_TARGETS_MAX)
            return too_many(list);
        r = read_target(list, &item.value, &targets[count++]);
        if (r != 0)
            return r;
    }
    kept = weir_arena_zalloc(list->arena, count + 1, sizeof(*kept));
    if (kept == NULL)
        return WEIR_ERR_NOMEM;
    memcpy(kept, targets, count * sizeof(*kept));
    chain->targets = kept;
    chain->count = count;
    list->chain_count++;
    return 0;
}

/* An object is {"group": [targets]} when its only member is a list, else a target. */
static bool names_group(const struct list_reader *list, const struct weir_json_value *value,
                        struct weir_json_item *ret_entry)
{
    struct weir_json_cursor cursor;
    struct weir_json_item second;

    return value->type == WEIR_JSON_OBJECT &&
           weir_json_enter(&cursor, value->text, list->rules->max_depth) == 0 &&
           weir_json_next(&cursor, ret_entry) == WEIR_JSON_ITEM && ret_entry->value.type == WEIR_JSON_ARRAY &&
           weir_json_next(&cursor, &second) == 0;
}

static int read_element(struct list_reader *list, const struct weir_json_value *value)
{
    struct weir_json_item entry;

    if (names_group(list, value, &entry))
        return read_chain(list, &entry);
    if (list->plain_count == WEIR_ASKED_TARGETS_MAX)
        return too_many(list);
    return read_target(list, value, &list->plain[list->plain_count++]);
}

/* The gathered chains, the one for "*" last, in the arena. */
static int keep(struct list_reader *list, struct weir_chain_list *ret_list)
{
    size_t count = list->chain_count + (list->plain_count > 0 ? 1 : 0);
    struct weir_chain *chains = weir_arena_zalloc(list->arena, count + 1, sizeof(*chains));
    struct weir_target *plain = weir_arena_zalloc(list->arena, list->plain_count + 1, sizeof(*plain));

    if (chains == NULL || plain == NULL)
        return WEIR_ERR_NOMEM;
    memcpy(chains, list->chains, list->chain_count * sizeof(*chains));
    memcpy(plain, list->plain, list->plain_count * sizeof(*plain));
    if (list->plain_count > 0)
        chains[list->chain_count] = (struct weir_chain){WEIR_SLICE("*"), plain, list->plain_count};
    *ret_list = (struct weir_chain_list){WEIR_LIST_GIVEN, chains, count};
    return 0;
}

int weir_asked_list(const struct weir_asked_rules *rules, const struct weir_json_item *field,
                    struct weir_arena *arena, struct weir_asked *asked, struct weir_chain_list *ret_list,
                    struct weir_problem *ret_problem)
{
    struct list_reader *list;
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r;

    if (field->value.type == WEIR_JSON_NULL) {
        *ret_list = (struct weir_chain_list){.presence = WEIR_LIST_NULL};
        return 0;
    }
    list = weir_arena_zalloc(arena, 1, sizeof(*list));
    if (list == NULL)
        return WEIR_ERR_NOMEM;
    list->rules = rules;
    list->arena = arena;
    list->asked = asked;
    list->field = field->key;
    list->problem = ret_problem;
    if (field->value.type != WEIR_JSON_ARRAY ||
        weir_json_enter(&cursor, field->value.text, rules->max_depth) != 0)
        return bad_shape(list);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        r = read_element(list, &item.value);
        if (r != 0)
            return r;
    }
    return keep(list, ret_list);
}
