/* The rows of failure_kinds.h, policy_fields.h and origins.h in <weir/tbl> as data. */
#include "engine/failure.h"

#include "base/slice.h"

static const struct weir_kind_row kinds[WEIR_KIND_COUNT] = {
#define X(kind, name_, class_, status_, type_, retry1, retry2, fails1, fails2)                               \
    [WEIR_KIND_##kind] = {.name = WEIR_SLICE_INIT(name_),                                                    \
                          .class_name = WEIR_SLICE_INIT(class_),                                             \
                          .status = (status_),                                                               \
                          .type = WEIR_SLICE_INIT(type_),                                                    \
                          .retry_fields = {WEIR_POLICY_##retry1, WEIR_POLICY_##retry2},                      \
                          .fails_fields = {WEIR_POLICY_##fails1, WEIR_POLICY_##fails2}},
#include <weir/tbl/failure_kinds.h>
#undef X
};

static const struct policy_keys {
    const char *retries;
    const char *fails;
} policy_keys[WEIR_POLICY_FIELDS] = {
#define X(field, retries_key, fails_key) [WEIR_POLICY_##field] = {(retries_key), (fails_key)},
#include <weir/tbl/policy_fields.h>
#undef X
};

static const struct weir_slice origin_names[WEIR_ORIGIN_COUNT] = {
#define X(origin, name, prose) [WEIR_ORIGIN_##origin] = WEIR_SLICE_INIT(name),
#include <weir/tbl/origins.h>
#undef X
};

weir_kind weir_failure_kind(weir_kind told)
{
    return (unsigned)told < WEIR_KIND_COUNT ? told : WEIR_KIND_INTERNAL;
}

struct weir_failure weir_failure_sane(const struct weir_failure *told)
{
    struct weir_failure failure = *told;

    failure.kind = weir_failure_kind(failure.kind);
    if (failure.status < 400 || failure.status > 599)
        failure.status = weir_kind_row(failure.kind)->status;
    return failure;
}

const struct weir_kind_row *weir_kind_row(weir_kind kind)
{
    return &kinds[weir_failure_kind(kind)];
}

struct weir_slice weir_policy_field_key(weir_policy_field field, bool retries)
{
    if ((unsigned)field >= WEIR_POLICY_FIELDS)
        return WEIR_SLICE_EMPTY;
    return weir_slice_str(retries ? policy_keys[field].retries : policy_keys[field].fails);
}

struct weir_slice weir_origin_name(weir_origin origin)
{
    return (unsigned)origin < WEIR_ORIGIN_COUNT ? origin_names[origin] : WEIR_SLICE("unknown");
}
