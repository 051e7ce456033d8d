/*
 * How keys in Redis are spelt (RS 22): one table of templates, so that weir and LiteLLM name the same things
 * alike.  Every key, and the channel, begins with the configured namespace and a colon, where there is one.
 */
#ifndef WEIR_STATE_KEYS_H
#define WEIR_STATE_KEYS_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

enum weir_key {
#define X(name, template) WEIR_KEY_##name,
#include "state/tbl/keys.h"
#undef X
    WEIR_KEYS
};

/* What the templates put in; a key reads only what its template names. */
struct weir_key_parts {
    struct weir_slice id;      /* {id}: of the deployment */
    struct weir_slice group;   /* {group}: the model group's name */
    struct weir_slice model;   /* {model}: the deployment's model with its provider */
    struct weir_slice counter; /* {counter}: tpm, rpm, itpm, otpm */
    struct weir_slice minute;  /* {minute}: weir_key_minute */
    struct weir_slice suffix;  /* {suffix}: of a counter of failures, as it is written by the engine */
};

/* Appends the key.  0 or negative, with nothing appended. */
WEIR_MUST_USE int weir_key_write(struct weir_buf *buf, struct weir_slice name_space, enum weir_key key,
                                 const struct weir_key_parts *parts);

enum { WEIR_KEY_MINUTE_BYTES = 5 };

/* "HH-MM" of a wall time, nanoseconds since 1970, in UTC. */
struct weir_slice weir_key_minute(uint64_t wall_ns, char text[WEIR_KEY_MINUTE_BYTES]);

#endif
