/*
 * The tables of `weir top`: which rows in which order, and how wide their columns are.  Pure.
 */
#ifndef WEIR_CLI_TOP_TABLE_H
#define WEIR_CLI_TOP_TABLE_H

#include <stddef.h>

#include "cli/cells.h"
#include "cli/top_columns.h"
#include "cli/top_screen.h"

/* Puts the numbers of the view's rows that have the filter's text into the model's order, sorted; returns how
 * many there are. */
size_t weir_top_table_arrange(const struct weir_top_model *model, weir_top_view view,
                              const struct weir_top_sort *sort, struct weir_slice filter);

/* The columns that fit, and their widths. */
struct weir_top_layout {
    size_t count;
    size_t column[WEIR_TOP_COLUMNS_MAX];
    unsigned width[WEIR_TOP_COLUMNS_MAX];
};

/* For the rows of the order from first on, so many. */
void weir_top_table_lay_out(const struct weir_top_model *model, weir_top_view view, size_t first,
                            size_t count, unsigned columns, struct weir_top_layout *ret_layout);

void weir_top_table_titles(weir_top_view view, const struct weir_top_layout *layout, size_t sorted_by,
                           struct weir_line *line);

void weir_top_table_row(weir_top_view view, const struct weir_top_layout *layout, const void *row,
                        struct weir_line *line);

#endif
