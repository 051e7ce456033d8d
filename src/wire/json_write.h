/*
 * Writing JSON into a buffer: error bodies, logs, lists.
 *
 * The writer sets commas and colons, and remembers the first failure, so that a document is written straight
 * down and the result is looked at once, at its end:
 *
 *     weir_json_writer_init(&w, &buf);
 *     weir_json_open(&w, '{');
 *     weir_json_put_key(&w, WEIR_SLICE("object"));
 *     weir_json_put_string(&w, WEIR_SLICE("list"));
 *     weir_json_close(&w, '}');
 *     return weir_json_writer_end(&w);
 *
 * Strings may hold any bytes: what JSON demands is escaped, and what is not UTF-8 becomes U+FFFD.  That keys
 * and values alternate is up to the caller.
 */
#ifndef WEIR_WIRE_JSON_WRITE_H
#define WEIR_WIRE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

struct weir_json_writer {
    struct weir_buf *buf;
    int error;
    bool comma; /* the next key or value follows another */
};

/* Appends to buf, which stays the caller's. */
void weir_json_writer_init(struct weir_json_writer *writer, struct weir_buf *buf);

/*
 * 0, or the first failure: WEIR_ERR_LIMIT or WEIR_ERR_NOMEM of the buffer; what was written is then a torso.
 */
WEIR_MUST_USE int weir_json_writer_end(const struct weir_json_writer *writer);

/* '{' or '['; '}' or ']'. */
void weir_json_open(struct weir_json_writer *writer, char bracket);
void weir_json_close(struct weir_json_writer *writer, char bracket);

void weir_json_put_key(struct weir_json_writer *writer, struct weir_slice name);
void weir_json_put_string(struct weir_json_writer *writer, struct weir_slice text);
void weir_json_put_u64(struct weir_json_writer *writer, uint64_t number);
/* number / 10^decimals, decimals up to 9. */
void weir_json_put_fixed(struct weir_json_writer *writer, uint64_t number, unsigned decimals);
void weir_json_put_bool(struct weir_json_writer *writer, bool value);
void weir_json_put_null(struct weir_json_writer *writer);
/* Text that is JSON already: one value. */
void weir_json_put_raw(struct weir_json_writer *writer, struct weir_slice json);

/* A member whole, its key with it, for what is written often: a string, a value that is JSON already, a
 * number, true or false.  The key is printable ASCII without quotes and backslashes. */
void weir_json_put_text_member(struct weir_json_writer *writer, struct weir_slice key,
                               struct weir_slice text);
void weir_json_put_raw_member(struct weir_json_writer *writer, struct weir_slice key, struct weir_slice json);
void weir_json_put_u64_member(struct weir_json_writer *writer, struct weir_slice key, uint64_t number);
void weir_json_put_bool_member(struct weir_json_writer *writer, struct weir_slice key, bool value);
/* A string that is known to consist of the same bytes as a key. */
void weir_json_put_word_member(struct weir_json_writer *writer, struct weir_slice key,
                               struct weir_slice word);

/* For what is written so often that it goes by bytes: room for so many of them, behind the comma that is due;
 * NULL after an error.  What is written there, one value or member, or more with the commas between them,
 * ends at `at`. */
char *weir_json_room(struct weir_json_writer *writer, size_t bytes);
void weir_json_filled(struct weir_json_writer *writer, const char *at);

/* Just the text between quotes, escaped: for parts of a string that is put together by the caller. */
WEIR_MUST_USE int weir_json_escape(struct weir_buf *buf, struct weir_slice text);

#endif
