/*
 * Reading text as tokenizers cut it, to tell how large a prompt is before anybody has counted its tokens
 * (decisions 37).
 *
 * One pass, a few instructions a byte, nothing is kept but counts.  Pure.
 */
#ifndef WEIR_PROVIDER_PROMPT_TEXT_H
#define WEIR_PROVIDER_PROMPT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

enum weir_prompt_unit {
#define X(unit, part, worth, prose) WEIR_PROMPT_##unit,
#include "provider/tbl/prompt_units.h"
#undef X
    WEIR_PROMPT_UNITS
};

/* How often each unit is in a prompt; begin with zeros. */
struct weir_prompt {
    uint64_t units[WEIR_PROMPT_UNITS];
};

/* What the text so far ends in. */
enum weir_prompt_run {
    WEIR_PROMPT_RUN_NONE, /* the start, or what stands for itself */
    WEIR_PROMPT_RUN_WORD,
    WEIR_PROMPT_RUN_NUMBER,
    WEIR_PROMPT_RUN_MARKS,
    WEIR_PROMPT_RUN_MARKS_LINE, /* marks and line ends */
    WEIR_PROMPT_RUN_BLANKS
};

/* A text on its way; it may come in pieces. */
struct weir_prompt_text {
    struct weir_prompt *prompt;
    enum weir_prompt_run run;
    uint32_t len;   /* of the run: characters, or spaces behind the last line end */
    bool lines;     /* of blanks: with a line end */
    bool spaced;    /* of marks: a space goes with them */
    bool lower_end; /* of a word: its last letter is no capital */
};

void weir_prompt_text_begin(struct weir_prompt_text *text, struct weir_prompt *prompt);

/* More of it: whole characters of valid UTF-8. */
void weir_prompt_text_add(struct weir_prompt_text *text, struct weir_slice bytes);

/* Counts what it ends in. */
void weir_prompt_text_end(struct weir_prompt_text *text);

/* A text of JSON, as it stood between its quotes. */
void weir_prompt_json_text(struct weir_prompt *prompt, struct weir_slice raw);

#endif
