/*
 * What may stand anywhere is looked for as it is written, quotes and all; inside a text its quotes would be
 * escaped. A name that is spelt with escapes is not found: nobody writes it so, and a second attempt does no
 * harm but to fail.
 */
#include "gateway/request/stateful.h"

#include "base/slice.h"
#include "wire/json_read.h"

#include <string.h>

static const struct weir_slice top[] = {
#define ROW_TOP(name) WEIR_SLICE_INIT(name),
#define ROW_ANYWHERE(name)
#define X(name, where) ROW_##where(name)
#include "gateway/request/tbl/stored_fields.h"
#undef ROW_TOP
#undef ROW_ANYWHERE
};

/* Each with the quote behind it. */
static const struct weir_slice anywhere[] = {
#define ROW_TOP(name)
#define ROW_ANYWHERE(name) WEIR_SLICE_INIT(name "\""),
#include "gateway/request/tbl/stored_fields.h"
#undef X
#undef ROW_TOP
#undef ROW_ANYWHERE
};

static bool is_top(const struct weir_json_item *member)
{
    for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++)
        if (weir_json_key_is(member, top[i]))
            return member->value.type != WEIR_JSON_NULL;
    return false;
}

/* p is behind a quote. */
static bool is_anywhere(const char *p, const char *end)
{
    for (size_t i = 0; i < sizeof(anywhere) / sizeof(anywhere[0]); i++)
        if (p < end && *p == *anywhere[i].ptr &&
            weir_slice_starts((struct weir_slice){p, (size_t)(end - p)}, anywhere[i]))
            return true;
    return false;
}

bool weir_stateful(const struct weir_asked *asked)
{
    const char *p = asked->body.ptr, *end = p + asked->body.len;

    for (size_t i = 0; i < asked->member_count; i++)
        if (is_top(&asked->members[i]))
            return true;
    while ((p = memchr(p, '"', (size_t)(end - p))) != NULL)
        if (is_anywhere(++p, end))
            return true;
    return false;
}
