/*
 * What is known of the provider's models: how long a prompt may be, what tokens cost, what they do not take.
 *
 * Facts come from three places: what a deployment says of its own, a model map in LiteLLM's form, and a small
 * table of common models (tbl/known_models.h, tbl/unsupported.h).  Each figure remembers which.  Pure.
 */
#ifndef WEIR_PROVIDER_MODEL_FACTS_H
#define WEIR_PROVIDER_MODEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/slice.h>

#include "provider/provider.h"

enum weir_figure {
#define X(figure, key, prose) WEIR_FIGURE_##figure,
#include "provider/tbl/model_figures.h"
#undef X
    WEIR_FIGURES
};

enum weir_fact_source {
    WEIR_FACT_UNKNOWN,
    WEIR_FACT_PARAMS, /* the deployment's litellm_params */
    WEIR_FACT_INFO,   /* its model_info */
    WEIR_FACT_MAP,    /* the model map */
    WEIR_FACT_TABLE   /* built in */
};

struct weir_model_facts {
    double figures[WEIR_FIGURES]; /* negative: not known */
    enum weir_fact_source sources[WEIR_FIGURES];
    uint64_t lacks; /* parameters that it does not take (parameter.h) */
    enum weir_fact_source lacks_source;
    /* Where the figures of the table come from: the address of a page; empty: none are of the table. */
    struct weir_slice page;
    struct weir_slice lacks_page;
};

/* Nothing is known. */
void weir_model_facts_init(struct weir_model_facts *facts);

/* The key of a figure in a model map; empty: it has none. */
struct weir_slice weir_figure_key(enum weir_figure figure);

static inline bool weir_figure_known(const struct weir_model_facts *facts, enum weir_figure figure)
{
    return facts->sources[figure] != WEIR_FACT_UNKNOWN;
}

static inline void weir_figure_set(struct weir_model_facts *facts, enum weir_figure figure, double value,
                                   enum weir_fact_source source)
{
    facts->figures[figure] = value;
    facts->sources[figure] = source;
}

/* What the table knows of a model, with or without its provider in front. */
void weir_model_facts_of_table(const struct weir_provider *provider, struct weir_slice model,
                               struct weir_model_facts *ret_facts);

/*
 * Fills what is not known from a weaker place.  The prices of the cache, of reasoning and of long prompts
 * belong to the price of the tokens that they stand for: they are taken only where that one is of the weaker
 * place too.
 */
void weir_model_facts_fill(struct weir_model_facts *facts, const struct weir_model_facts *weaker);

/* The table's rows, for its tests: the row's model, its provider and its page; false after the last. */
bool weir_known_model_at(size_t index, struct weir_slice *ret_provider, struct weir_slice *ret_model,
                         struct weir_slice *ret_page);

#endif
