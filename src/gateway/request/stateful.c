/*
 * What may stand anywhere is looked for as it is written, quotes and all; inside a text its quotes would be
 * escaped. A name that is spelt with escapes is not found: nobody writes it so, and a second attempt does no
 * harm but to fail.
 */
#include "gateway/request/stateful.h"

#include "base/slice.h"
#include "wire/json_read.h"

static bool has_member(const struct weir_asked *asked, struct weir_slice name)
{
    for (size_t i = 0; i < asked->member_count; i++)
        if (asked->members[i].value.type != WEIR_JSON_NULL && weir_json_key_is(&asked->members[i], name))
            return true;
    return false;
}

bool weir_stateful(const struct weir_asked *asked)
{
#define IS_TOP(name)      has_member(asked, WEIR_SLICE(name))
#define IS_ANYWHERE(name) weir_slice_has(asked->body, WEIR_SLICE("\"" name "\""))
#define X(name, where)                                                                                       \
    if (IS_##where(name))                                                                                    \
        return true;
#include "gateway/request/tbl/stored_fields.h"
#undef X
    return false;
}
