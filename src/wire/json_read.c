/*
 * A string with escapes is compared and copied through one function, which spells its next character; a
 * string without is compared where it lies.
 */
#include "wire/json_read.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "wire/utf8.h"

enum { REPLACEMENT = 0xfffd };

static uint32_t hex4(const char *p)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        char c = weir_char_lower(p[i]);

        value = value * 16 + (uint32_t)(weir_char_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return value;
}

/* The code that \uXXXX, or two of them, at the front of raw spell. */
static uint32_t read_unicode(struct weir_slice raw, size_t *ret_taken)
{
    uint32_t first = hex4(raw.ptr + 2), second;

    *ret_taken = 6;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    if (first > 0xdbff || raw.len < 12 || raw.ptr[6] != '\\' || raw.ptr[7] != 'u')
        return REPLACEMENT;
    second = hex4(raw.ptr + 8);
    if (second < 0xdc00 || second > 0xdfff)
        return REPLACEMENT;
    *ret_taken = 12;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static char read_short_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

/* Takes an escape off the front of raw and returns the number of bytes that it spells. */
static size_t spell_escape(struct weir_slice *raw, char out[4])
{
    size_t taken = 2, len = 1;

    if (raw->ptr[1] == 'u')
        len = weir_utf8_put(read_unicode(*raw, &taken), out);
    else
        out[0] = read_short_escape(raw->ptr[1]);
    *raw = weir_slice_sub(*raw, taken, raw->len);
    return len;
}

/* Takes the bytes before the next escape off the front. */
static struct weir_slice plain_part(struct weir_slice *raw)
{
    struct weir_slice part = weir_slice_sub(*raw, 0, weir_slice_find_char(*raw, '\\'));

    *raw = weir_slice_sub(*raw, part.len, raw->len);
    return part;
}

static bool take_prefix(struct weir_slice *text, struct weir_slice prefix)
{
    if (!weir_slice_starts(*text, prefix))
        return false;
    *text = weir_slice_sub(*text, prefix.len, text->len);
    return true;
}

bool weir_json_spells(struct weir_slice raw, struct weir_slice text)
{
    while (raw.len > 0) {
        char out[4];

        if (!take_prefix(&text, plain_part(&raw)))
            return false;
        if (raw.len > 0 && !take_prefix(&text, (struct weir_slice){out, spell_escape(&raw, out)}))
            return false;
    }
    return text.len == 0;
}

struct weir_slice weir_json_piece(struct weir_slice *raw, char room[4])
{
    if (raw->ptr[0] != '\\')
        return plain_part(raw);
    return (struct weir_slice){room, spell_escape(raw, room)};
}

size_t weir_json_decode(struct weir_slice raw, char *room)
{
    size_t len = 0;

    while (raw.len > 0) {
        char out[4];
        struct weir_slice piece = weir_json_piece(&raw, out);

        memcpy(room + len, piece.ptr, piece.len);
        len += piece.len;
    }
    return len;
}

static bool is_half_a_pair(struct weir_slice raw)
{
    size_t taken;
    uint32_t code;

    if (raw.ptr[1] != 'u')
        return false;
    code = hex4(raw.ptr + 2);
    return code >= 0xd800 && code <= 0xdfff && read_unicode(raw, &taken) == REPLACEMENT;
}

size_t weir_json_decoded_len(struct weir_slice raw)
{
    size_t len = 0;

    while (raw.len > 0) {
        char out[4];

        len += plain_part(&raw).len;
        if (raw.len == 0)
            break;
        if (is_half_a_pair(raw))
            return WEIR_SLICE_NONE;
        len += spell_escape(&raw, out);
    }
    return len;
}

static int decoded(struct weir_slice raw, bool escaped, struct weir_arena *arena, struct weir_slice *ret_text)
{
    char *room;

    if (!escaped) {
        *ret_text = raw;
        return 0;
    }
    room = weir_arena_alloc(arena, raw.len);
    if (room == NULL)
        return WEIR_ERR_NOMEM;
    *ret_text = (struct weir_slice){room, weir_json_decode(raw, room)};
    return 0;
}

struct weir_slice weir_json_inside(const struct weir_json_value *value)
{
    if (value->type != WEIR_JSON_STRING)
        return WEIR_SLICE_EMPTY;
    return (struct weir_slice){value->text.ptr + 1, value->text.len - 2};
}

bool weir_json_string_is(const struct weir_json_value *value, struct weir_slice text)
{
    if (value->type != WEIR_JSON_STRING)
        return false;
    return value->escaped ? weir_json_spells(weir_json_inside(value), text)
                          : weir_slice_eq(weir_json_inside(value), text);
}

int weir_json_string(const struct weir_json_value *value, struct weir_arena *arena,
                     struct weir_slice *ret_text)
{
    if (value->type != WEIR_JSON_STRING)
        return WEIR_JSON_OTHER;
    return decoded(weir_json_inside(value), value->escaped, arena, ret_text);
}

int weir_json_key(const struct weir_json_item *item, struct weir_arena *arena, struct weir_slice *ret_text)
{
    return decoded(item->key, item->key_escaped, arena, ret_text);
}

int weir_json_bool(const struct weir_json_value *value, bool *ret_bool)
{
    if (value->type != WEIR_JSON_TRUE && value->type != WEIR_JSON_FALSE)
        return WEIR_JSON_OTHER;
    *ret_bool = value->type == WEIR_JSON_TRUE;
    return 0;
}

int weir_json_number(const struct weir_json_value *value, double *ret_number)
{
    if (value->type != WEIR_JSON_NUMBER || weir_slice_number(value->text, ret_number) != 0)
        return WEIR_JSON_OTHER;
    return 0;
}

int weir_json_u64(const struct weir_json_value *value, uint64_t *ret_number)
{
    if (value->type != WEIR_JSON_NUMBER || weir_slice_u64(value->text, ret_number) != 0)
        return WEIR_JSON_OTHER;
    return 0;
}

/* The member or element that a part of a path names. */
static int find_step(struct weir_slice text, struct weir_slice step, struct weir_json_value *ret_value)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    uint64_t index = 0;

    if (weir_json_enter(&c, text, WEIR_JSON_DEPTH_MAX) != 0)
        return WEIR_JSON_NONE;
    if (!c.object && weir_slice_u64(step, &index) != 0)
        return WEIR_JSON_NONE;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        if (c.object ? weir_json_key_is(&item, step) : index-- == 0) {
            *ret_value = item.value;
            return 0;
        }
    return WEIR_JSON_NONE;
}

int weir_json_find(struct weir_slice text, struct weir_slice path, struct weir_json_value *ret_value)
{
    struct weir_json_value value = {.text = text};
    struct weir_slice step;
    bool done = false;

    while (weir_slice_cut(&path, '.', &done, &step))
        if (find_step(value.text, step, &value) != 0)
            return WEIR_JSON_NONE;
    *ret_value = value;
    return 0;
}
