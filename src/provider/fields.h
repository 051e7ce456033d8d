/*
 * The fields of a request body that are not simply passed on (decisions 18 and 19, router-semantics 2.7 and
 * 12): one row of tbl/router_fields.h each.  A field without a row passes byte for byte.
 */
#ifndef WEIR_PROVIDER_FIELDS_H
#define WEIR_PROVIDER_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>

#include "wire/json_scan.h"

typedef enum weir_field_class {
    WEIR_FIELD_ROUTER,   /* means something here and never reaches a provider */
    WEIR_FIELD_MOCK,     /* likewise; a request may only bring it where that is allowed, else 400 */
    WEIR_FIELD_METADATA, /* stays here unless the deployment or a setting asks for it */
    WEIR_FIELD_PLACE,    /* where and with which key: 400 unless allowed; never in the body upstream */
    WEIR_FIELD_CONTROL   /* `model`, `stream`: written by the dialect */
} weir_field_class;

/* What a field of class PLACE would change; fields of one place are spellings of each other. */
typedef enum weir_field_place {
    WEIR_PLACE_NONE,
    WEIR_PLACE_BASE,
    WEIR_PLACE_KEY,
    WEIR_PLACE_VERSION,
    WEIR_PLACE_ORGANIZATION,
    WEIR_PLACE_HEADERS,
    WEIR_PLACE_PROVIDER,
    WEIR_PLACE_CREDENTIAL /* of dialects that are not here; refused all the same */
} weir_field_place;

#define WEIR_PLACE_BIT(place) (UINT32_C(1) << (place))

/* All that callers may be allowed to say: `allow_client_side_credentials`. */
#define WEIR_PLACE_ALL                                                                                       \
    (WEIR_PLACE_BIT(WEIR_PLACE_BASE) | WEIR_PLACE_BIT(WEIR_PLACE_KEY) | WEIR_PLACE_BIT(WEIR_PLACE_VERSION) | \
     WEIR_PLACE_BIT(WEIR_PLACE_ORGANIZATION) | WEIR_PLACE_BIT(WEIR_PLACE_HEADERS) |                          \
     WEIR_PLACE_BIT(WEIR_PLACE_PROVIDER) | WEIR_PLACE_BIT(WEIR_PLACE_CREDENTIAL))

struct weir_field {
    struct weir_slice name;
    weir_field_class field_class;
    weir_field_place place;
};

size_t weir_field_count(void);
/* By length, then by byte; NULL after the last. */
const struct weir_field *weir_field_at(size_t index);

/* The row of a field, or NULL: it passes. */
const struct weir_field *weir_field_find(struct weir_slice name);

/* The same for a member of a body; escapes in its key count as what they spell (decisions 21). */
const struct weir_field *weir_field_of(const struct weir_json_item *member);

#endif
