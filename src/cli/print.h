/*
 * Printing what others have written: a file, a server.
 */
#ifndef WEIR_CLI_PRINT_H
#define WEIR_CLI_PRINT_H

#include <stdio.h>

#include <weir/slice.h>

/* As it may be shown: it must not steer the terminal (cli/clean.h). */
void weir_cli_print_slice(FILE *out, struct weir_slice text);

#endif
