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
#include "config/yaml/tree.h"

enum { ID_SHOWN = 24, SOURCES_MAX = 3, TEXT_MAX = 80 };

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

/* ---- numbers ---- */

enum form { COUNT, SECONDS, RATE, HOLD, BUDGET, HEDGE, GROWTH, ON_OFF, SOURCES, STRATEGY };

/* A number of the router: what it is called, where it ends up, and the settings that may give it, the
 * strongest first. */
static const struct number {
    const char *name;
    enum form form;
    size_t offset; /* in struct weir_router_spec */
    enum weir_setting_id sources[SOURCES_MAX];
    size_t count;
} numbers[] = {
#define OF(member) offsetof(struct weir_router_spec, member)
    {"strategy", STRATEGY, OF(strategy.strategy), {WEIR_SETTING_strategy}, 1},
    {"retries",
     COUNT,
     OF(num_retries),
     {WEIR_SETTING_router_num_retries, WEIR_SETTING_litellm_num_retries},
     2},
    {"attempt limit",
     SECONDS,
     OF(limits.timeout_ns),
     {WEIR_SETTING_router_timeout_ns, WEIR_SETTING_request_timeout_ns, WEIR_SETTING_default_timeout_ns},
     3},
    {"first chunk", SECONDS, OF(limits.stream_timeout_ns), {WEIR_SETTING_router_stream_timeout_ns}, 1},
    {"first content", SECONDS, OF(limits.ttft_timeout_ns), {WEIR_SETTING_router_ttft_timeout_ns}, 1},
    {"silence", SECONDS, OF(limits.stream_idle_timeout_ns), {WEIR_SETTING_router_stream_idle_timeout_ns}, 1},
    {"least speed", RATE, OF(limits.min_stream_rate), {WEIR_SETTING_router_min_stream_rate}, 1},
    {"held back", HOLD, OF(limits.stream_hold), {WEIR_SETTING_router_stream_hold}, 1},
    {"whole call", SECONDS, OF(limits.call_deadline_ns), {WEIR_SETTING_router_call_deadline_ns}, 1},
    {"continuation", ON_OFF, OF(continuation), {WEIR_SETTING_continuation}, 1},
    {"continued by", SOURCES, OF(continue_to), {WEIR_SETTING_continue_to}, 1},
    {"cooldown",
     SECONDS,
     OF(cooldown_ns),
     {WEIR_SETTING_router_cooldown_ns, WEIR_SETTING_litellm_cooldown_ns, WEIR_SETTING_default_cooldown_ns},
     3},
    {"growing", GROWTH, OF(resilience.cooldown_growth), {WEIR_SETTING_router_cooldown_growth}, 1},
    {"coming back", SECONDS, OF(resilience.cooldown_ramp_ns), {WEIR_SETTING_router_cooldown_ramp_ns}, 1},
    {"all cooling",
     SECONDS,
     OF(resilience.all_cooling_wait_ns),
     {WEIR_SETTING_router_all_cooling_wait_ns},
     1},
    {"retry budget", BUDGET, OF(resilience.retry_budget), {WEIR_SETTING_router_retry_budget}, 1},
    {"hedge", HEDGE, OF(resilience.hedge), {WEIR_SETTING_router_hedge}, 1},
    {"allowed fails", COUNT, OF(allowed_fails), {WEIR_SETTING_router_allowed_fails}, 1},
    {"hops",
     COUNT,
     OF(max_fallbacks),
     {WEIR_SETTING_router_max_fallbacks, WEIR_SETTING_litellm_max_fallbacks,
      WEIR_SETTING_default_max_fallbacks},
     3},
#undef OF
};

static void print_source(const struct weir_config *config, enum weir_setting_id id)
{
    const struct weir_place *place = &config->sources[id];

    if (place->line > 0) {
        weir_cli_print_slice(stdout, place->file);
        printf(":%" PRIu32 "\n", place->line);
    } else {
        puts(place->file.len > 0 ? "environment" : "default");
    }
}

static void say_seconds(char text[TEXT_MAX], uint64_t ns)
{
    if (ns == WEIR_UNSET_NS)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (ns == 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else
        (void)snprintf(text, TEXT_MAX, "%g s", (double)ns / 1e9);
}

static void say_rate(char text[TEXT_MAX], const struct weir_stream_rate *rate)
{
    if (rate->tokens_per_s < 0)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (rate->tokens_per_s > 0)
        (void)snprintf(text, TEXT_MAX, "%g tokens/s", rate->tokens_per_s);
    else
        (void)snprintf(text, TEXT_MAX, "none");
}

static void say_hold(char text[TEXT_MAX], const struct weir_stream_hold *hold)
{
    bool tokens = hold->tokens != WEIR_UNSET, seconds = hold->window_ns != WEIR_UNSET_NS;
    double window = (double)hold->window_ns / 1e9;

    if (!hold->said)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (hold->tokens == 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else if (tokens && seconds)
        (void)snprintf(text, TEXT_MAX, "%" PRIu32 " tokens or %g s", hold->tokens, window);
    else if (tokens)
        (void)snprintf(text, TEXT_MAX, "%" PRIu32 " tokens", hold->tokens);
    else if (seconds)
        (void)snprintf(text, TEXT_MAX, "%g s", window);
    else
        (void)snprintf(text, TEXT_MAX, "all");
}

static void say_budget(char text[TEXT_MAX], const struct weir_retry_budget *budget)
{
    if (!budget->said)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (budget->ratio < 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else
        (void)snprintf(text, TEXT_MAX, "%g + %g/s", budget->ratio, budget->min_per_s);
}

static void say_growth(char text[TEXT_MAX], const struct weir_cooldown_growth *growth)
{
    if (growth->factor < 0)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (growth->factor > 1)
        (void)snprintf(text, TEXT_MAX, "x %g to %g s", growth->factor, (double)growth->max_ns / 1e9);
    else
        (void)snprintf(text, TEXT_MAX, "none");
}

static void say_sources(char text[TEXT_MAX], const weir_continue_to to[WEIR_CONTINUE_SOURCES])
{
    static const char *const names[] = {
        [WEIR_CONTINUE_NOWHERE] = "",
#define X(word, source) [source] = word,
#include "config/tbl/continue_to.h"
#undef X
    };

    (void)snprintf(text, TEXT_MAX, "%s%s%s", names[to[0]], to[1] == WEIR_CONTINUE_NOWHERE ? "" : ", ",
                   names[to[1]]);
}

static const char *strategy_name(weir_strategy strategy)
{
    static const char *const names[WEIR_STRATEGY_COUNT] = {
#define X(id, name, other_name, prose) [WEIR_STRATEGY_##id] = name,
#include <weir/tbl/strategies.h>
#undef X
    };

    return names[strategy];
}

static void say(char text[TEXT_MAX], enum form form, const void *value)
{
    uint32_t count;

    switch (form) {
    case COUNT:
        count = *(const uint32_t *)value;
        (void)snprintf(text, TEXT_MAX, "%" PRIu32, count);
        if (count == WEIR_UNSET)
            (void)snprintf(text, TEXT_MAX, "not set");
        break;
    case SECONDS:
        say_seconds(text, *(const uint64_t *)value);
        break;
    case RATE:
        say_rate(text, value);
        break;
    case HOLD:
        say_hold(text, value);
        break;
    case BUDGET:
        say_budget(text, value);
        break;
    case HEDGE:
        say_seconds(text, ((const struct weir_hedge *)value)->after_ns);
        break;
    case GROWTH:
        say_growth(text, value);
        break;
    case ON_OFF:
        (void)snprintf(text, TEXT_MAX, "%s", *(const bool *)value ? "on" : "off");
        break;
    case SOURCES:
        say_sources(text, value);
        break;
    case STRATEGY:
        (void)snprintf(text, TEXT_MAX, "%s", strategy_name(*(const weir_strategy *)value));
        break;
    }
}

static void print_number(const struct weir_config *config, const struct number *number)
{
    const struct weir_router_spec *spec = weir_snapshot_router(config->snapshot);
    char text[TEXT_MAX];
    size_t source = 0;

    while (source + 1 < number->count && config->sources[number->sources[source]].file.len == 0)
        source++;
    say(text, number->form, (const char *)spec + number->offset);
    printf("  %-14s  %-11s ", number->name, text);
    print_source(config, number->sources[source]);
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
    puts("numbers");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        print_number(config, &numbers[i]);
    puts("");
    return 0;
}
