/*
 * Most patterns are plain phrases, so the search is memmem for the literal front of the pattern and a match
 * by hand from there.  A star tries each place within its reach; patterns have few of them, and texts are
 * bounded by the caller.
 */
#include "provider/pattern.h"

#include "base/slice.h"

#define STAR_REACH 512

struct matcher {
    struct weir_slice pattern;
    struct weir_slice text;
};

static bool is_special(char c)
{
    return c == '#' || c == '~' || c == '*' || c == '%';
}

static bool is_word(char c)
{
    return weir_char_is_alnum(c) || c == '_';
}

static bool at_border(struct weir_slice text, size_t at)
{
    bool before = at > 0 && is_word(text.ptr[at - 1]);
    bool after = at < text.len && is_word(text.ptr[at]);

    return before != after;
}

static size_t skip_digits(struct weir_slice text, size_t at)
{
    while (at < text.len && (weir_char_is_digit(text.ptr[at]) || (text.ptr[at] == ',' && at + 1 < text.len &&
                                                                  weir_char_is_digit(text.ptr[at + 1]))))
        at++;
    return at;
}

static size_t skip_blanks(struct weir_slice text, size_t at)
{
    while (at < text.len &&
           (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == '_' || text.ptr[at] == '-'))
        at++;
    return at;
}

/* Takes one character of the pattern that is no star; false: it does not fit. */
static bool take(const struct matcher *m, char c, size_t *at)
{
    size_t from = *at;

    switch (c) {
    case '#':
        *at = from < m->text.len && weir_char_is_digit(m->text.ptr[from]) ? skip_digits(m->text, from) : from;
        return *at > from;
    case '~':
        *at = skip_blanks(m->text, from);
        return true;
    case '%':
        return at_border(m->text, from);
    default:
        *at = from + 1;
        return from < m->text.len && m->text.ptr[from] == c;
    }
}

/* The pattern from p on fits the text exactly at this place. */
static bool fits(const struct matcher *m, size_t p, size_t at)
{
    for (; p < m->pattern.len && m->pattern.ptr[p] != '*'; p++)
        if (!take(m, m->pattern.ptr[p], &at))
            return false;
    if (p == m->pattern.len)
        return true;
    for (size_t skipped = 0; skipped <= STAR_REACH && at + skipped <= m->text.len; skipped++)
        if (fits(m, p + 1, at + skipped))
            return true;
    return false;
}

bool weir_pattern_found(struct weir_slice pattern, struct weir_slice text)
{
    struct matcher m = {pattern, text};
    size_t literal = 0, at = 0;

    while (literal < pattern.len && !is_special(pattern.ptr[literal]))
        literal++;
    while (at <= text.len) {
        size_t found =
            weir_slice_find(weir_slice_sub(text, at, text.len), weir_slice_sub(pattern, 0, literal));

        if (found == WEIR_SLICE_NONE)
            return false;
        if (fits(&m, literal, at + found + literal))
            return true;
        at += found + 1;
    }
    return false;
}
