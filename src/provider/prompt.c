/*
 * Text is every string in the messages but those that the table calls quiet; of what is data (pictures,
 * sounds, files) only the number of pieces is counted, never its bytes.
 */
#include "provider/prompt.h"

#include <stdbool.h>

#include "base/slice.h"
#include "wire/json_read.h"

/* What providers add around each message, and around them all, in tokens. */
enum { MESSAGE_TOKENS = 4, MESSAGES_TOKENS = 3 };

enum way { MESSAGES, TEXT, SCHEMA, QUIET, MEDIA };

static const struct member_row {
    struct weir_slice name;
    enum way way;
} top_rows[] =
    {
#define TOP(name, way) {WEIR_SLICE_INIT(name), way},
#include "provider/tbl/prompt_members.h"
},
  inside_rows[] = {
#define INSIDE(name, way) {WEIR_SLICE_INIT(name), way},
#include "provider/tbl/prompt_members.h"
};

static enum way way_of(const struct member_row *rows, size_t count, const struct weir_json_item *item,
                       enum way otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (weir_json_key_is(item, rows[i].name))
            return rows[i].way;
    return otherwise;
}

static enum way way_inside(const struct weir_json_item *item, enum way otherwise)
{
    return way_of(inside_rows, sizeof(inside_rows) / sizeof(inside_rows[0]), item, otherwise);
}

static void read_plain(const struct weir_json_value *value, enum way way, bool element,
                       struct weir_prompt *prompt)
{
    if (value->type == WEIR_JSON_STRING)
        weir_prompt_json_text(prompt, weir_json_inside(value));
    else if (way == SCHEMA)
        weir_prompt_json_text(prompt, value->text);
    else if (value->type == WEIR_JSON_NUMBER && element)
        prompt->units[WEIR_PROMPT_TOKEN]++; /* prompts may be lists of tokens */
}

static void read_inside(struct weir_json_cursor *cursor, enum way way, struct weir_prompt *prompt);

/* Completes the item of a step. */
static int read_item(struct weir_json_cursor *cursor, struct weir_json_item *item, enum way way,
                     struct weir_prompt *prompt)
{
    struct weir_json_cursor inner;

    if (way == MEDIA)
        prompt->units[WEIR_PROMPT_MEDIA]++;
    if (way == MEDIA || way == QUIET)
        return weir_json_over(cursor, item);
    if (item->value.type < WEIR_JSON_ARRAY) {
        read_plain(&item->value, way, !cursor->object, prompt);
        return 0;
    }
    if (way == MESSAGES)
        prompt->units[WEIR_PROMPT_TOKEN] += MESSAGE_TOKENS;
    weir_json_into(cursor, &inner);
    read_inside(&inner, way == MESSAGES ? TEXT : way, prompt);
    return weir_json_out(cursor, &inner);
}

static void read_inside(struct weir_json_cursor *cursor, enum way way, struct weir_prompt *prompt)
{
    struct weir_json_item item;

    while (weir_json_step(cursor, &item) == WEIR_JSON_ITEM) {
        enum way here = way;

        if (cursor->object && way == SCHEMA) {
            weir_prompt_json_text(prompt, item.key);
            prompt->units[WEIR_PROMPT_TOKEN]++;
        } else if (cursor->object) {
            here = way_inside(&item, way);
        }
        if (read_item(cursor, &item, here, prompt) != 0)
            return;
    }
}

static void read_member(const struct weir_json_item *member, enum way way, struct weir_prompt *prompt)
{
    struct weir_json_cursor cursor;

    if (way == MESSAGES)
        prompt->units[WEIR_PROMPT_TOKEN] += MESSAGES_TOKENS;
    if (weir_json_enter(&cursor, member->value.text, WEIR_JSON_DEPTH_MAX) == 0)
        read_inside(&cursor, way, prompt);
    else
        read_plain(&member->value, way, false, prompt);
}

void weir_prompt_read(const struct weir_json_item *members, size_t count, struct weir_prompt *ret_prompt)
{
    struct weir_prompt prompt = {{0}};

    for (size_t i = 0; i < count; i++) {
        enum way way = way_of(top_rows, sizeof(top_rows) / sizeof(top_rows[0]), &members[i], QUIET);

        if (way != QUIET && members[i].value.type != WEIR_JSON_NULL)
            read_member(&members[i], way, &prompt);
    }
    *ret_prompt = prompt;
}
