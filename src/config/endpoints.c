/*
 * Endpoints from litellm_params.
 *
 * Model: what has a row in the table of params goes to its member; every other key is a provider argument and
 * becomes a member of the JSON that is added to each request, below router_settings.default_litellm_params.
 */
#include "config/endpoints.h"

#include <weir/error.h>
#include <weir/failure.h>

#include "base/buf.h"
#include "base/slice.h"
#include "config/value.h"
#include "config/variables.h"
#include "config/yaml/tree_json.h"
#include "provider/fields.h"
#include "provider/provider.h"
#include "provider/sim.h"
#include "wire/http_field.h"

enum { JSON_BYTES_MAX = 16 * 1024 * 1024 };

static const struct {
    struct weir_setting_row row;
    bool kind;
} sim_rows[] = {
#define SIM_TEXT    WEIR_VALUE_TEXT, .max = 0
#define SIM_NUMBER  WEIR_VALUE_NUMBER, .max = 1e9
#define SIM_RATIO   WEIR_VALUE_NUMBER, .max = 1
#define SIM_SECONDS WEIR_VALUE_SECONDS, .max = 86400
#define SIM_COUNT   WEIR_VALUE_U32, .max = 1e9
#define SIM_KIND    WEIR_VALUE_TEXT, .max = 0
#define IS_TEXT     false
#define IS_NUMBER   false
#define IS_RATIO    false
#define IS_SECONDS  false
#define IS_COUNT    false
#define IS_KIND     true
#define X(key_, type_, member, prose_)                                                                       \
    {{.type = SIM_##type_,                                                                                   \
      .key = WEIR_SLICE_INIT(key_),                                                                          \
      .offset = offsetof(struct weir_sim, member),                                                           \
      .prose = WEIR_SLICE_INIT(prose_)},                                                                     \
     IS_##type_},
#include "provider/tbl/sim_fields.h"
#undef X
};

static int skip(struct weir_loader *loader, const struct weir_yaml *node, const struct weir_path *path,
                struct weir_slice what, struct weir_slice name, struct weir_slice more)
{
    WEIR_DIAG(loader->diags, weir_entry_severity(node), &node->place, weir_path_text(path, loader->arena),
              what, name, more, loader->consequence);
    return node->variable ? WEIR_ENTRY_UNSERVED : WEIR_ENTRY_SKIPPED;
}

/* The node of a key of the params, for its place; else the params themselves. */
static const struct weir_yaml *node_of(const struct weir_config_entry *entry, struct weir_slice key)
{
    const struct weir_yaml *node = weir_yaml_get(entry->params, key);

    return node == NULL ? entry->params : node;
}

static int skip_custom_provider(struct weir_loader *loader, const struct weir_config_entry *entry)
{
    struct weir_path path = {&entry->params_path, WEIR_SLICE("custom_llm_provider"), 0};
    const struct weir_yaml *node = node_of(entry, path.key);

    return skip(loader, node, &path, WEIR_SLICE("no provider is called `"), node->written, WEIR_SLICE("`"));
}

static int find_provider(struct weir_loader *loader, const struct weir_config_entry *entry,
                         const struct weir_provider **ret_provider)
{
    const struct weir_deployment_settings *s = &entry->settings;
    struct weir_path path = {&entry->params_path, WEIR_SLICE("model"), 0};
    const struct weir_yaml *model = node_of(entry, path.key);
    const struct weir_provider *provider;

    if (weir_provider_find(s->model, s->custom_llm_provider, &provider, NULL) != 0) {
        if (s->custom_llm_provider.len > 0)
            return skip_custom_provider(loader, entry);
        return skip(loader, model, &path, WEIR_SLICE("no provider is known for `"), model->written,
                    WEIR_SLICE("`, expected provider/model, or custom_llm_provider beside it"));
    }
    if (provider->dialect == WEIR_DIALECT_NONE) {
        (void)skip(loader, model, &path, WEIR_SLICE("no dialect for the provider "), provider->name,
                   WEIR_SLICE(" yet"));
        return WEIR_ENTRY_UNSERVED;
    }
    *ret_provider = provider;
    return 0;
}

/* The first of the provider's variables that is set. */
static struct weir_slice first_variable(struct weir_loader *loader, const struct weir_slice *names,
                                        size_t count)
{
    struct weir_slice value;

    for (size_t i = 0; i < count; i++)
        if (names[i].len > 0 && weir_variables_get(loader->config, names[i], &value))
            return weir_arena_copy(loader->arena, value);
    return WEIR_SLICE_EMPTY;
}

static int read_sim_kind(struct weir_loader *loader, const struct weir_yaml *node,
                         const struct weir_path *path, struct weir_sim *sim)
{
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        if (!weir_slice_eq(node->text, weir_kind_row((weir_kind)kind)->name))
            continue;
        sim->error = (weir_kind)kind;
        sim->fails = true;
        return 0;
    }
    return skip(loader, node, path, WEIR_SLICE("no kind of failure is called so"), WEIR_SLICE(", expected "),
                WEIR_SLICE("rate_limit, internal, timeout, ..."));
}

static int read_sim(struct weir_loader *loader, const struct weir_config_entry *entry,
                    struct weir_endpoint *endpoint)
{
    struct weir_sim *sim = weir_arena_zalloc(loader->arena, 1, sizeof(*sim));
    int rv = 0;

    if (sim == NULL)
        return WEIR_ERR_NOMEM;
    weir_sim_init(sim);
    for (size_t i = 0; rv == 0 && i < sizeof(sim_rows) / sizeof(*sim_rows); i++) {
        const struct weir_setting_row *row = &sim_rows[i].row;
        const struct weir_yaml *node = weir_yaml_get(entry->params, row->key);
        struct weir_path path = {&entry->params_path, row->key, 0};

        if (node != NULL && sim_rows[i].kind)
            rv = read_sim_kind(loader, node, &path, sim);
        else if (node != NULL)
            rv = weir_value_read(loader, row, node, &path, WEIR_SEVERITY_ERROR, (char *)sim + row->offset);
    }
    endpoint->sim = sim;
    return rv == WEIR_VALUE_WRONG ? WEIR_ENTRY_SKIPPED : rv;
}

/* One header; one that cannot be sent is left out. */
static bool read_header(struct weir_loader *loader, const struct weir_yaml_pair *pair,
                        const struct weir_path *path, struct weir_header *ret_header)
{
    struct weir_path here = {path, pair->key->text, 0};

    if (pair->value->kind == WEIR_YAML_NULL)
        return false;
    *ret_header = (struct weir_header){pair->key->text, pair->value->text};
    if (pair->value->kind < WEIR_YAML_LIST && weir_endpoint_header_ok(ret_header))
        return true;
    WEIR_REPORT(loader, WARNING, pair->key, &here,
                WEIR_SLICE("cannot be sent as a header, expected a name of ASCII letters and a line of text; "
                           "left out"));
    return false;
}

static int read_headers(struct weir_loader *loader, const struct weir_config_entry *entry,
                        struct weir_endpoint *endpoint)
{
    static const struct weir_slice keys[] = {WEIR_SLICE_INIT("headers"), WEIR_SLICE_INIT("extra_headers")};
    struct weir_header *headers;
    size_t room = 0;

    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        const struct weir_yaml *map = weir_yaml_get(entry->params, keys[k]);
        struct weir_path path = {&entry->params_path, keys[k], 0};

        if (map != NULL && map->kind != WEIR_YAML_MAP)
            return skip(loader, map, &path, WEIR_SLICE("found "), weir_yaml_kind_name(map),
                        WEIR_SLICE(", expected a map of header names to text"));
        room += map == NULL ? 0 : map->count;
    }
    headers = weir_arena_zalloc(loader->arena, room + 1, sizeof(*headers));
    if (headers == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        const struct weir_yaml *map = weir_yaml_get(entry->params, keys[k]);
        struct weir_path path = {&entry->params_path, keys[k], 0};

        for (size_t i = 0; map != NULL && i < map->count; i++)
            endpoint->header_count +=
                read_header(loader, &map->pairs[i], &path, &headers[endpoint->header_count]);
    }
    endpoint->headers = headers;
    return 0;
}

/* Parameters that are always left out; what is no path leaves nothing out. */
static int read_drops(struct weir_loader *loader, const struct weir_config_entry *entry,
                      struct weir_endpoint *endpoint)
{
    struct weir_path path = {&entry->params_path, WEIR_SLICE("additional_drop_params"), 0};
    const struct weir_names *names = &entry->settings.additional_drop_params;
    struct weir_slice *paths = weir_arena_zalloc(loader->arena, names->count + 1, sizeof(*paths));
    size_t count = 0;

    if (paths == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};

        if (weir_drop_path_ok(names->items[i]))
            paths[count++] = names->items[i];
        else
            WEIR_REPORT(
                loader, WARNING, weir_yaml_get(entry->params, path.key)->items[i], &here,
                WEIR_SLICE("not a name or a path such as tools[*].strict; nothing is left out for it"));
    }
    endpoint->drops = (struct weir_drops){paths, count};
    return 0;
}

/* Which fields a request may bring (decisions 19). */
static void read_caller_places(struct weir_loader *loader, const struct weir_config_entry *entry,
                               struct weir_endpoint *endpoint)
{
    struct weir_path path = {&entry->params_path, WEIR_SLICE("configurable_clientside_auth_params"), 0};
    const struct weir_yaml *list = weir_yaml_get(entry->params, path.key);

    if (loader->config->settings.allow_client_credentials)
        endpoint->caller_places = WEIR_PLACE_ALL;
    if (list == NULL)
        return;
    if (list->kind != WEIR_YAML_LIST)
        WEIR_REPORT(loader, WARNING, list, &path, WEIR_SLICE("found "), weir_yaml_kind_name(list),
                    WEIR_SLICE(", expected a list of names such as api_key; nothing is allowed"));
    for (size_t i = 0; list->kind == WEIR_YAML_LIST && i < list->count; i++) {
        struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};
        const struct weir_field *field = weir_field_find(list->items[i]->text);

        if (field != NULL && field->field_class == WEIR_FIELD_PLACE)
            endpoint->caller_places |= WEIR_PLACE_BIT(field->place);
        else
            WEIR_REPORT(loader, WARNING, list->items[i], &here,
                        WEIR_SLICE("not a field such as api_key or api_base; it is not allowed"));
    }
}

/* Whether the key goes into requests: nothing of weir's own reads it, here or, had it been put there,
 * elsewhere. */
static bool is_argument(struct weir_loader *loader, const struct weir_yaml_pair *pair, bool sim)
{
    if (pair->value->kind == WEIR_YAML_NULL ||
        weir_loader_find(loader, WEIR_SECTION_PARAMS, pair->key->text) != NULL ||
        weir_loader_is_elsewhere(loader, WEIR_SECTION_PARAMS, pair->key->text))
        return false;
    return !sim || !weir_slice_starts(pair->key->text, WEIR_SLICE("sim_"));
}

/* The arguments of the provider. */
static struct weir_slice arguments_of(struct weir_loader *loader, const struct weir_yaml *params, bool sim)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf buf;
    struct weir_json_writer writer;

    weir_buf_init(&buf, loader->arena->mem, JSON_BYTES_MAX);
    weir_json_writer_init(&writer, &buf);
    weir_json_open(&writer, '{');
    for (size_t i = 0; i < params->count; i++) {
        if (!is_argument(loader, &params->pairs[i], sim))
            continue;
        weir_json_put_key(&writer, params->pairs[i].key->text);
        weir_tree_json_put(&writer, params->pairs[i].value, false);
    }
    weir_json_close(&writer, '}');
    if (weir_json_writer_end(&writer) != 0)
        loader->arena->failed = true;
    return weir_arena_copy(loader->arena, weir_buf_slice(&buf));
}

static void fill(struct weir_loader *loader, const struct weir_config_entry *entry,
                 const struct weir_provider *provider, struct weir_endpoint *endpoint)
{
    const struct weir_deployment_settings *s = &entry->settings;

    weir_endpoint_init(endpoint);
    endpoint->provider = provider;
    endpoint->model = s->model;
    endpoint->api_base = s->api_base.len > 0 ? s->api_base : s->base_url;
    if (endpoint->api_base.len == 0)
        endpoint->api_base = first_variable(loader, provider->base_vars, WEIR_PROVIDER_VARS);
    endpoint->api_key = s->api_key;
    if (endpoint->api_key.len == 0)
        endpoint->api_key = first_variable(loader, provider->key_vars, WEIR_PROVIDER_VARS);
    endpoint->api_version = s->api_version;
    endpoint->organization = s->organization;
    endpoint->azure_ad_token = s->azure_ad_token;
    endpoint->extra_body = s->extra_body;
    endpoint->tls.insecure = s->ssl_verify.insecure;
    endpoint->tls.ca_file = s->ssl_verify.ca_file;
    endpoint->tls.cert_file = s->ssl_certificate;
    endpoint->mock_response = s->mock_response;
    endpoint->defaults = arguments_of(loader, entry->params, provider->dialect == WEIR_DIALECT_SIM);
}

/* The one of the keys that become headers which none can hold. */
static struct weir_slice bad_header_key(const struct weir_endpoint *endpoint)
{
    if (!weir_http_is_value(endpoint->organization))
        return WEIR_SLICE("organization");
    return weir_http_is_value(endpoint->azure_ad_token) ? WEIR_SLICE("api_key")
                                                        : WEIR_SLICE("azure_ad_token");
}

/* The key whose value a condition of weir_endpoint_prepare is about. */
static struct weir_slice key_of(const struct weir_endpoint *endpoint, int condition)
{
    switch (condition) {
    case WEIR_ENDPOINT_NO_BASE:
    case WEIR_ENDPOINT_BAD_BASE:
        return WEIR_SLICE("api_base");
    case WEIR_ENDPOINT_BAD_HEADER:
        return bad_header_key(endpoint);
    default:
        return WEIR_SLICE("model");
    }
}

/*
 * An address such as `https://${HOST}/v1` is no mistake in the entry but a variable that was not filled in;
 * LiteLLM takes it as it is written, and calls fail.  So does the reserved name put in its place (RFC 2606).
 */
static bool unfilled_base(const struct weir_endpoint *endpoint)
{
    return weir_slice_has(endpoint->api_base, WEIR_SLICE("$"));
}

int weir_endpoints_make(struct weir_loader *loader, const struct weir_config_entry *entry,
                        struct weir_endpoint **ret_endpoint)
{
    struct weir_endpoint *endpoint = weir_arena_zalloc(loader->arena, 1, sizeof(*endpoint));
    const struct weir_provider *provider = NULL;
    int rv = endpoint == NULL ? WEIR_ERR_NOMEM : find_provider(loader, entry, &provider);

    if (rv != 0)
        return rv;
    fill(loader, entry, provider, endpoint);
    rv = read_headers(loader, entry, endpoint);
    if (rv == 0)
        rv = read_drops(loader, entry, endpoint);
    if (rv == 0 && provider->dialect == WEIR_DIALECT_SIM)
        rv = read_sim(loader, entry, endpoint);
    if (rv != 0)
        return rv;
    read_caller_places(loader, entry, endpoint);
    rv = weir_endpoint_prepare(endpoint, loader->arena);
    if (rv == WEIR_ENDPOINT_BAD_BASE && unfilled_base(endpoint)) {
        endpoint->api_base = WEIR_SLICE("https://unset.invalid");
        rv = weir_endpoint_prepare(endpoint, loader->arena);
    }
    if (rv > 0) {
        struct weir_path path = {&entry->params_path, key_of(endpoint, rv), 0};

        return skip(loader, node_of(entry, path.key), &path, weir_endpoint_problem(rv), WEIR_SLICE_EMPTY,
                    WEIR_SLICE_EMPTY);
    }
    if (rv == 0)
        *ret_endpoint = endpoint;
    return rv;
}

/* Whether a key's value is kept out of what is shown: by its row, or by what its name says. */
static bool is_secret(struct weir_loader *loader, struct weir_slice key)
{
    static const struct weir_slice ends[] = {
        WEIR_SLICE_INIT("key"),      WEIR_SLICE_INIT("key_id"),      WEIR_SLICE_INIT("token"),
        WEIR_SLICE_INIT("secret"),   WEIR_SLICE_INIT("password"),    WEIR_SLICE_INIT("passphrase"),
        WEIR_SLICE_INIT("headers"),  WEIR_SLICE_INIT("credentials"), WEIR_SLICE_INIT("authorization"),
        WEIR_SLICE_INIT("username"), WEIR_SLICE_INIT("cookie")};
    const struct weir_setting_row *row = weir_loader_find(loader, WEIR_SECTION_PARAMS, key);

    if (row != NULL && row->type == WEIR_VALUE_SECRET)
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (key.len >= ends[i].len &&
            weir_slice_eq_ci(weir_slice_sub(key, key.len - ends[i].len, key.len), ends[i]))
            return true;
    return false;
}

static void put_public(struct weir_loader *loader, struct weir_json_writer *writer,
                       const struct weir_yaml *node);

static void put_public_pairs(struct weir_loader *loader, struct weir_json_writer *writer,
                             const struct weir_yaml *map, struct weir_slice except)
{
    for (size_t i = 0; map != NULL && map->kind == WEIR_YAML_MAP && i < map->count; i++) {
        const struct weir_yaml_pair *pair = &map->pairs[i];

        if (is_secret(loader, pair->key->text) || weir_slice_eq(pair->key->text, except))
            continue;
        weir_json_put_key(writer, pair->key->text);
        put_public(loader, writer, pair->value);
    }
}

static void put_public(struct weir_loader *loader, struct weir_json_writer *writer,
                       const struct weir_yaml *node)
{
    if (node->variable || node->kind < WEIR_YAML_LIST) {
        weir_tree_json_put(writer, node, true);
        return;
    }
    weir_json_open(writer, node->kind == WEIR_YAML_MAP ? '{' : '[');
    put_public_pairs(loader, writer, node, WEIR_SLICE_EMPTY);
    for (size_t i = 0; node->kind == WEIR_YAML_LIST && i < node->count; i++)
        put_public(loader, writer, node->items[i]);
    weir_json_close(writer, node->kind == WEIR_YAML_MAP ? '}' : ']');
}

struct weir_slice weir_endpoints_info(struct weir_loader *loader, const struct weir_config_entry *entry,
                                      const struct weir_endpoint *endpoint, struct weir_slice id)
{
    const struct weir_yaml *base = weir_yaml_get(entry->params, WEIR_SLICE("api_base"));
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf buf;
    struct weir_json_writer writer;

    weir_buf_init(&buf, loader->arena->mem, JSON_BYTES_MAX);
    weir_json_writer_init(&writer, &buf);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("model_name"));
    weir_json_put_string(&writer, entry->settings.model_name);
    weir_json_put_key(&writer, WEIR_SLICE("litellm_params"));
    weir_json_open(&writer, '{');
    if (base != NULL) {
        /* The endpoint's form of it has no user and no query. */
        weir_json_put_key(&writer, WEIR_SLICE("api_base"));
        weir_json_put_string(&writer, base->variable ? base->written : endpoint->base);
    }
    put_public_pairs(loader, &writer, entry->params, WEIR_SLICE("api_base"));
    weir_json_close(&writer, '}');
    weir_json_put_key(&writer, WEIR_SLICE("model_info"));
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("id"));
    weir_json_put_string(&writer, id);
    put_public_pairs(loader, &writer, entry->info, WEIR_SLICE("id"));
    weir_json_close(&writer, '}');
    weir_json_close(&writer, '}');
    if (weir_json_writer_end(&writer) != 0)
        loader->arena->failed = true;
    return weir_arena_copy(loader->arena, weir_buf_slice(&buf));
}
