/*
 * The beginning of an answer put into a request in OpenAI's protocol, so that a model carries on with it
 * (decisions 32): one message of the assistant at the end of `messages`, or more text in the one that stands
 * there already; what the provider wants beside it; and what is left of a limit on the length.
 *
 * Part of weir_openai_build.  Each function: 0, WEIR_BUILD_NO_PREFILL, WEIR_ERR_NOMEM, or a splice's failure.
 */
#ifndef WEIR_PROVIDER_OPENAI_PREFILL_H
#define WEIR_PROVIDER_OPENAI_PREFILL_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "provider/dialect.h"
#include "provider/prefill.h"
#include "wire/json_splice.h"

/* `messages`, two limits, two fields of the form CONTINUE_FINAL. */
enum { WEIR_PREFILL_PARAMS = 5 };

struct weir_prefill {
    struct weir_arena *arena;
    weir_prefill_form form;
    struct weir_slice sent; /* the text, as far as it is sent */
    uint64_t sent_tokens;
    struct weir_params forced; /* members that beat whatever the request says; items below */
    struct weir_param *items;  /* in the arena */
};

void weir_prefill_init(struct weir_prefill *ret_prefill, const struct weir_build *build,
                       struct weir_arena *arena);

/* Puts the text at the end of messages, JSON that is a part of the splice's source, by edits. */
WEIR_MUST_USE int weir_prefill_splice(const struct weir_prefill *prefill, struct weir_slice messages,
                                      struct weir_json_splice *splice);

/* The same with messages from elsewhere: they become a forced member. */
WEIR_MUST_USE int weir_prefill_force_messages(struct weir_prefill *prefill, struct weir_slice messages);

/* A limit shrinks by what was sent, to 1 at least; one that is no whole number stays. */
WEIR_MUST_USE int weir_prefill_force_limit(struct weir_prefill *prefill, struct weir_slice name,
                                           struct weir_slice value);

/* The members that say that the last message goes on. */
WEIR_MUST_USE int weir_prefill_force_form(struct weir_prefill *prefill);

#endif
