/*
 * Tags come from several places and are gathered in one list in the order in which they are met.  What
 * clients put into their metadata is theirs: a shape that is not the one looked for says nothing, and is no
 * mistake.
 */
#include "gateway/request/asked_choice.h"

#include <weir/error.h>

#include "base/slice.h"
#include "provider/parameter.h"
#include "wire/json_read.h"

static int refuse(struct weir_slice param, struct weir_slice text, struct weir_arena *arena,
                  struct weir_problem *ret_problem)
{
    return WEIR_REFUSE(ret_problem, arena, 400, param, param, text);
}

/* ---- tags ---- */

/* "!tag" and "&tag" are constraints; a mark alone is nothing. */
static bool parse_tag(const struct weir_asked_rules *rules, struct weir_slice text, struct weir_tag *ret_tag)
{
    struct weir_slice rest = text;

    if (rules->tag_prefix.len > 0 && weir_slice_starts(text, rules->tag_prefix))
        rest = weir_slice_sub(text, rules->tag_prefix.len, text.len);
    if (rest.len == 0)
        return false;
    *ret_tag = (struct weir_tag){.kind = WEIR_TAG_PLAIN, .name = rest};
    if (rest.ptr[0] != '!' && rest.ptr[0] != '&')
        return true;
    ret_tag->kind = rest.ptr[0] == '!' ? WEIR_TAG_EXCLUDED : WEIR_TAG_REQUIRED;
    ret_tag->name = weir_slice_sub(rest, 1, rest.len);
    return ret_tag->name.len > 0;
}

static int add_tag(const struct weir_asked_rules *rules, struct weir_slice text, struct weir_arena *arena,
                   struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_tag tag;

    if (!parse_tag(rules, text, &tag))
        return 0;
    if (asked->tags == NULL) {
        asked->tags = weir_arena_zalloc(arena, WEIR_ASKED_TAGS_MAX, sizeof(*asked->tags));
        if (asked->tags == NULL)
            return WEIR_ERR_NOMEM;
        asked->request.tags = asked->tags;
    }
    if (asked->request.tag_count == WEIR_ASKED_TAGS_MAX)
        return refuse(WEIR_SLICE("tags"), WEIR_SLICE(" are too many"), arena, ret_problem);
    asked->tags[asked->request.tag_count++] = tag;
    return 0;
}

int weir_asked_tags(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                    struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_json_cursor cursor;
    struct weir_json_item element;
    struct weir_slice text;
    int r = 0;

    if (item->value.type != WEIR_JSON_ARRAY ||
        weir_json_enter(&cursor, item->value.text, rules->max_depth) != 0)
        return 0;
    while (r == 0 && weir_json_next(&cursor, &element) == WEIR_JSON_ITEM) {
        r = weir_json_string(&element.value, arena, &text);
        if (r == 0)
            r = add_tag(rules, text, arena, asked, ret_problem);
        else if (r == WEIR_JSON_OTHER)
            r = 0;
    }
    return r;
}

int weir_asked_tag_field(const struct weir_asked_rules *rules, struct weir_slice value,
                         struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_slice rest = weir_arena_copy(arena, value); /* the head goes when the client does */
    struct weir_slice text;
    bool done = false;
    int r = rest.len < value.len ? WEIR_ERR_NOMEM : 0;

    while (r == 0 && weir_slice_cut(&rest, ',', &done, &text))
        r = add_tag(rules, weir_slice_trim(text), arena, asked, ret_problem);
    return r;
}

int weir_asked_filtering(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                         struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    bool on;

    (void)rules;
    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if (weir_json_bool(&item->value, &on) != 0)
        return refuse(item->key, WEIR_SLICE(" must be true or false"), arena, ret_problem);
    asked->request.tag_filtering = on ? WEIR_FLAG_ON : WEIR_FLAG_OFF;
    return 0;
}

/* ---- evidence ---- */

static bool is_one_of(const struct weir_json_value *value, const struct weir_slice *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (weir_json_string_is(value, words[i]))
            return true;
    return false;
}

static bool read_evidence(const struct weir_json_value *list, unsigned max_depth, bool *ret_unverified)
{
    static const struct weir_slice words[] = {WEIR_SLICE_INIT("SYNTH"), WEIR_SLICE_INIT("RETRIEVED"),
                                              WEIR_SLICE_INIT("UNVERIFIED"), WEIR_SLICE_INIT("CONFIRMED")};
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    if (list->type != WEIR_JSON_ARRAY || weir_json_enter(&cursor, list->text, max_depth) != 0)
        return false;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        if (!is_one_of(&item.value, words, sizeof(words) / sizeof(words[0])))
            return false;
        *ret_unverified |= weir_json_string_is(&item.value, WEIR_SLICE("UNVERIFIED"));
    }
    return true;
}

static bool read_time(const struct weir_json_value *value, bool *ret_memory)
{
    static const struct weir_slice words[] = {WEIR_SLICE_INIT("NOW"), WEIR_SLICE_INIT("MEM"),
                                              WEIR_SLICE_INIT("CTX"), WEIR_SLICE_INIT("PRE")};

    *ret_memory = weir_json_string_is(value, WEIR_SLICE("MEM"));
    return is_one_of(value, words, sizeof(words) / sizeof(words[0]));
}

/* One value outside its bounds makes the whole invalid. */
static bool read_lar1(const struct weir_json_value *object, unsigned max_depth, struct weir_lar1 *lar1)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    bool valid = object->type == WEIR_JSON_OBJECT && weir_json_enter(&cursor, object->text, max_depth) == 0;

    while (valid && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM) {
        if (weir_json_key_is(&item, WEIR_SLICE("confidence")))
            valid = weir_json_number(&item.value, &lar1->confidence) == 0 && lar1->confidence >= 0 &&
                    lar1->confidence <= 1;
        else if (weir_json_key_is(&item, WEIR_SLICE("evidence")))
            valid = read_evidence(&item.value, max_depth, &lar1->is_unverified);
        else if (weir_json_key_is(&item, WEIR_SLICE("time")))
            valid = read_time(&item.value, &lar1->is_memory);
    }
    return valid;
}

int weir_asked_metadata(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                        struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_json_cursor cursor;
    struct weir_json_item member;
    int r = 0;

    if (item->value.type != WEIR_JSON_OBJECT ||
        weir_json_enter(&cursor, item->value.text, rules->max_depth) != 0)
        return 0;
    while (r == 0 && weir_json_next(&cursor, &member) == WEIR_JSON_ITEM) {
        struct weir_lar1 lar1 = asked->request.lar1;

        if (weir_json_key_is(&member, WEIR_SLICE("tags")))
            r = weir_asked_tags(rules, &member, arena, asked, ret_problem);
        if (!weir_json_key_is(&member, WEIR_SLICE("lar1")) || member.value.type == WEIR_JSON_NULL)
            continue;
        if (read_lar1(&member.value, rules->max_depth, &lar1))
            asked->request.lar1 = lar1;
        else
            asked->bad_lar1 = true;
    }
    return r;
}

/* ---- weights ---- */

static int add_weight(const struct weir_json_item *item, struct weir_slice group, struct weir_arena *arena,
                      struct weir_weight *weights, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_weight *weight = &weights[asked->request.weight_count];
    int r;

    if (asked->request.weight_count == WEIR_ASKED_WEIGHTS_MAX)
        return refuse(WEIR_SLICE("_router_weights"), WEIR_SLICE(" are too many"), arena, ret_problem);
    if (weir_json_number(&item->value, &weight->weight) != 0)
        return refuse(WEIR_SLICE("_router_weights"), WEIR_SLICE(" must be numbers"), arena, ret_problem);
    weight->group = group;
    r = weir_json_key(item, arena, &weight->id);
    if (r == 0)
        asked->request.weight_count++;
    return r;
}

static int read_group_weights(const struct weir_json_item *entry, unsigned max_depth,
                              struct weir_arena *arena, struct weir_weight *weights, struct weir_asked *asked,
                              struct weir_problem *ret_problem)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    struct weir_slice group;
    int r = weir_json_key(entry, arena, &group);

    if (r != 0)
        return r;
    if (entry->value.type != WEIR_JSON_OBJECT || weir_json_enter(&cursor, entry->value.text, max_depth) != 0)
        return refuse(WEIR_SLICE("_router_weights"), WEIR_SLICE(" must map groups to weights of their ids"),
                      arena, ret_problem);
    while (r == 0 && weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        r = add_weight(&item, group, arena, weights, asked, ret_problem);
    return r;
}

int weir_asked_weights(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                       struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    struct weir_json_cursor cursor;
    struct weir_json_item entry;
    struct weir_weight *weights;
    int r = 0;

    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    if (item->value.type != WEIR_JSON_OBJECT ||
        weir_json_enter(&cursor, item->value.text, rules->max_depth) != 0)
        return refuse(item->key, WEIR_SLICE(" must map groups to weights of their ids"), arena, ret_problem);
    weights = weir_arena_zalloc(arena, WEIR_ASKED_WEIGHTS_MAX, sizeof(*weights));
    if (weights == NULL)
        return WEIR_ERR_NOMEM;
    asked->request.weight_count = 0;
    while (r == 0 && weir_json_next(&cursor, &entry) == WEIR_JSON_ITEM)
        r = read_group_weights(&entry, rules->max_depth, arena, weights, asked, ret_problem);
    asked->request.weights = weights;
    return r;
}

/* ---- what a model must be able to do ---- */

int weir_asked_region(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                      struct weir_arena *arena, struct weir_asked *asked, struct weir_problem *ret_problem)
{
    int r;

    (void)rules;
    if (item->value.type == WEIR_JSON_NULL)
        return 0;
    r = weir_json_string(&item->value, arena, &asked->request.region);
    return r == WEIR_JSON_OTHER ? refuse(item->key, WEIR_SLICE(" must be a string"), arena, ret_problem) : r;
}

/* One of the tools searches the web: "web_search", "web_search_preview" and the like. */
static bool searches_web(const struct weir_json_value *tools, unsigned max_depth)
{
    struct weir_json_cursor cursor;
    struct weir_json_item tool;
    struct weir_json_value type;

    if (tools->type != WEIR_JSON_ARRAY || weir_json_enter(&cursor, tools->text, max_depth) != 0)
        return false;
    while (weir_json_next(&cursor, &tool) == WEIR_JSON_ITEM)
        if (tool.value.type == WEIR_JSON_OBJECT &&
            weir_json_find(tool.value.text, WEIR_SLICE("type"), &type) == 0 &&
            weir_slice_starts(weir_json_inside(&type), WEIR_SLICE("web_search")))
            return true;
    return false;
}

void weir_asked_passing(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                        struct weir_asked *asked)
{
    uint64_t tokens;

    if (rules->parameters)
        asked->request.parameters |= weir_parameter_asked(item);
    if (rules->web_search &&
        ((weir_json_key_is(item, WEIR_SLICE("tools")) && searches_web(&item->value, rules->max_depth)) ||
         (weir_json_key_is(item, WEIR_SLICE("web_search_options")) && item->value.type != WEIR_JSON_NULL)))
        asked->request.web_search = true;
    if ((weir_json_key_is(item, WEIR_SLICE("max_tokens")) ||
         weir_json_key_is(item, WEIR_SLICE("max_completion_tokens"))) &&
        weir_json_u64(&item->value, &tokens) == 0 && tokens > asked->request.max_output_tokens)
        asked->request.max_output_tokens = tokens;
}
