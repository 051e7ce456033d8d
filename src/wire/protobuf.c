/*
 * The length of a message stands before it and is known after it: one byte is kept free for it, or two, and a
 * message whose length takes more, or less, moves.
 */
#include "wire/protobuf.h"

#include <assert.h>
#include <string.h>

#include "base/slice.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, TYPE_BITS = 3 };

enum { VARINT_MAX = WEIR_PROTOBUF_VARINT_MAX, FIELD_MAX = 2047 };

#define NUMBER_MAX UINT64_C(536870911)

/* ---- writing ---- */

void weir_protobuf_init(struct weir_protobuf_writer *writer, struct weir_buf *buf)
{
    *writer = (struct weir_protobuf_writer){.buf = buf};
}

int weir_protobuf_end(const struct weir_protobuf_writer *writer)
{
    return writer->error;
}

/* The field's key and a number behind it. */
static void put_pair(struct weir_protobuf_writer *writer, unsigned field, unsigned type, uint64_t number)
{
    char *room;

    assert(field > 0 && field <= FIELD_MAX);
    if (writer->error == 0)
        writer->error = weir_buf_reserve(writer->buf, 2 * VARINT_MAX, &room);
    if (writer->error == 0) {
        size_t len = weir_protobuf_varint((uint64_t)field << TYPE_BITS | type, room);

        weir_buf_commit(writer->buf, len + weir_protobuf_varint(number, room + len));
    }
}

void weir_protobuf_put_u64(struct weir_protobuf_writer *writer, unsigned field, uint64_t number)
{
    put_pair(writer, field, VARINT, number);
}

static void put_fixed(struct weir_protobuf_writer *writer, unsigned field, unsigned type, uint64_t number,
                      size_t bytes)
{
    char *room;

    assert(field > 0 && field <= FIELD_MAX);
    if (writer->error == 0)
        writer->error = weir_buf_reserve(writer->buf, VARINT_MAX + bytes, &room);
    if (writer->error == 0) {
        size_t len = weir_protobuf_varint((uint64_t)field << TYPE_BITS | type, room);

        for (size_t i = 0; i < bytes; i++)
            room[len++] = (char)(number >> (8 * i) & 0xff);
        weir_buf_commit(writer->buf, len);
    }
}

void weir_protobuf_put_fixed32(struct weir_protobuf_writer *writer, unsigned field, uint32_t number)
{
    put_fixed(writer, field, FIXED32, number, sizeof(number));
}

void weir_protobuf_put_fixed64(struct weir_protobuf_writer *writer, unsigned field, uint64_t number)
{
    put_fixed(writer, field, FIXED64, number, sizeof(number));
}

void weir_protobuf_put_bytes(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice bytes)
{
    put_pair(writer, field, BYTES, bytes.len);
    if (writer->error == 0)
        writer->error = weir_buf_append(writer->buf, bytes);
}

void weir_protobuf_put_raw(struct weir_protobuf_writer *writer, struct weir_slice fields)
{
    if (writer->error == 0)
        writer->error = weir_buf_append(writer->buf, fields);
}

size_t weir_protobuf_open(struct weir_protobuf_writer *writer, unsigned field)
{
    put_pair(writer, field, BYTES, 0);
    return weir_buf_len(writer->buf);
}

size_t weir_protobuf_open_long(struct weir_protobuf_writer *writer, unsigned field)
{
    put_pair(writer, field, BYTES, 0x80);
    return weir_buf_len(writer->buf);
}

/* The length goes where bytes were kept for it; what stands behind them moves if it takes more, or less. */
static void close_message(struct weir_protobuf_writer *writer, size_t mark, size_t kept, size_t beyond)
{
    char digits[VARINT_MAX], *room, *message;
    size_t here, bytes;

    if (writer->error != 0)
        return;
    here = weir_buf_len(writer->buf) - mark;
    bytes = weir_protobuf_varint(here + beyond, digits);
    writer->error = weir_buf_reserve(writer->buf, bytes, &room);
    if (writer->error != 0)
        return;
    message = room - here;
    if (bytes != kept)
        memmove(message - kept + bytes, message, here);
    memcpy(message - kept, digits, bytes);
    writer->buf->end += bytes - kept;
}

void weir_protobuf_close(struct weir_protobuf_writer *writer, size_t mark)
{
    close_message(writer, mark, 1, 0);
}

void weir_protobuf_close_long(struct weir_protobuf_writer *writer, size_t mark)
{
    close_message(writer, mark, 2, 0);
}

void weir_protobuf_close_around(struct weir_protobuf_writer *writer, size_t mark, size_t beyond)
{
    close_message(writer, mark, 1, beyond);
}

/* ---- reading ---- */

static bool take_varint(struct weir_slice *rest, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < rest->len && i < VARINT_MAX; i++) {
        unsigned char byte = (unsigned char)rest->ptr[i];

        if (i == VARINT_MAX - 1 && byte > 1)
            return false;
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = weir_slice_sub(*rest, i + 1, rest->len);
            *ret_number = number;
            return true;
        }
    }
    return false;
}

static bool take_fixed(struct weir_slice *rest, size_t bytes, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (rest->len < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)(unsigned char)rest->ptr[i] << (8 * i);
    *rest = weir_slice_sub(*rest, bytes, rest->len);
    *ret_number = number;
    return true;
}

static bool take_bytes(struct weir_slice *rest, struct weir_slice *ret_bytes)
{
    uint64_t length;

    if (!take_varint(rest, &length) || length > rest->len)
        return false;
    *ret_bytes = weir_slice_sub(*rest, 0, (size_t)length);
    *rest = weir_slice_sub(*rest, (size_t)length, rest->len);
    return true;
}

static bool take_value(struct weir_slice *rest, unsigned type, struct weir_protobuf_field *field)
{
    field->is_bytes = type == BYTES;
    switch (type) {
    case VARINT:
        return take_varint(rest, &field->value);
    case FIXED64:
        return take_fixed(rest, 8, &field->value);
    case FIXED32:
        return take_fixed(rest, 4, &field->value);
    case BYTES:
        return take_bytes(rest, &field->bytes);
    default:
        return false;
    }
}

int weir_protobuf_next(struct weir_slice *rest, struct weir_protobuf_field *ret_field)
{
    struct weir_protobuf_field field = {0};
    struct weir_slice left = *rest;
    uint64_t key;

    if (left.len == 0)
        return WEIR_PROTOBUF_END;
    if (!take_varint(&left, &key) || key >> TYPE_BITS == 0 || key >> TYPE_BITS > NUMBER_MAX ||
        !take_value(&left, (unsigned)(key & 7), &field))
        return WEIR_PROTOBUF_BAD;
    field.number = (uint32_t)(key >> TYPE_BITS);
    *rest = left;
    *ret_field = field;
    return 0;
}
