/*
 * Loading, from first to last: files, variables, settings, groups, the model map, deployments, chains,
 * strategies, snapshot.
 *
 * Model: the steps of one table run in order until one refuses.  A refusal of the settings does not keep the
 * deployments and chains from being read, so that one run of `weir check` tells all mistakes.
 */
#include "config/config.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "config/alerts.h"
#include "config/chains.h"
#include "config/deployments.h"
#include "config/facts.h"
#include "config/groups.h"
#include "config/loader.h"
#include "config/otlp.h"
#include "config/probe.h"
#include "config/redis.h"
#include "config/routing.h"
#include "config/sections.h"
#include "config/tag_regex.h"
#include "config/variables.h"
#include "config/yaml/source.h"
#include "config/yaml/yaml_read.h"

enum { ARENA_BLOCK_BYTES = 64 * 1024 };
#define ARENA_MAX_BYTES ((size_t)1024 * 1024 * 1024)

typedef int step_fn(struct weir_loader *loader);

/* Runs all steps; the worst result, or the first negative one. */
static int run(struct weir_loader *loader, step_fn *const *steps, size_t count)
{
    int worst = 0;

    for (size_t i = 0; i < count; i++) {
        int rv = steps[i](loader);

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst;
}

static void warn_nothing_to_serve(struct weir_loader *loader)
{
    struct weir_path path = {NULL, WEIR_SLICE("model_list"), 0};
    const struct weir_yaml_pair *pair = weir_yaml_pair(loader->root, path.key);

    if (loader->config->deployment_count == 0)
        WEIR_REPORT(loader, WARNING, pair == NULL ? loader->root : pair->key, &path,
                    WEIR_SLICE("no deployment to serve: every request will fail"));
}

static int build(struct weir_loader *loader)
{
    struct weir_router_spec spec;
    int rv;

    weir_sections_router(&loader->config->settings, &spec);
    spec.strategy = loader->strategy;
    weir_snapshot_set_router(loader->builder, &spec);
    rv = weir_snapshot_build(loader->builder, &loader->config->snapshot);
    if (rv == WEIR_ERR_INVALID) {
        WEIR_DIAG(loader->diags, WEIR_SEVERITY_FATAL, &loader->root->place, WEIR_SLICE("router_settings"),
                  WEIR_SLICE("the numbers of the router contradict each other"));
        return WEIR_CONFIG_REFUSED;
    }
    if (rv != 0)
        return rv;
    warn_nothing_to_serve(loader);
    weir_groups_check(loader);
    weir_routing_check(loader);
    weir_chains_check(loader);
    weir_probe_check(loader);
    return weir_arena_failed(loader->arena) ? WEIR_ERR_NOMEM : 0;
}

static int load(struct weir_loader *loader, const char *path, struct weir_slice text)
{
    static step_fn *const first[] = {weir_variables_section, weir_variables_replace};
    static step_fn *const second[] = {weir_sections_read,    weir_redis_settings_read, weir_alerts_read,
                                      weir_otlp_read,        weir_groups_read,         weir_facts_read_map,
                                      weir_deployments_read, weir_chains_read,         weir_routing_read};
    int rv = weir_source_read(loader, path, text), variables;

    if (rv != 0)
        return rv;
    loader->config->root = loader->root;
    variables = run(loader, first, sizeof(first) / sizeof(*first));
    if (variables < 0)
        return variables;
    rv = run(loader, second, sizeof(second) / sizeof(*second));
    if (rv < 0)
        return rv;
    return rv > 0 || variables > 0 ? WEIR_CONFIG_REFUSED : build(loader);
}

static int new_config(const struct weir_config_env *env, const struct weir_mem *mem,
                      struct weir_config **ret_config)
{
    struct weir_config *config = mem->alloc(mem->user, sizeof(*config));

    if (config == NULL)
        return WEIR_ERR_NOMEM;
    memset(config, 0, sizeof(*config));
    config->mem = mem;
    config->env = *env;
    weir_arena_init(&config->arena, mem, ARENA_BLOCK_BYTES, ARENA_MAX_BYTES);
    weir_map_init(&config->renames, weir_arena_mem(&config->arena), WEIR_YAML_NODES_MAX);
    weir_sections_defaults(&config->settings);
    *ret_config = config;
    return 0;
}

static void free_config(struct weir_config **config)
{
    weir_config_free(*config);
}

int weir_config_load_text(struct weir_slice text, const char *path, const struct weir_config_env *env,
                          const struct weir_mem *mem, struct weir_diags *diags,
                          struct weir_config **ret_config)
{
    WEIR_CLEANUP(free_config) struct weir_config *config = NULL;
    struct weir_loader loader = {.diags = diags};
    int rv = new_config(env, mem, &config);

    if (rv != 0)
        return rv;
    loader.config = config;
    loader.arena = &config->arena;
    loader.told = weir_arena_zalloc(loader.arena, weir_schema_count(), sizeof(*loader.told));
    rv = loader.told == NULL ? WEIR_ERR_NOMEM : weir_snapshot_builder_new(mem, &loader.builder);
    if (rv == 0)
        rv = load(&loader, path, text);
    weir_snapshot_builder_free(loader.builder);
    weir_loader_deinit(&loader);
    weir_diags_sort(diags);
    if (rv == 0) {
        *ret_config = config;
        config = NULL;
    }
    return rv;
}

int weir_config_load(const char *path, const struct weir_config_env *env, const struct weir_mem *mem,
                     struct weir_diags *diags, struct weir_config **ret_config)
{
    return weir_config_load_text(WEIR_SLICE_EMPTY, path, env, mem, diags, ret_config);
}

void weir_config_free(struct weir_config *config)
{
    if (config == NULL)
        return;
    weir_snapshot_unref(config->snapshot);
    weir_tag_regex_free(config->patterns);
    weir_arena_deinit(&config->arena);
    config->mem->free(config->mem->user, config, sizeof(*config));
}

bool weir_config_variable(const struct weir_config *config, const char *name, struct weir_slice *ret_value)
{
    return weir_variables_get(config, weir_slice_str(name), ret_value);
}
