/*
 * The screen of `weir top`: what of a model is shown, and how keys change that.  Pure: a model and keys in,
 * lines out.  Only lines that are seen are made, so that thousands of deployments cost a sort.
 */
#ifndef WEIR_CLI_TOP_SCREEN_H
#define WEIR_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/slice.h>

#include "cli/cells.h"
#include "cli/top_columns.h"
#include "cli/top_model.h"

/* Keys that are no character of Unicode. */
enum {
    WEIR_KEY_UP = 0x110000,
    WEIR_KEY_DOWN,
    WEIR_KEY_PAGE_UP,
    WEIR_KEY_PAGE_DOWN,
    WEIR_KEY_HOME,
    WEIR_KEY_END,
    WEIR_KEY_BACKSPACE,
    WEIR_KEY_ENTER,
    WEIR_KEY_ESCAPE,
    WEIR_KEY_OTHER
};

enum { WEIR_TOP_FILTER_BYTES = 64 };

struct weir_top_sort {
    size_t by; /* column */
    bool turned;
};

struct weir_top_screen {
    weir_top_view view;
    struct weir_top_sort sort[WEIR_TOP_VIEWS];
    char filter[WEIR_TOP_FILTER_BYTES];
    size_t filter_len;
    bool typing; /* the filter */
    bool paused;
    bool help;
    size_t cursor; /* among the rows that are left by the filter */
    size_t first;  /* the first of them on the screen */
    size_t count;  /* of them */
    unsigned lines;
    unsigned columns;
    struct weir_slice where;   /* the URL that is asked */
    struct weir_slice trouble; /* why it does not answer; empty: it does */
    bool restarted;            /* while it was looked at */
};

void weir_top_screen_init(struct weir_top_screen *ret_screen, struct weir_slice where);

/* False: the key says to leave. */
bool weir_top_screen_key(struct weir_top_screen *screen, uint32_t key);

/* Where lines go; the line lives during the call. */
struct weir_line_sink {
    void (*line)(void *user, unsigned number, const struct weir_line *line);
    void *user;
};

/* Every line of the screen, in their order.  Uses the order of the model, which is NULL until there is one.
 */
void weir_top_screen_draw(struct weir_top_screen *screen, const struct weir_top_model *model,
                          const struct weir_line_sink *sink);

/* Everything as plain text, once: each view with all rows and columns. */
void weir_top_screen_print(struct weir_top_screen *screen, const struct weir_top_model *model,
                           const struct weir_line_sink *sink);

#endif
