/*
 * What the router knows of a failure: three facts that decide (kind, status, Retry-After; reliability.md) and
 * an origin that only the counting looks at (decisions 4).
 */
#ifndef WEIR_FAILURE_H
#define WEIR_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_kind {
#define X(kind, name, class_name, status, type, retry1, retry2, fails1, fails2) WEIR_KIND_##kind,
#include <weir/tbl/failure_kinds.h>
#undef X
    WEIR_KIND_COUNT
} weir_kind;

typedef enum weir_policy_field {
#define X(field, retries_key, fails_key) WEIR_POLICY_##field,
#include <weir/tbl/policy_fields.h>
#undef X
    WEIR_POLICY_FIELDS,
    WEIR_POLICY_NONE = WEIR_POLICY_FIELDS
} weir_policy_field;

/* Where a failure comes from: decides what is counted against the deployment, and nothing else. */
typedef enum weir_origin {
#define X(origin, name, prose) WEIR_ORIGIN_##origin,
#include <weir/tbl/origins.h>
#undef X
    WEIR_ORIGIN_COUNT
} weir_origin;

struct weir_failure {
    weir_kind kind;
    int status;              /* HTTP status as the caller would see it, 400 to 599 */
    uint64_t retry_after_ns; /* the provider's Retry-After; 0: absent or unusable (decisions 7) */
    weir_origin origin;
};

/* A row of the table of kinds.  Lives for ever; thread-safe. */
struct weir_kind_row {
    struct weir_slice name;
    struct weir_slice class_name;
    int status;
    struct weir_slice type;
    weir_policy_field retry_fields[2];
    weir_policy_field fails_fields[2];
};

/* Never NULL; kinds out of range give the row of WEIR_KIND_INTERNAL. */
WEIR_EXPORT const struct weir_kind_row *weir_kind_row(weir_kind kind);

/* The keys of a policy field: retries true for `retry_policy`; empty where the policy has no such field. */
WEIR_EXPORT struct weir_slice weir_policy_field_key(weir_policy_field field, bool retries);

/* "provider", "caller_limit", ...  Lives for ever. */
WEIR_EXPORT struct weir_slice weir_origin_name(weir_origin origin);

#ifdef __cplusplus
}
#endif

#endif
