/*
 * The implicit types of YAML 1.1 as PyYAML reads them: `yes` and `on` are booleans, `010` is eight, `1:30` is
 * ninety, `1e6` is text because a float needs a point and a signed exponent.
 *
 * Model: a scanner over the text for each type, in turn; each either consumes all of it or says no.
 */
#include "config/yaml/scalar.h"

#include <math.h>
#include <stddef.h>

#include "base/slice.h"

enum { DIGITS_MAX = 128 };

static bool one_of(struct weir_slice text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (weir_slice_eq(text, weir_slice_str(words[i])))
            return true;
    return false;
}

static bool is_null(struct weir_slice text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};

    return one_of(text, words, sizeof(words) / sizeof(*words));
}

static bool is_true(struct weir_slice text)
{
    static const char *const words[] = {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};

    return one_of(text, words, sizeof(words) / sizeof(*words));
}

static bool is_false(struct weir_slice text)
{
    static const char *const words[] = {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};

    return one_of(text, words, sizeof(words) / sizeof(*words));
}

static unsigned digit_value(char c)
{
    if (weir_char_is_digit(c))
        return (unsigned)(c - '0');
    c = weir_char_lower(c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Digits of the base, with underscores anywhere after the first (anywhere at all when loose). */
static bool whole(struct weir_slice digits, unsigned base, bool loose, double *ret_value)
{
    double value = 0;
    bool any = false;

    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] == '_' && (any || loose))
            continue;
        if (digit_value(digits.ptr[i]) >= base)
            return false;
        value = value * base + digit_value(digits.ptr[i]);
        any = true;
    }
    *ret_value = value;
    return any;
}

/* [0-9][0-9_]*(:[0-5]?[0-9])+ and, for floats, one more part after a point. */
static bool sexagesimal(struct weir_slice text, double *ret_value)
{
    struct weir_slice rest = text, part;
    bool done = false, first = true;
    double value = 0, digits;

    while (weir_slice_cut(&rest, ':', &done, &part)) {
        if (!first && (part.len == 0 || part.len > 2))
            return false;
        if (!whole(part, 10, false, &digits) || (!first && (digits > 59 || part.ptr[part.len - 1] == '_')))
            return false;
        value = value * 60 + digits;
        first = false;
    }
    *ret_value = value;
    return weir_slice_find_char(text, ':') != WEIR_SLICE_NONE;
}

static bool int_magnitude(struct weir_slice text, double *ret_value)
{
    struct weir_slice rest = weir_slice_sub(text, 2, text.len);

    if (weir_slice_starts(text, WEIR_SLICE("0b")))
        return whole(rest, 2, true, ret_value);
    if (weir_slice_starts(text, WEIR_SLICE("0x")))
        return whole(rest, 16, true, ret_value);
    if (text.len > 1 && text.ptr[0] == '0')
        return whole(weir_slice_sub(text, 1, text.len), 8, true, ret_value);
    if (text.len == 0 || !weir_char_is_digit(text.ptr[0]))
        return false;
    return whole(text, 10, false, ret_value) || (text.ptr[0] != '0' && sexagesimal(text, ret_value));
}

/* The text without underscores, as base's number reader wants it. */
static bool plain_number(struct weir_slice text, double *ret_value)
{
    char digits[DIGITS_MAX];
    size_t len = 0;

    if (text.len > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '_')
            digits[len++] = text.ptr[i];
    return weir_slice_number((struct weir_slice){digits, len}, ret_value) == 0;
}

/*
 * ([eE][-+][0-9]+)? at the end: returns the text before it; *ret_ok false when what looks like one is none.
 */
static struct weir_slice cut_exponent(struct weir_slice text, bool *ret_ok)
{
    size_t at = weir_slice_find_ci(text, WEIR_SLICE("e"));
    struct weir_slice exponent;
    uint64_t unused;

    *ret_ok = true;
    if (at == WEIR_SLICE_NONE)
        return text;
    exponent = weir_slice_sub(text, at + 1, text.len);
    *ret_ok = exponent.len > 1 && (exponent.ptr[0] == '-' || exponent.ptr[0] == '+') &&
              weir_slice_u64(weir_slice_sub(exponent, 1, exponent.len), &unused) == 0;
    return weir_slice_sub(text, 0, at);
}

static bool only_digits(struct weir_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!weir_char_is_digit(text.ptr[i]) && text.ptr[i] != '_')
            return false;
    return true;
}

/* Without digits before its point a float has no sign either. */
static bool float_magnitude(struct weir_slice text, bool sign, double *ret_value)
{
    bool ok;
    struct weir_slice mantissa = cut_exponent(text, &ok);
    size_t point = weir_slice_find_char(mantissa, '.');
    struct weir_slice before = weir_slice_sub(mantissa, 0, point), after;
    double fraction = 0;

    if (!ok || point == WEIR_SLICE_NONE)
        return false;
    after = weir_slice_sub(mantissa, point + 1, mantissa.len);
    if (!only_digits(after))
        return false;
    if (before.len == 0)
        return !sign && after.len > 0 && after.ptr[0] != '_' && plain_number(text, ret_value);
    if (!weir_char_is_digit(before.ptr[0]))
        return false;
    if (only_digits(before))
        return plain_number(text, ret_value);
    if (mantissa.len != text.len || !sexagesimal(before, ret_value))
        return false;
    if (after.len > 0 && !plain_number(weir_slice_sub(mantissa, point, mantissa.len), &fraction))
        return false;
    *ret_value += fraction;
    return true;
}

static bool special_float(struct weir_slice text, bool sign, double *ret_value)
{
    static const char *const infinities[] = {".inf", ".Inf", ".INF"};
    static const char *const nans[] = {".nan", ".NaN", ".NAN"};

    if (one_of(text, infinities, sizeof(infinities) / sizeof(*infinities)))
        *ret_value = (double)INFINITY;
    else if (!sign && one_of(text, nans, sizeof(nans) / sizeof(*nans)))
        *ret_value = (double)NAN;
    else
        return false;
    return true;
}

/* Cuts min to max digits off the front. */
static bool cut_digits(struct weir_slice *rest, size_t min, size_t max)
{
    size_t len = 0;

    while (len < max && len < rest->len && weir_char_is_digit(rest->ptr[len]))
        len++;
    *rest = weir_slice_sub(*rest, len, rest->len);
    return len >= min;
}

/* Cuts one of these characters off the front. */
static bool cut_one(struct weir_slice *rest, struct weir_slice set)
{
    if (rest->len == 0 || weir_slice_find_char(set, rest->ptr[0]) == WEIR_SLICE_NONE)
        return false;
    *rest = weir_slice_sub(*rest, 1, rest->len);
    return true;
}

static void cut_blanks(struct weir_slice *rest)
{
    while (cut_one(rest, WEIR_SLICE(" \t")))
        continue;
}

/* h:mm:ss(.f*)?, then Z or an offset or neither */
static bool is_time(struct weir_slice rest)
{
    const struct weir_slice colon = WEIR_SLICE_INIT(":");

    if (!cut_digits(&rest, 1, 2) || !cut_one(&rest, colon) || !cut_digits(&rest, 2, 2) ||
        !cut_one(&rest, colon) || !cut_digits(&rest, 2, 2))
        return false;
    if (cut_one(&rest, WEIR_SLICE(".")))
        (void)cut_digits(&rest, 0, rest.len);
    if (rest.len == 0)
        return true;
    cut_blanks(&rest);
    if (cut_one(&rest, WEIR_SLICE("Z")))
        return rest.len == 0;
    if (!cut_one(&rest, WEIR_SLICE("+-")) || !cut_digits(&rest, 1, 2))
        return false;
    return rest.len == 0 || (cut_one(&rest, colon) && cut_digits(&rest, 2, 2) && rest.len == 0);
}

static bool is_date(struct weir_slice text)
{
    struct weir_slice rest = text;
    bool spaced;

    if (!cut_digits(&rest, 4, 4) || !cut_one(&rest, WEIR_SLICE("-")) || !cut_digits(&rest, 1, 2) ||
        !cut_one(&rest, WEIR_SLICE("-")) || !cut_digits(&rest, 1, 2))
        return false;
    if (rest.len == 0)
        return text.len == sizeof("2000-01-01") - 1;
    spaced = cut_one(&rest, WEIR_SLICE(" \t"));
    if (!spaced && !cut_one(&rest, WEIR_SLICE("Tt")))
        return false;
    if (spaced)
        cut_blanks(&rest);
    return is_time(rest);
}

/* Whether text that begins so can be anything but text: most cannot, and are done. */
static bool may_resolve(struct weir_slice text)
{
    return text.len == 0 ||
           weir_slice_find_char(WEIR_SLICE("~nNyYtTfFoO+-.0123456789"), text.ptr[0]) != WEIR_SLICE_NONE;
}

struct weir_scalar weir_scalar_resolve(struct weir_slice text)
{
    bool sign = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+');
    bool minus = sign && text.ptr[0] == '-';
    struct weir_slice magnitude = weir_slice_sub(text, sign ? 1 : 0, text.len);
    double value;

    if (!may_resolve(text))
        return (struct weir_scalar){.kind = WEIR_SCALAR_TEXT};
    if (is_null(text))
        return (struct weir_scalar){.kind = WEIR_SCALAR_NULL};
    if (is_true(text) || is_false(text))
        return (struct weir_scalar){.kind = WEIR_SCALAR_BOOL, .boolean = is_true(text)};
    if (int_magnitude(magnitude, &value)) {
        struct weir_scalar scalar = {.kind = WEIR_SCALAR_INT, .number = minus ? -value : value};

        if (fabs(value) < 9e15)
            scalar.integer = (int64_t)scalar.number;
        else
            scalar.kind = WEIR_SCALAR_FLOAT;
        return scalar;
    }
    if (float_magnitude(magnitude, sign, &value) || special_float(magnitude, sign, &value))
        return (struct weir_scalar){.kind = WEIR_SCALAR_FLOAT, .number = minus ? -value : value};
    return (struct weir_scalar){.kind = WEIR_SCALAR_TEXT, .date = is_date(text)};
}
