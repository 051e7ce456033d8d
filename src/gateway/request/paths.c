/* The table is walked from its top; there are few rows, and those of the calls stand first. */
#include "gateway/request/paths.h"

#include "base/slice.h"

enum { NAME_UNNAMED = false, NAME_NAMED = true };

static const struct weir_path_row rows[] = {
#define X(method, access, prefix, name, suffix, service, route)                                              \
    {WEIR_METHOD_##method, WEIR_ACCESS_##access,   WEIR_SLICE_INIT(prefix), WEIR_SLICE_INIT(suffix),         \
     NAME_##name,          WEIR_SERVICE_##service, WEIR_ROUTE_##route},
#include "gateway/request/tbl/paths.h"
#undef X
};

/* 0: none of those that any path takes. */
static unsigned method_of(struct weir_slice method)
{
    if (weir_slice_eq(method, WEIR_SLICE("POST")))
        return WEIR_METHOD_POST;
    if (weir_slice_eq(method, WEIR_SLICE("GET")) || weir_slice_eq(method, WEIR_SLICE("HEAD")))
        return WEIR_METHOD_GET;
    return weir_slice_eq(method, WEIR_SLICE("DELETE")) ? WEIR_METHOD_DELETE : 0;
}

static bool path_fits(const struct weir_path_row *row, struct weir_slice path, struct weir_slice *ret_name)
{
    if (!row->named)
        return weir_slice_eq(path, row->prefix);
    if (path.len <= row->prefix.len + row->suffix.len || !weir_slice_starts(path, row->prefix) ||
        !weir_slice_ends(path, row->suffix))
        return false;
    *ret_name = weir_slice_sub(path, row->prefix.len, path.len - row->suffix.len);
    return !weir_slice_starts(*ret_name, WEIR_SLICE("/"));
}

int weir_path_find(struct weir_slice method, struct weir_slice path, struct weir_path *ret_path)
{
    unsigned asked = method_of(method);
    unsigned methods = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_path found = {.row = &rows[i], .methods = methods | rows[i].method};

        if (!path_fits(found.row, path, &found.name))
            continue;
        methods = found.methods;
        *ret_path = found;
        if (found.row->method == asked)
            return 0;
    }
    return methods == 0 ? WEIR_PATH_UNKNOWN : WEIR_PATH_METHOD;
}

struct weir_slice weir_path_allow(unsigned methods)
{
    static const struct weir_slice texts[] = {
        [WEIR_METHOD_GET] = WEIR_SLICE_INIT("GET, HEAD, OPTIONS"),
        [WEIR_METHOD_POST] = WEIR_SLICE_INIT("POST, OPTIONS"),
        [WEIR_METHOD_GET | WEIR_METHOD_POST] = WEIR_SLICE_INIT("GET, HEAD, POST, OPTIONS"),
        [WEIR_METHOD_DELETE] = WEIR_SLICE_INIT("DELETE, OPTIONS"),
        [WEIR_METHOD_GET | WEIR_METHOD_DELETE] = WEIR_SLICE_INIT("GET, HEAD, DELETE, OPTIONS"),
        [WEIR_METHOD_POST | WEIR_METHOD_DELETE] = WEIR_SLICE_INIT("POST, DELETE, OPTIONS"),
        [WEIR_METHOD_GET | WEIR_METHOD_POST | WEIR_METHOD_DELETE] =
            WEIR_SLICE_INIT("GET, HEAD, POST, DELETE, OPTIONS")};

    return methods < sizeof(texts) / sizeof(texts[0]) ? texts[methods] : WEIR_SLICE_EMPTY;
}
