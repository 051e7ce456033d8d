/*
 * Limits on time as they stand at five levels, and what holds for one attempt (router-semantics 25, beyond 1
 * and 2).
 */
#ifndef WEIR_ENGINE_LIMITS_H
#define WEIR_ENGINE_LIMITS_H

#include <stdint.h>

#include <weir/snapshot.h>

enum weir_limit_field {
#define X(field, member, is_said) WEIR_LIMIT_##field,
#include "engine/tbl/limit_fields.h"
#undef X
    WEIR_LIMIT_FIELDS
};

#define WEIR_LIMIT_BIT(field) (1U << WEIR_LIMIT_##field)

/* Takes the fields that are not said yet from a level that may say them; returns the bits of those taken. */
unsigned weir_limits_take(struct weir_limits *limits, const struct weir_limits *from);

#endif
