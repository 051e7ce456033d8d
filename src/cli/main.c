/*
 * The program: finds the command in the table and runs it.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct {
    const char *name;
    weir_command_fn *run;
    const char *arguments;
    const char *summary;
} commands[] = {
#define X(name, function, arguments, summary) {name, function, arguments, summary},
#include "cli/tbl/commands.h"
#undef X
};

enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void print_help(FILE *out)
{
    fputs("weir routes calls to LLM providers: it spreads them over deployments, retries, falls back and\n"
          "lets failing deployments rest. It reads LiteLLM's config.yaml.\n\n"
          "usage: weir COMMAND ...\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  weir %-8s %-16s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    fputs("\nEach command has --help. A first run:\n\n"
          "  weir check examples/quickstart.yaml            what does this file mean?\n"
          "  weir serve --config examples/quickstart.yaml   answer on 127.0.0.1:4000, without any key\n",
          out);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return WEIR_EXIT_OK;
    }
    if (strcmp(name, "--version") == 0)
        return weir_cli_version(argc - 1, argv + 1);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (*name != '\0')
        fprintf(stderr, "weir: there is no command `%s`\n\n", name);
    print_help(stderr);
    return WEIR_EXIT_USAGE;
}
