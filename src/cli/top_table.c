/*
 * Columns are chosen by rank until one does not fit.  What is left of the width goes to those that need more,
 * in the order of their ranks.
 */
#include "cli/top_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/slice.h"

enum { GAP = 2 };

/* ---- rows ---- */

struct sorting {
    const struct weir_top_model *model;
    weir_top_view view;
    const struct weir_top_column *column;
    bool down;
};

static int compare_texts(struct weir_slice a, struct weir_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int r = len == 0 ? 0 : memcmp(a.ptr, b.ptr, len);

    return r != 0 ? r : (a.len > b.len) - (a.len < b.len);
}

static int compare_cells(const struct weir_top_column *column, const void *a, const void *b)
{
    char room_a[WEIR_CELL_BYTES], room_b[WEIR_CELL_BYTES];

    if (column->key == NULL)
        return compare_texts(column->cell(a, room_a), column->cell(b, room_b));
    return (column->key(a) > column->key(b)) - (column->key(a) < column->key(b));
}

/* What is equal keeps the order that it has in weir's configuration. */
static int compare(const void *a, const void *b, void *user)
{
    const struct sorting *sorting = user;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int r = compare_cells(sorting->column, weir_top_row(sorting->model, sorting->view, one),
                          weir_top_row(sorting->model, sorting->view, other));

    if (r == 0)
        return (one > other) - (one < other);
    return sorting->down ? -r : r;
}

size_t weir_top_table_arrange(const struct weir_top_model *model, weir_top_view view,
                              const struct weir_top_sort *sort, struct weir_slice filter)
{
    const struct weir_top_columns columns = weir_top_columns_of(view);
    struct sorting sorting = {model, view, &columns.list[sort->by],
                              columns.list[sort->by].down != sort->turned};
    size_t all = weir_top_row_count(model, view), count = 0;

    for (size_t i = 0; i < all; i++)
        if (filter.len == 0 || weir_top_row_has(view, weir_top_row(model, view, i), filter))
            model->order[count++] = (uint32_t)i;
    qsort_r(model->order, count, sizeof(*model->order), compare, &sorting);
    return count;
}

/* ---- columns ---- */

static void choose(const struct weir_top_columns *columns, unsigned room, bool chosen[WEIR_TOP_COLUMNS_MAX],
                   unsigned *ret_left)
{
    unsigned left = room + GAP;

    for (unsigned rank = 0; rank <= WEIR_TOP_COLUMNS_MAX; rank++) {
        for (size_t i = 0; i < columns->count; i++) {
            if (columns->list[i].rank != rank)
                continue;
            if (columns->list[i].least + GAP > left) {
                *ret_left = left;
                return;
            }
            chosen[i] = true;
            left -= columns->list[i].least + GAP;
        }
    }
    *ret_left = left;
}

static unsigned widest(const struct weir_top_model *model, weir_top_view view,
                       const struct weir_top_column *column, size_t first, size_t count)
{
    char room[WEIR_CELL_BYTES];
    unsigned most = 0;

    for (size_t i = first; i < first + count; i++) {
        unsigned columns = weir_cells_of(column->cell(weir_top_row(model, view, model->order[i]), room));

        most = columns > most ? columns : most;
    }
    return most;
}

void weir_top_table_lay_out(const struct weir_top_model *model, weir_top_view view, size_t first,
                            size_t count, unsigned columns, struct weir_top_layout *ret_layout)
{
    const struct weir_top_columns all = weir_top_columns_of(view);
    bool chosen[WEIR_TOP_COLUMNS_MAX] = {false};
    unsigned width[WEIR_TOP_COLUMNS_MAX];
    unsigned left;

    choose(&all, columns, chosen, &left);
    for (unsigned rank = 0; rank <= WEIR_TOP_COLUMNS_MAX; rank++) {
        for (size_t i = 0; i < all.count; i++) {
            unsigned needed;

            if (!chosen[i] || all.list[i].rank != rank)
                continue;
            width[i] = all.list[i].least;
            needed = widest(model, view, &all.list[i], first, count);
            if (needed > width[i]) {
                unsigned more = needed - width[i] < left ? needed - width[i] : left;

                width[i] += more;
                left -= more;
            }
        }
    }
    ret_layout->count = 0;
    for (size_t i = 0; i < all.count; i++) {
        if (!chosen[i])
            continue;
        ret_layout->column[ret_layout->count] = i;
        ret_layout->width[ret_layout->count++] = width[i];
    }
}

static void put_gap(struct weir_line *line, size_t at)
{
    if (at > 0)
        weir_line_put(line, WEIR_SLICE("  "), WEIR_STYLE_PLAIN);
}

void weir_top_table_titles(weir_top_view view, const struct weir_top_layout *layout, size_t sorted_by,
                           struct weir_line *line)
{
    const struct weir_top_columns all = weir_top_columns_of(view);

    for (size_t i = 0; i < layout->count; i++) {
        const struct weir_top_column *column = &all.list[layout->column[i]];

        put_gap(line, i);
        weir_line_cell(line, column->title, layout->width[i], column->right,
                       layout->column[i] == sorted_by ? WEIR_STYLE_STRONG : WEIR_STYLE_DIM);
    }
}

void weir_top_table_row(weir_top_view view, const struct weir_top_layout *layout, const void *row,
                        struct weir_line *line)
{
    const struct weir_top_columns all = weir_top_columns_of(view);
    weir_style style = weir_top_row_style(view, row);
    char room[WEIR_CELL_BYTES];

    for (size_t i = 0; i < layout->count; i++) {
        const struct weir_top_column *column = &all.list[layout->column[i]];

        put_gap(line, i);
        weir_line_cell(line, column->cell(row, room), layout->width[i], column->right, style);
    }
}
