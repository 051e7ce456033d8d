/*
 * Nearly all bytes of a request stand inside long strings, so the speed of the whole is that of skip_plain,
 * which looks at a word at a time for the four things that matter in a string: a quote, a backslash, a
 * control character, a byte that is not ASCII.
 *
 * Everything else is a plain walk.  Containers are not entered by recursion: which brackets are open is one
 * bit each (struct nest), so a hostile nesting costs its limit in bits and no stack.
 *
 * A function that fails leaves at where the text is wrong.  At the end of the text peek gives NUL, which is
 * valid nowhere, so no rule needs a case for the end.
 */
#include "wire/json_scan.h"

#include <stdint.h>
#include <string.h>

#include "wire/utf8.h"

struct scan {
    const char *at;
    const char *end;
    bool escaped; /* the last string had a backslash */
};

struct nest {
    unsigned level;
    unsigned max;
    uint64_t objects[WEIR_JSON_DEPTH_MAX / 64]; /* a bit for each open container: it is an object */
};

static inline char peek(const struct scan *s)
{
    return s->at == s->end ? '\0' : *s->at;
}

static inline void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\r' || *s->at == '\t'))
        s->at++;
}

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* The first byte in the lowest place, whatever the machine's order. */
static inline uint64_t load_word(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/*
 * The high bit of each byte that is special in a string.  Subtracting can carry a mark to the byte above a
 * marked one, never below: the lowest mark is always right.
 */
static inline uint64_t special_bytes(uint64_t word)
{
    uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');
    uint64_t marks = (word - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) | word;

    return marks & EACH_BYTE(0x80);
}

static inline bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t marks = special_bytes(load_word(p));

        if (marks != 0)
            return p + __builtin_ctzll(marks) / 8;
        p += 8;
    }
    while (p < end && is_plain(*p))
        p++;
    return p;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* At a backslash. */
static bool scan_escape(struct scan *s)
{
    s->escaped = true;
    s->at++;
    switch (peek(s)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        s->at++;
        return true;
    case 'u':
        s->at++;
        for (int i = 0; i < 4; i++, s->at++)
            if (!is_hex(peek(s)))
                return false;
        return true;
    default:
        return false;
    }
}

/* At a byte that is not ASCII: all that follow each other. */
static bool scan_utf8(struct scan *s)
{
    while ((peek(s) & 0x80) != 0) {
        size_t len = weir_utf8_len(s->at, s->end);

        if (len == 0)
            return false;
        s->at += len;
    }
    return true;
}

/* At the opening quote. */
static bool scan_string(struct scan *s)
{
    bool ok = true;

    s->escaped = false;
    s->at++;
    while (ok) {
        s->at = skip_plain(s->at, s->end);
        if (peek(s) == '"') {
            s->at++;
            return true;
        }
        if (peek(s) == '\\')
            ok = scan_escape(s);
        else
            ok = (peek(s) & 0x80) != 0 && scan_utf8(s);
    }
    return false;
}

static bool scan_digits(struct scan *s)
{
    const char *from = s->at;

    while (peek(s) >= '0' && peek(s) <= '9')
        s->at++;
    return s->at > from;
}

static bool scan_number(struct scan *s)
{
    if (peek(s) == '-')
        s->at++;
    if (peek(s) == '0')
        s->at++;
    else if (!scan_digits(s))
        return false;
    if (peek(s) == '.') {
        s->at++;
        if (!scan_digits(s))
            return false;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        return scan_digits(s);
    }
    return true;
}

static bool scan_word(struct scan *s, const char *word)
{
    for (; *word != '\0'; word++, s->at++)
        if (peek(s) != *word)
            return false;
    return true;
}

static bool scan_scalar(struct scan *s)
{
    switch (peek(s)) {
    case '"':
        return scan_string(s);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    default:
        return scan_number(s);
    }
}

/* Up to the value behind the colon. */
static bool scan_key(struct scan *s)
{
    skip_space(s);
    if (peek(s) != '"' || !scan_string(s))
        return false;
    skip_space(s);
    if (peek(s) != ':')
        return false;
    s->at++;
    return true;
}

static bool push(struct nest *n, bool object)
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

static bool in_object(const struct nest *n)
{
    return (n->objects[(n->level - 1) / 64] >> ((n->level - 1) % 64) & 1) != 0;
}

/* Down to a scalar, which is passed, or into a container that is empty. */
static bool descend(struct scan *s, struct nest *n)
{
    for (;;) {
        char c;

        skip_space(s);
        c = peek(s);
        if (c != '{' && c != '[')
            return scan_scalar(s);
        if (!push(n, c == '{'))
            return false;
        s->at++;
        skip_space(s);
        if (peek(s) == (c == '{' ? '}' : ']'))
            return true;
        if (c == '{' && !scan_key(s))
            return false;
    }
}

/* Out of containers that end here, up to the next value of one that does not. */
static bool ascend(struct scan *s, struct nest *n)
{
    while (n->level > 0) {
        bool object = in_object(n);

        skip_space(s);
        if (peek(s) == ',') {
            s->at++;
            return !object || scan_key(s);
        }
        if (peek(s) != (object ? '}' : ']'))
            return false;
        s->at++;
        n->level--;
    }
    return true;
}

static weir_json_type type_of(char first)
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
        return WEIR_JSON_NUMBER;
    }
}

static bool scan_container(struct scan *s, unsigned max_depth)
{
    struct nest n;

    n.level = 0;
    n.max = max_depth > WEIR_JSON_DEPTH_MAX ? WEIR_JSON_DEPTH_MAX : max_depth;
    do
        if (!descend(s, &n) || !ascend(s, &n))
            return false;
    while (n.level > 0);
    return true;
}

static bool scan_value(struct scan *s, unsigned max_depth, struct weir_json_value *ret_value)
{
    const char *from;
    weir_json_type type;

    skip_space(s);
    from = s->at;
    type = type_of(peek(s));
    s->escaped = false;
    if (type == WEIR_JSON_OBJECT || type == WEIR_JSON_ARRAY ? !scan_container(s, max_depth) : !scan_scalar(s))
        return false;
    *ret_value = (struct weir_json_value){
        {from, (size_t)(s->at - from)}, type, type == WEIR_JSON_STRING && s->escaped};
    return true;
}

int weir_json_check(struct weir_slice text, unsigned max_depth, struct weir_json_value *ret_value,
                    size_t *ret_bad_at)
{
    const char *start = text.len == 0 ? "" : text.ptr;
    struct scan s = {start, start + text.len, false};
    struct weir_json_value value;
    bool ok = scan_value(&s, max_depth, &value);

    if (ok)
        skip_space(&s);
    if (!ok || s.at < s.end) {
        *ret_bad_at = (size_t)(s.at - start);
        return WEIR_JSON_BAD;
    }
    *ret_value = value;
    return 0;
}

int weir_json_enter(struct weir_json_cursor *cursor, struct weir_slice text, unsigned max_depth)
{
    const char *start = text.len == 0 ? "" : text.ptr;
    struct scan s = {start, start + text.len, false};
    char c;

    skip_space(&s);
    c = peek(&s);
    if (c != '{' && c != '[')
        return WEIR_JSON_OTHER;
    *cursor = (struct weir_json_cursor){.start = start,
                                        .at = s.at,
                                        .end = s.end,
                                        .depth_left = max_depth == 0 ? 0 : max_depth - 1,
                                        .object = c == '{',
                                        .first = true,
                                        .bad = max_depth == 0};
    cursor->at += !cursor->bad;
    return 0;
}

/* To the next value, with its key in *item; or to the end of the container (*ret_over). */
static bool next_value(struct scan *s, struct weir_json_cursor *c, struct weir_json_item *item,
                       bool *ret_over)
{
    const char *from;

    skip_space(s);
    *ret_over = peek(s) == (c->object ? '}' : ']');
    if (*ret_over) {
        s->at++;
        skip_space(s);
        return s->at == s->end;
    }
    if (!c->first) {
        if (peek(s) != ',')
            return false;
        s->at++;
        skip_space(s);
    }
    if (!c->object)
        return true;
    from = s->at;
    if (!scan_key(s))
        return false;
    item->key.ptr = from + 1;
    item->key_escaped = s->escaped;
    return true;
}

/* The closing quote is the last one before the colon that at stands behind. */
static size_t key_len(const char *key, const char *at)
{
    at--;
    while (*at != '"')
        at--;
    return (size_t)(at - key);
}

int weir_json_next(struct weir_json_cursor *cursor, struct weir_json_item *ret_item)
{
    struct scan s = {cursor->at, cursor->end, false};
    struct weir_json_item item = {0};
    bool ok, over = false;

    if (cursor->over || cursor->bad)
        return cursor->bad ? WEIR_JSON_BAD : 0;
    ok = next_value(&s, cursor, &item, &over);
    if (ok && !over && cursor->object)
        item.key.len = key_len(item.key.ptr, s.at);
    if (ok && !over)
        ok = scan_value(&s, cursor->depth_left, &item.value);
    cursor->at = s.at;
    cursor->first = false;
    cursor->over = over;
    cursor->bad = !ok;
    if (!ok)
        return WEIR_JSON_BAD;
    if (over)
        return 0;
    *ret_item = item;
    return WEIR_JSON_ITEM;
}
