/*
 * `weir check`: reads a configuration as `weir serve` would and says what it means.
 *
 * What is wrong goes to stderr, what it means to stdout.  Values that came from the environment are shown as
 * `os.environ/NAME`, never by what they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "cli/command.h"
#include "config/config.h"
#include "config/reference.h"
#include "config/yaml/tree.h"

enum { SOURCES_MAX = 3, ID_SHOWN = 24 };

/* A number of the router: what it is called, and the settings that may give it, the strongest first. */
static const struct {
    const char *name;
    enum weir_setting_id sources[SOURCES_MAX];
    size_t count;
} numbers[] = {
    {"retries", {WEIR_SETTING_router_num_retries, WEIR_SETTING_litellm_num_retries}, 2},
    {"attempt limit",
     {WEIR_SETTING_router_timeout_ns, WEIR_SETTING_request_timeout_ns, WEIR_SETTING_default_timeout_ns},
     3},
    {"first chunk", {WEIR_SETTING_router_stream_timeout_ns}, 1},
    {"cooldown",
     {WEIR_SETTING_router_cooldown_ns, WEIR_SETTING_litellm_cooldown_ns, WEIR_SETTING_default_cooldown_ns},
     3},
    {"allowed fails", {WEIR_SETTING_router_allowed_fails}, 1},
    {"hops",
     {WEIR_SETTING_router_max_fallbacks, WEIR_SETTING_litellm_max_fallbacks,
      WEIR_SETTING_default_max_fallbacks},
     3},
};

static void print_help(void)
{
    puts("usage: weir check [OPTIONS] FILE\n"
         "\n"
         "Reads the configuration FILE as `weir serve` would, and prints\n"
         "  - what is wrong with it: file:line:column: path: error or warning (on stderr)\n"
         "  - what it means: groups, deployments, aliases, chains, and where its numbers come from\n"
         "\n"
         "  --quiet      only what is wrong, and the last line\n"
         "  --defaults   print every setting with its default, as a configuration file\n"
         "  --reference  print the page docs/configuration.md\n"
         "  -h, --help   this text\n"
         "\n"
         "Exit status: 0 without errors, 1 with errors, 2 for wrong usage.");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* What is listed of an entry of model_list, served or not. */
struct line {
    struct weir_slice group; /* as it stands in the file */
    struct weir_slice model;
    struct weir_slice id; /* empty: not served here */
    struct weir_place place;
};

static struct line line_of(const struct weir_config *config, size_t index)
{
    if (index < config->deployment_count) {
        const struct weir_config_deployment *d = config->deployments[index];

        return (struct line){d->written_group, d->written_model, d->id, d->place};
    }
    index -= config->deployment_count;
    return (struct line){config->unserved[index].written_group, config->unserved[index].written_model,
                         WEIR_SLICE_EMPTY, config->unserved[index].place};
}

static size_t line_count(const struct weir_config *config)
{
    return config->deployment_count + config->unserved_count;
}

/* How many lines before end have that group. */
static size_t count_group(const struct weir_config *config, struct weir_slice group, size_t end)
{
    size_t count = 0;

    for (size_t i = 0; i < end; i++)
        count += weir_slice_eq(line_of(config, i).group, group);
    return count;
}

static size_t group_count(const struct weir_config *config)
{
    size_t count = 0;

    for (size_t i = 0; i < line_count(config); i++)
        count += count_group(config, line_of(config, i).group, i) == 0;
    return count;
}

static void print_group(const struct weir_config *config, struct weir_slice group)
{
    size_t count = count_group(config, group, line_count(config));

    fputs("  ", stdout);
    weir_cli_print_slice(stdout, group);
    printf(": %zu deployment%s\n", count, plural(count));
    for (size_t i = 0; i < line_count(config); i++) {
        struct line line = line_of(config, i);

        if (!weir_slice_eq(line.group, group))
            continue;
        fputs("    ", stdout);
        weir_cli_print_slice(stdout, line.model);
        printf("  line %" PRIu32, line.place.line);
        if (line.id.len == 0) {
            puts("  not served here");
            continue;
        }
        fputs("  id ", stdout);
        weir_cli_print_slice(stdout, weir_slice_sub(line.id, 0, ID_SHOWN));
        puts(line.id.len > ID_SHOWN ? "..." : "");
    }
}

static void print_groups(const struct weir_config *config)
{
    puts("groups");
    for (size_t i = 0; i < line_count(config); i++)
        if (count_group(config, line_of(config, i).group, i) == 0)
            print_group(config, line_of(config, i).group);
}

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

/* Seconds without needless zeros. */
static void print_seconds(uint64_t ns)
{
    char text[32] = "not set";

    if (ns != WEIR_UNSET_NS)
        (void)snprintf(text, sizeof(text), "%g s", (double)ns / 1e9);
    printf("  %-12s", text);
}

static void print_count(uint32_t count)
{
    if (count == WEIR_UNSET)
        printf("  %-12s", "not set");
    else
        printf("  %-12" PRIu32, count);
}

static void print_numbers(const struct weir_config *config)
{
    const struct weir_router_spec *spec = weir_snapshot_router(config->snapshot);

    puts("numbers");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        size_t source = 0;

        while (source + 1 < numbers[i].count && config->sources[numbers[i].sources[source]].file.len == 0)
            source++;
        printf("  %-14s", numbers[i].name);
        switch (i) {
        case 0:
            print_count(spec->num_retries);
            break;
        case 1:
            print_seconds(spec->limits.timeout_ns);
            break;
        case 2:
            print_seconds(spec->limits.stream_timeout_ns);
            break;
        case 3:
            print_seconds(spec->cooldown_ns);
            break;
        case 4:
            print_count(spec->allowed_fails);
            break;
        default:
            print_count(spec->max_fallbacks);
        }
        print_source(config, numbers[i].sources[source]);
    }
}

static void print_meaning(const struct weir_config *config)
{
    print_groups(config);
    print_aliases(config);
    (void)print_chains(config, false);
    print_numbers(config);
    puts("");
}

static void print_summary(const struct weir_config *config, const struct weir_diags *diags, const char *path)
{
    size_t errors = weir_diags_errors(diags), warnings = diags->counts[WEIR_SEVERITY_WARNING];

    fflush(stderr);
    printf("%s: ", path);
    if (config == NULL) {
        fputs("refused", stdout);
    } else {
        size_t lines = line_count(config), groups = group_count(config);
        size_t aliases = weir_snapshot_alias_count(config->snapshot), chains = print_chains(config, true);

        printf("%zu deployment%s, %zu group%s", lines, plural(lines), groups, plural(groups));
        if (config->unserved_count > 0)
            printf(" (%zu of them not served here)", config->unserved_count);
        if (aliases > 0)
            printf(", %zu alias%s", aliases, aliases == 1 ? "" : "es");
        if (chains > 0)
            printf(", %zu chain%s", chains, plural(chains));
        if (config->skipped > 0)
            printf(", %zu skipped", config->skipped);
    }
    printf(", %zu error%s, %zu warning%s\n", errors, plural(errors), warnings, plural(warnings));
}

static void free_config(struct weir_config **config)
{
    weir_config_free(*config);
}

static int check(const char *path, bool quiet)
{
    const struct weir_config_env env = {weir_config_env_process, NULL};
    WEIR_CLEANUP(weir_diags_deinit) struct weir_diags diags;
    WEIR_CLEANUP(free_config) struct weir_config *config = NULL;
    int rv;

    weir_diags_init(&diags, weir_mem_libc());
    rv = weir_config_load(path, &env, weir_mem_libc(), &diags, &config);
    weir_cli_print_diags(&diags);
    if (rv < 0) {
        struct weir_slice text = weir_error_text(rv);

        fprintf(stderr, "weir check: %s: %.*s\n", path, (int)text.len, text.ptr);
        return WEIR_EXIT_FAILED;
    }
    if (config != NULL && !quiet)
        print_meaning(config);
    print_summary(config, &diags, path);
    return weir_diags_errors(&diags) == 0 ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
}

int weir_cli_check(int argc, char **argv)
{
    const char *path = NULL;
    bool quiet = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return WEIR_EXIT_OK;
        }
        if (strcmp(argv[i], "--defaults") == 0)
            return weir_reference_defaults(stdout) == 0 ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
        if (strcmp(argv[i], "--reference") == 0)
            return weir_reference_page(stdout) == 0 ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
        if (strcmp(argv[i], "--quiet") == 0)
            quiet = true;
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return weir_cli_usage("check", "unknown option ", argv[i]);
        else if (path != NULL)
            return weir_cli_usage("check", "more than one file: ", argv[i]);
        else
            path = argv[i];
    }
    if (path == NULL)
        return weir_cli_usage("check", "no file given", "");
    return check(path, quiet);
}
