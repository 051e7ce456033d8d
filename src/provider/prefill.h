/*
 * Who carries on with an answer that was begun for it, and how the beginning is written for it
 * (router-semantics 14.4, decisions 32).
 *
 * The models are the rows of tbl/prefill_models.h; the forms are a column of tbl/openai_compatible.h.  Pure.
 */
#ifndef WEIR_PROVIDER_PREFILL_H
#define WEIR_PROVIDER_PREFILL_H

#include <stdbool.h>

#include <weir/slice.h>

#include "provider/provider.h"

/* The model, with or without its provider, is known to take a prefill.  provider may be NULL: it does not. */
bool weir_provider_takes_prefill(const struct weir_provider *provider, struct weir_slice model);

/* How a prefill is written for the model, whether or not it is known to take one. */
weir_prefill_form weir_prefill_form_of(const struct weir_provider *provider, struct weir_slice model);

/* What of the text is sent in that form: all of it, or all but the white space (of ASCII) at its end. */
struct weir_slice weir_prefill_sent(weir_prefill_form form, struct weir_slice text);

#endif
