/*
 * Model: each place that names addresses adds them with the types of alerts that go there; an address that is
 * named twice in one form is one hook with the types of both.
 */
#include "config/alerts.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/compound.h"
#include "config/loader.h"
#include "wire/url.h"

enum { URL_MAX_BYTES = 2048 };

static const struct weir_slice type_names[WEIR_ALERT_TYPES] = {
#define X(type, name, supported, about) WEIR_SLICE_INIT(name),
#include "config/tbl/alert_types.h"
#undef X
};

static const struct weir_path general = {NULL, WEIR_SLICE_INIT("general_settings"), 0};

struct weir_slice weir_alert_type_name(enum weir_alert_type type)
{
    return type_names[type];
}

/* What is said of an address: where it stands, and whose it is. */
struct place {
    const struct weir_yaml *node;
    const struct weir_path *path;
    struct weir_slice origin;
};

static int refuse(struct weir_loader *loader, const struct place *place, struct weir_slice text)
{
    WEIR_REPORT(loader, FATAL, place->node, place->path, place->origin, text);
    return WEIR_CONFIG_REFUSED;
}

static bool is_url(struct weir_slice text)
{
    struct weir_url url;

    return text.len <= URL_MAX_BYTES && weir_url_parse(text, &url) == 0 && url.user.len == 0;
}

static struct weir_config_hook *find(struct weir_config_alerts *alerts, struct weir_slice url,
                                     enum weir_alert_form form)
{
    for (size_t i = 0; i < alerts->hook_count; i++)
        if (alerts->hooks[i].form == form && weir_slice_eq(alerts->hooks[i].url, url))
            return &alerts->hooks[i];
    return NULL;
}

static int add(struct weir_loader *loader, const struct place *place, struct weir_slice url,
               enum weir_alert_form form, uint32_t types)
{
    struct weir_config_alerts *alerts = &loader->config->alerts;
    struct weir_config_hook *hook;

    url = weir_slice_trim(url);
    if (!is_url(url))
        return refuse(loader, place,
                      WEIR_SLICE(": the address is no URL, expected http:// or https://, without a user"));
    hook = find(alerts, url, form);
    if (hook == NULL && alerts->hook_count == WEIR_CONFIG_HOOKS_MAX)
        return refuse(loader, place, WEIR_SLICE(": more than 32 addresses for alerts"));
    if (hook == NULL) {
        hook = &alerts->hooks[alerts->hook_count++];
        *hook = (struct weir_config_hook){.url = url, .origin = place->origin, .form = form};
    }
    hook->types |= types;
    return 0;
}

/* ---- alert_to_webhook_url ---- */

static struct weir_slice origin_of(struct weir_loader *loader, struct weir_slice type)
{
    const struct weir_slice parts[] = {WEIR_SLICE("alert_to_webhook_url."), type};

    return weir_arena_join(loader->arena, parts, 2);
}

static int add_node(struct weir_loader *loader, const struct place *place, uint32_t types)
{
    const struct weir_yaml *node = place->node;
    int rv = 0;

    if (node->kind == WEIR_YAML_TEXT)
        return add(loader, place, node->text, WEIR_ALERT_SLACK, types);
    if (node->kind != WEIR_YAML_LIST)
        return refuse(loader, place, WEIR_SLICE(": expected a URL or a list of URLs"));
    for (size_t i = 0; rv == 0 && i < node->count; i++) {
        struct weir_path path = {place->path, WEIR_SLICE_EMPTY, i};
        struct place item = {node->items[i], &path, place->origin};

        if (item.node->kind != WEIR_YAML_TEXT)
            return refuse(loader, &item, WEIR_SLICE(": expected a URL"));
        rv = add(loader, &item, item.node->text, WEIR_ALERT_SLACK, types);
    }
    return rv;
}

/* *taken: the types that have addresses of their own. */
static int read_addresses(struct weir_loader *loader, const struct weir_yaml *map, uint32_t types,
                          uint32_t *taken)
{
    struct weir_path path = {&general, WEIR_SLICE("alert_to_webhook_url"), 0};
    struct place place = {map, &path, path.key};
    int rv = 0;

    if (map->kind != WEIR_YAML_MAP)
        return refuse(loader, &place, WEIR_SLICE(": expected a map of types of alerts to URLs"));
    for (size_t i = 0; rv == 0 && i < map->count; i++) {
        const struct weir_yaml_pair *pair = &map->pairs[i];
        struct weir_path here = {&path, pair->key->text, 0};
        uint32_t bit = weir_compound_alert_type(loader, pair->key, &here);

        if (bit == 0 || pair->value->kind == WEIR_YAML_NULL)
            continue;
        place = (struct place){pair->value, &here, origin_of(loader, pair->key->text)};
        rv = add_node(loader, &place, bit & types);
        *taken |= bit;
    }
    return rv;
}

/* ---- the places ---- */

static void warn_nowhere(struct weir_loader *loader, const struct place *place, struct weir_slice text)
{
    WEIR_REPORT(loader, WARNING, place->node, place->path, text);
}

static int read_slack(struct weir_loader *loader, const struct place *alerting, uint32_t types)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct weir_yaml *map =
        weir_yaml_get(weir_yaml_get(loader->root, general.key), WEIR_SLICE("alert_to_webhook_url"));
    bool own = s->variable_slack_url.len > 0;
    struct place place = {alerting->node, alerting->path,
                          own ? WEIR_SLICE("SLACK_WEBHOOK_URL") : WEIR_SLICE("ALERTING_WEBHOOK_URL")};
    struct weir_slice url = own ? s->variable_slack_url : s->variable_alerting_url;
    uint32_t taken = 0;
    int rv = map == NULL ? 0 : read_addresses(loader, map, types, &taken);

    if (rv != 0 || (types & ~taken) == 0)
        return rv;
    if (url.len > 0)
        return add(loader, &place, url, WEIR_ALERT_SLACK, types & ~taken);
    warn_nowhere(loader, alerting,
                 taken == 0 ? WEIR_SLICE("slack has no address: neither SLACK_WEBHOOK_URL is set nor "
                                         "alert_to_webhook_url; nothing is sent there")
                            : WEIR_SLICE("alerts of types that alert_to_webhook_url does not name are not "
                                         "sent: SLACK_WEBHOOK_URL is not set"));
    return 0;
}

static int read_webhook(struct weir_loader *loader, const struct place *alerting, uint32_t types)
{
    const struct weir_settings *s = &loader->config->settings;
    struct place place = {alerting->node, alerting->path, WEIR_SLICE("WEBHOOK_URL")};

    if (s->variable_webhook_url.len > 0)
        return add(loader, &place, s->variable_webhook_url, WEIR_ALERT_JSON, types);
    warn_nowhere(loader, alerting,
                 WEIR_SLICE("webhook has no address: WEBHOOK_URL is not set; nothing is sent there"));
    return 0;
}

static int read_own(struct weir_loader *loader, uint32_t types)
{
    const struct weir_settings *s = &loader->config->settings;
    const struct weir_path up = {NULL, WEIR_SLICE("weir_settings"), 0};
    const struct weir_path path = {&up, WEIR_SLICE("alert_webhook"), 0};
    struct place place = {weir_yaml_get(weir_yaml_get(loader->root, up.key), path.key), &path, path.key};

    if (s->alert_webhook.len == 0 || place.node == NULL)
        return 0;
    return add(loader, &place, s->alert_webhook, s->alert_form, types);
}

static uint32_t supported(void)
{
    uint32_t bits = 0;

#define X(type, name, supported, about) bits |= (supported) ? WEIR_ALERT_BIT(WEIR_ALERT_TYPE_##type) : 0;
#include "config/tbl/alert_types.h"
#undef X
    return bits;
}

static void tell_idle(struct weir_loader *loader)
{
    const struct weir_yaml *map =
        weir_yaml_get(weir_yaml_get(loader->root, general.key), WEIR_SLICE("alert_to_webhook_url"));
    struct weir_path path = {&general, WEIR_SLICE("alert_to_webhook_url"), 0};

    if (map != NULL)
        WEIR_REPORT(loader, WARNING, map, &path, WEIR_SLICE("it has no effect: slack is not in alerting"));
}

/* LiteLLM's other types need what is not there: whoever lists nothing else waits for alerts in vain. */
static void tell_nothing(struct weir_loader *loader)
{
    const struct weir_yaml *list =
        weir_yaml_get(weir_yaml_get(loader->root, general.key), WEIR_SLICE("alert_types"));
    struct weir_path path = {&general, WEIR_SLICE("alert_types"), 0};

    if (list != NULL)
        WEIR_REPORT(loader, WARNING, list, &path, WEIR_SLICE("nothing of it is told here: no alert is sent"));
}

int weir_alerts_read(struct weir_loader *loader)
{
    struct weir_config *config = loader->config;
    struct weir_config_alerts *alerts = &config->alerts;
    const struct weir_yaml *node =
        weir_yaml_get(weir_yaml_get(loader->root, general.key), WEIR_SLICE("alerting"));
    struct weir_path path = {&general, WEIR_SLICE("alerting"), 0};
    struct place alerting = {node == NULL ? loader->root : node, &path, path.key};
    uint32_t types = supported(), channels = config->settings.alerting;
    int rv = 0;

    if (config->sources[WEIR_SETTING_alert_types].line > 0)
        types &= config->settings.alert_types;
    if ((channels & WEIR_ALERT_BIT(WEIR_ALERT_CHANNEL_SLACK)) != 0)
        rv = read_slack(loader, &alerting, types);
    else
        tell_idle(loader);
    if (rv == 0 && (channels & WEIR_ALERT_BIT(WEIR_ALERT_CHANNEL_WEBHOOK)) != 0)
        rv = read_webhook(loader, &alerting, types);
    if (rv == 0)
        rv = read_own(loader, types);
    for (size_t i = 0; i < alerts->hook_count; i++)
        alerts->types |= alerts->hooks[i].types;
    if (types == 0 && (channels != 0 || alerts->hook_count > 0))
        tell_nothing(loader);
    alerts->console = config->settings.alert_to_console && (channels != 0 || alerts->hook_count > 0);
    if (alerts->console)
        alerts->types = types;
    return weir_arena_failed(loader->arena) ? WEIR_ERR_NOMEM : rv;
}
