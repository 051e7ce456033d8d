/* The rows are walked when a configuration is read, and once a call for models that a wildcard let in. */
#include "provider/model_facts.h"

#include "base/slice.h"
#include "provider/model_name.h"
#include "provider/parameter.h"

#define NO               (-1)
#define TOKENS_PER_PRICE 1e6

struct known {
    struct weir_slice provider;
    struct weir_slice model;
    struct weir_slice page;
    double context;
    double prices[4]; /* of a million tokens: input, output, read from the cache, written to it */
    double long_from;
    double long_prices[4];
};

static const struct known known[] = {
#define X(provider_, model_, page_, context_, input, output, read, write, from, long_input, long_output,     \
          long_read, long_write)                                                                             \
    {.provider = WEIR_SLICE_INIT(provider_),                                                                 \
     .model = WEIR_SLICE_INIT(model_),                                                                       \
     .page = WEIR_SLICE_INIT(page_),                                                                         \
     .context = (context_),                                                                                  \
     .prices = {input, output, read, write},                                                                 \
     .long_from = (from),                                                                                    \
     .long_prices = {long_input, long_output, long_read, long_write}},
#include "provider/tbl/known_models.h"
#undef X
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static const struct {
    struct weir_slice provider;
    struct weir_slice model;
    struct weir_slice names;
    struct weir_slice page;
} unsupported[] = {
#define X(provider, model, names, page)                                                                      \
    {WEIR_SLICE_INIT(provider), WEIR_SLICE_INIT(model), WEIR_SLICE_INIT(names), WEIR_SLICE_INIT(page)},
#include "provider/tbl/unsupported.h"
#undef X
};

static const struct weir_slice keys[WEIR_FIGURES] = {
#define X(figure, key, prose) [WEIR_FIGURE_##figure] = WEIR_SLICE_INIT(key),
#include "provider/tbl/model_figures.h"
#undef X
};

void weir_model_facts_init(struct weir_model_facts *facts)
{
    *facts = (struct weir_model_facts){.lacks = 0};
    for (int i = 0; i < WEIR_FIGURES; i++)
        facts->figures[i] = NO;
}

struct weir_slice weir_figure_key(enum weir_figure figure)
{
    return keys[figure];
}

/* Azure and the plain completions of OpenAI serve OpenAI's models under their names. */
static struct weir_slice maker_of(const struct weir_provider *provider)
{
    if (weir_slice_eq(provider->name, WEIR_SLICE("azure")) ||
        weir_slice_eq(provider->name, WEIR_SLICE("text-completion-openai")))
        return WEIR_SLICE("openai");
    return provider->name;
}

static void set_known(struct weir_model_facts *facts, enum weir_figure figure, double value)
{
    if (value >= 0)
        weir_figure_set(facts, figure, value, WEIR_FACT_TABLE);
}

static void set_prices(struct weir_model_facts *facts, const enum weir_figure figures[4],
                       const double prices[4])
{
    for (size_t i = 0; i < 4; i++)
        set_known(facts, figures[i], prices[i] < 0 ? prices[i] : prices[i] / TOKENS_PER_PRICE);
}

static void take(const struct known *row, struct weir_model_facts *facts)
{
    static const enum weir_figure usual[4] = {WEIR_FIGURE_INPUT, WEIR_FIGURE_OUTPUT, WEIR_FIGURE_CACHE_READ,
                                              WEIR_FIGURE_CACHE_WRITE};
    static const enum weir_figure of_long[4] = {WEIR_FIGURE_LONG_INPUT, WEIR_FIGURE_LONG_OUTPUT,
                                                WEIR_FIGURE_LONG_CACHE_READ, WEIR_FIGURE_LONG_CACHE_WRITE};

    facts->page = row->page;
    set_known(facts, WEIR_FIGURE_CONTEXT, row->context);
    set_prices(facts, usual, row->prices);
    set_known(facts, WEIR_FIGURE_LONG_FROM, row->long_from);
    set_prices(facts, of_long, row->long_prices);
}

static void take_lacks(struct weir_slice maker, struct weir_slice name, struct weir_model_facts *facts)
{
    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
        if (!weir_slice_eq(unsupported[i].provider, maker) || !weir_model_fits(unsupported[i].model, name))
            continue;
        facts->lacks = weir_parameter_set(unsupported[i].names);
        facts->lacks_source = WEIR_FACT_TABLE;
        facts->lacks_page = unsupported[i].page;
        return;
    }
}

void weir_model_facts_of_table(const struct weir_provider *provider, struct weir_slice model,
                               struct weir_model_facts *ret_facts)
{
    struct weir_slice name = weir_provider_strip(provider, model);
    struct weir_slice maker = maker_of(provider);

    weir_model_facts_init(ret_facts);
    take_lacks(maker, name, ret_facts);
    for (size_t i = 0; i < KNOWN; i++)
        if (weir_slice_eq(known[i].provider, maker) && weir_model_is(known[i].model, name)) {
            take(&known[i], ret_facts);
            return;
        }
}

/* The figure whose source decides whether another one is taken. */
static enum weir_figure leader_of(enum weir_figure figure)
{
    switch (figure) {
    case WEIR_FIGURE_CACHE_READ:
    case WEIR_FIGURE_CACHE_WRITE:
    case WEIR_FIGURE_LONG_FROM:
    case WEIR_FIGURE_LONG_INPUT:
    case WEIR_FIGURE_LONG_CACHE_READ:
    case WEIR_FIGURE_LONG_CACHE_WRITE:
        return WEIR_FIGURE_INPUT;
    case WEIR_FIGURE_REASONING:
    case WEIR_FIGURE_LONG_OUTPUT:
        return WEIR_FIGURE_OUTPUT;
    case WEIR_FIGURE_CONTEXT:
    case WEIR_FIGURE_INPUT:
    case WEIR_FIGURE_OUTPUT:
    case WEIR_FIGURE_PREFILL:
    case WEIR_FIGURE_WEB_SEARCH:
    case WEIR_FIGURES:
        break;
    }
    return figure;
}

void weir_model_facts_fill(struct weir_model_facts *facts, const struct weir_model_facts *weaker)
{
    const struct weir_model_facts before = *facts;

    for (int i = 0; i < WEIR_FIGURES; i++) {
        enum weir_figure figure = (enum weir_figure)i;

        if (!weir_figure_known(&before, figure) && !weir_figure_known(&before, leader_of(figure)))
            weir_figure_set(facts, figure, weaker->figures[i], weaker->sources[i]);
    }
    for (int i = WEIR_FIGURE_LONG_INPUT; i <= WEIR_FIGURE_LONG_CACHE_WRITE; i++)
        if (!weir_figure_known(facts, WEIR_FIGURE_LONG_FROM))
            weir_figure_set(facts, (enum weir_figure)i, NO, WEIR_FACT_UNKNOWN);
    if (facts->lacks_source == WEIR_FACT_UNKNOWN) {
        facts->lacks = weaker->lacks;
        facts->lacks_source = weaker->lacks_source;
        facts->lacks_page = weaker->lacks_page;
    }
    if (facts->page.len == 0)
        facts->page = weaker->page;
}

bool weir_known_model_at(size_t index, struct weir_slice *ret_provider, struct weir_slice *ret_model,
                         struct weir_slice *ret_page)
{
    if (index >= KNOWN)
        return false;
    *ret_provider = known[index].provider;
    *ret_model = known[index].model;
    *ret_page = known[index].page;
    return true;
}
