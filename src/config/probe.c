/*
 * A probe is a request like any other, so it needs a route and a model without "*"; where the entry gives
 * neither, nobody is asked.
 */
#include "config/probe.h"

#include "base/slice.h"
#include "config/sections.h"

static const struct {
    struct weir_slice mode;
    weir_route route;
} modes[] = {
#define X(mode, route) {WEIR_SLICE_INIT(mode), WEIR_ROUTE_##route},
#include "config/tbl/probe_modes.h"
#undef X
};

/* False: there is no route for the mode. */
static bool route_of(struct weir_slice mode, struct weir_slice model, weir_route *ret_route)
{
    if (mode.len == 0)
        mode = weir_slice_find(model, WEIR_SLICE("embed")) != WEIR_SLICE_NONE ? WEIR_SLICE("embedding")
                                                                              : WEIR_SLICE("chat");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (weir_slice_eq(modes[i].mode, mode)) {
            *ret_route = modes[i].route;
            return true;
        }
    return false;
}

/* Where groups are named, the others are not asked. */
static bool in_scope(const struct weir_settings *settings, struct weir_slice group)
{
    const struct weir_names *groups = weir_sections_health_groups(settings);

    for (size_t i = 0; i < groups->count; i++)
        if (weir_slice_eq(groups->items[i], group))
            return true;
    return groups->count == 0;
}

void weir_probe_read(const struct weir_settings *settings, const struct weir_deployment_settings *s,
                     struct weir_config_deployment *deployment)
{
    struct weir_config_probe *probe = &deployment->probe;

    *probe = (struct weir_config_probe){
        .model = s->health_check_model.len > 0 ? s->health_check_model : deployment->model,
        .max_tokens = s->health_check_max_tokens,
        .timeout_ns = s->health_check_timeout_ns != WEIR_UNSET_NS ? s->health_check_timeout_ns
                                                                  : settings->health_timeout_ns,
        .unchecked = s->unchecked};
    probe->able = route_of(s->mode, probe->model, &probe->route) &&
                  weir_slice_find_char(probe->model, '*') == WEIR_SLICE_NONE;
    probe->by_itself = probe->able && !s->unchecked && !s->blocked && in_scope(settings, deployment->group);
}

static void check_groups(struct weir_loader *loader)
{
    const struct weir_settings *settings = &loader->config->settings;
    bool of_router = settings->router_health_groups.count > 0;
    const struct weir_names *groups = weir_sections_health_groups(settings);
    struct weir_slice path = of_router ? WEIR_SLICE("router_settings.background_health_check_model_groups")
                                       : WEIR_SLICE("general_settings.background_health_check_model_groups");
    const struct weir_place *place =
        &loader->config
             ->sources[of_router ? WEIR_SETTING_router_health_groups : WEIR_SETTING_general_health_groups];

    for (size_t i = 0; i < groups->count; i++)
        if (!weir_snapshot_has_group(loader->config->snapshot, groups->items[i]))
            WEIR_DIAG(loader->diags, WEIR_SEVERITY_WARNING, place, path, WEIR_SLICE("no group is called "),
                      groups->items[i]);
}

void weir_probe_check(struct weir_loader *loader)
{
    const struct weir_config *config = loader->config;

    check_groups(loader);
    if (config->settings.health_shared && !config->redis.on)
        WEIR_DIAG(loader->diags, WEIR_SEVERITY_WARNING, &config->sources[WEIR_SETTING_health_shared],
                  WEIR_SLICE("general_settings.use_shared_health_check"),
                  WEIR_SLICE("no Redis is configured: each process makes its own health checks"));
}
