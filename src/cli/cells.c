/* A character goes in whole or not at all; one without a column of its own goes with the one before. */
#include "cli/cells.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "base/slice.h"
#include "cli/clean.h"

void weir_cells_locale(void)
{
    const char *chosen = setlocale(LC_CTYPE, "");

    if (chosen == NULL || strcmp(chosen, "C") == 0 || strcmp(chosen, "POSIX") == 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

/* The next character and its columns. */
static bool next(struct weir_slice *rest, struct weir_slice *ret_shown, unsigned *ret_columns)
{
    int columns;

    if (!weir_clean_next(rest, ret_shown))
        return false;
    columns = weir_clean_columns(*ret_shown);
    if (columns < 0) {
        *ret_shown = WEIR_SLICE("?");
        columns = 1;
    }
    *ret_columns = (unsigned)columns;
    return true;
}

unsigned weir_cells_of(struct weir_slice text)
{
    struct weir_slice shown;
    unsigned columns, all = 0;

    while (next(&text, &shown, &columns))
        all += columns;
    return all;
}

void weir_line_init(struct weir_line *line, unsigned columns)
{
    line->len = 0;
    line->columns = 0;
    line->max_columns = columns < WEIR_LINE_COLUMNS_MAX ? columns : WEIR_LINE_COLUMNS_MAX;
    line->reverse = false;
    line->span_count = 0;
}

static void note_style(struct weir_line *line, weir_style style)
{
    struct weir_span *last = line->span_count == 0 ? NULL : &line->spans[line->span_count - 1];

    if (last != NULL && (last->style == style || line->span_count == WEIR_LINE_SPANS_MAX))
        last->end = line->len;
    else
        line->spans[line->span_count++] = (struct weir_span){.end = line->len, .style = style};
}

/* Up to a column of the line; false when something is left. */
static bool put_up_to(struct weir_line *line, struct weir_slice text, unsigned edge)
{
    struct weir_slice shown;
    unsigned columns;

    while (next(&text, &shown, &columns)) {
        if (line->columns + columns > edge || line->len + shown.len > sizeof(line->text))
            return false;
        memcpy(line->text + line->len, shown.ptr, shown.len);
        line->len += shown.len;
        line->columns += columns;
    }
    return true;
}

static void pad_up_to(struct weir_line *line, unsigned edge)
{
    while (line->columns < edge && line->len < sizeof(line->text)) {
        line->text[line->len++] = ' ';
        line->columns++;
    }
}

void weir_line_put(struct weir_line *line, struct weir_slice text, weir_style style)
{
    (void)put_up_to(line, text, line->max_columns);
    note_style(line, style);
}

void weir_line_cell(struct weir_line *line, struct weir_slice text, unsigned columns, bool right,
                    weir_style style)
{
    unsigned needed = weir_cells_of(text), edge = line->columns + columns;

    if (edge > line->max_columns)
        edge = line->max_columns;
    columns = edge - line->columns;
    if (right && needed < columns)
        pad_up_to(line, edge - needed);
    if (needed <= columns) {
        (void)put_up_to(line, text, edge);
    } else if (columns > 0) {
        const struct weir_slice mark = WEIR_SLICE("\xe2\x80\xa6");

        (void)put_up_to(line, text, edge - 1);
        (void)put_up_to(line, weir_clean_columns(mark) == 1 ? mark : WEIR_SLICE("~"), edge);
    }
    pad_up_to(line, edge);
    note_style(line, style);
}

void weir_line_fill(struct weir_line *line, weir_style style)
{
    pad_up_to(line, line->max_columns);
    note_style(line, style);
}
