/*
 * They are laid over the params of an entry before these are read, so nothing later knows of them.  Keys by
 * which the router chooses and counts describe one deployment and not a call; they are left out and told.
 */
#include "config/call_params.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/entry.h"

/* Of the rows of litellm_params those that say where a call goes and what it carries. */
static const struct weir_slice of_a_call[] = {
    WEIR_SLICE_INIT("api_base"),
    WEIR_SLICE_INIT("base_url"),
    WEIR_SLICE_INIT("api_key"),
    WEIR_SLICE_INIT("api_version"),
    WEIR_SLICE_INIT("azure_ad_token"),
    WEIR_SLICE_INIT("organization"),
    WEIR_SLICE_INIT("extra_headers"),
    WEIR_SLICE_INIT("headers"),
    WEIR_SLICE_INIT("extra_body"),
    WEIR_SLICE_INIT("ssl_verify"),
    WEIR_SLICE_INIT("ssl_certificate"),
    WEIR_SLICE_INIT("stream_timeout"),
    WEIR_SLICE_INIT("ttft_timeout"),
    WEIR_SLICE_INIT("stream_idle_timeout"),
    WEIR_SLICE_INIT("mock_response"),
    WEIR_SLICE_INIT("drop_params"),
    WEIR_SLICE_INIT("additional_drop_params"),
    WEIR_SLICE_INIT("allowed_openai_params"),
};

static bool is_of_a_call(struct weir_loader *loader, struct weir_slice key)
{
    for (size_t i = 0; i < sizeof(of_a_call) / sizeof(*of_a_call); i++)
        if (weir_slice_eq(key, of_a_call[i]))
            return true;
    return weir_loader_find(loader, WEIR_SECTION_PARAMS, key) == NULL;
}

int weir_call_params_read(struct weir_loader *loader, const struct weir_yaml **ret_params)
{
    struct weir_path top = {NULL, weir_section_key(WEIR_SECTION_ROUTER), 0};
    struct weir_path path = {&top, WEIR_SLICE("default_litellm_params"), 0};
    const struct weir_yaml *map = weir_yaml_get(weir_yaml_get(loader->root, top.key), path.key);
    struct weir_yaml *params;

    if (map == NULL)
        return 0;
    if (map->kind != WEIR_YAML_MAP) {
        WEIR_REPORT(loader, FATAL, map, &path, WEIR_SLICE("found "), weir_yaml_kind_name(map),
                    WEIR_SLICE(", expected a map of parameters"));
        return WEIR_CONFIG_REFUSED;
    }
    params = weir_arena_zalloc(loader->arena, 1, sizeof(*params));
    if (params == NULL)
        return WEIR_ERR_NOMEM;
    *params = *map;
    params->count = 0;
    params->pairs = weir_arena_zalloc(loader->arena, map->count + 1, sizeof(*params->pairs));
    if (params->pairs == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < map->count; i++) {
        struct weir_path here = {&path, map->pairs[i].key->text, 0};

        if (is_of_a_call(loader, here.key))
            params->pairs[params->count++] = map->pairs[i];
        else
            WEIR_REPORT(loader, WARNING, map->pairs[i].key, &here,
                        WEIR_SLICE("not a parameter of the call itself: it has no effect here, only in the "
                                   "litellm_params of a deployment"));
    }
    *ret_params = params;
    return 0;
}
