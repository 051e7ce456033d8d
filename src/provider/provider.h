/*
 * The providers that weir knows by name: which dialect they speak, where they live, how they are called in
 * messages, and which rows of the classifier hold for them.
 *
 * A provider is a row of a table and nothing else; rows live for ever and are safe for all threads.  Those of
 * tbl/openai_compatible.h speak OpenAI's protocol; those of tbl/other_providers.h are LiteLLM's other names:
 * known, so that a message can say that the provider has no dialect here, and classified by rules of their
 * own.
 */
#ifndef WEIR_PROVIDER_PROVIDER_H
#define WEIR_PROVIDER_PROVIDER_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

/* How requests are written and answers read; the implementations are in dialect.h. */
typedef enum weir_dialect_id {
    WEIR_DIALECT_NONE, /* no dialect here: a deployment of the provider cannot be served */
    WEIR_DIALECT_OPENAI,
    WEIR_DIALECT_AZURE,
    WEIR_DIALECT_SIM /* answered from inside (sim.h); nothing is called */
} weir_dialect_id;

/*
 * Sets of rules of the classifier (error-classification.md 4 to 11).  A provider has one or more; a row of
 * tbl/classify.h holds for a provider that shares one with it.  Bits.
 */
enum {
    WEIR_FAMILY_OPENAI = 1 << 0,
    WEIR_FAMILY_AZURE = 1 << 1,
    WEIR_FAMILY_ANTHROPIC = 1 << 2,
    WEIR_FAMILY_VERTEX = 1 << 3, /* Gemini too */
    WEIR_FAMILY_BEDROCK = 1 << 4,
    WEIR_FAMILY_OPENAI_LIKE = 1 << 5, /* predibase, databricks, watsonx */
    WEIR_FAMILY_OLLAMA = 1 << 6,
    WEIR_FAMILY_OPENROUTER = 1 << 7,
    WEIR_FAMILY_COHERE = 1 << 8,
    WEIR_FAMILY_HUGGINGFACE = 1 << 9,
    WEIR_FAMILY_REPLICATE = 1 << 10,
    WEIR_FAMILY_SAGEMAKER = 1 << 11,
    WEIR_FAMILY_NLP_CLOUD = 1 << 12,
    WEIR_FAMILY_TOGETHER = 1 << 13, /* its own table, for one taken off the compatible list */
    WEIR_FAMILY_GROQ = 1 << 14,
    WEIR_FAMILY_ALL = (1 << 15) - 1
};

/* What a provider does differently from the others of its dialect.  Bits. */
enum {
    WEIR_QUIRK_ADD_V1 = 1,            /* a base that does not end in "/v1" gets it */
    WEIR_QUIRK_NO_STREAM_OPTIONS = 2, /* refuses `stream_options`; sends usage unasked */
    WEIR_QUIRK_FIREWORKS_MODELS = 4   /* bare model names get "accounts/fireworks/models/" in front */
};

/* How a provider wants the beginning of an answer that it is to carry on with (decisions 32). */
typedef enum weir_prefill_form {
    WEIR_PREFILL_PLAIN,         /* as the last message, from the assistant */
    WEIR_PREFILL_TRIMMED,       /* likewise, and refuses white space at its end */
    WEIR_PREFILL_PREFIX,        /* likewise, marked `"prefix": true` */
    WEIR_PREFILL_CONTINUE_FINAL /* likewise, and the request says that its last message goes on */
} weir_prefill_form;

enum { WEIR_PROVIDER_VARS = 4 };

struct weir_provider {
    struct weir_slice name;     /* the prefix: "hosted_vllm" */
    struct weir_slice display;  /* in messages, before "Exception": "Hosted_vllm" */
    struct weir_slice api_base; /* empty: none */
    /* Environment variables that are asked, in order, when the deployment does not say; the rest is empty. */
    struct weir_slice key_vars[WEIR_PROVIDER_VARS];
    struct weir_slice base_vars[WEIR_PROVIDER_VARS];
    weir_dialect_id dialect;
    unsigned families; /* WEIR_FAMILY_* */
    unsigned quirks;   /* WEIR_QUIRK_* */
    weir_prefill_form prefill;
};

size_t weir_provider_count(void);
const struct weir_provider *weir_provider_at(size_t index);

/* The provider of exactly that name, or NULL. */
const struct weir_provider *weir_provider_named(struct weir_slice name);

/* Nobody is known to serve the model. */
#define WEIR_PROVIDER_UNKNOWN 1

/*
 * Whose model this is.  custom_llm_provider, when not empty, names it; else a known prefix ("groq/llama");
 * else the name itself is well known ("gpt-4o", "claude-sonnet-4-5": tbl/bare_names.h).  *ret_model (may be
 * NULL) is the model without its provider: a part of the argument.  The provider may have no dialect.
 * 0 or WEIR_PROVIDER_UNKNOWN.
 */
WEIR_MUST_USE int weir_provider_find(struct weir_slice model, struct weir_slice custom_llm_provider,
                                     const struct weir_provider **ret_provider, struct weir_slice *ret_model);

/* The provider that a bare name is known to belong to ("gpt-4o": openai), or NULL: for
 * weir_request.qualified_model. */
const struct weir_provider *weir_provider_infer(struct weir_slice bare_model);

/* The model without "provider/" in front, if it has that; a part of the argument. */
struct weir_slice weir_provider_strip(const struct weir_provider *provider, struct weir_slice model);

#endif
