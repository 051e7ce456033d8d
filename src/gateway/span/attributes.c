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

/* All bytes of an attribute but its text: keys are copied with what is unused behind them. */
enum { FRAME_MAX = WEIR_ATTRIBUTE_KEY_MAX + 32, NAME_MAX = 80, COPIED_AT_ONCE = 48 };

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

struct weir_attribute_key weir_attribute_key(weir_attribute_id id)
{
    static const struct weir_attribute_key keys[WEIR_ATTRIBUTES] = {
#define X(id, name) {(const char *)&key_##id, sizeof(name) + 2},
#include "gateway/span/tbl/attributes.h"
#undef X
    };

    return keys[id];
}

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

/* As nearly all are. */
static inline bool is_ascii(struct weir_slice text)
{
    uint64_t seen = 0;
    size_t at;

    for (at = 0; at + sizeof(seen) <= text.len; at += sizeof(seen))
        seen |= weir_word_load(text.ptr + at);
    if (at < text.len)
        seen |= weir_word_load_short(text.ptr + at, text.len - at);
    return (seen & WEIR_WORD_MARKS) == 0;
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

/* Where the bytes of one attribute go; NULL when there is no room, which the writer then tells. */
static inline char *reserve(struct weir_protobuf_writer *writer, size_t bytes)
{
    char *room = NULL;

    if (writer->error == 0)
        writer->error = weir_buf_reserve(writer->buf, bytes, &room);
    return writer->error == 0 ? room : NULL;
}

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

static inline char *put_text(char *p, unsigned field, struct weir_slice text)
{
    p = put_length(p, field, text.len);
    memcpy(p, text.ptr, text.len);
    return p + text.len;
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

static inline void end(struct weir_protobuf_writer *writer, const char *begun, const char *p)
{
    weir_buf_commit(writer->buf, (size_t)(p - begun));
}

void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         struct weir_slice text)
{
    char clean_room[WEIR_ATTRIBUTE_TEXT_MAX], *room, *p;

    if (text.len == 0)
        return;
    text = weir_attribute_clean(text, clean_room);
    room = reserve(writer, FRAME_MAX + text.len);
    if (room == NULL)
        return;
    p = begin(room, field, key, size_of(text.len));
    end(writer, room, put_text(p, STRING, text));
}

void weir_attribute_texts(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                          struct weir_slice only)
{
    char clean_room[WEIR_ATTRIBUTE_TEXT_MAX], *room, *p;

    if (only.len == 0)
        return;
    only = weir_attribute_clean(only, clean_room);
    room = reserve(writer, FRAME_MAX + only.len);
    if (room == NULL)
        return;
    p = begin(room, field, key, size_of(size_of(size_of(only.len))));
    p = put_length(p, ARRAY, size_of(size_of(only.len)));
    p = put_length(p, ITEM, size_of(only.len));
    end(writer, room, put_text(p, STRING, only));
}

/* It is shorter than 128 bytes, so that its lengths have their places before they are known. */
static void put_number(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                       unsigned kind, uint64_t number)
{
    char *room = reserve(writer, FRAME_MAX), *value;
    size_t len;

    if (room == NULL)
        return;
    room[0] = (char)KEY_OF(field, BYTES);
    value = put_key(room + 2, key);
    value[1] = (char)KEY_OF(kind, VARINT);
    len = 1 + weir_protobuf_varint(number, value + 2);
    value[0] = (char)len;
    room[1] = (char)(key.len + 1 + len);
    end(writer, room, value + 1 + len);
}

void weir_attribute_u64(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                        uint64_t number)
{
    put_number(writer, field, key, INT, number);
}

void weir_attribute_flag(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         bool value)
{
    put_number(writer, field, key, BOOL, value ? 1 : 0);
}

void weir_attribute_double(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                           double number)
{
    char *room = reserve(writer, FRAME_MAX), *p;
    uint64_t bits;

    if (room == NULL)
        return;
    memcpy(&bits, &number, sizeof(bits));
    p = begin(room, field, key, 1 + sizeof(bits));
    *p++ = (char)KEY_OF(DOUBLE, FIXED64);
    weir_word_store(p, bits);
    end(writer, room, p + sizeof(bits));
}
