/*
 * Patterns for the names of models.
 *
 * A model is written in many ways: "claude-3-5-haiku-20241022", "anthropic/claude-3.5-haiku",
 * "us.anthropic.claude-3-5-haiku-20241022-v1:0", "databricks-claude-3-7-sonnet".  So a pattern is tried at
 * each part of a name, and the marks that part versions are all the same to it.  Pure.
 */
#ifndef WEIR_PROVIDER_MODEL_NAME_H
#define WEIR_PROVIDER_MODEL_NAME_H

#include <stdbool.h>

#include <weir/slice.h>

/*
 * The pattern fits from the start of the name or from any of its parts.  "*" at its end stands for any text
 * that does not go on with a letter or digit, "-" for ".", "@" and ":" too; letters are in lower case.
 */
bool weir_model_fits(struct weir_slice pattern, struct weir_slice name);

/* The name is that of a model, or of one of its dated editions: "gpt-4o", "gpt-4o-2024-11-20",
 * "gpt-4o-latest".  Case is all the same. */
bool weir_model_is(struct weir_slice model, struct weir_slice name);

#endif
