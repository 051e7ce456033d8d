/*
 * Things are made in the order in which they need each other and taken down in the reverse; a gateway that
 * was made half is taken down by the same function.
 */
#include "gateway/gateway.h"

#include <stdio.h>

#include <weir/error.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "config/config.h"
#include "provider/fields.h"
#include "wire/json_scan.h"

static struct weir_slice variable(void *config, const char *name)
{
    struct weir_slice value;

    return weir_config_variable(config, name, &value) ? value : WEIR_SLICE_EMPTY;
}

static int make_proxies(struct weir_gateway *gateway, char text[WEIR_GATEWAY_TEXT_MAX])
{
    int r = weir_proxies_init_variables(&gateway->proxies, gateway->mem, variable, gateway->config);

    if (r > 0)
        (void)snprintf(text, WEIR_GATEWAY_TEXT_MAX,
                       "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is not http://[user:password@]host[:port], or "
                       "NO_PROXY has too "
                       "many entries");
    return r > 0 ? WEIR_GATEWAY_REFUSED : r;
}

static int make_resolver(struct weir_gateway *gateway)
{
    struct weir_resolver_config resolver = {.ttl_ns = gateway->config->settings.dns_ttl_ns};

    return weir_resolver_new(gateway->mem, &resolver, &gateway->resolver);
}

static int make_router(struct weir_gateway *gateway, uint64_t seed)
{
    int r = weir_router_new(gateway->mem, seed, &gateway->router);

    return r == 0 ? weir_router_adopt(gateway->router, gateway->config->snapshot) : r;
}

static int make_log(struct weir_gateway *gateway, char text[WEIR_GATEWAY_TEXT_MAX])
{
    const struct weir_settings *settings = &gateway->config->settings;
    char reason[WEIR_ACCESS_LOG_TEXT_MAX];
    int r = weir_access_log_new(gateway->mem, settings->access_log, settings->access_log_format,
                                gateway->workers, reason, &gateway->log);

    if (r > 0)
        (void)snprintf(text, WEIR_GATEWAY_TEXT_MAX, "%s", reason);
    return r > 0 ? WEIR_GATEWAY_REFUSED : r;
}

/* Whether it matters to any deployment that a request has a tool for searching the web. */
static bool minds_web_search(const struct weir_config *config)
{
    for (size_t i = 0; i < config->deployment_count; i++) {
        const struct weir_model_facts *facts = &config->deployments[i]->facts;

        if (weir_figure_known(facts, WEIR_FIGURE_WEB_SEARCH) && !(facts->figures[WEIR_FIGURE_WEB_SEARCH] > 0))
            return true;
    }
    return false;
}

static struct weir_asked_rules rules_of(const struct weir_gateway *gateway)
{
    const struct weir_settings *settings = &gateway->config->settings;

    return (struct weir_asked_rules){.max_depth = settings->max_json_depth,
                                     .mock_flags = settings->allow_mock_params,
                                     .overrides = settings->request_overrides,
                                     .caller_places = gateway->upstreams.caller_places,
                                     .tag_prefix = settings->tag_prefix,
                                     .parameters = settings->pre_call_checks,
                                     .web_search = minds_web_search(gateway->config),
                                     .user_agent = gateway->config->patterns != NULL};
}

static bool has_patterns(const weir_snapshot *snapshot)
{
    for (size_t i = 0; i < weir_snapshot_group_count(snapshot); i++)
        if (weir_slice_find_char(weir_snapshot_group_name(snapshot, i), '*') != WEIR_SLICE_NONE)
            return true;
    return false;
}

int weir_gateway_init(struct weir_gateway *ret_gateway, struct weir_config *config, size_t workers,
                      uint64_t seed, const struct weir_mem *mem, char text[WEIR_GATEWAY_TEXT_MAX])
{
    const struct weir_settings *settings = &config->settings;
    int r;

    *ret_gateway = (struct weir_gateway){.mem = mem, .config = config, .workers = workers};
    atomic_init(&ret_gateway->draining, false);
    weir_budget_init(&ret_gateway->budget, mem, (size_t)settings->memory_budget_bytes);
    weir_admission_init(&ret_gateway->admission, settings->max_in_flight, settings->max_queued);
    ret_gateway->connections.max_connections = settings->max_connections * workers;
    r = weir_upstreams_init(&ret_gateway->upstreams, config, mem, text);
    if (r > 0)
        r = WEIR_GATEWAY_REFUSED;
    ret_gateway->rules = rules_of(ret_gateway);
    ret_gateway->has_patterns = has_patterns(config->snapshot);
    ret_gateway->hedges = weir_snapshot_hedges(config->snapshot) ||
                          (settings->request_overrides & WEIR_OVERRIDE_BIT(WEIR_OVERRIDE_ID_hedge)) != 0;
    if (r == 0)
        r = make_router(ret_gateway, seed);
    if (r == 0)
        r = weir_prompts_init(&ret_gateway->prompts, config->snapshot, mem);
    if (r == 0)
        r = make_proxies(ret_gateway, text);
    if (r == 0)
        r = make_resolver(ret_gateway);
    if (r == 0)
        r = make_log(ret_gateway, text);
    return r;
}

void weir_gateway_deinit(struct weir_gateway *gateway)
{
    weir_access_log_free(gateway->log);
    if (gateway->resolver != NULL)
        weir_resolver_free(gateway->resolver);
    weir_proxies_deinit(&gateway->proxies);
    weir_upstreams_deinit(&gateway->upstreams);
    weir_prompts_deinit(&gateway->prompts);
    weir_config_free(gateway->config); /* and its snapshot, which the router must outlive */
    weir_router_free(gateway->router);
    if (gateway->mem != NULL) {
        weir_admission_deinit(&gateway->admission);
        weir_budget_deinit(&gateway->budget);
    }
    *gateway = (struct weir_gateway){0};
}
