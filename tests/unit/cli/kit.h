/* What the tests of the commands have in common: JSON to read, text that was printed, a screen. */
#ifndef TEST_CLI_KIT_H
#define TEST_CLI_KIT_H

#include <weir/slice.h>

#include "cli/explain_text.h"
#include "cli/top_screen.h"

#include <yyjson.h>

/* Single quotes stand for double ones. */
yyjson_doc *kit_json(const char *text);

/* What a page prints of an answer, without colours; the caller frees it. */
char *kit_printed(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json);

/* The page prints exactly that. */
void kit_expect(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json,
                const char *text);

/* The lines of a screen, without the blanks at their ends. */
struct kit_screen {
    char *text;
    size_t len;
    unsigned lines;
    unsigned widest; /* columns */
};

void kit_draw(struct weir_top_screen *screen, const struct weir_top_model *model,
              struct kit_screen *ret_drawn);
void kit_print(struct weir_top_screen *screen, const struct weir_top_model *model,
               struct kit_screen *ret_drawn);

/* Line number, from 0, as a text that lives until the next call. */
const char *kit_line(const struct kit_screen *drawn, unsigned number);
void kit_screen_free(struct kit_screen *drawn);

/* A state with so many deployments, d0, d1, ..., in groups of three; every tenth cools down. */
struct weir_top_model *kit_model(unsigned deployments);

#endif
