/* All dialects by name, and the calls through their tables. */
#include "provider/dialect.h"

#include <weir/error.h>

#include "provider/azure.h"
#include "provider/openai.h"

const struct weir_dialect *weir_dialect_of(weir_dialect_id id)
{
    switch (id) {
    case WEIR_DIALECT_OPENAI:
        return &weir_dialect_openai;
    case WEIR_DIALECT_AZURE:
        return &weir_dialect_azure;
    case WEIR_DIALECT_NONE:
    case WEIR_DIALECT_SIM:
        break;
    }
    return NULL;
}

int weir_build_request(const struct weir_build *build, struct weir_arena *arena,
                       struct weir_upstream_request *ret_request)
{
    const struct weir_dialect *dialect = weir_dialect_of(build->endpoint->provider->dialect);

    return dialect == NULL ? WEIR_ERR_INVALID : dialect->build(build, arena, ret_request);
}

/* What is answered from inside the gateway is in OpenAI's form. */
static const struct weir_dialect *reader_of(const struct weir_endpoint *endpoint)
{
    weir_dialect_id id = endpoint->provider->dialect;

    return weir_dialect_of(id == WEIR_DIALECT_SIM ? WEIR_DIALECT_OPENAI : id);
}

int weir_read_answer(const struct weir_endpoint *endpoint, weir_route route, struct weir_slice body,
                     struct weir_plain_answer *ret_answer)
{
    const struct weir_dialect *dialect = reader_of(endpoint);

    return dialect == NULL ? WEIR_ERR_INVALID : dialect->read_answer(route, body, ret_answer);
}

void weir_read_chunk(const struct weir_endpoint *endpoint, weir_route route,
                     const struct weir_sse_event *event, struct weir_chunk *ret_chunk)
{
    const struct weir_dialect *dialect = reader_of(endpoint);

    *ret_chunk = (struct weir_chunk){0};
    if (dialect != NULL)
        dialect->read_chunk(route, event, ret_chunk);
}
