/* Digits are produced from the last to the first, at the end of the caller's array. */
#include "base/text.h"

#include "base/time.h"
#include "base/word.h"

enum { DECIMALS_MAX = 12 };

struct weir_slice weir_text_u64(uint64_t value, char digits[WEIR_TEXT_U64_MAX])
{
    size_t at = WEIR_TEXT_U64_MAX;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return (struct weir_slice){digits + at, WEIR_TEXT_U64_MAX - at};
}

struct weir_slice weir_text_fixed(uint64_t value, unsigned decimals, char digits[WEIR_TEXT_FIXED_MAX])
{
    size_t at = WEIR_TEXT_FIXED_MAX;

    if (decimals > DECIMALS_MAX)
        decimals = DECIMALS_MAX;
    for (unsigned i = 0; i < decimals; i++) {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    }
    if (decimals > 0)
        digits[--at] = '.';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return (struct weir_slice){digits + at, WEIR_TEXT_FIXED_MAX - at};
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

/* Two or more digits of value at room, with zeros in front. */
static void put_digits(char *room, unsigned width, uint64_t value)
{
    while (width-- > 0) {
        room[width] = (char)('0' + value % 10);
        value /= 10;
    }
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

    put_digits(room, 4, year);
    put_digits(room + 5, 2, month < 10 ? month + 3 : month - 9);
    put_digits(room + 8, 2, day_of_year - (153 * month + 2) / 5 + 1);
}

struct weir_slice weir_text_time(uint64_t wall_ns, char room[WEIR_TEXT_TIME_MAX])
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";
    uint64_t ms = wall_ns / WEIR_NS_PER_MS;
    uint64_t s = ms / 1000;

    for (size_t i = 0; i < WEIR_TEXT_TIME_MAX; i++)
        room[i] = shape[i];
    put_date(room, s / 86400);
    put_digits(room + 11, 2, s / 3600 % 24);
    put_digits(room + 14, 2, s / 60 % 60);
    put_digits(room + 17, 2, s % 60);
    put_digits(room + 20, 3, ms % 1000);
    return (struct weir_slice){room, WEIR_TEXT_TIME_MAX};
}
