/*
 * Writing numbers and times as text without a format string, a locale or a terminating NUL.
 *
 * Each function writes into the caller's array, whose least size is the constant beside it, and returns the
 * part of it that holds the text.
 */
#ifndef WEIR_BASE_TEXT_H
#define WEIR_BASE_TEXT_H

#include <stdint.h>

#include <weir/slice.h>

#define WEIR_TEXT_U64_MAX   20
#define WEIR_TEXT_FIXED_MAX 32
#define WEIR_TEXT_HEX64_MAX 16
#define WEIR_TEXT_TIME_MAX  24

/* Decimal. */
struct weir_slice weir_text_u64(uint64_t value, char digits[WEIR_TEXT_U64_MAX]);

/* value / 10^decimals with exactly that many decimals (0 to 12): weir_text_fixed(1234, 3) is "1.234". */
struct weir_slice weir_text_fixed(uint64_t value, unsigned decimals, char digits[WEIR_TEXT_FIXED_MAX]);

/* The same without zeros at the end of the decimals: weir_text_short(1500, 3) is "1.5". */
struct weir_slice weir_text_short(uint64_t value, unsigned decimals, char digits[WEIR_TEXT_FIXED_MAX]);

/* Sixteen lower-case hexadecimal digits. */
struct weir_slice weir_text_hex64(uint64_t value, char digits[WEIR_TEXT_HEX64_MAX]);

/* A time since 1970 in UTC as RFC 3339 has it, with milliseconds: "2024-02-29T12:34:56.789Z".  By calendar
 * arithmetic on days, without the C library. */
struct weir_slice weir_text_time(uint64_t wall_ns, char room[WEIR_TEXT_TIME_MAX]);

/* The last second that was written as a text, for times that come one after the other.  Zeroed: none. */
struct weir_text_clock {
    uint64_t after_s; /* the second behind it; 0: there is none */
    char text[WEIR_TEXT_TIME_MAX];
};

/* The same as weir_text_time; the text lives in the clock until the next one. */
struct weir_slice weir_text_clock_time(struct weir_text_clock *clock, uint64_t wall_ns);

#endif
