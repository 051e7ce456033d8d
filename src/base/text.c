/* Digits are produced from the last to the first, at the end of the caller's array. */
#include "base/text.h"

#include <string.h>

#include "base/time.h"
#include "base/word.h"

enum { DECIMALS_MAX = 12 };

/* The two digits of each number below a hundred: a division by a hundred gives two digits. */
static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static inline void put_pair(char *room, uint64_t value)
{
    memcpy(room, pairs + 2 * value, 2);
}

/* The digits of value in front of end, one at least; where they begin. */
static char *put_before(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100) {
        end -= 2;
        put_pair(end, value % 100);
    }
    if (value >= 10) {
        end -= 2;
        put_pair(end, value);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

struct weir_slice weir_text_u64(uint64_t value, char digits[WEIR_TEXT_U64_MAX])
{
    char *end = digits + WEIR_TEXT_U64_MAX, *at = put_before(end, value);

    return (struct weir_slice){at, (size_t)(end - at)};
}

struct weir_slice weir_text_fixed(uint64_t value, unsigned decimals, char digits[WEIR_TEXT_FIXED_MAX])
{
    char *end = digits + WEIR_TEXT_FIXED_MAX, *at = end;
    unsigned left = decimals > DECIMALS_MAX ? DECIMALS_MAX : decimals;

    for (; left >= 2; left -= 2) {
        at -= 2;
        put_pair(at, value % 100);
        value /= 100;
    }
    if (left > 0) {
        *--at = (char)('0' + value % 10);
        value /= 10;
    }
    if (decimals > 0)
        *--at = '.';
    at = put_before(at, value);
    return (struct weir_slice){at, (size_t)(end - at)};
}

struct weir_slice weir_text_short(uint64_t value, unsigned decimals, char digits[WEIR_TEXT_FIXED_MAX])
{
    while (decimals > 0 && value % 10 == 0) {
        value /= 10;
        decimals--;
    }
    return weir_text_fixed(value, decimals, digits);
}

/* Eight digits at once: a nibble to each byte of a word, then 'a' to 'f' for those of ten and more. */
static void put_hex32(char *out, uint64_t value)
{
    uint64_t tens;

    value = (value << 16 | value) & UINT64_C(0x0000ffff0000ffff);
    value = (value << 8 | value) & UINT64_C(0x00ff00ff00ff00ff);
    value = (value << 4 | value) & WEIR_WORD_OF(0x0f);
    tens = (value + WEIR_WORD_OF(6)) >> 4 & WEIR_WORD_OF(1);
    weir_word_store_back(out, value + WEIR_WORD_OF('0') + tens * ('a' - '0' - 10));
}

struct weir_slice weir_text_hex64(uint64_t value, char digits[WEIR_TEXT_HEX64_MAX])
{
    put_hex32(digits, value >> 32);
    put_hex32(digits + 8, value & UINT32_MAX);
    return (struct weir_slice){digits, WEIR_TEXT_HEX64_MAX};
}

/* Days since 1970-01-01 to a date: years are counted from March, so that the leap day is the last. */
static void put_date(char *room, uint64_t days)
{
    uint64_t shifted = days + 719468;
    uint64_t era = shifted / 146097;
    uint64_t day_of_era = shifted % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t month = (5 * day_of_year + 2) / 153;
    uint64_t year = era * 400 + year_of_era + (month >= 10 ? 1 : 0);

    put_pair(room, year / 100);
    put_pair(room + 2, year % 100);
    put_pair(room + 5, month < 10 ? month + 3 : month - 9);
    put_pair(room + 8, day_of_year - (153 * month + 2) / 5 + 1);
}

static inline void put_ms(char *room, uint64_t ms)
{
    room[20] = (char)('0' + ms / 100);
    put_pair(room + 21, ms % 100);
}

struct weir_slice weir_text_time(uint64_t wall_ns, char room[WEIR_TEXT_TIME_MAX])
{
    uint64_t ms = wall_ns / WEIR_NS_PER_MS;
    uint64_t s = ms / 1000;
    uint64_t minutes = s / 60;

    memcpy(room, "0000-00-00T00:00:00.000Z", WEIR_TEXT_TIME_MAX);
    put_date(room, s / 86400);
    put_pair(room + 11, minutes / 60 % 24);
    put_pair(room + 14, minutes % 60);
    put_pair(room + 17, s % 60);
    put_ms(room, ms % 1000);
    return (struct weir_slice){room, WEIR_TEXT_TIME_MAX};
}

struct weir_slice weir_text_clock_time(struct weir_text_clock *clock, uint64_t wall_ns)
{
    uint64_t ms = wall_ns / WEIR_NS_PER_MS;

    if (clock->after_s != ms / 1000 + 1) {
        clock->after_s = ms / 1000 + 1;
        return weir_text_time(wall_ns, clock->text);
    }
    put_ms(clock->text, ms % 1000);
    return (struct weir_slice){clock->text, WEIR_TEXT_TIME_MAX};
}
