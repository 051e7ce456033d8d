/*
 * Attributes of OpenTelemetry: names with values, as the fields of a message that holds a list of them.
 *
 * Texts are cut to WEIR_ATTRIBUTE_TEXT_MAX bytes, and what is no UTF-8 in them becomes '?': receivers refuse
 * a whole batch for one wrong byte.  Empty texts are left out.
 */
#ifndef WEIR_GATEWAY_ATTRIBUTES_H
#define WEIR_GATEWAY_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

#include "wire/protobuf.h"

enum { WEIR_ATTRIBUTE_TEXT_MAX = 256, WEIR_ATTRIBUTE_KEY_MAX = 96 };

/* A name as it is written, with what stands before and behind it. */
struct weir_attribute_key {
    const char *bytes; /* WEIR_ATTRIBUTE_KEY_MAX of them may be read */
    size_t len;
};

typedef enum weir_attribute_id {
#define X(attribute, name) WEIR_ATTRIBUTE_##attribute,
#include "gateway/span/tbl/attributes.h"
#undef X
    WEIR_ATTRIBUTES
} weir_attribute_id;

/* Of a name of the table.  Lives for ever. */
struct weir_attribute_key weir_attribute_key(weir_attribute_id id);

/* Of a name that is put together of two parts, of which the first bytes count; it lives in room. */
struct weir_attribute_key weir_attribute_key_of(struct weir_slice prefix, struct weir_slice name,
                                                char room[WEIR_ATTRIBUTE_KEY_MAX]);

/* field: the number of the list in its message, below 16. */
void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         struct weir_slice text);
/* A list of one text. */
void weir_attribute_texts(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                          struct weir_slice only);
void weir_attribute_u64(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                        uint64_t number);
void weir_attribute_double(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                           double number);
void weir_attribute_flag(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         bool value);

/* A text that may stand in a message; room is for one that had to be changed. */
struct weir_slice weir_attribute_clean(struct weir_slice text, char room[WEIR_ATTRIBUTE_TEXT_MAX]);

#endif
