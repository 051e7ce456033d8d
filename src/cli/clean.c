/* One character at a time, so that whoever clips or pads has its width as well. */
#include "cli/clean.h"

#include <stdint.h>
#include <wchar.h>

#include "base/slice.h"
#include "wire/utf8.h"

static uint32_t code_of(struct weir_slice character)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)character.ptr[0] & masks[character.len];

    for (size_t i = 1; i < character.len; i++)
        code = code << 6 | ((unsigned char)character.ptr[i] & 0x3f);
    return code;
}

static bool steers(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x61c ||
           code == 0xfeff;
}

bool weir_clean_next(struct weir_slice *rest, struct weir_slice *ret_shown)
{
    size_t len;

    if (rest->len == 0)
        return false;
    len = weir_utf8_len(rest->ptr, rest->ptr + rest->len);
    *ret_shown = weir_slice_sub(*rest, 0, len);
    if (len == 0 || steers(code_of(*ret_shown)))
        *ret_shown = WEIR_SLICE("?");
    *rest = weir_slice_sub(*rest, len == 0 ? 1 : len, rest->len);
    return true;
}

int weir_clean_columns(struct weir_slice character)
{
    return wcwidth((wchar_t)code_of(character));
}
