/*
 * KeyValue {key = 1, value = 2}, AnyValue {string = 1, bool = 2, int = 3, double = 4, array = 5 {values =
 * 1}}: https://github.com/open-telemetry/opentelemetry-proto, common.proto.
 */
#include "gateway/span/attributes.h"

#include <string.h>

#include "base/slice.h"
#include "base/word.h"
#include "wire/utf8.h"

enum { KEY = 1, VALUE = 2 };
enum { STRING = 1, BOOL = 2, INT = 3, DOUBLE = 4, ARRAY = 5, ITEM = 1 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

/* What stands before a field, whose number is below 16. */
#define KEY_OF(field, type) ((field) << 3 | (type))

/* Keys are copied with what is unused behind them. */
enum { NAME_MAX = 80, COPIED_AT_ONCE = 48 };

/* ---- keys ---- */

/* The length of a name is one byte.  Nothing is between characters, and the rest are zeros. */
#define X(id, name)                                                                                          \
    static const struct {                                                                                    \
        char before[2];                                                                                      \
        char text[sizeof(name) - 1];                                                                         \
        char behind;                                                                                         \
        char rest[WEIR_ATTRIBUTE_KEY_MAX - sizeof(name) - 2];                                                \
    } key_##id = {{KEY_OF(KEY, BYTES), sizeof(name) - 1}, name, KEY_OF(VALUE, BYTES), ""};
#include "gateway/span/tbl/attributes.h"
#undef X

const struct weir_attribute_key weir_attribute_keys[WEIR_ATTRIBUTES] = {
#define X(id, name) {(const char *)&key_##id, sizeof(name) + 2},
#include "gateway/span/tbl/attributes.h"
#undef X
};

struct weir_attribute_key weir_attribute_key_of(struct weir_slice prefix, struct weir_slice name,
                                                char room[WEIR_ATTRIBUTE_KEY_MAX])
{
    char clean_room[WEIR_ATTRIBUTE_TEXT_MAX];
    size_t len = prefix.len;

    name = weir_attribute_clean(weir_slice_sub(name, 0, NAME_MAX - prefix.len), clean_room);
    memset(room, 0, WEIR_ATTRIBUTE_KEY_MAX);
    room[0] = KEY_OF(KEY, BYTES);
    if (prefix.len > 0)
        memcpy(room + 2, prefix.ptr, prefix.len);
    if (name.len > 0)
        memcpy(room + 2 + len, name.ptr, name.len);
    len += name.len;
    room[1] = (char)len;
    room[2 + len] = KEY_OF(VALUE, BYTES);
    return (struct weir_attribute_key){room, len + 3};
}

/* ---- texts ---- */

/* Without the beginning of a character at its end. */
static inline struct weir_slice cut(struct weir_slice text)
{
    size_t len = WEIR_ATTRIBUTE_TEXT_MAX;

    if (text.len <= len)
        return text;
    while (len > 0 && weir_utf8_is_tail((unsigned char)text.ptr[len]))
        len--;
    return weir_slice_sub(text, 0, len);
}

/* As nearly all are.  The last word may overlap the one before. */
static inline bool is_ascii(struct weir_slice text)
{
    uint64_t seen = 0;

    if (text.len < sizeof(seen))
        return (weir_word_load_short(text.ptr, text.len) & WEIR_WORD_MARKS) == 0;
    for (size_t at = 0; at < text.len - sizeof(seen); at += sizeof(seen))
        seen |= weir_word_load(text.ptr + at);
    return ((seen | weir_word_load(text.ptr + text.len - sizeof(seen))) & WEIR_WORD_MARKS) == 0;
}

/* Looks at each character. */
static struct weir_slice replace_bad(struct weir_slice text, char room[WEIR_ATTRIBUTE_TEXT_MAX])
{
    const char *p, *last = text.ptr + text.len;
    bool clean = true;
    size_t len = 0;

    for (p = text.ptr; p < last;) {
        size_t step = weir_utf8_len(p, last);

        if (step == 0) {
            room[len++] = '?';
            clean = false;
            p++;
            continue;
        }
        memcpy(room + len, p, step);
        len += step;
        p += step;
    }
    return clean ? text : (struct weir_slice){room, len};
}

struct weir_slice weir_attribute_clean(struct weir_slice text, char room[WEIR_ATTRIBUTE_TEXT_MAX])
{
    text = cut(text);
    return is_ascii(text) ? text : replace_bad(text, room);
}

/* ---- attributes ---- */

/* Lengths are below 16,384 here: of one byte, or two. */
static inline char *put_size(char *p, size_t size)
{
    if (size >= 0x80) {
        *p++ = (char)((size & 0x7f) | 0x80);
        size >>= 7;
    }
    *p++ = (char)size;
    return p;
}

static inline char *put_length(char *p, unsigned field, size_t length)
{
    *p++ = (char)KEY_OF(field, BYTES);
    return put_size(p, length);
}

static inline char *put_string(char *p, struct weir_slice text)
{
    p = put_length(p, STRING, text.len);
    return weir_bytes_copy(p, text.ptr, text.len);
}

static inline size_t size_of(size_t length)
{
    return length + (length < 0x80 ? 2U : 3U);
}

static inline char *put_key(char *p, struct weir_attribute_key key)
{
    memcpy(p, key.bytes, COPIED_AT_ONCE);
    if (key.len > COPIED_AT_ONCE)
        memcpy(p + COPIED_AT_ONCE, key.bytes + COPIED_AT_ONCE, key.len - COPIED_AT_ONCE);
    return p + key.len;
}

/* All up to the value, whose size is known. */
static inline char *begin(char *p, unsigned field, struct weir_attribute_key key, size_t value_bytes)
{
    p = put_length(p, field, key.len - 1 + size_of(value_bytes));
    return put_size(put_key(p, key), value_bytes);
}

/* Of any length, and any bytes.  No part of its caller, whose frame would grow by the room. */
static __attribute__((noinline)) char *put_any(char *at, unsigned field, struct weir_attribute_key key,
                                               struct weir_slice text)
{
    char clean_room[WEIR_ATTRIBUTE_TEXT_MAX];

    text = weir_attribute_clean(text, clean_room);
    return put_string(begin(at, field, key, size_of(text.len)), text);
}

/* A key and a text of so many bytes together: all lengths are below 128, of one byte. */
enum { SHORT_MAX = 127 - 3 };

char *weir_attribute_put_text(char *at, unsigned field, struct weir_attribute_key key, struct weir_slice text)
{
    char *p;

    if (text.len == 0)
        return at;
    if (text.len + key.len > SHORT_MAX || !is_ascii(text))
        return put_any(at, field, key, text);
    at[0] = (char)KEY_OF(field, BYTES);
    at[1] = (char)(key.len + text.len + 3);
    p = put_key(at + 2, key);
    p[0] = (char)(text.len + 2);
    p[1] = (char)KEY_OF(STRING, BYTES);
    p[2] = (char)text.len;
    return weir_bytes_copy(p + 3, text.ptr, text.len);
}

char *weir_attribute_put_texts(char *at, unsigned field, struct weir_attribute_key key,
                               struct weir_slice only)
{
    char clean_room[WEIR_ATTRIBUTE_TEXT_MAX];

    if (only.len == 0)
        return at;
    only = weir_attribute_clean(only, clean_room);
    at = begin(at, field, key, size_of(size_of(size_of(only.len))));
    at = put_length(at, ARRAY, size_of(size_of(only.len)));
    return put_string(put_length(at, ITEM, size_of(only.len)), only);
}

/* It is shorter than 128 bytes, so that its lengths have their places before they are known. */
static char *put_number(char *at, unsigned field, struct weir_attribute_key key, unsigned kind,
                        uint64_t number)
{
    char *value = put_key(at + 2, key);
    size_t len = 2;

    value[1] = (char)KEY_OF(kind, VARINT);
    value[2] = (char)number;
    if (number >= 0x80)
        len = 1 + weir_protobuf_varint(number, value + 2);
    value[0] = (char)len;
    at[0] = (char)KEY_OF(field, BYTES);
    at[1] = (char)(key.len + 1 + len);
    return value + 1 + len;
}

char *weir_attribute_put_u64(char *at, unsigned field, struct weir_attribute_key key, uint64_t number)
{
    return put_number(at, field, key, INT, number);
}

char *weir_attribute_put_flag(char *at, unsigned field, struct weir_attribute_key key, bool value)
{
    return put_number(at, field, key, BOOL, value ? 1 : 0);
}

char *weir_attribute_put_double(char *at, unsigned field, struct weir_attribute_key key, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    at = begin(at, field, key, 1 + sizeof(bits));
    *at++ = (char)KEY_OF(DOUBLE, FIXED64);
    weir_word_store(at, bits);
    return at + sizeof(bits);
}

/* ---- the same with a writer ---- */

#define APPEND(writer, put)                                                                                  \
    do {                                                                                                     \
        char *at = NULL;                                                                                     \
                                                                                                             \
        if ((writer)->error == 0)                                                                            \
            (writer)->error = weir_buf_reserve((writer)->buf, WEIR_ATTRIBUTE_MAX, &at);                      \
        if ((writer)->error == 0)                                                                            \
            weir_buf_commit((writer)->buf, (size_t)((put)-at));                                              \
    } while (0)

void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         struct weir_slice text)
{
    APPEND(writer, weir_attribute_put_text(at, field, key, text));
}

void weir_attribute_texts(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                          struct weir_slice only)
{
    APPEND(writer, weir_attribute_put_texts(at, field, key, only));
}

void weir_attribute_u64(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                        uint64_t number)
{
    APPEND(writer, weir_attribute_put_u64(at, field, key, number));
}

void weir_attribute_flag(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         bool value)
{
    APPEND(writer, weir_attribute_put_flag(at, field, key, value));
}

void weir_attribute_double(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                           double number)
{
    APPEND(writer, weir_attribute_put_double(at, field, key, number));
}
