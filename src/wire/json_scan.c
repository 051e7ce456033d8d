/*
 * Nearly all bytes of a request stand inside long strings, so the speed of the whole is that of skip_plain,
 * which looks at a stride of sixteen bytes where the machine can, else of eight, for the four things that
 * matter in a string: a quote, a backslash, a control character, a byte that is not ASCII.  In a string that
 * has had none of them for a while it looks at four strides at once.
 *
 * Everything else is a plain walk.  Containers are not entered by recursion: which brackets are open is one
 * bit each (struct nest), so a hostile nesting costs its limit in bits and no stack.
 *
 * A scan_ function takes a position and the end and gives the position behind what it names, or that of the
 * first wrong byte (struct step, which fits in two registers: positions that live in memory made all of this
 * half as fast).  At the end of the text peek gives NUL, which is valid nowhere, so no rule needs a case for
 * the end.
 */
#include "wire/json_scan.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/word.h"
#include "wire/utf8.h"

struct step {
    const char *at;
    bool ok;
    bool escaped; /* it was a string with a backslash */
};

struct nest {
    unsigned level;
    unsigned max;
    uint64_t objects[WEIR_JSON_DEPTH_MAX / 64]; /* a bit for each open container: it is an object */
};

static inline struct step good(const char *at)
{
    return (struct step){at, true, false};
}

static inline struct step wrong(const char *at)
{
    return (struct step){at, false, false};
}

static inline char peek(const char *p, const char *end)
{
    return p == end ? '\0' : *p;
}

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const char *skip_space(const char *p, const char *end)
{
    /* The first test is the only one that most calls make. */
    while (p < end && *p <= ' ' && is_space(*p))
        p++;
    return p;
}

/* Where the first byte of a stride is that is special in a string; STRIDE when there is none. */
#ifdef __SSE2__
enum { STRIDE = 16, BLOCK = 4 * STRIDE };

/* The special bytes of a stride, each marked. */
static inline __m128i specials_of(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i_u *)p);
    /* As signed numbers, what is not ASCII is below the blank too; 2 turns the quote into it, which is then
     * the only one that is below 0x21 beside them. */
    __m128i low = _mm_cmplt_epi8(_mm_xor_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8(0x21));

    return _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

static inline int special_at(const char *p)
{
    int marks = _mm_movemask_epi8(specials_of(p));

    return marks == 0 ? STRIDE : __builtin_ctz((unsigned)marks);
}

/* Nothing in the block that begins here, of four strides, is special. */
static inline bool is_plain_block(const char *p)
{
    __m128i first = _mm_or_si128(specials_of(p), specials_of(p + STRIDE));
    __m128i second = _mm_or_si128(specials_of(p + 2 * STRIDE), specials_of(p + 3 * STRIDE));

    return _mm_movemask_epi8(_mm_or_si128(first, second)) == 0;
}
#else
enum { STRIDE = 8, BLOCK = 4 * STRIDE };

static inline uint64_t specials_of(const char *p)
{
    uint64_t word = weir_word_load(p);

    return weir_word_below(word, 0x20) | weir_word_equal(word, '"') | weir_word_equal(word, '\\') |
           (word & WEIR_WORD_MARKS);
}

static inline int special_at(const char *p)
{
    uint64_t marks = specials_of(p);

    return marks == 0 ? STRIDE : (int)weir_word_lowest(marks);
}

static inline bool is_plain_block(const char *p)
{
    return (specials_of(p) | specials_of(p + STRIDE) | specials_of(p + 2 * STRIDE) |
            specials_of(p + 3 * STRIDE)) == 0;
}
#endif

static inline bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* What has been plain for a whole block is likely to be so for long. */
static inline const char *skip_blocks(const char *p, const char *end)
{
    while (end - p >= BLOCK && is_plain_block(p))
        p += BLOCK;
    return p;
}

static inline const char *skip_plain(const char *p, const char *end)
{
    const char *from = p;

    while (end - p >= STRIDE) {
        int at = special_at(p);

        p += at;
        if (at < STRIDE)
            return p;
        if (p - from == BLOCK)
            p = skip_blocks(p, end);
    }
    while (p < end && is_plain(*p))
        p++;
    return p;
}

static inline bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* p is behind "\\u". */
static struct step scan_hex4(const char *p, const char *end)
{
    for (int i = 0; i < 4; i++, p++)
        if (!is_hex(peek(p, end)))
            return wrong(p);
    return good(p);
}

/* p is behind a backslash. */
static inline struct step scan_escape(const char *p, const char *end)
{
    switch (peek(p, end)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return good(p + 1);
    case 'u':
        return scan_hex4(p + 1, end);
    default:
        return wrong(p);
    }
}

/* p is at a byte that is not ASCII: passes all that follow each other. */
static inline struct step scan_utf8(const char *p, const char *end)
{
    while ((peek(p, end) & 0x80) != 0) {
        size_t len = weir_utf8_len(p, end);

        if (len == 0)
            return wrong(p);
        p += len;
    }
    return good(p);
}

/* p is at the first byte of a string that is not plain: to its end. */
static struct step scan_special(const char *p, const char *end)
{
    bool escaped = false;

    for (;;) {
        struct step step;
        char c = peek(p, end);

        if (c == '"')
            return (struct step){p + 1, true, escaped};
        if (c == '\\') {
            escaped = true;
            step = scan_escape(p + 1, end);
        } else if ((c & 0x80) != 0) {
            step = scan_utf8(p, end);
        } else {
            return wrong(p);
        }
        if (!step.ok)
            return step;
        p = skip_plain(step.at, end);
    }
}

/* p is behind the opening quote.  Nearly every key and most values have nothing special in them. */
static inline struct step scan_string(const char *p, const char *end)
{
    p = skip_plain(p, end);
    return peek(p, end) == '"' ? good(p + 1) : scan_special(p, end);
}

static inline const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* At least one digit. */
static inline struct step scan_digits(const char *p, const char *end)
{
    const char *behind = skip_digits(p, end);

    return behind == p ? wrong(p) : good(behind);
}

static struct step scan_number(const char *p, const char *end)
{
    struct step step;

    p += peek(p, end) == '-';
    step = peek(p, end) == '0' ? good(p + 1) : scan_digits(p, end);
    if (step.ok && peek(step.at, end) == '.')
        step = scan_digits(step.at + 1, end);
    if (step.ok && (peek(step.at, end) | 0x20) == 'e') {
        p = step.at + 1;
        p += peek(p, end) == '+' || peek(p, end) == '-';
        step = scan_digits(p, end);
    }
    return step;
}

static inline struct step scan_word(const char *p, const char *end, struct weir_slice word)
{
    if ((size_t)(end - p) >= word.len && memcmp(p, word.ptr, word.len) == 0)
        return good(p + word.len);
    while (peek(p, end) == *word.ptr) { /* not to the word's end */
        word.ptr++;
        p++;
    }
    return wrong(p);
}

static inline weir_json_type type_of(char first)
{
    switch (first) {
    case '{':
        return WEIR_JSON_OBJECT;
    case '[':
        return WEIR_JSON_ARRAY;
    case '"':
        return WEIR_JSON_STRING;
    case 't':
        return WEIR_JSON_TRUE;
    case 'f':
        return WEIR_JSON_FALSE;
    case 'n':
        return WEIR_JSON_NULL;
    default:
        return WEIR_JSON_NUMBER; /* or nothing, as reading it will tell */
    }
}

static inline struct step scan_scalar(const char *p, const char *end, weir_json_type type)
{
    if (type == WEIR_JSON_STRING)
        return scan_string(p + 1, end);
    if (type == WEIR_JSON_NUMBER)
        return scan_number(p, end);
    if (type == WEIR_JSON_NULL)
        return scan_word(p, end, WEIR_SLICE("null"));
    return type == WEIR_JSON_TRUE ? scan_word(p, end, WEIR_SLICE("true"))
                                  : scan_word(p, end, WEIR_SLICE("false"));
}

/* p is at the key's first byte: the key and its colon. */
static inline struct step scan_key(const char *p, const char *end)
{
    struct step step;

    if (peek(p, end) != '"')
        return wrong(p);
    step = scan_string(p + 1, end);
    if (!step.ok)
        return step;
    step.at = skip_space(step.at, end);
    step.ok = peek(step.at, end) == ':';
    step.at += step.ok;
    return step;
}

static inline bool push(struct nest *n, bool object)
{
    uint64_t bit;

    if (n->level >= n->max)
        return false;
    bit = UINT64_C(1) << (n->level % 64);
    if (object)
        n->objects[n->level / 64] |= bit;
    else
        n->objects[n->level / 64] &= ~bit;
    n->level++;
    return true;
}

static inline bool in_object(const struct nest *n)
{
    return (n->objects[(n->level - 1) / 64] >> ((n->level - 1) % 64) & 1) != 0;
}

/* Down to a scalar, which is passed, or into a container that is empty. */
static struct step descend(const char *p, const char *end, struct nest *n)
{
    for (;;) {
        struct step step;
        char c;

        p = skip_space(p, end);
        c = peek(p, end);
        if (c != '{' && c != '[')
            return scan_scalar(p, end, type_of(c));
        if (!push(n, c == '{'))
            return wrong(p);
        p = skip_space(p + 1, end);
        if (peek(p, end) == (c == '{' ? '}' : ']'))
            return good(p);
        if (c == '[')
            continue;
        step = scan_key(p, end);
        if (!step.ok)
            return step;
        p = step.at;
    }
}

/* Out of containers that end here, up to the next value of one that does not. */
static struct step ascend(const char *p, const char *end, struct nest *n)
{
    while (n->level > 0) {
        bool object = in_object(n);

        p = skip_space(p, end);
        if (peek(p, end) == ',')
            return object ? scan_key(skip_space(p + 1, end), end) : good(p + 1);
        if (peek(p, end) != (object ? '}' : ']'))
            return wrong(p);
        p++;
        n->level--;
    }
    return good(p);
}

static struct step scan_container(const char *p, const char *end, unsigned max_depth)
{
    struct step step = good(p);
    struct nest n;

    n.level = 0;
    n.max = max_depth > WEIR_JSON_DEPTH_MAX ? WEIR_JSON_DEPTH_MAX : max_depth;
    do {
        step = descend(step.at, end, &n);
        if (step.ok)
            step = ascend(step.at, end, &n);
    } while (step.ok && n.level > 0);
    return step;
}

/* p is at the value's first byte. */
static inline struct step scan_value(const char *p, const char *end, weir_json_type type, unsigned max_depth)
{
    return type >= WEIR_JSON_ARRAY ? scan_container(p, end, max_depth) : scan_scalar(p, end, type);
}

static inline struct weir_json_value value_of(const char *p, weir_json_type type, struct step step)
{
    return (struct weir_json_value){{p, (size_t)(step.at - p)}, type, step.escaped};
}

int weir_json_check(struct weir_slice text, unsigned max_depth, struct weir_json_value *ret_value,
                    size_t *ret_bad_at)
{
    const char *start = text.len == 0 ? "" : text.ptr, *end = start + text.len;
    const char *p = skip_space(start, end), *behind;
    weir_json_type type = type_of(peek(p, end));
    struct step step = scan_value(p, end, type, max_depth);

    behind = step.ok ? skip_space(step.at, end) : step.at;
    if (!step.ok || behind < end) {
        *ret_bad_at = (size_t)(behind - start);
        return WEIR_JSON_BAD;
    }
    *ret_value = value_of(p, type, step);
    return 0;
}

int weir_json_enter(struct weir_json_cursor *cursor, struct weir_slice text, unsigned max_depth)
{
    const char *start = text.len == 0 ? "" : text.ptr, *end = start + text.len;
    const char *p = skip_space(start, end);
    char c = peek(p, end);

    if (c != '{' && c != '[')
        return WEIR_JSON_OTHER;
    *cursor = (struct weir_json_cursor){.start = start,
                                        .at = max_depth == 0 ? p : p + 1,
                                        .end = end,
                                        .depth_left = max_depth == 0 ? 0 : max_depth - 1,
                                        .object = c == '{',
                                        .first = true,
                                        .bad = max_depth == 0};
    return 0;
}

/* To the next value, with its key in *item; or behind the end of the container, which sets over. */
static inline struct step next_value(struct weir_json_cursor *c, struct weir_json_item *item)
{
    const char *p = skip_space(c->at, c->end), *behind;
    struct step step;

    if (peek(p, c->end) == (c->object ? '}' : ']')) {
        p = c->inside ? p + 1 : skip_space(p + 1, c->end);
        c->over = c->inside || p == c->end;
        return c->over ? good(p) : wrong(p);
    }
    if (!c->first) {
        if (peek(p, c->end) != ',')
            return wrong(p);
        p = skip_space(p + 1, c->end);
    }
    if (!c->object)
        return good(p);
    step = scan_key(p, c->end);
    if (!step.ok)
        return step;
    /* The closing quote is the last one before the colon. */
    for (behind = step.at - 1; *behind != '"'; behind--)
        continue;
    item->key = (struct weir_slice){p + 1, (size_t)(behind - (p + 1))};
    item->key_escaped = step.escaped;
    return step;
}

/* The next item, whole or, where it is a container that is to be entered, up to its bracket. */
static inline int advance(struct weir_json_cursor *cursor, bool enter, struct weir_json_item *ret_item)
{
    struct weir_json_item item = {0};
    struct step step;

    if (cursor->over || cursor->bad)
        return cursor->bad ? WEIR_JSON_BAD : 0;
    step = next_value(cursor, &item);
    if (step.ok && !cursor->over) {
        const char *p = skip_space(step.at, cursor->end);
        weir_json_type type = type_of(peek(p, cursor->end));

        step =
            enter && type >= WEIR_JSON_ARRAY ? good(p) : scan_value(p, cursor->end, type, cursor->depth_left);
        item.value = value_of(p, type, step);
    }
    cursor->at = step.at;
    cursor->first = false;
    cursor->bad = !step.ok;
    if (cursor->bad)
        return WEIR_JSON_BAD;
    if (cursor->over)
        return 0;
    *ret_item = item;
    return WEIR_JSON_ITEM;
}

int weir_json_next(struct weir_json_cursor *cursor, struct weir_json_item *ret_item)
{
    return advance(cursor, false, ret_item);
}

int weir_json_step(struct weir_json_cursor *cursor, struct weir_json_item *ret_item)
{
    return advance(cursor, true, ret_item);
}

int weir_json_over_container(struct weir_json_cursor *cursor, struct weir_json_item *item)
{
    struct step step = scan_container(cursor->at, cursor->end, cursor->depth_left);

    if (step.ok)
        item->value = value_of(cursor->at, item->value.type, step);
    cursor->at = step.at;
    cursor->bad = !step.ok;
    return step.ok ? 0 : WEIR_JSON_BAD;
}

void weir_json_into(const struct weir_json_cursor *cursor, struct weir_json_cursor *ret_inner)
{
    *ret_inner = (struct weir_json_cursor){.start = cursor->at,
                                           .at = cursor->at + 1,
                                           .end = cursor->end,
                                           .depth_left = cursor->depth_left == 0 ? 0 : cursor->depth_left - 1,
                                           .object = *cursor->at == '{',
                                           .first = true,
                                           .bad = cursor->depth_left == 0,
                                           .inside = true};
}

int weir_json_out(struct weir_json_cursor *cursor, struct weir_json_cursor *inner)
{
    struct weir_json_item item;
    int r;

    do {
        r = weir_json_next(inner, &item);
    } while (r == WEIR_JSON_ITEM);
    cursor->at = inner->at;
    cursor->bad = r != 0;
    return r;
}
