/*
 * The entries of the file, served or not, are listed once, those of a group chained to each other, so that a
 * file of many thousands is printed in one walk.
 */
#include "cli/meaning.h"

#include <inttypes.h>
#include <stdio.h>

#include <weir/error.h>

#include "base/map.h"
#include "base/slice.h"
#include "cli/command.h"
#include "cli/known.h"
#include "cli/numbers.h"
#include "config/yaml/tree.h"

enum { ID_SHOWN = 24 };

/* ---- groups ---- */

/* What is listed of an entry of model_list. */
struct line {
    struct weir_slice group; /* as it stands in the file */
    struct weir_slice model;
    struct weir_slice id;
    struct weir_place place;
    const struct weir_config_deployment *deployment; /* NULL: not served here */
    struct line *next;                               /* of the same group */
};

struct group {
    struct line *first;
    struct line *last;
    size_t count;
    const struct weir_yaml_pair *settings; /* of weir_settings.groups; NULL: none */
};

struct listing {
    struct line *lines;
    struct group *groups; /* in the order of their first lines */
    size_t line_count;
    size_t group_count;
    struct weir_map by_name; /* of struct group */
    const struct weir_mem *mem;
};

static struct line line_of(const struct weir_config *config, size_t index)
{
    if (index < config->deployment_count) {
        const struct weir_config_deployment *d = config->deployments[index];

        return (struct line){d->written_group, d->written_model, d->id, d->place, d, NULL};
    }
    index -= config->deployment_count;
    return (struct line){config->unserved[index].written_group,
                         config->unserved[index].written_model,
                         WEIR_SLICE_EMPTY,
                         config->unserved[index].place,
                         NULL,
                         NULL};
}

static int add_line(struct listing *listing, struct line *line)
{
    struct group *group = weir_map_get(&listing->by_name, line->group);

    if (group == NULL) {
        group = &listing->groups[listing->group_count++];
        *group = (struct group){.first = line, .last = line, .count = 1};
        return weir_map_add(&listing->by_name, line->group, group);
    }
    group->last->next = line;
    group->last = line;
    group->count++;
    return 0;
}

static void free_listing(struct listing *listing)
{
    size_t room = listing->line_count + 1;

    weir_map_deinit(&listing->by_name);
    if (listing->lines != NULL)
        listing->mem->free(listing->mem->user, listing->lines, room * sizeof(*listing->lines));
    if (listing->groups != NULL)
        listing->mem->free(listing->mem->user, listing->groups, room * sizeof(*listing->groups));
}

/* Finds the groups that have settings of their own. */
static void add_settings(const struct weir_config *config, struct listing *listing)
{
    const struct weir_yaml *weir = weir_yaml_get(config->root, WEIR_SLICE("weir_settings"));
    const struct weir_yaml *map = weir_yaml_get(weir, WEIR_SLICE("groups"));
    struct group *group;

    for (size_t i = 0; map != NULL && i < map->count; i++) {
        group = weir_map_get(&listing->by_name, map->pairs[i].key->text);
        if (group != NULL)
            group->settings = &map->pairs[i];
    }
}

static int make_listing(const struct weir_config *config, struct listing *listing)
{
    const struct weir_mem *mem = config->mem;
    size_t count = config->deployment_count + config->unserved_count;
    int rv = 0;

    *listing = (struct listing){.mem = mem, .line_count = count};
    weir_map_init(&listing->by_name, mem, count);
    listing->lines = mem->alloc(mem->user, (count + 1) * sizeof(*listing->lines));
    listing->groups = mem->alloc(mem->user, (count + 1) * sizeof(*listing->groups));
    if (listing->lines == NULL || listing->groups == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; rv == 0 && i < count; i++) {
        listing->lines[i] = line_of(config, i);
        rv = add_line(listing, &listing->lines[i]);
    }
    add_settings(config, listing);
    return rv;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* The keys that weir_settings.groups has for a group. */
static void print_settings(const struct weir_yaml_pair *pair)
{
    if (pair == NULL || pair->value->count == 0)
        return;
    fputs("    with its own", stdout);
    for (size_t i = 0; i < pair->value->count; i++) {
        fputs(i == 0 ? " " : ", ", stdout);
        weir_cli_print_slice(stdout, pair->value->pairs[i].key->text);
    }
    printf("  line %" PRIu32 "\n", pair->key->place.line);
}

static void print_line(const struct weir_config *config, const struct line *line)
{
    fputs("    ", stdout);
    weir_cli_print_slice(stdout, line->model);
    printf("  line %" PRIu32, line->place.line);
    if (line->deployment == NULL) {
        puts("  not served here");
        return;
    }
    fputs("  id ", stdout);
    weir_cli_print_slice(stdout, weir_slice_sub(line->id, 0, ID_SHOWN));
    puts(line->id.len > ID_SHOWN ? "..." : "");
    weir_cli_print_known(config, line->deployment);
}

static void print_groups(const struct weir_config *config, const struct listing *listing)
{
    puts("groups");
    for (size_t i = 0; i < listing->group_count; i++) {
        const struct group *group = &listing->groups[i];

        fputs("  ", stdout);
        weir_cli_print_slice(stdout, group->first->group);
        printf(": %zu deployment%s\n", group->count, plural(group->count));
        for (const struct line *line = group->first; line != NULL; line = line->next)
            print_line(config, line);
        print_settings(group->settings);
    }
}

/* ---- names and chains ---- */

static void print_aliases(const struct weir_config *config)
{
    const struct weir_yaml *router = weir_yaml_get(config->root, WEIR_SLICE("router_settings"));
    const struct weir_yaml *map = weir_yaml_get(router, WEIR_SLICE("model_group_alias"));

    for (size_t i = 0; map != NULL && i < map->count; i++) {
        const struct weir_yaml *target = map->pairs[i].value;
        const struct weir_yaml *hidden = weir_yaml_get(target, WEIR_SLICE("hidden"));

        if (target->kind == WEIR_YAML_MAP)
            target = weir_yaml_get(target, WEIR_SLICE("model"));
        if (target == NULL)
            continue;
        fputs(i == 0 ? "aliases\n  " : "  ", stdout);
        weir_cli_print_slice(stdout, map->pairs[i].key->text);
        fputs(" -> ", stdout);
        weir_cli_print_slice(stdout, target->written);
        puts(hidden != NULL && hidden->boolean ? " (hidden)" : "");
    }
}

static void print_targets(const struct weir_yaml *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct weir_yaml *target = list->items[i];

        if (target->kind == WEIR_YAML_MAP)
            target = weir_yaml_get(target, WEIR_SLICE("model"));
        fputs(i == 0 ? " -> " : ", ", stdout);
        weir_cli_print_slice(stdout, target->written);
    }
    puts(list->count == 0 ? " -> nothing" : "");
}

/* The list of that key that holds: the router's if it has entries, else the process's. */
static const struct weir_yaml *list_of(const struct weir_config *config, struct weir_slice key)
{
    const struct weir_yaml *router = weir_yaml_get(config->root, WEIR_SLICE("router_settings"));
    const struct weir_yaml *process = weir_yaml_get(config->root, WEIR_SLICE("litellm_settings"));
    const struct weir_yaml *list = weir_yaml_get(router, key);

    return list != NULL && list->count > 0 ? list : weir_yaml_get(process, key);
}

/* A second entry for a group is never used. */
static bool is_second(const struct weir_yaml *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (weir_slice_eq(list->items[i]->pairs[0].key->text, list->items[index]->pairs[0].key->text))
            return true;
    return false;
}

static size_t print_chains(const struct weir_config *config, bool quiet)
{
    static const struct weir_slice keys[] = {WEIR_SLICE_INIT("fallbacks"),
                                             WEIR_SLICE_INIT("context_window_fallbacks"),
                                             WEIR_SLICE_INIT("content_policy_fallbacks")};
    const struct weir_yaml *defaults = list_of(config, WEIR_SLICE("default_fallbacks"));
    size_t count = 0;

    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        const struct weir_yaml *list = list_of(config, keys[k]);

        for (size_t i = 0; list != NULL && i < list->count; i++) {
            if (is_second(list, i))
                continue;
            count++;
            if (quiet)
                continue;
            if (i == 0)
                printf("%.*s\n", (int)keys[k].len, keys[k].ptr);
            fputs("  ", stdout);
            weir_cli_print_slice(stdout, list->items[i]->pairs[0].key->text);
            print_targets(list->items[i]->pairs[0].value);
        }
    }
    if (defaults != NULL && defaults->count > 0 && !quiet) {
        fputs("default_fallbacks\n  every other group", stdout);
        print_targets(defaults);
    }
    return count;
}

static void print_routing_groups(const struct weir_config *config)
{
    const struct weir_yaml *router = weir_yaml_get(config->root, WEIR_SLICE("router_settings"));
    const struct weir_yaml *list = weir_yaml_get(router, WEIR_SLICE("routing_groups"));

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct weir_yaml *models = weir_yaml_get(list->items[i], WEIR_SLICE("models"));

        fputs(i == 0 ? "routing_groups\n  " : "  ", stdout);
        weir_cli_print_slice(stdout, weir_yaml_get(list->items[i], WEIR_SLICE("group_name"))->written);
        for (size_t m = 0; m < models->count; m++) {
            fputs(m == 0 ? ": " : ", ", stdout);
            weir_cli_print_slice(stdout, models->items[m]->written);
        }
        fputs("  by ", stdout);
        weir_cli_print_slice(stdout, weir_yaml_get(list->items[i], WEIR_SLICE("routing_strategy"))->written);
        puts("");
    }
}

/* Where what processes share is kept. */
static void print_redis(const struct weir_config_redis *redis)
{
    if (!redis->on)
        return;
    fputs("shared through Redis\n  ", stdout);
    for (size_t i = 0; i < redis->server_count; i++) {
        fputs(i == 0 ? "" : ", ", stdout);
        weir_cli_print_slice(stdout, redis->servers[i].host);
        printf(" port %u", redis->servers[i].port);
    }
    if (redis->service.len > 0) {
        fputs(", Sentinels of ", stdout);
        weir_cli_print_slice(stdout, redis->service);
    }
    printf(", database %" PRIu32 "%s", redis->database, redis->tls ? ", TLS" : "");
    if (redis->name_space.len > 0) {
        fputs(", namespace ", stdout);
        weir_cli_print_slice(stdout, redis->name_space);
    }
    puts("");
}

/* Whom weir tells of trouble, by what names the address: that is a secret. */
static void print_alerts(const struct weir_config_alerts *alerts)
{
    for (size_t i = 0; i < alerts->hook_count; i++) {
        const char *separator = ": ";

        fputs(i == 0 ? "alerts\n  " : "  ", stdout);
        weir_cli_print_slice(stdout, alerts->hooks[i].origin);
        fputs(alerts->hooks[i].form == WEIR_ALERT_SLACK ? ", in Slack's form" : ", as JSON", stdout);
        for (unsigned type = 0; type < WEIR_ALERT_TYPES; type++) {
            if ((alerts->hooks[i].types & WEIR_ALERT_BIT(type)) == 0)
                continue;
            fputs(separator, stdout);
            weir_cli_print_slice(stdout, weir_alert_type_name((enum weir_alert_type)type));
            separator = ", ";
        }
        puts("");
    }
}

/* Where traces of calls go; the rest of the address may be secret. */
static void print_otlp(const struct weir_config_otlp *otlp)
{
    if (!otlp->on)
        return;
    fputs("traces by OTLP\n  to ", stdout);
    weir_cli_print_slice(stdout, otlp->host);
    fputs(", as the service ", stdout);
    weir_cli_print_slice(stdout, otlp->service);
    printf(", of %g %% of the calls%s\n", otlp->sample * 100,
           otlp->by_caller ? ", unless the caller's traceparent decides" : "");
}

int weir_cli_meaning(const struct weir_config *config, bool quiet, struct weir_meaning_counts *ret_counts)
{
    WEIR_CLEANUP(free_listing) struct listing listing;
    int rv = make_listing(config, &listing);

    if (rv != 0)
        return rv;
    if (!quiet) {
        print_groups(config, &listing);
        print_aliases(config);
        print_routing_groups(config);
    }
    *ret_counts = (struct weir_meaning_counts){.deployments = listing.line_count,
                                               .groups = listing.group_count,
                                               .chains = print_chains(config, quiet)};
    if (quiet)
        return 0;
    print_redis(&config->redis);
    print_otlp(&config->otlp);
    print_alerts(&config->alerts);
    weir_cli_print_numbers(config);
    puts("");
    return 0;
}
