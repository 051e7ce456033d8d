/*
 * What is known of the models that wildcards let in, remembered by the worker that looked it up.
 *
 * The configuration knows a deployment's own model when it is read; a name that fills a "*" has to be sought
 * in the model map and in tables of patterns, which costs a fifth of a small request.  Callers ask for few
 * names again and again, so the worker keeps the latest.  One thread.
 */
#ifndef WEIR_GATEWAY_MODEL_MEMO_H
#define WEIR_GATEWAY_MODEL_MEMO_H

#include <weir/mem.h>
#include <weir/slice.h>

#include "config/config.h"

enum {
    WEIR_MODEL_MEMO_PLACES = 64,
    WEIR_MODEL_MEMO_NAME_MAX = 96 /* longer names are looked up each time */
};

struct weir_model_memo {
    const struct weir_mem *mem;
    const struct weir_config *config;      /* that they are about; NULL: nothing is remembered */
    struct weir_model_memo_entry *entries; /* WEIR_MODEL_MEMO_PLACES of them; NULL: none was needed yet */
};

void weir_model_memo_init(struct weir_model_memo *memo, const struct weir_mem *mem);

/* To be called whenever a new configuration may take the place of one in memory that is gone. */
void weir_model_memo_forget(struct weir_model_memo *memo);

/* Accepts a zeroed one. */
void weir_model_memo_deinit(struct weir_model_memo *memo);

/*
 * As weir_config_facts, which is asked once for each name and deployment as long as these are remembered: of
 * one configuration at a time.  The result lasts until the next question, or that of *room.
 */
const struct weir_model_facts *weir_model_memo_facts(struct weir_model_memo *memo,
                                                     const struct weir_config *config,
                                                     const struct weir_config_deployment *deployment,
                                                     struct weir_slice model, struct weir_model_facts *room);

#endif
