/* What the tests of the commands have in common: JSON to read and text that was printed. */
#ifndef TEST_CLI_KIT_H
#define TEST_CLI_KIT_H

#include <weir/slice.h>

#include "cli/explain_text.h"

#include <yyjson.h>

/* Single quotes stand for double ones. */
yyjson_doc *kit_json(const char *text);

/* What a page prints of an answer, without colours; the caller frees it. */
char *kit_printed(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json);

/* The page prints exactly that. */
void kit_expect(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json,
                const char *text);

#endif
