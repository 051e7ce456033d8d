/*
 * Eight bytes at a time: the arithmetic that finds a byte of some kind in a word.
 *
 * Each function marks the high bit of the bytes that it looks for.  A mark may be carried to the byte above a
 * marked one, never below: the lowest mark is always right, and no mark means that there is no such byte.
 */
#ifndef WEIR_BASE_WORD_H
#define WEIR_BASE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define WEIR_WORD_OF(byte) (UINT64_C(0x0101010101010101) * (byte))
#define WEIR_WORD_MARKS    WEIR_WORD_OF(0x80)

/* The first byte in the lowest place, whatever the machine's order. */
static inline uint64_t weir_word_load(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/*
 * Fewer than eight bytes, each of them at least once: words of the same length are equal if their bytes are.
 * From four bytes on nothing else is in the word; of fewer the rest are zeros.
 */
static inline uint64_t weir_word_load_short(const char *p, size_t len)
{
    uint32_t first, last;

    if (len < 4)
        return len == 0 ? 0
                        : (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[len / 2] << 8 |
                              (uint64_t)(unsigned char)p[len - 1] << 16;
    memcpy(&first, p, sizeof(first));
    memcpy(&last, p + len - sizeof(last), sizeof(last));
    return (uint64_t)last << 32 | first;
}

/* The other way round. */
static inline void weir_word_store(char *p, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(p, &word, sizeof(word));
}

/* The lowest place in the last byte. */
static inline void weir_word_store_back(char *p, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(p, &word, sizeof(word));
}

/* Bytes below limit, which is at most 0x80. */
static inline uint64_t weir_word_below(uint64_t word, uint64_t limit)
{
    return (word - WEIR_WORD_OF(limit)) & ~word & WEIR_WORD_MARKS;
}

/* Bytes equal to byte. */
static inline uint64_t weir_word_equal(uint64_t word, uint64_t byte)
{
    return weir_word_below(word ^ WEIR_WORD_OF(byte), 1);
}

/* Nothing but printable ASCII without quote and backslash: as it is, it may stand in a string of JSON.  Each
 * term has the high bit set in a byte of its kind; where a byte is not ASCII, the word itself has. */
static inline bool weir_word_is_plain(uint64_t word)
{
    uint64_t low = word - WEIR_WORD_OF(' '), del = word + WEIR_WORD_OF(1),
             quote = (word ^ WEIR_WORD_OF('"')) - WEIR_WORD_OF(1),
             backslash = (word ^ WEIR_WORD_OF('\\')) - WEIR_WORD_OF(1);

    return ((word | low | del | quote | backslash) & WEIR_WORD_MARKS) == 0;
}

#ifdef __SSE2__
enum { WEIR_STRIDE_BYTES = 16 };

/* The same of a stride of bytes. */
static inline bool weir_stride_is_plain(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i_u *)p);
    /* As signed numbers, what is not ASCII is below the blank too; 2 turns the quote into it, which is then
     * the only one that is below 0x21 beside them. */
    __m128i low = _mm_cmplt_epi8(_mm_xor_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8(0x21));
    __m128i others =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));

    return _mm_movemask_epi8(_mm_or_si128(low, others)) == 0;
}
#else
enum { WEIR_STRIDE_BYTES = 8 };

static inline bool weir_stride_is_plain(const char *p)
{
    return weir_word_is_plain(weir_word_load(p));
}
#endif

/* The same of len bytes. */
static inline bool weir_bytes_are_plain(const char *p, size_t len)
{
    if (len < 4) {
        for (size_t i = 0; i < len; i++)
            if (p[i] < ' ' || p[i] >= 0x7f || p[i] == '"' || p[i] == '\\')
                return false;
        return true;
    }
    if (len < 8)
        return weir_word_is_plain(weir_word_load_short(p, len));
    if (len < WEIR_STRIDE_BYTES)
        return weir_word_is_plain(weir_word_load(p)) && weir_word_is_plain(weir_word_load(p + len - 8));
    for (size_t i = 0; i < len - WEIR_STRIDE_BYTES; i += WEIR_STRIDE_BYTES)
        if (!weir_stride_is_plain(p + i))
            return false;
    return weir_stride_is_plain(p + len - WEIR_STRIDE_BYTES); /* may overlap the one before */
}

/* Copies len bytes, which do not overlap, and returns the place behind them.  Most texts are short: up to
 * sixty-four bytes are a few words that may overlap, and no call. */
static inline char *weir_bytes_copy(char *to, const char *from, size_t len)
{
    if (len > 64) {
        memcpy(to, from, len);
    } else if (len > 32) {
        char first[32], last[32];

        memcpy(first, from, sizeof(first));
        memcpy(last, from + len - sizeof(last), sizeof(last));
        memcpy(to, first, sizeof(first));
        memcpy(to + len - sizeof(last), last, sizeof(last));
    } else if (len > 16) {
        char first[16], last[16];

        memcpy(first, from, sizeof(first));
        memcpy(last, from + len - sizeof(last), sizeof(last));
        memcpy(to, first, sizeof(first));
        memcpy(to + len - sizeof(last), last, sizeof(last));
    } else if (len >= 8) {
        uint64_t first, last;

        memcpy(&first, from, sizeof(first));
        memcpy(&last, from + len - sizeof(last), sizeof(last));
        memcpy(to, &first, sizeof(first));
        memcpy(to + len - sizeof(last), &last, sizeof(last));
    } else if (len >= 4) {
        uint32_t first, last;

        memcpy(&first, from, sizeof(first));
        memcpy(&last, from + len - sizeof(last), sizeof(last));
        memcpy(to, &first, sizeof(first));
        memcpy(to + len - sizeof(last), &last, sizeof(last));
    } else if (len > 0) {
        to[0] = from[0];
        to[len / 2] = from[len / 2];
        to[len - 1] = from[len - 1];
    }
    return to + len;
}

/* The upper-case letters of ASCII made lower-case; all else as it is.  Exact: no sum passes its byte. */
static inline uint64_t weir_word_lower(uint64_t word)
{
    uint64_t low_bits = word & ~WEIR_WORD_MARKS;
    uint64_t from_a = low_bits + WEIR_WORD_OF(0x80 - 'A'), beyond_z = low_bits + WEIR_WORD_OF(0x7f - 'Z');

    return word | ((from_a ^ beyond_z) & ~word & WEIR_WORD_MARKS) >> 2;
}

/* The place, 0 to 7, of the lowest of marks, which are not 0. */
static inline size_t weir_word_lowest(uint64_t marks)
{
    return (size_t)__builtin_ctzll(marks) / 8;
}

#endif
