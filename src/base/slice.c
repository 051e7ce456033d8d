/*
 * Slices are compared and cut on every request, so these functions are plain loops over the C library's
 * memory primitives.  Numbers are read by hand: strtod would need a NUL, a locale and a copy.
 */
#include "base/slice.h"

#include <math.h>

#include "base/word.h"

enum { DIGITS_SAFE = 19 }; /* so many make no number that is too large */

struct weir_slice weir_slice_str(const char *text)
{
    return text == NULL ? WEIR_SLICE_EMPTY : (struct weir_slice){text, strlen(text)};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct weir_slice weir_slice_trim_blanks(struct weir_slice s)
{
    while (s.len > 0 && is_space(s.ptr[s.len - 1]))
        s.len--;
    while (s.len > 0 && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    return s;
}

struct weir_slice weir_slice_trim_end(struct weir_slice s)
{
    while (s.len > 0 && weir_char_is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static bool words_eq_ci(uint64_t a, uint64_t b)
{
    return a == b || weir_word_lower(a) == weir_word_lower(b);
}

bool weir_bytes_eq_ci(const char *a, const char *b, size_t len)
{
    if (len < 8)
        return words_eq_ci(weir_word_load_short(a, len), weir_word_load_short(b, len));
    for (size_t i = 0; i < len - 8; i += 8)
        if (!words_eq_ci(weir_word_load(a + i), weir_word_load(b + i)))
            return false;
    /* the last word may overlap the one before */
    return words_eq_ci(weir_word_load(a + len - 8), weir_word_load(b + len - 8));
}

bool weir_slice_eq_secret(struct weir_slice a, struct weir_slice b)
{
    unsigned diff = a.len != b.len;

    for (size_t i = 0; i < a.len; i++)
        diff |= (unsigned char)(a.ptr[i] ^ (b.len > 0 ? b.ptr[i % b.len] : 0));
    return diff == 0;
}

size_t weir_slice_find(struct weir_slice s, struct weir_slice needle)
{
    const char *at;

    if (needle.len == 0)
        return 0;
    if (s.len < needle.len)
        return WEIR_SLICE_NONE;
    at = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return at == NULL ? WEIR_SLICE_NONE : (size_t)(at - s.ptr);
}

size_t weir_slice_find_ci(struct weir_slice s, struct weir_slice needle)
{
    for (size_t i = 0; i + needle.len <= s.len; i++)
        if (weir_slice_eq_ci((struct weir_slice){s.ptr + i, needle.len}, needle))
            return i;
    return WEIR_SLICE_NONE;
}

size_t weir_slice_find_char(struct weir_slice s, char c)
{
    const char *at = s.len == 0 ? NULL : memchr(s.ptr, c, s.len);

    return at == NULL ? WEIR_SLICE_NONE : (size_t)(at - s.ptr);
}

bool weir_slice_cut(struct weir_slice *rest, char separator, bool *done, struct weir_slice *ret_field)
{
    size_t at;

    if (*done)
        return false;
    at = weir_slice_find_char(*rest, separator);
    if (at == WEIR_SLICE_NONE) {
        *done = true;
        *ret_field = *rest;
        *rest = WEIR_SLICE_EMPTY;
        return true;
    }
    *ret_field = weir_slice_sub(*rest, 0, at);
    *rest = weir_slice_sub(*rest, at + 1, rest->len);
    return true;
}

/* A digit as a number; anything else as one above nine. */
static inline unsigned digit_of(char c)
{
    return (unsigned)(unsigned char)c - '0';
}

int weir_slice_u64(struct weir_slice s, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t i = 0;

    if (s.len == 0)
        return WEIR_SLICE_NAN;
    for (; i < s.len && i < DIGITS_SAFE; i++) {
        if (digit_of(s.ptr[i]) > 9)
            return WEIR_SLICE_NAN;
        value = value * 10 + digit_of(s.ptr[i]);
    }
    for (; i < s.len; i++)
        if (digit_of(s.ptr[i]) > 9 || __builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_of(s.ptr[i]), &value))
            return WEIR_SLICE_NAN;
    *ret_value = value;
    return 0;
}

/* Reads digits from *at into *value, counting them. */
static size_t read_digits(struct weir_slice s, size_t *at, double *value)
{
    size_t start = *at;

    while (*at < s.len && weir_char_is_digit(s.ptr[*at]))
        *value = *value * 10 + (s.ptr[(*at)++] - '0');
    return *at - start;
}

static bool read_sign(struct weir_slice s, size_t *at)
{
    if (*at < s.len && (s.ptr[*at] == '-' || s.ptr[*at] == '+'))
        return s.ptr[(*at)++] == '-';
    return false;
}

/*
 * value * 10^exponent.  The powers up to 10^22 are exact in a double, and what people write needs no more:
 * then this rounds once.  (Dividing does, too; multiplying by a negative power would not.)  Numbers beyond
 * take several steps, each rounded, until nothing changes any more.
 */
static double scale(double value, double exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool down = exponent < 0;
    double left = down ? -exponent : exponent;

    while (left > 0 && value > 0 && isfinite(value)) {
        size_t step = left < 22 ? (size_t)left : 22;

        value = down ? value / powers[step] : value * powers[step];
        left -= (double)step;
    }
    return value;
}

int weir_slice_number(struct weir_slice s, double *ret_value)
{
    size_t at = 0, digits, fraction = 0;
    double value = 0, exponent = 0;
    bool negative = read_sign(s, &at), exponent_negative;

    digits = read_digits(s, &at, &value);
    if (at < s.len && s.ptr[at] == '.') {
        at++;
        fraction = read_digits(s, &at, &value);
    }
    if (digits + fraction == 0)
        return WEIR_SLICE_NAN;
    if (at < s.len && weir_char_lower(s.ptr[at]) == 'e') {
        at++;
        exponent_negative = read_sign(s, &at);
        if (read_digits(s, &at, &exponent) == 0)
            return WEIR_SLICE_NAN;
        exponent = exponent_negative ? -exponent : exponent;
    }
    if (at != s.len)
        return WEIR_SLICE_NAN;
    value = scale(value, exponent - (double)fraction);
    if (!isfinite(value))
        return WEIR_SLICE_NAN;
    *ret_value = negative ? -value : value;
    return 0;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93U;
    return h ^ (h >> 32);
}

uint64_t weir_slice_hash(struct weir_slice s, uint64_t seed)
{
    uint64_t h = seed ^ (0x9e3779b97f4a7c15U + s.len);

    uint64_t last = 0;
    size_t i = 0;

    for (; s.len - i >= 8; i += 8)
        h = mix(h ^ weir_word_load(s.ptr + i));
    if (i == s.len)
        return mix(h);
    for (size_t k = 0; i + k < s.len; k++)
        last |= (uint64_t)(unsigned char)s.ptr[i + k] << (8 * k);
    return mix(mix(h ^ last));
}
