/*
 * Protocol buffers as bytes: fields by their numbers, written one after the other, and taken apart again.
 *
 * Of the wire format what OTLP needs: variable and fixed numbers, bytes, messages in messages.  Whoever calls
 * knows the schema.  Pure.
 */
#ifndef WEIR_WIRE_PROTOBUF_H
#define WEIR_WIRE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

/* ---- writing ---- */

enum { WEIR_PROTOBUF_VARINT_MAX = 10 };

/* A number of variable length; how many bytes it took. */
static inline size_t weir_protobuf_varint(uint64_t number, char room[WEIR_PROTOBUF_VARINT_MAX])
{
    size_t len = 0;

    for (; number >= 0x80; number >>= 7)
        room[len++] = (char)((number & 0x7f) | 0x80);
    room[len++] = (char)number;
    return len;
}

struct weir_protobuf_writer {
    struct weir_buf *buf;
    int error;
};

/* Appends to buf, which stays the caller's. */
void weir_protobuf_init(struct weir_protobuf_writer *writer, struct weir_buf *buf);

/* 0, or the first failure: WEIR_ERR_LIMIT or WEIR_ERR_NOMEM of the buffer; what was written is then a torso.
 */
WEIR_MUST_USE int weir_protobuf_end(const struct weir_protobuf_writer *writer);

/* Field numbers are 1 to 2047, which is enough and two bytes at most. */
void weir_protobuf_put_u64(struct weir_protobuf_writer *writer, unsigned field, uint64_t number);
void weir_protobuf_put_fixed32(struct weir_protobuf_writer *writer, unsigned field, uint32_t number);
void weir_protobuf_put_fixed64(struct weir_protobuf_writer *writer, unsigned field, uint64_t number);
void weir_protobuf_put_bytes(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice bytes);

/* Fields that were written elsewhere. */
void weir_protobuf_put_raw(struct weir_protobuf_writer *writer, struct weir_slice fields);

/* Begins a message as a field; what is written until weir_protobuf_close, which wants the mark back, is in
 * it. Messages may be nested. */
size_t weir_protobuf_open(struct weir_protobuf_writer *writer, unsigned field);
void weir_protobuf_close(struct weir_protobuf_writer *writer, size_t mark);

/* The same for a message that has 128 bytes or more, as a rule: it need not move then. */
size_t weir_protobuf_open_long(struct weir_protobuf_writer *writer, unsigned field);
void weir_protobuf_close_long(struct weir_protobuf_writer *writer, size_t mark);

/* Ends a message of weir_protobuf_open whose last bytes, so many, are not in the buffer: they are sent behind
 * it. */
void weir_protobuf_close_around(struct weir_protobuf_writer *writer, size_t mark, size_t beyond);

/* ---- reading ---- */

struct weir_protobuf_field {
    uint32_t number;
    bool is_bytes;           /* else a number */
    uint64_t value;          /* the number */
    struct weir_slice bytes; /* text, bytes, or a message: a part of what was read */
};

#define WEIR_PROTOBUF_END 1 /* there is no more */
#define WEIR_PROTOBUF_BAD 2 /* the bytes are no message, or hold a group, which is of the past */

/* Takes the next field off the front of *rest.  0, WEIR_PROTOBUF_END, or WEIR_PROTOBUF_BAD. */
WEIR_MUST_USE int weir_protobuf_next(struct weir_slice *rest, struct weir_protobuf_field *ret_field);

#endif
