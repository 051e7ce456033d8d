/*
 * Field values are lists or parameters with quoted strings in them; one helper cuts them at a separator that
 * stands outside quotes, and the rest is trimming and comparing.
 */
#include "wire/http_field.h"

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <weir/error.h>

#include "base/slice.h"
#include "base/word.h"

/* The 128 bits of ASCII that a token may have: letters, digits, and !#$%&'*+-.^_`|~ */
static bool is_token_char(unsigned char c)
{
    static const uint32_t bits[4] = {0x00000000, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};

    return c < 128 && (bits[c / 32] >> (c % 32) & 1) != 0;
}

bool weir_http_is_token(struct weir_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_token_char((unsigned char)s.ptr[i]))
            return false;
    return s.len > 0;
}

/* Where the first control character of a stride is; STRIDE when there is none. */
#ifdef __SSE2__
enum { STRIDE = 16 };

static inline int control_at(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i_u *)p);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    int marks = _mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))));

    return marks == 0 ? STRIDE : __builtin_ctz((unsigned)marks);
}
#else
enum { STRIDE = 8 };

static inline int control_at(const char *p)
{
    uint64_t word = weir_word_load(p), marks = weir_word_below(word, ' ') | weir_word_equal(word, 0x7f);

    return marks == 0 ? STRIDE : (int)weir_word_lowest(marks);
}
#endif

const char *weir_http_find_control(const char *p, const char *end)
{
    while (end - p >= STRIDE) {
        int at = control_at(p);

        p += at;
        if (at < STRIDE)
            return p;
    }
    while (p < end && (unsigned char)*p >= ' ' && *p != 0x7f)
        p++;
    return p;
}

bool weir_http_is_value(struct weir_slice s)
{
    const char *p = s.ptr, *end = s.len == 0 ? p : p + s.len; /* an empty one may be nowhere */

    while (p < end) {
        p = weir_http_find_control(p, end);
        if (p < end && *p++ != '\t')
            return false;
    }
    return true;
}

/* Position of the separator outside quotes, or the length. */
static size_t find_outside_quotes(struct weir_slice s, char separator)
{
    bool quoted = false;

    for (size_t i = 0; i < s.len; i++) {
        if (quoted && s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == '"')
            quoted = !quoted;
        else if (!quoted && s.ptr[i] == separator)
            return i;
    }
    return s.len;
}

/* Takes the next part, trimmed, off the front; false at the end. */
static bool next_part(struct weir_slice *rest, char separator, struct weir_slice *ret_part)
{
    size_t at = find_outside_quotes(*rest, separator);

    if (rest->len == 0)
        return false;
    *ret_part = weir_slice_trim(weir_slice_sub(*rest, 0, at));
    *rest = weir_slice_sub(*rest, at + 1, rest->len);
    return true;
}

static struct weir_slice without_parameters(struct weir_slice s)
{
    return weir_slice_trim(weir_slice_sub(s, 0, find_outside_quotes(s, ';')));
}

bool weir_http_list_next(struct weir_slice *rest, struct weir_slice *ret_member)
{
    if (!next_part(rest, ',', ret_member))
        return false;
    *ret_member = without_parameters(*ret_member);
    return true;
}

struct weir_slice weir_http_parameter(struct weir_slice value, char separator, struct weir_slice name)
{
    struct weir_slice part;

    while (next_part(&value, separator, &part)) {
        size_t mark = weir_slice_find_char(part, '=');
        struct weir_slice found;

        if (mark == WEIR_SLICE_NONE ||
            !weir_slice_eq_ci(weir_slice_trim(weir_slice_sub(part, 0, mark)), name))
            continue;
        found = weir_slice_trim(weir_slice_sub(part, mark + 1, part.len));
        if (found.len >= 2 && found.ptr[0] == '"' && found.ptr[found.len - 1] == '"')
            found = weir_slice_sub(found, 1, found.len - 1);
        return found;
    }
    return WEIR_SLICE_EMPTY;
}

static int hex_digit(char c)
{
    if (weir_char_is_digit(c))
        return c - '0';
    c = weir_char_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that %XX at the front spells; 0 when it is none that may be spelt. */
static int read_escape(struct weir_slice s)
{
    int high, low;

    if (s.len < 3)
        return 0;
    high = hex_digit(s.ptr[1]);
    low = hex_digit(s.ptr[2]);
    return high < 0 || low < 0 ? 0 : high * 16 + low;
}

int weir_http_unescape(struct weir_slice text, struct weir_arena *arena, struct weir_slice *ret_text)
{
    size_t len = 0;
    char *room;

    if (weir_slice_find_char(text, '%') == WEIR_SLICE_NONE) {
        *ret_text = text;
        return 0;
    }
    room = weir_arena_alloc(arena, text.len);
    if (room == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < text.len; i++) {
        int byte = (unsigned char)text.ptr[i];

        if (byte == '%') {
            byte = read_escape(weir_slice_sub(text, i, text.len));
            if (byte == 0)
                return WEIR_HTTP_BAD_ESCAPE;
            i += 2;
        }
        room[len++] = (char)byte;
    }
    *ret_text = (struct weir_slice){room, len};
    return 0;
}

bool weir_http_query_find(struct weir_slice query, struct weir_slice name, struct weir_slice *ret_value)
{
    struct weir_slice pair;
    bool done = false;

    while (weir_slice_cut(&query, '&', &done, &pair)) {
        size_t mark = weir_slice_find_char(pair, '=');

        if (!weir_slice_eq(weir_slice_sub(pair, 0, mark), name))
            continue;
        *ret_value = mark == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY : weir_slice_sub(pair, mark + 1, pair.len);
        return true;
    }
    return false;
}
