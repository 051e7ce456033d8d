/*
 * The terminal for `weir top`, through ncurses: lines out, keys in, and the terminal as it was at the end.
 *
 * The library is loaded when a terminal is opened, not when the program starts: `weir serve` has no use for
 * it and does not pay for it in memory.  One terminal at a time.
 */
#ifndef WEIR_CLI_TERMINAL_H
#define WEIR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>

#include "cli/cells.h"

typedef struct weir_terminal weir_terminal;

enum { WEIR_TERMINAL_TEXT_MAX = 256 };

/* There is no terminal, its kind (TERM) is unknown, or ncurses is missing: text says which. */
#define WEIR_TERMINAL_NONE 1

/* Takes over the terminal of stdout.  colour: where it can.  0, WEIR_TERMINAL_NONE with a NUL-terminated
 * text, or negative. */
WEIR_MUST_USE int weir_terminal_open(bool colour, char text[WEIR_TERMINAL_TEXT_MAX],
                                     weir_terminal **ret_terminal);

/* Leaves the terminal as it was.  Accepts NULL. */
void weir_terminal_close(weir_terminal *terminal);

/* Takes up its size now: at first, and after SIGWINCH. */
void weir_terminal_measure(weir_terminal *terminal, unsigned *ret_lines, unsigned *ret_columns);

/* A new screen is drawn from an empty one, line by line, and is seen with weir_terminal_show; only what has
 * changed is sent. */
void weir_terminal_erase(weir_terminal *terminal);
void weir_terminal_line(weir_terminal *terminal, unsigned number, const struct weir_line *line);
void weir_terminal_show(weir_terminal *terminal);

/* The next key that was pressed: a character, or a WEIR_KEY_*.  False when there is none. */
bool weir_terminal_key(weir_terminal *terminal, uint32_t *ret_key);

#endif
