/*
 * From what a prompt is made of to its tokens, and what the answers of a model group teach about that.
 *
 * Each part of a prompt (words, marks, numbers, ...) has a factor, 1 at first.  An answer that tells its
 * prompt's tokens moves the factors of the parts that the prompt had, each by its share, towards what would
 * have made the estimate right; later answers move them less.  A count that no text of the size can have
 * teaches nothing.
 *
 * Threads: any number may read and learn at once.  Of two that learn in the same moment one may be lost, and
 * nothing else.  Pure but for that.
 */
#ifndef WEIR_PROVIDER_PROMPT_SCALE_H
#define WEIR_PROVIDER_PROMPT_SCALE_H

#include <stdatomic.h>
#include <stdint.h>

#include "provider/prompt_text.h"

enum weir_prompt_part {
    WEIR_PROMPT_WORDS,
    WEIR_PROMPT_MARKS,
    WEIR_PROMPT_NUMBERS,
    WEIR_PROMPT_HAN_TEXT,
    WEIR_PROMPT_SCRIPTS,
    WEIR_PROMPT_FRAME,
    WEIR_PROMPT_MEDIA_PARTS,
    WEIR_PROMPT_PARTS
};

struct weir_prompt_scale {
    _Atomic uint32_t factors[WEIR_PROMPT_PARTS]; /* in 1 / WEIR_PROMPT_FACTOR_ONE */
    _Atomic uint32_t answers;                    /* that taught it */
};

/* A factor is never below a quarter, nor above four. */
#define WEIR_PROMPT_FACTOR_ONE 65536

void weir_prompt_scale_init(struct weir_prompt_scale *scale);

/* What the other has learned so far; it may go on learning meanwhile. */
void weir_prompt_scale_copy(struct weir_prompt_scale *ret_scale, const struct weir_prompt_scale *other);

/* The estimate; 0 for a prompt without anything in it. */
uint64_t weir_prompt_tokens(const struct weir_prompt *prompt, const struct weir_prompt_scale *scale);

/* The provider has counted the prompt; 0: it has not. */
void weir_prompt_learn(struct weir_prompt_scale *scale, const struct weir_prompt *prompt, uint64_t tokens);

#endif
