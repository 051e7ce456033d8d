/*
 * Attributes of OpenTelemetry: names with values, as the fields of a message that holds a list of them.
 *
 * Names and texts are cut to WEIR_ATTRIBUTE_TEXT_MAX bytes, and what is no UTF-8 in them becomes '?':
 * receivers refuse a whole batch for one wrong byte.  Empty texts are left out.
 */
#ifndef WEIR_GATEWAY_ATTRIBUTES_H
#define WEIR_GATEWAY_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

#include "wire/protobuf.h"

enum { WEIR_ATTRIBUTE_TEXT_MAX = 256 };

/* field: the number of the list in its message, below 16. */
void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                         struct weir_slice text);
void weir_attribute_texts(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                          struct weir_slice only); /* a list of one */
void weir_attribute_u64(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                        uint64_t number);
void weir_attribute_double(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                           double number);
void weir_attribute_flag(struct weir_protobuf_writer *writer, unsigned field, struct weir_slice name,
                         bool value);

/* A text that may stand in a message; room is for one that had to be changed. */
struct weir_slice weir_attribute_clean(struct weir_slice text, char room[WEIR_ATTRIBUTE_TEXT_MAX]);

#endif
