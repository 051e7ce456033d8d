/*
 * Azure OpenAI differs from OpenAI in where and with which key.  Three forms of `api_base` are in use, here
 * behind https://NAME.openai.azure.com:
 *
 *   (nothing)                   path /openai/deployments/MODEL/SUFFIX
 *   /openai/deployments/MODEL   taken as it stands, also with the route at its end
 *   /openai/v1                  the versionless API: path SUFFIX, MODEL in the body
 *
 * The last is also what `api_version: preview` and `latest` mean.  An api-version in the base's query is
 * kept.
 */
#include "provider/azure.h"

#include <weir/error.h>

#include "base/buf.h"
#include "base/slice.h"
#include "provider/openai.h"
#include "provider/openai_build.h"
#include "provider/openai_read.h"
#include "wire/http_field.h"

#define TARGET_MAX 16384

static bool is_versionless(const struct weir_endpoint *endpoint)
{
    return weir_slice_ends(endpoint->base_path, WEIR_SLICE("/openai/v1")) ||
           weir_slice_eq(endpoint->api_version, WEIR_SLICE("preview")) ||
           weir_slice_eq(endpoint->api_version, WEIR_SLICE("latest")) ||
           weir_slice_eq(endpoint->api_version, WEIR_SLICE("v1"));
}

static bool is_unreserved(char c)
{
    return weir_char_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static int append_segment(struct weir_buf *buf, struct weir_slice text)
{
    static const char digits[] = "0123456789ABCDEF";
    int r = 0;

    for (size_t i = 0; i < text.len && r == 0; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        char escape[3] = {'%', digits[c >> 4], digits[c & 15]};

        r = is_unreserved(text.ptr[i]) ? weir_buf_append(buf, (struct weir_slice){&text.ptr[i], 1})
                                       : weir_buf_append(buf, (struct weir_slice){escape, sizeof(escape)});
    }
    return r;
}

/* The base without a route that somebody pasted with it. */
static struct weir_slice bare_path(const struct weir_endpoint *endpoint)
{
    struct weir_slice path = endpoint->base_path;

    for (unsigned route = 0; route < WEIR_ROUTES; route++) {
        struct weir_slice suffix = weir_route_row((weir_route)route)->suffix;

        if (weir_slice_ends(path, suffix) && weir_slice_has(path, WEIR_SLICE("/deployments/")))
            return weir_slice_sub(path, 0, path.len - suffix.len);
    }
    return path;
}

static int append_path(const struct weir_endpoint *endpoint, weir_route route, struct weir_slice model,
                       struct weir_buf *buf)
{
    struct weir_slice path = bare_path(endpoint), suffix = weir_route_row(route)->suffix;
    int r = weir_buf_append(buf, path);

    if (r == 0 && is_versionless(endpoint)) {
        if (!weir_slice_ends(path, WEIR_SLICE("/openai/v1")))
            r = weir_slice_ends(path, WEIR_SLICE("/openai")) ? weir_buf_append(buf, WEIR_SLICE("/v1"))
                                                             : weir_buf_append(buf, WEIR_SLICE("/openai/v1"));
    } else if (r == 0 && !weir_slice_has(path, WEIR_SLICE("/deployments/"))) {
        r = weir_slice_ends(path, WEIR_SLICE("/openai"))
                ? weir_buf_append(buf, WEIR_SLICE("/deployments/"))
                : weir_buf_append(buf, WEIR_SLICE("/openai/deployments/"));
        if (r == 0)
            r = append_segment(buf, model);
    }
    return r == 0 ? weir_buf_append(buf, suffix) : r;
}

static int append_query(const struct weir_endpoint *endpoint, struct weir_buf *buf)
{
    struct weir_slice version = endpoint->api_version, said;
    bool has_version = weir_http_query_find(endpoint->base_query, WEIR_SLICE("api-version"), &said);
    bool has_query = endpoint->base_query.len > 0;
    int r = 0;

    if (version.len == 0 && !is_versionless(endpoint))
        version = WEIR_SLICE(WEIR_AZURE_API_VERSION);
    if (has_query)
        r = WEIR_BUF_APPEND(buf, WEIR_SLICE("?"), endpoint->base_query);
    if (r != 0 || has_version || version.len == 0 || weir_slice_eq(version, WEIR_SLICE("v1")))
        return r;
    r = weir_buf_append(buf, has_query ? WEIR_SLICE("&api-version=") : WEIR_SLICE("?api-version="));
    return r == 0 ? append_segment(buf, version) : r;
}

static int target(const struct weir_endpoint *endpoint, weir_route route, struct weir_slice model,
                  struct weir_arena *arena, struct weir_slice *ret_target)
{
    struct weir_buf buf;
    int r;

    weir_buf_init(&buf, weir_arena_mem(arena), TARGET_MAX);
    r = append_path(endpoint, route, model, &buf);
    if (r == 0)
        r = append_query(endpoint, &buf);
    if (r == 0)
        *ret_target = weir_buf_slice(&buf);
    return r;
}

static int credential(const struct weir_endpoint *endpoint, struct weir_arena *arena,
                      struct weir_header *ret_header)
{
    struct weir_endpoint with_token = *endpoint;

    if (endpoint->api_key.len > 0 || endpoint->azure_ad_token.len == 0) {
        *ret_header = (struct weir_header){WEIR_SLICE("api-key"), endpoint->api_key};
        return 0;
    }
    with_token.api_key = endpoint->azure_ad_token;
    return weir_openai_credential(&with_token, arena, ret_header);
}

const struct weir_dialect weir_dialect_azure = {
    .name = WEIR_SLICE_INIT("azure"),
    .target = target,
    .credential = credential,
    .build = weir_openai_build,
    .read_answer = weir_openai_read_answer,
    .read_chunk = weir_openai_read_chunk,
};
