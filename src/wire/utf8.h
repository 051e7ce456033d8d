/*
 * One character of UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF).  Pure.
 */
#ifndef WEIR_WIRE_UTF8_H
#define WEIR_WIRE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at the front of p, 1 to 4; 0 when it is none, or is cut off by the end. */
static inline size_t weir_utf8_len(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    unsigned char c = left == 0 ? 0xff : s[0], low = 0x80, high = 0xbf;
    size_t len = c < 0x80                ? 1
                 : c >= 0xc2 && c < 0xe0 ? 2
                 : (c & 0xf0) == 0xe0    ? 3
                 : c >= 0xf0 && c < 0xf5 ? 4
                                         : 0;

    if (len <= 1 || left < len)
        return len == 1 ? 1 : 0;
    if (c == 0xe0)
        low = 0xa0; /* else a shorter form would do */
    else if (c == 0xed)
        high = 0x9f; /* surrogates */
    else if (c == 0xf0)
        low = 0x90;
    else if (c == 0xf4)
        high = 0x8f; /* beyond U+10FFFF */
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return len;
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
