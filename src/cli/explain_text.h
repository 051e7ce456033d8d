/*
 * What weir's admin routes answer, in plain sentences: the story of a call, a list of calls, and what a
 * request would do now.  Pure: an answer in, text out; whatever it lacks is left out.
 */
#ifndef WEIR_CLI_EXPLAIN_TEXT_H
#define WEIR_CLI_EXPLAIN_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <yyjson.h>

/* colour: with escape sequences, for a terminal. */
struct weir_explain_out {
    FILE *out;
    bool colour;
};

/* Of GET /weir/calls/{id}. */
void weir_explain_call(const struct weir_explain_out *to, yyjson_val *call);

/* Of GET /weir/calls. */
void weir_explain_calls(const struct weir_explain_out *to, yyjson_val *answer);

/* Of GET /weir/explain?model=. */
void weir_explain_model(const struct weir_explain_out *to, yyjson_val *answer);

#endif
