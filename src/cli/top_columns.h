/*
 * What stands in the cells of `weir top`, and what its rows are sorted by.  Pure.
 */
#ifndef WEIR_CLI_TOP_COLUMNS_H
#define WEIR_CLI_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

#include "cli/cells.h"
#include "cli/top_model.h"

typedef enum weir_top_view {
    WEIR_TOP_DEPLOYMENTS,
    WEIR_TOP_GROUPS,
    WEIR_TOP_FAILOVERS,
    WEIR_TOP_VIEWS
} weir_top_view;

enum { WEIR_CELL_BYTES = 160, WEIR_TOP_COLUMNS_MAX = 16 };

struct weir_top_column {
    struct weir_slice title;
    unsigned least; /* columns of the terminal */
    unsigned rank;
    bool right;
    bool down; /* sorting puts the most first */
    /* The text, a part of the row's or of room. */
    struct weir_slice (*cell)(const void *row, char room[WEIR_CELL_BYTES]);
    /* What is sorted by; NULL: the text. */
    double (*key)(const void *row);
};

struct weir_top_columns {
    const struct weir_top_column *list;
    size_t count;
    size_t sorted_by; /* at first */
};

/* At most WEIR_TOP_COLUMNS_MAX; live for ever. */
struct weir_top_columns weir_top_columns_of(weir_top_view view);

size_t weir_top_row_count(const struct weir_top_model *model, weir_top_view view);
const void *weir_top_row(const struct weir_top_model *model, weir_top_view view, size_t number);

/* How the row is coloured. */
weir_style weir_top_row_style(weir_top_view view, const void *row);

/* One of its names or its state holds the text, in any case. */
bool weir_top_row_has(weir_top_view view, const void *row, struct weir_slice text);

/* All that is known of the row, in two lines: part 0 and 1. */
void weir_top_row_detail(weir_top_view view, const void *row, unsigned part, struct weir_line *line);

#endif
