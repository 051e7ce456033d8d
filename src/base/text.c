/* Digits are produced from the last to the first, at the end of the caller's array. */
#include "base/text.h"

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
