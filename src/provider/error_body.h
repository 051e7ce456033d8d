/*
 * What a provider's error says, whatever its shape: OpenAI's `{"error": {...}}`, plain `message` or `detail`,
 * an array around it, an error inside a choice, HTML, or no structure at all.
 *
 * Nothing is copied but strings with escapes; a body that is cut off or no JSON gives what could be read.
 */
#ifndef WEIR_PROVIDER_ERROR_BODY_H
#define WEIR_PROVIDER_ERROR_BODY_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

/* Empty where the body does not say. */
struct weir_error_body {
    bool html; /* a page of a server in front of the model */
    /* The words, decoded; for JSON without any and for plain text the body itself. */
    struct weir_slice message;
    struct weir_slice code; /* numbers as their digits */
    struct weir_slice type;
    struct weir_slice param;
    struct weir_slice status;      /* `status`: Google's name, or digits */
    struct weir_slice number;      /* a status code in digits that is not called `code` */
    struct weir_slice inner;       /* JSON of Azure's inner error */
    struct weir_slice retry_delay; /* Google's `retryDelay`: digits, perhaps with a fraction, of seconds */
};

/* 0 or WEIR_ERR_NOMEM.  Slices are parts of the body or of the arena. */
WEIR_MUST_USE int weir_error_body_read(struct weir_slice body, struct weir_arena *arena,
                                       struct weir_error_body *ret_error);

/* The HTTP status that the error means by its own words (4xx or 5xx); 0: it does not say. */
int weir_error_body_status(const struct weir_error_body *error);

/* The words of an HTML page: tags, scripts and styles dropped, blanks joined.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_error_body_plain(struct weir_slice html, size_t max_bytes, struct weir_arena *arena,
                                        struct weir_slice *ret_text);

#endif
