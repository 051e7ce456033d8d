/*
 * Options and printing for the commands.
 */
#include "cli/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

int weir_cli_options(int argc, char **argv, const char *shorts, const struct option *longs,
                     int (*take)(void *user, int option), void *user)
{
    int option, r = 0;

    optind = 1;
    while (r == 0 && (option = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
        r = take(user, option);
    return r;
}

int weir_cli_usage(const char *command, const char *text, const char *argument)
{
    fprintf(stderr, "weir %s: %s%s\nTry `weir %s --help`.\n", command, text, argument, command);
    return WEIR_EXIT_USAGE;
}

int weir_cli_fail(const char *command, struct weir_slice text)
{
    fprintf(stderr, "weir %s: ", command);
    weir_cli_print_slice(stderr, text);
    fputc('\n', stderr);
    return WEIR_EXIT_FAILED;
}

bool weir_cli_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(fileno(out)) == 1 && (no_color == NULL || *no_color == '\0');
}

static void print_diag(const struct weir_diag *diag, bool colour)
{
    const char *start = diag->severity == WEIR_SEVERITY_WARNING ? "\033[33m" : "\033[31m";

    weir_cli_print_slice(stderr, diag->place.file);
    if (diag->place.line > 0)
        fprintf(stderr, ":%u:%u", diag->place.line, diag->place.column);
    fputs(": ", stderr);
    if (diag->path.len > 0) {
        weir_cli_print_slice(stderr, diag->path);
        fputs(": ", stderr);
    }
    fputs(colour ? start : "", stderr);
    weir_cli_print_slice(stderr, weir_severity_name(diag->severity));
    fputs(colour ? "\033[0m: " : ": ", stderr);
    weir_cli_print_slice(stderr, diag->text);
    fputc('\n', stderr);
}

void weir_cli_print_diags(const struct weir_diags *diags)
{
    bool colour = weir_cli_colour(stderr);
    size_t all = weir_diags_errors(diags) + diags->counts[WEIR_SEVERITY_WARNING];

    for (size_t i = 0; i < diags->count; i++)
        print_diag(&diags->list[i], colour);
    if (all > diags->count)
        fprintf(stderr, "(%zu more are not shown)\n", all - diags->count);
}
