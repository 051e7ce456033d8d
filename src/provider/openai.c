/*
 * OpenAI's protocol, spoken by OpenAI and by everything that calls itself compatible.  What such a provider
 * does differently is in its row (tbl/openai_compatible.h), not here.
 */
#include "provider/openai.h"

#include <weir/error.h>

#include "provider/openai_build.h"
#include "provider/openai_read.h"

static int target(const struct weir_endpoint *endpoint, weir_route route, struct weir_slice model,
                  struct weir_arena *arena, struct weir_slice *ret_target)
{
    bool asks = endpoint->base_query.len > 0;
    struct weir_slice joined = weir_arena_join(
        arena,
        (struct weir_slice[]){endpoint->base_path, weir_route_row(route)->suffix,
                              asks ? WEIR_SLICE("?") : WEIR_SLICE_EMPTY, endpoint->base_query},
        4);

    (void)model;
    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    *ret_target = joined;
    return 0;
}

int weir_openai_credential(const struct weir_endpoint *endpoint, struct weir_arena *arena,
                           struct weir_header *ret_header)
{
    struct weir_slice value = WEIR_SLICE_EMPTY;

    if (endpoint->api_key.len > 0)
        value = weir_arena_join(arena, (struct weir_slice[]){WEIR_SLICE("Bearer "), endpoint->api_key}, 2);
    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    *ret_header = (struct weir_header){WEIR_SLICE("Authorization"), value};
    return 0;
}

const struct weir_dialect weir_dialect_openai = {
    .name = WEIR_SLICE_INIT("openai"),
    .target = target,
    .credential = weir_openai_credential,
    .build = weir_openai_build,
    .read_answer = weir_openai_read_answer,
    .read_chunk = weir_openai_read_chunk,
};
