/* The table of routes, read by index. */
#include "provider/route.h"

static const struct weir_route_row rows[WEIR_ROUTES] = {
#define X(route, suffix, object, chunk_object, items, streams, usage)                                        \
    [WEIR_ROUTE_##route] = {WEIR_SLICE_INIT(suffix),                                                         \
                            WEIR_SLICE_INIT(object),                                                         \
                            WEIR_SLICE_INIT(chunk_object),                                                   \
                            WEIR_SLICE_INIT(items),                                                          \
                            streams,                                                                         \
                            usage},
#include "provider/tbl/routes.h"
#undef X
};

const struct weir_route_row *weir_route_row(weir_route route)
{
    return &rows[route < WEIR_ROUTES ? route : WEIR_ROUTE_CHAT];
}
