/*
 * Everything about a deployment that does not change from request to request is rendered here, once: the
 * address, the path for each route, the header lines for plain and streamed calls, the model's name as JSON,
 * and the members that are added to bodies.
 *
 * Header lines are checked on their way (a key with a line end in it must not write headers), and a header of
 * `extra_headers` takes the place of weir's own of the same name.
 */
#include "provider/endpoint.h"

#include <weir/error.h>

#include "base/buf.h"
#include "base/slice.h"
#include "provider/dialect.h"
#include "wire/http1_write.h"
#include "wire/http_field.h"
#include "wire/json_read.h"
#include "wire/json_scan.h"
#include "wire/json_write.h"
#include "wire/url.h"

#define FIELDS_MAX    65536
#define NAME_MAX      16384
#define OWN_HEADERS   6
#define PARAMS_DEPTH  128
#define FIREWORKS_DIR "accounts/fireworks/models/"

/* What only the gateway and the connection can say rightly. */
static const struct weir_slice reserved_headers[] = {
    WEIR_SLICE_INIT("accept-encoding"),   WEIR_SLICE_INIT("connection"), WEIR_SLICE_INIT("content-encoding"),
    WEIR_SLICE_INIT("content-length"),    WEIR_SLICE_INIT("expect"),     WEIR_SLICE_INIT("host"),
    WEIR_SLICE_INIT("keep-alive"),        WEIR_SLICE_INIT("te"),         WEIR_SLICE_INIT("trailer"),
    WEIR_SLICE_INIT("transfer-encoding"), WEIR_SLICE_INIT("upgrade"),
};

void weir_endpoint_init(struct weir_endpoint *endpoint)
{
    *endpoint = (struct weir_endpoint){0};
}

bool weir_endpoint_header_ok(const struct weir_header *header)
{
    if (!weir_http_is_token(header->name) || !weir_http_is_value(header->value))
        return false;
    for (size_t i = 0; i < sizeof(reserved_headers) / sizeof(reserved_headers[0]); i++)
        if (weir_slice_eq_ci(header->name, reserved_headers[i]))
            return false;
    return true;
}

struct weir_slice weir_endpoint_problem(int condition)
{
    switch (condition) {
    case WEIR_ENDPOINT_NO_DIALECT:
        return WEIR_SLICE("weir has no dialect for the provider");
    case WEIR_ENDPOINT_NO_BASE:
        return WEIR_SLICE("the provider has no address of its own; api_base must be set");
    case WEIR_ENDPOINT_BAD_BASE:
        return WEIR_SLICE("api_base is not an http or https URL without user and password");
    case WEIR_ENDPOINT_BAD_HEADER:
        return WEIR_SLICE("a line end, or another character that no header of a request can hold");
    case WEIR_ENDPOINT_BAD_JSON:
        return WEIR_SLICE("the parameters are no JSON object");
    default:
        return weir_error_text(condition);
    }
}

static int prepare_base(struct weir_endpoint *endpoint, struct weir_arena *arena)
{
    struct weir_slice text = endpoint->api_base.len > 0 ? endpoint->api_base : endpoint->provider->api_base;
    struct weir_url url;

    if (text.len == 0)
        return WEIR_ENDPOINT_NO_BASE;
    if (weir_url_parse(text, &url) != 0 || url.user.len > 0)
        return WEIR_ENDPOINT_BAD_BASE;
    while (url.path.len > 0 && url.path.ptr[url.path.len - 1] == '/')
        url.path.len--;
    if ((endpoint->provider->quirks & WEIR_QUIRK_ADD_V1) != 0 &&
        !weir_slice_ends(url.path, WEIR_SLICE("/v1")))
        url.path = weir_arena_join(arena, (struct weir_slice[]){url.path, WEIR_SLICE("/v1")}, 2);
    endpoint->secure = url.secure;
    endpoint->port = url.port;
    endpoint->host = url.host;
    endpoint->base_path = url.path;
    endpoint->base_query = url.query;
    endpoint->base =
        weir_arena_join(arena,
                        (struct weir_slice[]){url.secure ? WEIR_SLICE("https://") : WEIR_SLICE("http://"),
                                              url.authority, url.path},
                        3);
    return weir_arena_failed(arena) ? WEIR_ERR_NOMEM : 0;
}

int weir_endpoint_model(const struct weir_endpoint *endpoint, struct weir_slice model,
                        struct weir_arena *arena, struct weir_slice *ret_name, struct weir_slice *ret_json)
{
    struct weir_slice name = weir_provider_strip(endpoint->provider, model);
    struct weir_buf json;
    int r;

    if ((endpoint->provider->quirks & WEIR_QUIRK_FIREWORKS_MODELS) != 0 &&
        weir_slice_find_char(name, '/') == WEIR_SLICE_NONE &&
        weir_slice_find_char(name, '#') == WEIR_SLICE_NONE)
        name = weir_arena_join(arena, (struct weir_slice[]){WEIR_SLICE(FIREWORKS_DIR), name}, 2);
    weir_buf_init(&json, weir_arena_mem(arena), NAME_MAX);
    r = weir_buf_append(&json, WEIR_SLICE("\""));
    if (r == 0)
        r = weir_json_escape(&json, name);
    if (r == 0)
        r = weir_buf_append(&json, WEIR_SLICE("\""));
    if (r < 0)
        return r;
    if (weir_arena_failed(arena))
        return WEIR_ERR_NOMEM;
    *ret_name = name;
    *ret_json = weir_buf_slice(&json);
    return 0;
}

bool weir_header_among(const struct weir_header *headers, size_t count, struct weir_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (weir_slice_eq_ci(headers[i].name, name))
            return true;
    return false;
}

static int write_field(struct weir_buf *buf, const struct weir_header *header)
{
    int r = weir_http1_write_field(buf, header->name, header->value);

    return r == WEIR_ERR_MALFORMED ? WEIR_ENDPOINT_BAD_HEADER : r;
}

static int write_fields(const struct weir_endpoint *endpoint, const struct weir_header *own, size_t own_count,
                        struct weir_buf *buf)
{
    int r = 0;

    for (size_t i = 0; i < own_count && r == 0; i++)
        if (own[i].value.len > 0 &&
            !weir_header_among(endpoint->headers, endpoint->header_count, own[i].name))
            r = write_field(buf, &own[i]);
    for (size_t i = 0; i < endpoint->header_count && r == 0; i++)
        r = weir_endpoint_header_ok(&endpoint->headers[i]) ? write_field(buf, &endpoint->headers[i])
                                                           : WEIR_ENDPOINT_BAD_HEADER;
    return r;
}

static int prepare_fields(struct weir_endpoint *endpoint, const struct weir_dialect *dialect,
                          struct weir_arena *arena)
{
    struct weir_header key;
    int r = dialect->credential(endpoint, arena, &key);

    for (unsigned stream = 0; stream < 2 && r == 0; stream++) {
        struct weir_header own[OWN_HEADERS] = {
            {WEIR_SLICE("User-Agent"), WEIR_SLICE("weir/" WEIR_VERSION)},
            {WEIR_SLICE("Content-Type"), WEIR_SLICE("application/json")},
            {WEIR_SLICE("Accept"), stream ? WEIR_SLICE("text/event-stream") : WEIR_SLICE("application/json")},
            {WEIR_SLICE("Accept-Encoding"), stream ? WEIR_SLICE_EMPTY : WEIR_SLICE("gzip, deflate")},
            {WEIR_SLICE("OpenAI-Organization"), endpoint->organization},
            key,
        };
        struct weir_buf buf;

        weir_buf_init(&buf, weir_arena_mem(arena), FIELDS_MAX);
        r = write_fields(endpoint, own, OWN_HEADERS, &buf);
        endpoint->fields[stream] = weir_buf_slice(&buf);
    }
    return r;
}

static int read_params(struct weir_slice json, struct weir_arena *arena, struct weir_param *items,
                       size_t *ret_count)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    size_t count = 0;
    int r;

    if (weir_json_enter(&cursor, json, PARAMS_DEPTH) != 0 || !cursor.object)
        return WEIR_ENDPOINT_BAD_JSON;
    while ((r = weir_json_next(&cursor, &item)) == WEIR_JSON_ITEM) {
        if (items != NULL) {
            items[count].member = weir_json_item_text(&item);
            items[count].value = item.value.text;
            if (weir_json_key(&item, arena, &items[count].name) != 0)
                return WEIR_ERR_NOMEM;
        }
        count++;
    }
    *ret_count = count;
    return r == 0 ? 0 : WEIR_ENDPOINT_BAD_JSON;
}

int weir_endpoint_params(struct weir_slice json, struct weir_arena *arena, struct weir_params *ret_params)
{
    struct weir_param *items = NULL;
    size_t count = 0;
    int r = 0;

    if (json.len > 0)
        r = read_params(json, arena, NULL, &count);
    if (r == 0 && count > 0) {
        items = weir_arena_zalloc(arena, count, sizeof(*items));
        r = items == NULL ? WEIR_ERR_NOMEM : read_params(json, arena, items, &count);
    }
    if (r == 0)
        *ret_params = (struct weir_params){items, count};
    return r;
}

static int prepare_calls(struct weir_endpoint *endpoint, const struct weir_dialect *dialect,
                         struct weir_arena *arena)
{
    int r = prepare_base(endpoint, arena);

    if (r == 0)
        r = prepare_fields(endpoint, dialect, arena);
    if (r == 0)
        r = weir_endpoint_model(endpoint, endpoint->model, arena, &endpoint->name, &endpoint->name_json);
    if (r != 0)
        return r;
    if (weir_slice_find_char(endpoint->name, '*') != WEIR_SLICE_NONE) {
        endpoint->name_json = WEIR_SLICE_EMPTY;
        return 0;
    }
    for (unsigned route = 0; route < WEIR_ROUTES && r == 0; route++)
        r = dialect->target(endpoint, (weir_route)route, endpoint->name, arena, &endpoint->target[route]);
    return r;
}

int weir_endpoint_prepare(struct weir_endpoint *endpoint, struct weir_arena *arena)
{
    const struct weir_dialect *dialect = weir_dialect_of(endpoint->provider->dialect);
    int r = weir_endpoint_params(endpoint->defaults, arena, &endpoint->default_params);

    if (r == 0)
        r = weir_endpoint_params(endpoint->extra_body, arena, &endpoint->extra_params);
    if (r != 0)
        return r;
    if (dialect != NULL)
        return prepare_calls(endpoint, dialect, arena);
    if (endpoint->provider->dialect != WEIR_DIALECT_SIM)
        return WEIR_ENDPOINT_NO_DIALECT;
    endpoint->base = WEIR_SLICE("sim");
    return weir_endpoint_model(endpoint, endpoint->model, arena, &endpoint->name, &endpoint->name_json);
}
