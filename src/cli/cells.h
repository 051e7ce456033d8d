/*
 * Text in columns: how many a text takes on a terminal, and lines that are filled from the left and never go
 * over the edge.  What is put in is cleaned (cli/clean.h).  Pure, but for the locale.
 */
#ifndef WEIR_CLI_CELLS_H
#define WEIR_CLI_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

/* Takes the user's locale; where none is set, one with UTF-8, as terminals have it.  Once, by the command. */
void weir_cells_locale(void);

/* Columns of the text as it is shown. */
unsigned weir_cells_of(struct weir_slice text);

typedef enum weir_style {
    WEIR_STYLE_PLAIN,
    WEIR_STYLE_STRONG,
    WEIR_STYLE_DIM,
    WEIR_STYLE_GOOD,
    WEIR_STYLE_WARN,
    WEIR_STYLE_BAD,
    WEIR_STYLES
} weir_style;

enum { WEIR_LINE_COLUMNS_MAX = 512, WEIR_LINE_BYTES = 4096, WEIR_LINE_SPANS_MAX = 64 };

struct weir_span {
    size_t end; /* of its bytes; it begins where the one before ends */
    weir_style style;
};

/* A line of the screen; what finds no room in it is cut off. */
struct weir_line {
    char text[WEIR_LINE_BYTES];
    size_t len;
    unsigned columns; /* taken so far */
    unsigned max_columns;
    bool reverse; /* all of it: the chosen row */
    struct weir_span spans[WEIR_LINE_SPANS_MAX];
    size_t span_count;
};

/* Empty, for so many columns, at most WEIR_LINE_COLUMNS_MAX. */
void weir_line_init(struct weir_line *line, unsigned columns);

void weir_line_put(struct weir_line *line, struct weir_slice text, weir_style style);

/* The text in a field of so many columns: filled up with blanks, or cut, with a mark at its end. */
void weir_line_cell(struct weir_line *line, struct weir_slice text, unsigned columns, bool right,
                    weir_style style);

/* Blanks up to the edge. */
void weir_line_fill(struct weir_line *line, weir_style style);

#endif
