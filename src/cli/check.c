/*
 * `weir check`: reads a configuration as `weir serve` would and says what it means.
 *
 * What is wrong goes to stderr, what it means to stdout.  Values that came from the environment are shown as
 * `os.environ/NAME`, never by what they are.
 */
#include <stdio.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "cli/command.h"
#include "cli/meaning.h"
#include "config/config.h"
#include "config/reference.h"
#include "gateway/metrics/reference.h"

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
         "  --metrics    print the page docs/metrics.md\n"
         "  -h, --help   this text\n"
         "\n"
         "Exit status: 0 without errors, 1 with errors, 2 for wrong usage.");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* counts: of the configuration, which is NULL when it was refused. */
static void print_summary(const struct weir_config *config, const struct weir_meaning_counts *counts,
                          const struct weir_diags *diags, const char *path)
{
    size_t errors = weir_diags_errors(diags), warnings = diags->counts[WEIR_SEVERITY_WARNING];

    fflush(stderr);
    printf("%s: ", path);
    if (config == NULL) {
        fputs("refused", stdout);
    } else {
        size_t aliases = weir_snapshot_alias_count(config->snapshot);

        printf("%zu deployment%s, %zu group%s", counts->deployments, plural(counts->deployments),
               counts->groups, plural(counts->groups));
        if (config->unserved_count > 0)
            printf(" (%zu of them not served here)", config->unserved_count);
        if (aliases > 0)
            printf(", %zu alias%s", aliases, aliases == 1 ? "" : "es");
        if (counts->chains > 0)
            printf(", %zu chain%s", counts->chains, plural(counts->chains));
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
    struct weir_meaning_counts counts = {0};
    int rv;

    weir_diags_init(&diags, weir_mem_libc());
    rv = weir_config_load(path, &env, weir_mem_libc(), &diags, &config);
    weir_cli_print_diags(&diags);
    if (config != NULL)
        rv = weir_cli_meaning(config, quiet, &counts);
    if (rv < 0) {
        struct weir_slice text = weir_error_text(rv);

        fprintf(stderr, "weir check: %s: %.*s\n", path, (int)text.len, text.ptr);
        return WEIR_EXIT_FAILED;
    }
    print_summary(config, &counts, &diags, path);
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
        if (strcmp(argv[i], "--metrics") == 0)
            return weir_metrics_reference(stdout) == 0 ? WEIR_EXIT_OK : WEIR_EXIT_FAILED;
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
