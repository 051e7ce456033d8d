/*
 * Errors in OpenAI's shape (router-semantics 25): `{"error": {message, type, param, code}}`, where code is
 * the status as a string.
 */
#ifndef WEIR_GATEWAY_ERROR_REPLY_H
#define WEIR_GATEWAY_ERROR_REPLY_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "wire/json_write.h"

struct weir_error_reply {
    int status;
    struct weir_slice message;
    struct weir_slice type;        /* empty: null */
    struct weir_slice param;       /* empty: null */
    struct weir_slice inner_error; /* JSON, for provider_specific_fields.innererror; empty: none */
    struct weir_slice call_id;     /* for litellm_call_id; empty: none */
};

/* The type of an error that weir itself answers with: by its status.  Lives for ever. */
struct weir_slice weir_error_type(int status);

/* The object with message, type, param and code. */
void weir_error_put(const struct weir_error_reply *error, struct weir_json_writer *writer);

/* The whole body.  0 or the buffer's failure. */
WEIR_MUST_USE int weir_error_write(const struct weir_error_reply *error, struct weir_buf *buf);

/* The same as the last event of a stream. */
WEIR_MUST_USE int weir_error_write_event(const struct weir_error_reply *error, struct weir_buf *buf);

#endif
