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

/* What an attribute takes at most, and may touch while it is written. */
enum { WEIR_ATTRIBUTE_MAX = WEIR_ATTRIBUTE_KEY_MAX + WEIR_ATTRIBUTE_TEXT_MAX + 32 };

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

extern const struct weir_attribute_key weir_attribute_keys[WEIR_ATTRIBUTES];

/* Of a name of the table.  Lives for ever. */
static inline struct weir_attribute_key weir_attribute_key(weir_attribute_id id)
{
    return weir_attribute_keys[id];
}

/* Of a name that is put together of two parts, of which the first bytes count; it lives in room. */
struct weir_attribute_key weir_attribute_key_of(struct weir_slice prefix, struct weir_slice name,
                                                char room[WEIR_ATTRIBUTE_KEY_MAX]);

/*
 * Each writes an attribute at `at`, where there is room for WEIR_ATTRIBUTE_MAX bytes, and returns the place
 * behind.  field: the number of the list in its message, below 16.
 */
char *weir_attribute_put_text(char *at, unsigned field, struct weir_attribute_key key,
                              struct weir_slice text);
/* A list of one text. */
char *weir_attribute_put_texts(char *at, unsigned field, struct weir_attribute_key key,
                               struct weir_slice only);
char *weir_attribute_put_u64(char *at, unsigned field, struct weir_attribute_key key, uint64_t number);
char *weir_attribute_put_double(char *at, unsigned field, struct weir_attribute_key key, double number);
char *weir_attribute_put_flag(char *at, unsigned field, struct weir_attribute_key key, bool value);

/* The same, appended to what the writer writes. */
void weir_attribute_text(struct weir_protobuf_writer *writer, unsigned field, struct weir_attribute_key key,
                         struct weir_slice text);
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
