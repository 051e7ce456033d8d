/*
 * One character of UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF).  Pure.
 */
#ifndef WEIR_WIRE_UTF8_H
#define WEIR_WIRE_UTF8_H

#include <stddef.h>
#include <stdint.h>

static inline int weir_utf8_is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Bytes of the character at the front of p, 1 to 4; 0 when it is none, or is cut off by the end. */
static inline size_t weir_utf8_len(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    unsigned char c = left == 0 ? 0xff : s[0];

    if (c < 0x80)
        return 1;
    if (c < 0xe0) /* below c2 it is a tail, or a longer form than need be */
        return c >= 0xc2 && left >= 2 && weir_utf8_is_tail(s[1]) ? 2 : 0;
    if (c < 0xf0) /* e0: no longer form than need be; ed: no surrogate */
        return left >= 3 && weir_utf8_is_tail(s[1]) && weir_utf8_is_tail(s[2]) &&
                       (c != 0xe0 || s[1] >= 0xa0) && (c != 0xed || s[1] < 0xa0)
                   ? 3
                   : 0;
    /* f0: no longer form than need be; f4: nothing beyond U+10FFFF */
    return c < 0xf5 && left >= 4 && weir_utf8_is_tail(s[1]) && weir_utf8_is_tail(s[2]) &&
                   weir_utf8_is_tail(s[3]) && (c != 0xf0 || s[1] >= 0x90) && (c != 0xf4 || s[1] < 0x90)
               ? 4
               : 0;
}

/* Writes the character and returns how many bytes it took; code is a scalar value. */
static inline size_t weir_utf8_put(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

#endif
