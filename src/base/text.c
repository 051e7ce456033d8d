/* Digits are produced from the last to the first, at the end of the caller's array. */
#include "base/text.h"

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

    if (decimals > 9)
        decimals = 9;
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

struct weir_slice weir_text_hex64(uint64_t value, char digits[WEIR_TEXT_HEX64_MAX])
{
    for (size_t i = 0; i < WEIR_TEXT_HEX64_MAX; i++) {
        digits[WEIR_TEXT_HEX64_MAX - 1 - i] = "0123456789abcdef"[value & 15];
        value >>= 4;
    }
    return (struct weir_slice){digits, WEIR_TEXT_HEX64_MAX};
}
