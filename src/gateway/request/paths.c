/* The table is walked from its top; there are few rows, and those of the calls stand first. */
#include "gateway/request/paths.h"

#include "base/slice.h"

enum { METHOD_GET = false, METHOD_POST = true, ACCESS_KEY = false, ACCESS_OPEN = true };
enum { NAME_UNNAMED = false, NAME_NAMED = true };

static const struct weir_path_row rows[] = {
#define X(method, access, prefix, name, suffix, service, route)                                              \
    {METHOD_##method, ACCESS_##access,        WEIR_SLICE_INIT(prefix), WEIR_SLICE_INIT(suffix),              \
     NAME_##name,     WEIR_SERVICE_##service, WEIR_ROUTE_##route},
#include "gateway/request/tbl/paths.h"
#undef X
};

static bool method_fits(const struct weir_path_row *row, struct weir_slice method)
{
    if (row->post)
        return weir_slice_eq(method, WEIR_SLICE("POST"));
    return weir_slice_eq(method, WEIR_SLICE("GET")) || weir_slice_eq(method, WEIR_SLICE("HEAD"));
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
    int r = WEIR_PATH_UNKNOWN;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_path found = {&rows[i], WEIR_SLICE_EMPTY};

        if (!path_fits(found.row, path, &found.name))
            continue;
        *ret_path = found;
        if (method_fits(found.row, method))
            return 0;
        r = WEIR_PATH_METHOD;
    }
    return r;
}

struct weir_slice weir_path_allow(const struct weir_path_row *row)
{
    return row->post ? WEIR_SLICE("POST, OPTIONS") : WEIR_SLICE("GET, HEAD, OPTIONS");
}
