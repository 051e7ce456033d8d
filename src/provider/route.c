/* The table of routes, read by index, and that of modes, which is walked at the start only. */
#include "provider/route.h"

#include "base/slice.h"

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

int weir_route_of_mode(struct weir_slice mode, uint64_t *ret_routes)
{
    static const struct mode {
        struct weir_slice name;
        uint64_t routes;
    } modes[] = {
#define BIT(route)      WEIR_ROUTE_BIT(WEIR_ROUTE_##route)
#define X(name, routes) {WEIR_SLICE_INIT(name), routes},
#include "provider/tbl/modes.h"
#undef X
#undef BIT
    };

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (weir_slice_eq(modes[i].name, mode)) {
            *ret_routes = modes[i].routes;
            return 0;
        }
    return WEIR_ROUTE_MODE_UNKNOWN;
}
