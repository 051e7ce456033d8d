/*
 * Model: each thing is looked for in the settings, then in the variables in their order of precedence; the
 * first place that says anything counts.  Lists of names and values are read from maps and from the text that
 * the variables have.
 */
#include "config/otlp.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/loader.h"
#include "provider/endpoint.h"
#include "wire/http_field.h"
#include "wire/url.h"

enum { URL_MAX_BYTES = 4096, LIST_MAX_BYTES = 16 * 1024, TIMEOUT_DEFAULT_S = 10, GRPC_PORT = 4317 };

#define TRACES_PATH "/v1/traces"

static const struct weir_path weir_path = {NULL, WEIR_SLICE_INIT("weir_settings"), 0};
static const struct weir_path otlp_path = {&weir_path, WEIR_SLICE_INIT("otlp"), 0};
static const struct weir_path litellm_path = {NULL, WEIR_SLICE_INIT("litellm_settings"), 0};

/* A text and where it stands: a key of otlp, or a variable. */
struct said {
    struct weir_slice text;
    struct weir_slice name;
    bool variable;
};

/* The map otlp, or NULL. */
static const struct weir_yaml *otlp_of(const struct weir_loader *loader)
{
    return weir_yaml_get(weir_yaml_get(loader->root, weir_path.key), otlp_path.key);
}

static int tell(struct weir_loader *loader, enum weir_severity severity, const struct said *said,
                struct weir_slice text)
{
    const struct weir_yaml *otlp = otlp_of(loader);
    const struct weir_yaml *node = said->variable ? NULL : weir_yaml_get(otlp, said->name);
    const struct weir_path path = {said->variable ? NULL : &otlp_path, said->name, 0};

    if (node == NULL)
        node = otlp == NULL ? loader->root : otlp;
    WEIR_DIAG(loader->diags, severity, &node->place, weir_path_text(&path, loader->arena), text);
    return severity == WEIR_SEVERITY_FATAL ? WEIR_CONFIG_REFUSED : 0;
}

static int refuse(struct weir_loader *loader, const struct said *said, struct weir_slice text)
{
    return tell(loader, WEIR_SEVERITY_FATAL, said, text);
}

/* The first that says anything, or the last. */
static const struct said *first_of(const struct said *places, size_t count)
{
    size_t i = 0;

    while (i + 1 < count && places[i].text.len == 0)
        i++;
    return &places[i];
}

/* ---- whether ---- */

/* One name of a list of callbacks; those of services tell nothing of calls. */
static bool is_otel(struct weir_loader *loader, const struct weir_yaml *node, const struct weir_path *path,
                    bool of_calls)
{
    struct weir_slice name = node->kind == WEIR_YAML_TEXT ? node->text : WEIR_SLICE_EMPTY;

    if (of_calls && weir_slice_eq(name, WEIR_SLICE("otel")))
        return true;
    if (!weir_slice_eq(name, of_calls ? WEIR_SLICE("prometheus") : WEIR_SLICE("prometheus_system")))
        WEIR_REPORT(loader, WARNING, node, path,
                    of_calls
                        ? WEIR_SLICE("known, not supported (logging to other services), but for otel and "
                                     "prometheus")
                        : WEIR_SLICE("known, not supported (logging to other services), but for "
                                     "prometheus_system"));
    return false;
}

/* Each of them is to be looked at: what is not supported is told. */
static bool has_otel(struct weir_loader *loader, struct weir_slice key, bool of_calls)
{
    const struct weir_path path = {&litellm_path, key, 0};
    const struct weir_yaml *list = weir_yaml_get(weir_yaml_get(loader->root, litellm_path.key), key);
    bool found = false;

    if (list == NULL || list->kind == WEIR_YAML_NULL)
        return false;
    if (list->kind != WEIR_YAML_LIST)
        return is_otel(loader, list, &path, of_calls);
    for (size_t i = 0; i < list->count; i++) {
        const struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};

        found = is_otel(loader, list->items[i], &here, of_calls) || found;
    }
    return found;
}

static bool is_called_back(struct weir_loader *loader)
{
    bool found = has_otel(loader, WEIR_SLICE("callbacks"), true);

    found = has_otel(loader, WEIR_SLICE("success_callback"), true) || found;
    found = has_otel(loader, WEIR_SLICE("failure_callback"), true) || found;
    return has_otel(loader, WEIR_SLICE("service_callback"), false) || found;
}

/* ---- where to ---- */

static bool is_url(struct weir_slice text, struct weir_url *ret_url)
{
    return text.len <= URL_MAX_BYTES && weir_url_parse(text, ret_url) == 0 && ret_url->user.len == 0;
}

/* The base of a collector to the place for traces there. */
static struct weir_slice with_path(struct weir_slice text, struct weir_arena *arena)
{
    const struct weir_slice whole = WEIR_SLICE(TRACES_PATH);
    struct weir_slice parts[2] = {text, whole};

    while (weir_slice_ends(parts[0], WEIR_SLICE("/")))
        parts[0] = weir_slice_sub(parts[0], 0, parts[0].len - 1);
    return weir_slice_ends(parts[0], whole) ? parts[0] : weir_arena_join(arena, parts, 2);
}

static int read_url(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said places[] = {
        {s->otlp_traces_endpoint, WEIR_SLICE("traces_endpoint"), false},
        {s->otlp_endpoint, WEIR_SLICE("endpoint"), false},
        {s->otel_traces_endpoint, WEIR_SLICE("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), true},
        {s->otel_endpoint, WEIR_SLICE("OTEL_EXPORTER_OTLP_ENDPOINT"), true},
        {s->otel_litellm_endpoint, WEIR_SLICE("OTEL_ENDPOINT"), true},
        {WEIR_SLICE("http://localhost:4318"), WEIR_SLICE("endpoint"), false}};
    const struct said *said = first_of(places, sizeof(places) / sizeof(places[0]));
    bool whole = said == &places[0] || said == &places[2];
    struct weir_slice text = weir_slice_trim(said->text);
    struct weir_url url;

    if (!is_url(text, &url))
        return refuse(loader, said, WEIR_SLICE("it is no URL, expected http:// or https://, without a user"));
    if (!whole && url.query.len > 0)
        return refuse(loader, said,
                      WEIR_SLICE("a query cannot stand here; traces_endpoint takes a URL as it is"));
    if (url.port == GRPC_PORT)
        (void)tell(loader, WEIR_SEVERITY_WARNING, said,
                   WEIR_SLICE("port 4317 is usually gRPC, which is not spoken here: http/protobuf has 4318"));
    otlp->host = url.host;
    otlp->url = whole ? text : with_path(text, loader->arena);
    return 0;
}

static bool is_our_protocol(struct weir_slice text)
{
    return text.len == 0 || weir_slice_eq(text, WEIR_SLICE("http/protobuf")) ||
           weir_slice_eq(text, WEIR_SLICE("otlp_http"));
}

static void warn_protocol(struct weir_loader *loader)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said places[] = {{s->otel_protocol, WEIR_SLICE("OTEL_EXPORTER_OTLP_PROTOCOL"), true},
                                  {s->otel_exporter, WEIR_SLICE("OTEL_EXPORTER"), true}};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (!is_our_protocol(weir_slice_trim(places[i].text)))
            (void)tell(loader, WEIR_SEVERITY_WARNING, &places[i],
                       WEIR_SLICE("traces are sent as http/protobuf all the same (collectors take that at "
                                  "port 4318)"));
}

/* ---- lists of names and values ---- */

/* What is done with each; 0, WEIR_CONFIG_REFUSED with nothing told, or negative. */
typedef int item_fn(struct weir_loader *loader, struct weir_config_otlp *otlp,
                    const struct weir_config_attribute *item);

static int read_map(struct weir_loader *loader, struct weir_config_otlp *otlp, const struct weir_yaml *map,
                    item_fn *add)
{
    int rv = 0;

    for (size_t i = 0; i < map->count && rv == 0; i++) {
        const struct weir_yaml *value = map->pairs[i].value;
        const struct weir_config_attribute item = {map->pairs[i].key->text, value->text};

        if (value->kind == WEIR_YAML_NULL)
            continue;
        rv = value->kind >= WEIR_YAML_LIST ? WEIR_CONFIG_REFUSED : add(loader, otlp, &item);
    }
    return rv;
}

/* "name=value,name=value", percent-encoded. */
static int read_text(struct weir_loader *loader, struct weir_config_otlp *otlp, struct weir_slice text,
                     item_fn *add)
{
    bool done = text.len == 0;
    struct weir_slice field;
    int rv = 0;

    if (text.len > LIST_MAX_BYTES)
        return WEIR_CONFIG_REFUSED;
    while (rv == 0 && weir_slice_cut(&text, ',', &done, &field)) {
        size_t at = weir_slice_find_char(field, '=');
        struct weir_config_attribute item;

        if (weir_slice_trim(field).len == 0)
            continue;
        if (at == WEIR_SLICE_NONE)
            return WEIR_CONFIG_REFUSED;
        item.name = weir_slice_trim(weir_slice_sub(field, 0, at));
        rv = weir_http_unescape(weir_slice_trim(weir_slice_sub(field, at + 1, field.len)), loader->arena,
                                &item.value);
        rv = rv > 0 ? WEIR_CONFIG_REFUSED : rv;
        if (rv == 0)
            rv = add(loader, otlp, &item);
    }
    return rv;
}

/* The key of otlp if it is there, else the first variable that is set; wrong ends what is told. */
static int read_list(struct weir_loader *loader, struct weir_config_otlp *otlp, struct weir_slice key,
                     const struct said *variables, size_t count, item_fn *add, struct weir_slice wrong)
{
    const struct weir_yaml *node = weir_yaml_get(otlp_of(loader), key);
    struct said said = {WEIR_SLICE_EMPTY, key, false};
    int rv;

    if (node == NULL || node->kind == WEIR_YAML_NULL) {
        said = *first_of(variables, count);
        rv = read_text(loader, otlp, said.text, add);
    } else if (node->kind == WEIR_YAML_MAP) {
        rv = read_map(loader, otlp, node, add);
    } else {
        rv = node->kind == WEIR_YAML_TEXT ? read_text(loader, otlp, node->text, add) : WEIR_CONFIG_REFUSED;
    }
    return rv == WEIR_CONFIG_REFUSED ? refuse(loader, &said, wrong) : rv;
}

static int add_header(struct weir_loader *loader, struct weir_config_otlp *otlp,
                      const struct weir_config_attribute *item)
{
    const struct weir_header header = {item->name, item->value};
    const struct weir_slice parts[] = {otlp->lines, item->name, WEIR_SLICE(": "), item->value,
                                       WEIR_SLICE("\r\n")};

    if (!weir_endpoint_header_ok(&header) || weir_slice_eq_ci(item->name, WEIR_SLICE("content-type")) ||
        otlp->lines.len + item->name.len + item->value.len > LIST_MAX_BYTES)
        return WEIR_CONFIG_REFUSED;
    otlp->lines = weir_arena_join(loader->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return 0;
}

static int read_headers(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said variables[] = {
        {s->otel_traces_headers, WEIR_SLICE("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), true},
        {s->otel_headers, WEIR_SLICE("OTEL_EXPORTER_OTLP_HEADERS"), true},
        {s->otel_litellm_headers, WEIR_SLICE("OTEL_HEADERS"), true}};

    otlp->lines = WEIR_SLICE("Content-Type: application/x-protobuf\r\n");
    return read_list(
        loader, otlp, WEIR_SLICE("headers"), variables, sizeof(variables) / sizeof(variables[0]), add_header,
        WEIR_SLICE("not a list of header fields: expected a map of names to text, or "
                   "NAME=VALUE,... with %XX for what is special, and none that HTTP itself uses"));
}

static int add_attribute(struct weir_loader *loader, struct weir_config_otlp *otlp,
                         const struct weir_config_attribute *item)
{
    (void)loader;
    if (item->name.len == 0 || otlp->attribute_count == WEIR_CONFIG_ATTRIBUTES_MAX)
        return WEIR_CONFIG_REFUSED;
    if (weir_slice_eq(item->name, WEIR_SLICE("service.name")))
        otlp->service = otlp->service.len == 0 ? item->value : otlp->service;
    else
        otlp->attributes[otlp->attribute_count++] = *item;
    return 0;
}

static int read_attributes(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said variable = {s->otel_attributes, WEIR_SLICE("OTEL_RESOURCE_ATTRIBUTES"), true};
    int rv;

    otlp->service = s->otlp_service.len > 0 ? s->otlp_service : s->otel_service;
    rv = read_list(loader, otlp, WEIR_SLICE("resource_attributes"), &variable, 1, add_attribute,
                   WEIR_SLICE("not a list of attributes: expected a map of names to text, or "
                              "NAME=VALUE,... with %XX for what is special, 64 at most"));
    if (otlp->service.len == 0)
        otlp->service = WEIR_SLICE("weir");
    return rv;
}

/* ---- how much ---- */

/* 1 where it says nothing. */
static bool read_part(struct weir_slice text, double *ret_part)
{
    *ret_part = 1;
    return text.len == 0 || (weir_slice_number(text, ret_part) == 0 && *ret_part >= 0 && *ret_part <= 1);
}

static int read_sampler(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said said = {s->otel_sampler, WEIR_SLICE("OTEL_TRACES_SAMPLER"), true};
    const struct said argument = {s->otel_sampler_arg, WEIR_SLICE("OTEL_TRACES_SAMPLER_ARG"), true};
    const struct weir_slice by_parent = WEIR_SLICE("parentbased_");
    struct weir_slice name = weir_slice_trim(said.text);

    otlp->by_caller = name.len == 0 || weir_slice_starts(name, by_parent);
    if (weir_slice_starts(name, by_parent))
        name = weir_slice_sub(name, by_parent.len, name.len);
    otlp->sample = weir_slice_eq(name, WEIR_SLICE("always_off")) ? 0 : 1;
    if (weir_slice_eq(name, WEIR_SLICE("traceidratio")))
        return read_part(weir_slice_trim(argument.text), &otlp->sample)
                   ? 0
                   : refuse(loader, &argument, WEIR_SLICE("expected a number from 0 to 1"));
    if (name.len == 0 || weir_slice_eq(name, WEIR_SLICE("always_on")) ||
        weir_slice_eq(name, WEIR_SLICE("always_off")))
        return 0;
    otlp->by_caller = true;
    return tell(loader, WEIR_SEVERITY_WARNING, &said,
                WEIR_SLICE("unknown; every call is traced, or as its traceparent says"));
}

static int read_sample(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    if (loader->config->sources[WEIR_SETTING_otlp_sample].line == 0)
        return read_sampler(loader, otlp);
    otlp->sample = loader->config->settings.otlp_sample;
    otlp->by_caller = true;
    return 0;
}

static int read_timeout(struct weir_loader *loader, struct weir_config_otlp *otlp)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct said said = {s->otel_timeout, WEIR_SLICE("OTEL_EXPORTER_OTLP_TIMEOUT"), true};
    struct weir_slice text = weir_slice_trim(said.text);
    double ms = TIMEOUT_DEFAULT_S * 1e3;

    otlp->timeout_ns = s->otlp_timeout_ns;
    if (otlp->timeout_ns != WEIR_UNSET_NS)
        return 0;
    if (text.len > 0 && (weir_slice_number(text, &ms) != 0 || !(ms >= 50 && ms <= 600e3)))
        return refuse(loader, &said, WEIR_SLICE("expected milliseconds, 50 to 600000"));
    otlp->timeout_ns = weir_time_from_s(ms / 1e3);
    return 0;
}

typedef int read_fn(struct weir_loader *loader, struct weir_config_otlp *otlp);

int weir_otlp_read(struct weir_loader *loader)
{
    static read_fn *const steps[] = {read_url, read_headers, read_attributes, read_sample, read_timeout};
    const struct weir_settings *s = &loader->config->settings;
    struct weir_config_otlp *otlp = &loader->config->otlp;
    bool called_back = is_called_back(loader);
    int rv = 0;

    otlp->on = (called_back || otlp_of(loader) != NULL) &&
               !weir_slice_eq_ci(weir_slice_trim(s->otel_disabled), WEIR_SLICE("true"));
    if (!otlp->on)
        return 0;
    warn_protocol(loader);
    otlp->interval_ns = s->otlp_interval_ns;
    otlp->queue_bytes = (size_t)s->otlp_queue_bytes;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && rv == 0; i++)
        rv = steps[i](loader, otlp);
    return rv == 0 && weir_arena_failed(loader->arena) ? WEIR_ERR_NOMEM : rv;
}
