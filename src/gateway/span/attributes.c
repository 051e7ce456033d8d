/*
 * KeyValue {key = 1, value = 2}, AnyValue {string = 1, bool = 2, int = 3, double = 4, array = 5 {values =
 * 1}}: https://github.com/open-telemetry/opentelemetry-proto, common.proto.
 */
#include "gateway/span/attributes.h"

#include <string.h>

#include "base/slice.h"
#include "wire/utf8.h"

enum { KEY = 1, VALUE = 2 };
enum { STRING = 1, BOOL = 2, INT = 3, DOUBLE = 4, ARRAY = 5, ITEM = 1 };

/* Without the beginning of a character at its end. */
static struct weir_slice cut(struct weir_slice text)
{
    size_t len = WEIR_ATTRIBUTE_TEXT_MAX;

    if (text.len <= len)
        return text;
    while (len > 0 && weir_utf8_is_tail((unsigned char)text.ptr[len]))
        len--;
    return weir_slice_sub(text, 0, len);
}

struct weir_slice weir_attribute_clean(struct weir_slice text, char room[WEIR_ATTRIBUTE_TEXT_MAX])
{
    const char *p, *end;
    bool clean = true;
    size_t len = 0;

    text = cut(text);
    end = text.ptr + text.len;
    for (p = text.ptr; p < end;) {
        size_t step = weir_utf8_len(p, end);

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

/* Begins an attribute: the marks of it and of its value. */
struct marks {
    size_t attribute;
    size_t value;
};

static struct marks open(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];
    struct marks marks;

    marks.attribute = weir_protobuf_open(writer, field);
    weir_protobuf_put_bytes(writer, KEY, weir_attribute_clean(name, room));
    marks.value = weir_protobuf_open(writer, VALUE);
    return marks;
}

static void close(struct weir_protobuf_writer *writer, struct marks marks)
{
    weir_protobuf_close(writer, marks.value);
    weir_protobuf_close(writer, marks.attribute);
}

void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                         struct weir_slice text)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];
    struct marks marks;

    if (text.len == 0)
        return;
    marks = open(writer, field, name);
    weir_protobuf_put_bytes(writer, STRING, weir_attribute_clean(text, room));
    close(writer, marks);
}

void weir_attribute_texts(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                          struct weir_slice only)
{
    char room[WEIR_ATTRIBUTE_TEXT_MAX];
    struct marks marks;
    size_t array, item;

    if (only.len == 0)
        return;
    marks = open(writer, field, name);
    array = weir_protobuf_open(writer, ARRAY);
    item = weir_protobuf_open(writer, ITEM);
    weir_protobuf_put_bytes(writer, STRING, weir_attribute_clean(only, room));
    weir_protobuf_close(writer, item);
    weir_protobuf_close(writer, array);
    close(writer, marks);
}

void weir_attribute_u64(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                        uint64_t number)
{
    struct marks marks = open(writer, field, name);

    weir_protobuf_put_u64(writer, INT, number);
    close(writer, marks);
}

void weir_attribute_double(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                           double number)
{
    struct marks marks = open(writer, field, name);

    weir_protobuf_put_double(writer, DOUBLE, number);
    close(writer, marks);
}

void weir_attribute_flag(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                         bool value)
{
    struct marks marks = open(writer, field, name);

    weir_protobuf_put_u64(writer, BOOL, value ? 1 : 0);
    close(writer, marks);
}
