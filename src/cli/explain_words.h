/*
 * Words that the pages of `weir explain` have in common.  Pure.
 */
#ifndef WEIR_CLI_EXPLAIN_WORDS_H
#define WEIR_CLI_EXPLAIN_WORDS_H

#include <stdio.h>

#include <weir/slice.h>

#include "cli/explain_text.h"

#include <yyjson.h>

/* The times stand in a column of this width before the sentences. */
enum { WEIR_EXPLAIN_TIME_COLUMNS = 12 };
#define WEIR_EXPLAIN_NEXT_LINE "\n                "

/* What a row of a table of include/weir says, by its name; an unknown name with its underscores as blanks.
 * Live as long as the argument. */
struct weir_slice weir_words_of_fate(struct weir_slice name);
struct weir_slice weir_words_of_purpose(struct weir_slice name);
struct weir_slice weir_words_of_rule(struct weir_slice name);

/* An id of a deployment (weir_short_id). */
void weir_words_id(FILE *out, struct weir_slice id);

/* "rate_limit (429, retry after 20 s) by weir itself" of {kind, status, retry_after_s, origin}. */
void weir_words_failure(FILE *out, yyjson_val *failure);

/* What was asked and what became of it, in two lines. */
void weir_words_call(const struct weir_explain_out *to, yyjson_val *call);

#endif
