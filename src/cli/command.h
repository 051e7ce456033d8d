/*
 * What the commands of the program have in common.
 *
 * A command gets its own arguments, its name first, and returns the exit status: 0 done, 1 not done, 2 wrong
 * usage.  Commands are the rows of tbl/commands.h.
 */
#ifndef WEIR_CLI_COMMAND_H
#define WEIR_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include <weir/slice.h>

#include "cli/print.h"
#include "config/diag.h"

enum { WEIR_EXIT_OK = 0, WEIR_EXIT_FAILED = 1, WEIR_EXIT_USAGE = 2 };

typedef int weir_command_fn(int argc, char **argv);

#define X(name, function, arguments, summary) weir_command_fn function;
#include "cli/tbl/commands.h"
#undef X

struct option;

/*
 * Reads the options as getopt_long does, and gives each to take, whose first result other than 0 ends it and
 * is returned; 0: all are read, and what follows them begins at argv[optind].
 */
int weir_cli_options(int argc, char **argv, const char *shorts, const struct option *longs,
                     int (*take)(void *user, int option), void *user);

/* "weir NAME: text" and where to find help, on stderr; returns WEIR_EXIT_USAGE. */
int weir_cli_usage(const char *command, const char *text, const char *argument);

/* "weir NAME: text" on stderr; returns WEIR_EXIT_FAILED. */
int weir_cli_fail(const char *command, struct weir_slice text);

/* Whether out is a terminal and NO_COLOR is not set. */
bool weir_cli_colour(FILE *out);

/* All diagnostics, one a line, on stderr, and how many were not kept. */
void weir_cli_print_diags(const struct weir_diags *diags);

#endif
