/*
 * Reading slices: comparing, searching, cutting, numbers.
 *
 * Nothing here allocates, and every returned slice is a part of its argument: its loan ends with that of the
 * argument.  Case folding is ASCII only, as HTTP field names and the texts of providers' errors need it.
 */
#ifndef WEIR_BASE_SLICE_H
#define WEIR_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weir/attr.h>
#include <weir/slice.h>

/* Returned by the find functions when there is nothing to find. */
#define WEIR_SLICE_NONE SIZE_MAX

/* The only place where NUL-terminated text becomes a slice; NULL becomes the empty one. */
struct weir_slice weir_slice_str(const char *text);

/* The bytes from position from (cut to the length) up to to, exclusive (likewise). */
static inline struct weir_slice weir_slice_sub(struct weir_slice s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from >= to)
        return WEIR_SLICE_EMPTY;
    return (struct weir_slice){s.ptr + from, to - from};
}

/* The part of weir_slice_trim that is for a slice with blanks. */
struct weir_slice weir_slice_trim_blanks(struct weir_slice s);

/* Without blanks, tabs, CR and LF at both ends.  In the header: most of what is trimmed has none. */
static inline struct weir_slice weir_slice_trim(struct weir_slice s)
{
    bool bare = s.len == 0 || (s.ptr[0] > ' ' && s.ptr[s.len - 1] > ' ');

    return bare ? s : weir_slice_trim_blanks(s);
}

/* Without the white space (weir_char_is_space) at its end. */
struct weir_slice weir_slice_trim_end(struct weir_slice s);

/* In the header: against a literal, whose length the compiler knows, a comparison is a word or two. */
static inline bool weir_slice_eq(struct weir_slice a, struct weir_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The same for len bytes at both places, without regard to case. */
bool weir_bytes_eq_ci(const char *a, const char *b, size_t len);

static inline bool weir_slice_eq_ci(struct weir_slice a, struct weir_slice b)
{
    if (a.len != b.len || a.len == 0)
        return a.len == b.len;
    /* Of names with the same length, most are told apart by their first letter. */
    return ((a.ptr[0] ^ b.ptr[0]) & ~0x20) == 0 && weir_bytes_eq_ci(a.ptr, b.ptr, a.len);
}

static inline bool weir_slice_starts(struct weir_slice s, struct weir_slice prefix)
{
    return s.len >= prefix.len && weir_slice_eq(weir_slice_sub(s, 0, prefix.len), prefix);
}

static inline bool weir_slice_ends(struct weir_slice s, struct weir_slice suffix)
{
    return s.len >= suffix.len && weir_slice_eq(weir_slice_sub(s, s.len - suffix.len, s.len), suffix);
}

/* Equal bytes in a time that depends on the lengths alone: for secrets. */
bool weir_slice_eq_secret(struct weir_slice a, struct weir_slice b);

/* Position of the first occurrence, or WEIR_SLICE_NONE.  An empty needle is found at 0. */
size_t weir_slice_find(struct weir_slice s, struct weir_slice needle);
size_t weir_slice_find_ci(struct weir_slice s, struct weir_slice needle);
size_t weir_slice_find_char(struct weir_slice s, char c);

static inline bool weir_slice_has(struct weir_slice s, struct weir_slice needle)
{
    return weir_slice_find(s, needle) != WEIR_SLICE_NONE;
}

/*
 * Cuts the next field off the front of *rest at the separator and returns it in *ret_field; the separator is
 * dropped.  Returns false when *rest was exhausted.  "a,,b" gives "a", "", "b"; "" gives one empty field.
 * Start with *done = false.
 */
bool weir_slice_cut(struct weir_slice *rest, char separator, bool *done, struct weir_slice *ret_field);

/* Of the two below: the text is no such number. */
#define WEIR_SLICE_NAN 1

/* Decimal digits only, the whole slice.  Returns 0, or WEIR_SLICE_NAN for anything else or an overflow. */
WEIR_MUST_USE int weir_slice_u64(struct weir_slice s, uint64_t *ret_value);

/*
 * [+-]digits[.digits][e[+-]digits], the whole slice; like Python and YAML it lets the digits on one side of
 * the point be missing ("5.", ".5").  Returns 0, or WEIR_SLICE_NAN for anything else and for what is too
 * large: the value is never infinite.  Zero is zero with any exponent, and what is too small is zero.
 */
WEIR_MUST_USE int weir_slice_number(struct weir_slice s, double *ret_value);

/* A well-mixed 64-bit hash; the same bytes and seed give the same value on every machine. */
uint64_t weir_slice_hash(struct weir_slice s, uint64_t seed);

static inline char weir_char_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool weir_char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A letter or a digit of ASCII. */
static inline bool weir_char_is_alnum(char c)
{
    return weir_char_is_digit(c) || (weir_char_lower(c) >= 'a' && weir_char_lower(c) <= 'z');
}

/* White space of ASCII, vertical tab and form feed too. */
static inline bool weir_char_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
