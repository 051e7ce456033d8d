/*
 * Deployments.
 *
 * Model: an entry passes a row of steps (its shape, its settings, its credential, its endpoint, its place in
 * the snapshot); the first that finds a mistake says so and the entry is left out.  Keys that are not read
 * are told in any case, so that a misspelt key explains the mistake that it leads to.
 */
#include "config/deployments.h"

/* The digest's own functions, though OpenSSL prefers EVP: that loads its providers and all that they need,
 * two megabytes which stay, and an id is made at the start only. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <weir/error.h>

#include "base/map.h"
#include "base/slice.h"
#include "base/text.h"
#include "config/access_windows.h"
#include "config/call_params.h"
#include "config/endpoints.h"
#include "config/entry.h"
#include "config/probe.h"
#include "config/spec.h"
#include "config/tag_regex.h"
#include "config/value.h"
#include "config/yaml/tree_json.h"
#include "provider/route.h"

enum { ID_BYTES = SHA256_DIGEST_LENGTH };

struct reading {
    struct weir_loader *loader;
    const struct weir_yaml *credentials;   /* credential_list; NULL: none */
    const struct weir_yaml *of_every_call; /* lies over each entry's params; NULL: nothing */
    struct weir_path list;
    struct weir_map ids; /* id to the deployment that has it */
    struct weir_map
        twins; /* id of the first of several equal entries to the number of the next, a uint64_t */
    struct weir_deployment_settings defaults;
};

static int skip(struct reading *reading, const struct weir_yaml *node, const struct weir_path *path,
                struct weir_slice what, struct weir_slice more)
{
    WEIR_REPORT(reading->loader, ERROR, node, path, what, more, reading->loader->consequence);
    return WEIR_ENTRY_SKIPPED;
}

/* `litellm_params:` with nothing in it: mostly its keys stand beside it instead of below. */
static int skip_empty_params(struct reading *reading, const struct weir_config_entry *entry)
{
    const struct weir_yaml *node = entry->node;

    for (size_t i = 0; i < node->count; i++)
        if (weir_schema_find(WEIR_SECTION_PARAMS, node->pairs[i].key->text) != NULL &&
            weir_schema_find(WEIR_SECTION_ENTRY, node->pairs[i].key->text) == NULL)
            return skip(reading, node, &entry->path,
                        WEIR_SLICE("litellm_params is empty; the keys below it need more indentation, from "),
                        node->pairs[i].key->text);
    return skip(reading, node, &entry->path, WEIR_SLICE("litellm_params is empty, expected a map with model"),
                WEIR_SLICE_EMPTY);
}

static int check_shape(struct reading *reading, struct weir_config_entry *entry)
{
    const struct weir_yaml *node = entry->node;

    if (node->kind != WEIR_YAML_MAP)
        return skip(reading, node, &entry->path, WEIR_SLICE("found "),
                    weir_arena_join(reading->loader->arena,
                                    (struct weir_slice[]){weir_yaml_kind_name(node),
                                                          WEIR_SLICE(", expected a map with model_name and "
                                                                     "litellm_params")},
                                    2));
    entry->params = weir_yaml_get(node, WEIR_SLICE("litellm_params"));
    entry->info = weir_yaml_get(node, WEIR_SLICE("model_info"));
    if (entry->params == NULL && weir_yaml_pair(node, WEIR_SLICE("litellm_params")) == NULL)
        return skip(reading, node, &entry->path, WEIR_SLICE("no litellm_params, expected a map with model"),
                    WEIR_SLICE_EMPTY);
    if (entry->params == NULL || (entry->params->kind == WEIR_YAML_MAP && entry->params->count == 0))
        return skip_empty_params(reading, entry);
    if (entry->params->kind != WEIR_YAML_MAP)
        return skip(reading, entry->params, &entry->params_path, WEIR_SLICE("found "),
                    weir_yaml_kind_name(entry->params));
    if (entry->info != NULL && entry->info->kind != WEIR_YAML_MAP)
        return skip(reading, entry->info, &entry->info_path, WEIR_SLICE("found "),
                    weir_yaml_kind_name(entry->info));
    return 0;
}

/* Tells the keys of one map that are not read. */
static void tell_keys(struct weir_loader *loader, enum weir_section section, const struct weir_yaml *map,
                      const struct weir_path *path)
{
    for (size_t i = 0; map != NULL && map->kind == WEIR_YAML_MAP && i < map->count; i++) {
        const struct weir_yaml *key = map->pairs[i].key;
        const struct weir_setting_row *row = weir_loader_find(loader, section, key->text);
        struct weir_path here = {path, key->text, 0};

        if (row == NULL || row->status != WEIR_ROW_READ)
            weir_loader_unread_key(loader, section, key, &here);
    }
}

static int read_fields(struct weir_loader *loader, enum weir_section section, const struct weir_yaml *map,
                       const struct weir_path *path, struct weir_deployment_settings *settings)
{
    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const struct weir_setting_row *row = weir_loader_find(loader, section, map->pairs[i].key->text);
        struct weir_path here = {path, map->pairs[i].key->text, 0};
        int rv;

        if (row == NULL || row->status != WEIR_ROW_READ || row->type == WEIR_VALUE_PART)
            continue;
        rv = weir_value_read(loader, row, map->pairs[i].value, &here,
                             weir_entry_severity(map->pairs[i].value), (char *)settings + row->offset);
        if (rv == WEIR_VALUE_WRONG)
            return map->pairs[i].value->variable ? WEIR_ENTRY_UNSERVED : WEIR_ENTRY_SKIPPED;
        if (rv != 0)
            return rv;
    }
    return 0;
}

static void default_fields(struct weir_deployment_settings *settings)
{
    for (size_t i = WEIR_SETTING_COUNT; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        if (row->section >= WEIR_SECTION_ENTRY && row->section <= WEIR_SECTION_INFO &&
            row->status == WEIR_ROW_READ && row->type != WEIR_VALUE_PART)
            weir_value_default(row, (char *)settings + row->offset);
    }
}

/* A required text: present, not null, not empty. */
static int require(struct reading *reading, const struct weir_yaml *map, const struct weir_path *path,
                   const struct weir_path *entry_path, struct weir_slice key, struct weir_slice value)
{
    const struct weir_yaml_pair *pair = weir_yaml_pair(map, key);
    struct weir_path here = {path, key, 0};

    if (value.len > 0)
        return 0;
    if (pair != NULL && pair->value->variable) {
        (void)skip(reading, pair->value, &here, WEIR_SLICE("the environment variable is not set or empty: "),
                   pair->value->written);
        return WEIR_ENTRY_UNSERVED;
    }
    return skip(reading, map, entry_path, WEIR_SLICE("no "), key);
}

/* The values of a credential below what is written in the params. */
static int add_credential(struct reading *reading, struct weir_config_entry *entry)
{
    struct weir_slice key = WEIR_SLICE("litellm_credential_name"), name = entry->settings.credential_name;
    struct weir_path path = {&entry->params_path, key, 0};
    const struct weir_yaml *list = reading->credentials;

    if (name.len == 0)
        return 0;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct weir_yaml *own = weir_yaml_get(list->items[i], WEIR_SLICE("credential_name"));
        const struct weir_yaml *values = weir_yaml_get(list->items[i], WEIR_SLICE("credential_values"));

        if (own == NULL || !weir_slice_eq(own->text, name) || values == NULL || values->kind != WEIR_YAML_MAP)
            continue;
        entry->params = weir_yaml_over(entry->params, values, reading->loader->arena);
        if (entry->params == NULL)
            return WEIR_ERR_NOMEM;
        return read_fields(reading->loader, WEIR_SECTION_PARAMS, entry->params, &entry->params_path,
                           &entry->settings);
    }
    return skip(reading, weir_yaml_get(entry->params, key), &path,
                WEIR_SLICE("no entry of credential_list has this name and credential_values"),
                WEIR_SLICE_EMPTY);
}

/* What is said of every call above what is written in the params. */
static int lay_over(struct reading *reading, struct weir_config_entry *entry)
{
    struct weir_yaml *both;

    if (reading->of_every_call == NULL)
        return 0;
    both = weir_yaml_over(reading->of_every_call, entry->params, reading->loader->arena);
    if (both == NULL)
        return WEIR_ERR_NOMEM;
    both->place = entry->params->place;
    entry->params = both;
    return 0;
}

static int read_settings(struct reading *reading, struct weir_config_entry *entry)
{
    struct weir_loader *loader = reading->loader;
    int rv;

    entry->settings = reading->defaults;
    rv = lay_over(reading, entry);
    if (rv == 0)
        rv = read_fields(loader, WEIR_SECTION_ENTRY, entry->node, &entry->path, &entry->settings);
    if (rv == 0)
        rv = require(reading, entry->node, &entry->path, &entry->path, WEIR_SLICE("model_name"),
                     entry->settings.model_name);
    if (rv == 0)
        rv = read_fields(loader, WEIR_SECTION_PARAMS, entry->params, &entry->params_path, &entry->settings);
    if (rv == 0)
        rv = add_credential(reading, entry);
    if (rv == 0 && entry->settings.model.len == 0)
        rv = require(reading,
                     weir_yaml_pair(entry->params, WEIR_SLICE("model")) != NULL ? entry->params : entry->node,
                     &entry->params_path, &entry->path, WEIR_SLICE("model"), entry->settings.model);
    if (rv == 0)
        rv = read_fields(loader, WEIR_SECTION_INFO, entry->info, &entry->info_path, &entry->settings);
    return rv;
}

/* SHA-256 in hex of the group, the params as they are written, and a number that tells twins apart. */
static int hash_id(struct weir_loader *loader, const struct weir_config_entry *entry, uint64_t twin,
                   struct weir_slice *ret_id)
{
    static const char hex[] = "0123456789abcdef";
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_slice parts[] = {
        entry->settings.model_name, WEIR_SLICE("\n"),
        weir_tree_json(weir_yaml_get(entry->node, WEIR_SLICE("litellm_params")), true, loader->arena),
        WEIR_SLICE("\n"), twin == 0 ? WEIR_SLICE("") : weir_text_u64(twin, digits)};
    struct weir_slice text = weir_arena_join(loader->arena, parts, sizeof(parts) / sizeof(*parts));
    unsigned char digest[ID_BYTES];
    SHA256_CTX sha;
    char *id = weir_arena_alloc(loader->arena, sizeof(digest) * 2);

    if (id == NULL || text.len == 0)
        return WEIR_ERR_NOMEM;
    if (SHA256_Init(&sha) != 1 || SHA256_Update(&sha, text.ptr, text.len) != 1 ||
        SHA256_Final(digest, &sha) != 1)
        return WEIR_ERR_INTERNAL;
    for (size_t i = 0; i < sizeof(digest); i++) {
        id[2 * i] = hex[digest[i] >> 4];
        id[2 * i + 1] = hex[digest[i] & 15];
    }
    *ret_id = (struct weir_slice){id, sizeof(digest) * 2};
    return 0;
}

/* Counts the entries that would share an id: 1 for the second. */
static int next_twin(struct reading *reading, struct weir_slice id, uint64_t *ret_twin)
{
    uint64_t *next = weir_map_get(&reading->twins, id);
    int rv = 0;

    if (next == NULL) {
        next = weir_arena_zalloc(reading->loader->arena, 1, sizeof(*next));
        if (next == NULL)
            return WEIR_ERR_NOMEM;
        rv = weir_map_add(&reading->twins, id, next);
    }
    if (rv == 0)
        *ret_twin = ++*next;
    return rv;
}

/* An id from the entry; equal ones get different ids, the same at each start while their order stays. */
static int make_id(struct reading *reading, const struct weir_config_entry *entry, struct weir_slice *ret_id)
{
    struct weir_slice first, id;
    uint64_t twin = 0;
    int rv = hash_id(reading->loader, entry, twin, &first);

    id = first;
    while (rv == 0 && weir_map_get(&reading->ids, id) != NULL) {
        rv = next_twin(reading, first, &twin);
        if (rv == 0)
            rv = hash_id(reading->loader, entry, twin, &id);
    }
    if (rv == 0)
        *ret_id = id;
    return rv;
}

/* The written id, which must be new, or one made from the entry. */
static int choose_id(struct reading *reading, const struct weir_config_entry *entry,
                     struct weir_slice *ret_id)
{
    struct weir_slice id = entry->settings.id;
    const struct weir_config_deployment *first = id.len == 0 ? NULL : weir_map_get(&reading->ids, id);
    struct weir_path path = {&entry->info_path, WEIR_SLICE("id"), 0};
    char digits[WEIR_TEXT_U64_MAX];

    if (first != NULL)
        return skip(reading, weir_yaml_get(entry->info, path.key), &path,
                    WEIR_SLICE("this id is taken by the entry in line "),
                    weir_text_u64(first->place.line, digits));
    if (id.len == 0)
        return make_id(reading, entry, ret_id);
    *ret_id = id;
    return 0;
}

static struct weir_slice written(const struct weir_yaml *map, struct weir_slice key)
{
    const struct weir_yaml_pair *pair = weir_yaml_pair(map, key);

    return pair == NULL ? WEIR_SLICE_EMPTY : pair->value->written;
}

/* An expression that PCRE2 does not take is told and matches nothing. */
static int read_tag_patterns(struct reading *reading, const struct weir_config_entry *entry,
                             struct weir_config_deployment *deployment)
{
    struct weir_loader *loader = reading->loader;
    struct weir_path path = {&entry->params_path, WEIR_SLICE("tag_regex"), 0};
    const struct weir_yaml *list = weir_yaml_get(entry->params, path.key);
    const struct weir_names *names = &entry->settings.tag_regex;
    char why[WEIR_TAG_REGEX_TEXT_MAX];

    for (size_t i = 0; i < names->count; i++) {
        struct weir_path here = {&path, WEIR_SLICE_EMPTY, i};
        int rv = weir_tag_regex_add(names->items[i], loader->arena, &deployment->tag_patterns,
                                    &loader->config->patterns, why);

        if (rv < 0)
            return rv;
        if (rv == WEIR_TAG_REGEX_BAD)
            WEIR_REPORT(loader, WARNING, list->items[i], &here, WEIR_SLICE("not a regular expression: "),
                        weir_slice_str(why), WEIR_SLICE("; it matches nothing"));
    }
    return 0;
}

/* A mode that nobody knows keeps nothing away. */
static void read_mode(struct weir_loader *loader, const struct weir_config_entry *entry,
                      struct weir_config_deployment *deployment)
{
    struct weir_path path = {&entry->info_path, WEIR_SLICE("mode"), 0};

    deployment->routes = UINT64_MAX;
    if (entry->settings.mode.len == 0 || weir_route_of_mode(entry->settings.mode, &deployment->routes) == 0)
        return;
    WEIR_REPORT(loader, WARNING, weir_yaml_get(entry->info, path.key), &path,
                WEIR_SLICE("no mode is called "), entry->settings.mode,
                WEIR_SLICE("; the deployment serves every call"));
}

static int add_deployment(struct reading *reading, const struct weir_config_entry *entry,
                          struct weir_slice id, struct weir_endpoint *endpoint)
{
    struct weir_loader *loader = reading->loader;
    struct weir_config *config = loader->config;
    struct weir_config_deployment *deployment = weir_arena_zalloc(loader->arena, 1, sizeof(*deployment));
    struct weir_deployment_spec spec;
    int rv;

    if (deployment == NULL)
        return WEIR_ERR_NOMEM;
    *deployment =
        (struct weir_config_deployment){.id = id,
                                        .group = entry->settings.model_name,
                                        .model = entry->settings.model,
                                        .endpoint = endpoint,
                                        .info = weir_endpoints_info(loader, entry, endpoint, id),
                                        .written_group = written(entry->node, WEIR_SLICE("model_name")),
                                        .written_model = written(entry->params, WEIR_SLICE("model")),
                                        .place = entry->node->place};
    rv = read_tag_patterns(reading, entry, deployment);
    if (rv != 0)
        return rv;
    read_mode(loader, entry, deployment);
    weir_spec_of_stream(loader, &entry->settings, deployment);
    weir_spec_of_router(loader, &entry->settings, deployment, &spec);
    weir_probe_read(&config->settings, &entry->settings, deployment);
    rv = weir_access_windows_read(loader, entry, &spec.windows, &spec.window_count);
    if (rv != 0)
        return rv;
    rv = weir_snapshot_add_deployment(loader->builder, &spec);
    if (rv != 0)
        return rv < 0 ? rv : WEIR_ERR_INTERNAL;
    config->deployments[config->deployment_count++] = deployment;
    return weir_map_add(&reading->ids, id, deployment);
}

static void note_unserved(struct weir_config *config, const struct weir_config_entry *entry)
{
    config->unserved[config->unserved_count++] =
        (struct weir_config_unserved){written(entry->node, WEIR_SLICE("model_name")),
                                      written(entry->params, WEIR_SLICE("model")), entry->node->place};
}

static int read_entry(struct reading *reading, const struct weir_yaml *node, size_t index)
{
    struct weir_config_entry entry = {.node = node, .path = {&reading->list, WEIR_SLICE_EMPTY, index}};
    struct weir_endpoint *endpoint = NULL;
    struct weir_slice id = WEIR_SLICE_EMPTY;
    int rv;

    entry.params_path = (struct weir_path){&entry.path, WEIR_SLICE("litellm_params"), 0};
    entry.info_path = (struct weir_path){&entry.path, WEIR_SLICE("model_info"), 0};
    rv = check_shape(reading, &entry);
    if (rv != 0)
        return rv;
    tell_keys(reading->loader, WEIR_SECTION_ENTRY, node, &entry.path);
    tell_keys(reading->loader, WEIR_SECTION_PARAMS, entry.params, &entry.params_path);
    tell_keys(reading->loader, WEIR_SECTION_INFO, entry.info, &entry.info_path);
    rv = read_settings(reading, &entry);
    if (rv == 0)
        rv = weir_endpoints_make(reading->loader, &entry, &endpoint);
    if (rv == 0)
        rv = choose_id(reading, &entry, &id);
    if (rv == WEIR_ENTRY_UNSERVED)
        note_unserved(reading->loader->config, &entry);
    return rv != 0 ? rv : add_deployment(reading, &entry, id, endpoint);
}

static int read_entries(struct reading *reading, const struct weir_yaml *list)
{
    struct weir_loader *loader = reading->loader;
    struct weir_config *config = loader->config;

    config->deployments =
        weir_arena_zalloc(loader->arena, list->count + 1, sizeof(struct weir_config_deployment *));
    config->unserved = weir_arena_zalloc(loader->arena, list->count + 1, sizeof(*config->unserved));
    if (config->deployments == NULL || config->unserved == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        int rv = read_entry(reading, list->items[i], i);

        if (rv == WEIR_ENTRY_SKIPPED)
            config->skipped++;
        else if (rv != 0 && rv != WEIR_ENTRY_UNSERVED)
            return rv;
    }
    if (config->skipped + config->unserved_count == 0 || config->settings.ignore_invalid)
        return 0;
    WEIR_DIAG(loader->diags, WEIR_SEVERITY_FATAL, &list->place, reading->list.key,
              WEIR_SLICE("entries are wrong, and ignore_invalid_deployments is false"));
    return WEIR_CONFIG_REFUSED;
}

/* A list of the top level; NULL where it is absent, a fatal diagnostic where it is none. */
static int top_list(struct weir_loader *loader, struct weir_slice key, const struct weir_yaml **ret_list)
{
    const struct weir_yaml *list = weir_yaml_get(loader->root, key);
    struct weir_path path = {NULL, key, 0};

    *ret_list = list;
    if (list == NULL || list->kind == WEIR_YAML_LIST)
        return 0;
    WEIR_REPORT(loader, FATAL, list, &path, WEIR_SLICE("found "), weir_yaml_kind_name(list),
                WEIR_SLICE(", expected a list"));
    return WEIR_CONFIG_REFUSED;
}

int weir_deployments_read(struct weir_loader *loader)
{
    struct reading reading = {.loader = loader, .list = {NULL, WEIR_SLICE("model_list"), 0}};
    const struct weir_yaml *list;
    int rv = top_list(loader, reading.list.key, &list);

    if (rv == 0)
        rv = top_list(loader, WEIR_SLICE("credential_list"), &reading.credentials);
    if (rv == 0)
        rv = weir_call_params_read(loader, &reading.of_every_call);
    if (rv != 0 || list == NULL)
        return rv;
    loader->consequence =
        loader->config->settings.ignore_invalid ? WEIR_SLICE("; the entry is skipped") : WEIR_SLICE_EMPTY;
    weir_map_init(&reading.ids, loader->arena->mem, list->count);
    weir_map_init(&reading.twins, loader->arena->mem, list->count);
    default_fields(&reading.defaults);
    rv = read_entries(&reading, list);
    weir_map_deinit(&reading.twins);
    weir_map_deinit(&reading.ids);
    loader->consequence = WEIR_SLICE_EMPTY;
    return rv;
}
