/*
 * Every field that could carry the key is compared, so that the time depends on how many there are and on
 * their lengths, never on where a wrong key differs.
 */
#include "gateway/request/auth.h"

#include "base/slice.h"
#include "wire/http1_read.h"

/* The token of "Bearer TOKEN"; empty for another scheme. */
static struct weir_slice bearer(struct weir_slice value)
{
    struct weir_slice scheme = WEIR_SLICE("bearer ");

    if (value.len < scheme.len || !weir_slice_eq_ci(weir_slice_sub(value, 0, scheme.len), scheme))
        return WEIR_SLICE_EMPTY;
    return weir_slice_trim(weir_slice_sub(value, scheme.len, value.len));
}

static struct weir_slice credential(const struct weir_http1_field *field)
{
    if (weir_slice_eq_ci(field->name, WEIR_SLICE("authorization")))
        return bearer(field->value);
    if (weir_slice_eq_ci(field->name, WEIR_SLICE("x-api-key")) ||
        weir_slice_eq_ci(field->name, WEIR_SLICE("api-key")))
        return field->value;
    return WEIR_SLICE_EMPTY;
}

bool weir_auth_allows(const struct weir_http1_head *head, struct weir_slice master_key)
{
    bool allowed = false;

    if (master_key.len == 0)
        return true;
    for (size_t i = 0; i < head->field_count; i++) {
        struct weir_slice given = credential(&head->fields[i]);

        if (given.len > 0)
            allowed |= weir_slice_eq_secret(given, master_key);
    }
    return allowed;
}
