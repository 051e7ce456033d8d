/*
 * Recursive descent, one function for each kind of value, over the slice that is left.  Values hang in their
 * list or map by `next`, so that a container needs no array that grows.
 *
 * The first failure is remembered and everything ends there: each function returns NULL or false, and the
 * caller looks no further.
 */
#include "state/python_text.h"

#include "base/slice.h"
#include "wire/utf8.h"

enum { REPLACEMENT = 0xfffd };

struct reader {
    struct weir_arena *arena;
    const char *at;
    const char *end;
    unsigned depth;
    bool only_python; /* something came that JSON does not have */
    bool only_json;
};

static struct weir_literal *read_value(struct reader *r);

static struct weir_literal *new_value(struct reader *r, enum weir_literal_kind kind)
{
    struct weir_literal *value = weir_arena_zalloc(r->arena, 1, sizeof(*value));

    if (value != NULL)
        value->kind = kind;
    return value;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* After white space: takes that character when it stands there. */
static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- strings ---- */

static int hex_of(char c)
{
    if (weir_char_is_digit(c))
        return c - '0';
    c = weir_char_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct reader *r, unsigned digits, uint32_t *ret_code)
{
    uint32_t code = 0;

    if ((size_t)(r->end - r->at) < digits)
        return false;
    for (unsigned i = 0; i < digits; i++) {
        int digit = hex_of(r->at[i]);

        if (digit < 0)
            return false;
        code = code << 4 | (uint32_t)digit;
    }
    r->at += digits;
    *ret_code = code;
    return true;
}

static bool is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code < 0xe000;
}

/* After \uXXXX: the second half of a pair, if it stands there. */
static uint32_t pair_up(struct reader *r, uint32_t code)
{
    const char *before = r->at;
    uint32_t low;

    if (code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if (read_hex(r, 4, &low) && low >= 0xdc00 && low < 0xe000)
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        r->at = before;
    }
    return REPLACEMENT;
}

/* What a letter after a backslash stands for; 0: it is none of these. */
static char plain_escape(char c)
{
    static const char letters[] = "\\\\''\"\"//n\nr\rt\tb\bf\fa\av\v";

    for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
        if (letters[i] == c)
            return letters[i + 1];
    return 0;
}

/* After the backslash. */
static bool read_escape(struct reader *r, uint32_t *ret_code)
{
    char c = r->at == r->end ? '\0' : *r->at++;
    uint32_t code = 0;

    if (plain_escape(c) != 0) {
        *ret_code = (unsigned char)plain_escape(c);
        return true;
    }
    if (c == 'x' || c == 'U')
        r->only_python = true;
    else if (c != 'u')
        return false;
    if (!read_hex(r, c == 'x' ? 2 : c == 'u' ? 4 : 8, &code) || code > 0x10ffff)
        return false;
    *ret_code = is_surrogate(code) ? pair_up(r, code) : code;
    return true;
}

/* From after the opening quote up to the closing one: whether all is well formed, and has no escapes. */
static bool find_end(const struct reader *r, char quote, const char **ret_end, bool *ret_escapes)
{
    const char *p = r->at;

    *ret_escapes = false;
    while (p < r->end && *p != quote) {
        size_t len = weir_utf8_len(p, r->end);

        if (len == 0 || *p == '\n' || *p == '\r' || *p == '\0')
            return false;
        if (*p == '\\') {
            *ret_escapes = true;
            p++;
            len = p < r->end ? weir_utf8_len(p, r->end) : 0;
            if (len == 0)
                return false;
        }
        p += len;
    }
    *ret_end = p;
    return p < r->end;
}

/* No escape is shorter than what it stands for. */
static bool unescape(struct reader *r, const char *end, struct weir_slice *ret_text)
{
    char *text = weir_arena_alloc(r->arena, (size_t)(end - r->at));
    size_t len = 0;
    uint32_t code;

    if (text == NULL)
        return false;
    while (r->at < end) {
        if (*r->at != '\\') {
            text[len++] = *r->at++;
            continue;
        }
        r->at++;
        if (!read_escape(r, &code) || r->at > end)
            return false;
        len += weir_utf8_put(code, text + len);
    }
    *ret_text = (struct weir_slice){text, len};
    return true;
}

static bool read_string(struct reader *r, struct weir_slice *ret_text)
{
    char quote = *r->at++;
    const char *end;
    bool escapes;

    r->only_python = r->only_python || quote == '\'';
    if (!find_end(r, quote, &end, &escapes))
        return false;
    if (!escapes)
        *ret_text = (struct weir_slice){r->at, (size_t)(end - r->at)};
    else if (!unescape(r, end, ret_text))
        return false;
    r->at = end + 1;
    return true;
}

static struct weir_literal *read_text(struct reader *r)
{
    struct weir_slice text;
    struct weir_literal *value = read_string(r, &text) ? new_value(r, WEIR_LITERAL_TEXT) : NULL;

    if (value != NULL)
        value->text = text;
    return value;
}

/* ---- numbers and words ---- */

static struct weir_literal *read_number(struct reader *r)
{
    const struct weir_slice signs = WEIR_SLICE("+-.eE");
    const char *start = r->at;
    struct weir_literal *value;
    struct weir_slice text;
    double number;

    while (r->at < r->end &&
           (weir_char_is_digit(*r->at) || weir_slice_find_char(signs, *r->at) != WEIR_SLICE_NONE))
        r->at++;
    text = (struct weir_slice){start, (size_t)(r->at - start)};
    /* Both write digits on both sides of a point, and no plus in front. */
    if (weir_slice_number(text, &number) != 0 || !weir_char_is_digit(r->at[-1]) ||
        !weir_char_is_digit(text.ptr[text.ptr[0] == '-']) || weir_slice_has(text, WEIR_SLICE(".e")) ||
        weir_slice_has(text, WEIR_SLICE(".E")))
        return NULL;
    value = new_value(r, WEIR_LITERAL_NUMBER);
    if (value != NULL) {
        value->number = number;
        value->text = text;
    }
    return value;
}

static struct weir_literal *read_word(struct reader *r)
{
    static const struct {
        struct weir_slice word;
        enum weir_literal_kind kind;
        bool truth;
        bool python;
    } words[] = {
        {WEIR_SLICE_INIT("True"), WEIR_LITERAL_BOOL, true, true},
        {WEIR_SLICE_INIT("False"), WEIR_LITERAL_BOOL, false, true},
        {WEIR_SLICE_INIT("None"), WEIR_LITERAL_NONE, false, true},
        {WEIR_SLICE_INIT("true"), WEIR_LITERAL_BOOL, true, false},
        {WEIR_SLICE_INIT("false"), WEIR_LITERAL_BOOL, false, false},
        {WEIR_SLICE_INIT("null"), WEIR_LITERAL_NONE, false, false},
    };
    struct weir_slice rest = {r->at, (size_t)(r->end - r->at)};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct weir_literal *value;

        if (!weir_slice_starts(rest, words[i].word))
            continue;
        r->at += words[i].word.len;
        r->only_python = r->only_python || words[i].python;
        r->only_json = r->only_json || !words[i].python;
        value = new_value(r, words[i].kind);
        if (value != NULL)
            value->truth = words[i].truth;
        return value;
    }
    return NULL;
}

/* ---- lists and maps ---- */

static struct weir_literal *read_item(struct reader *r, bool of_map)
{
    struct weir_slice key = WEIR_SLICE_EMPTY;
    struct weir_literal *item;

    skip_space(r);
    if (of_map) {
        if (r->at == r->end || (*r->at != '"' && *r->at != '\'') || !read_string(r, &key) || !take(r, ':'))
            return NULL;
    }
    item = read_value(r);
    if (item != NULL)
        item->key = key;
    return item;
}

/* From after the opening bracket to after the closing one. */
static struct weir_literal *read_items(struct reader *r, enum weir_literal_kind kind, char close)
{
    struct weir_literal *whole = new_value(r, kind);
    struct weir_literal *last = NULL;
    bool comma = true;

    while (whole != NULL && !take(r, close)) {
        struct weir_literal *item = comma ? read_item(r, kind == WEIR_LITERAL_MAP) : NULL;

        if (item == NULL)
            return NULL;
        if (last == NULL)
            whole->first = item;
        else
            last->next = item;
        last = item;
        whole->count++;
        comma = take(r, ',');
    }
    if (whole == NULL)
        return NULL;
    /* A comma before the end is Python's; "(1)" is no tuple. */
    r->only_python = r->only_python || close == ')' || (comma && whole->count > 0);
    return close == ')' && whole->count == 1 && !comma ? NULL : whole;
}

static struct weir_literal *read_container(struct reader *r)
{
    char open = *r->at++;
    struct weir_literal *value;

    if (++r->depth > WEIR_LITERAL_DEPTH_MAX)
        return NULL;
    if (open == '{')
        value = read_items(r, WEIR_LITERAL_MAP, '}');
    else
        value = read_items(r, WEIR_LITERAL_LIST, open == '[' ? ']' : ')');
    r->depth--;
    return value;
}

static struct weir_literal *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return NULL;
    switch (*r->at) {
    case '{':
    case '[':
    case '(':
        return read_container(r);
    case '"':
    case '\'':
        return read_text(r);
    default:
        return weir_char_is_digit(*r->at) || *r->at == '-' ? read_number(r) : read_word(r);
    }
}

int weir_literal_read(struct weir_arena *arena, struct weir_slice text, const struct weir_literal **ret_value,
                      enum weir_literal_form *ret_form)
{
    struct reader r = {.arena = arena, .at = text.ptr, .end = text.ptr + text.len};
    struct weir_literal *value = text.len == 0 ? NULL : read_value(&r);

    skip_space(&r);
    if (value == NULL || r.at != r.end || (r.only_python && r.only_json))
        return WEIR_LITERAL_UNREADABLE;
    *ret_value = value;
    if (ret_form != NULL)
        *ret_form = r.only_python ? WEIR_LITERAL_AS_PYTHON : WEIR_LITERAL_AS_JSON;
    return 0;
}

const struct weir_literal *weir_literal_get(const struct weir_literal *map, struct weir_slice key)
{
    const struct weir_literal *found = NULL;

    if (map == NULL || map->kind != WEIR_LITERAL_MAP)
        return NULL;
    for (const struct weir_literal *item = map->first; item != NULL; item = item->next)
        if (weir_slice_eq(item->key, key))
            found = item;
    return found;
}
