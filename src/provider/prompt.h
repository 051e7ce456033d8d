/*
 * How large the prompt of a request is: what of its body the model reads, by the units of prompt_text.h
 * (decisions 37).  Pure.
 */
#ifndef WEIR_PROVIDER_PROMPT_H
#define WEIR_PROVIDER_PROMPT_H

#include <stddef.h>

#include "provider/prompt_text.h"
#include "wire/json_scan.h"

/* Of the body's members, as a walk over the whole body gave them: what they hold is taken to be valid.  Reads
 * each value once and allocates nothing. */
void weir_prompt_read(const struct weir_json_item *members, size_t count, struct weir_prompt *ret_prompt);

#endif
