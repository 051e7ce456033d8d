/*
 * Model: the deployment's own figures are filled up from the map and then from the table.  Of a deployment
 * with "*" only its own are kept; those of the model that is asked for are looked up with the call.
 */
#include "config/facts.h"

#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "config/file.h"
#include "provider/endpoint.h"
#include "provider/parameter.h"
#include "provider/prefill.h"

#define MAP_BYTES_MAX ((size_t)64 * 1024 * 1024)

/* ---- the map ---- */

static int refuse(struct weir_loader *loader, struct weir_slice path, struct weir_slice what,
                  struct weir_slice more)
{
    WEIR_DIAG(loader->diags, WEIR_SEVERITY_FATAL, &loader->config->sources[WEIR_SETTING_model_map],
              WEIR_SLICE("weir_settings.model_map"), WEIR_SLICE("cannot use "), path, WEIR_SLICE(": "), what,
              more);
    return WEIR_CONFIG_REFUSED;
}

static int read_text(struct weir_loader *loader, struct weir_slice path, struct weir_slice text)
{
    char digits[WEIR_TEXT_U64_MAX];
    size_t bad_at = 0;
    int rv = weir_model_map_read(text, loader->arena, &loader->config->model_map, &bad_at);

    if (rv == WEIR_JSON_BAD)
        return refuse(loader, path, WEIR_SLICE("it is not valid JSON: byte "), weir_text_u64(bad_at, digits));
    if (rv == WEIR_JSON_OTHER)
        return refuse(loader, path, WEIR_SLICE("expected an object with an object for each model"),
                      WEIR_SLICE_EMPTY);
    if (rv == WEIR_ERR_LIMIT)
        return refuse(loader, path, WEIR_SLICE("it has too many models"), WEIR_SLICE_EMPTY);
    if (rv == 0)
        loader->config->model_map_path = path;
    return rv;
}

int weir_facts_read_map(struct weir_loader *loader)
{
    struct weir_slice name = loader->config->settings.model_map;
    struct weir_slice base = loader->config->sources[WEIR_SETTING_model_map].file;
    struct weir_slice path, text, why;
    struct weir_file_stamp stamp;
    int rv;

    if (name.len == 0)
        return 0;
    path = weir_file_beside(base, name, loader->arena);
    if (path.ptr == NULL)
        return WEIR_ERR_NOMEM;
    rv = weir_file_read(path, MAP_BYTES_MAX, loader->arena, &stamp, &text, &why);
    if (rv == WEIR_FILE_REFUSED)
        return refuse(loader, path, why, WEIR_SLICE_EMPTY);
    if (rv < 0)
        return rv;
    weir_loader_note_file(loader, path, &stamp);
    return read_text(loader, path, text);
}

/* ---- one model ---- */

static void set_own(struct weir_model_facts *facts, enum weir_figure figure, double params, double info)
{
    if (params >= 0)
        weir_figure_set(facts, figure, params, WEIR_FACT_PARAMS);
    else if (info >= 0)
        weir_figure_set(facts, figure, info, WEIR_FACT_INFO);
}

static double said(enum weir_yes_no value)
{
    return value == WEIR_UNSAID ? -1 : value == WEIR_YES;
}

static void read_own(const struct weir_deployment_settings *s, struct weir_model_facts *ret_facts)
{
    weir_model_facts_init(ret_facts);
    set_own(ret_facts, WEIR_FIGURE_INPUT, s->input_cost, s->info_input_cost);
    set_own(ret_facts, WEIR_FIGURE_OUTPUT, s->output_cost, s->info_output_cost);
    set_own(ret_facts, WEIR_FIGURE_CACHE_READ, s->cache_read_cost, s->info_cache_read_cost);
    set_own(ret_facts, WEIR_FIGURE_CACHE_WRITE, s->cache_write_cost, s->info_cache_write_cost);
    set_own(ret_facts, WEIR_FIGURE_REASONING, s->reasoning_cost, s->info_reasoning_cost);
    set_own(ret_facts, WEIR_FIGURE_CONTEXT, -1,
            s->max_input_tokens == WEIR_UNSET_NS || s->max_input_tokens == 0 ? -1
                                                                             : (double)s->max_input_tokens);
    set_own(ret_facts, WEIR_FIGURE_PREFILL, -1, said(s->supports_prefill));
    set_own(ret_facts, WEIR_FIGURE_WEB_SEARCH, -1, said(s->supports_web_search));
}

/* What others know of a model. */
static void look_up(const struct weir_config *config, const struct weir_provider *provider,
                    struct weir_slice model, struct weir_model_facts *ret_facts)
{
    struct weir_model_facts table;

    weir_model_facts_init(ret_facts);
    if (config->model_map_path.len > 0)
        (void)weir_model_map_find(&config->model_map, provider, model, ret_facts);
    weir_model_facts_of_table(provider, model, &table);
    if (weir_provider_takes_prefill(provider, model))
        weir_figure_set(&table, WEIR_FIGURE_PREFILL, 1, WEIR_FACT_TABLE);
    weir_model_facts_fill(ret_facts, &table);
}

/* The name that a model is looked up by: base_model with its provider, where that is known, else its own. */
static void look_up_for(const struct weir_config *config, const struct weir_config_deployment *deployment,
                        struct weir_slice model, struct weir_model_facts *ret_facts)
{
    const struct weir_provider *provider = deployment->endpoint->provider;

    if (deployment->base_model.len > 0) {
        model = deployment->base_model;
        (void)!weir_provider_find(model, WEIR_SLICE_EMPTY, &provider, NULL);
    }
    look_up(config, provider, model, ret_facts);
    ret_facts->lacks &= ~deployment->allowed_parameters;
}

const struct weir_model_facts *weir_config_facts(const struct weir_config *config,
                                                 const struct weir_config_deployment *deployment,
                                                 struct weir_slice model, struct weir_model_facts *room)
{
    struct weir_model_facts weaker;

    if (!deployment->wild || deployment->base_model.len > 0)
        return &deployment->facts;
    *room = deployment->facts;
    look_up_for(config, deployment, model, &weaker);
    weir_model_facts_fill(room, &weaker);
    return room;
}

/* A price of 0 is no price to who chooses by it, though it is one to who adds up (RS 6.6). */
static double price_to_choose_by(const struct weir_model_facts *facts, const struct weir_model_facts *weaker,
                                 enum weir_figure figure)
{
    if (facts->figures[figure] > 0)
        return facts->figures[figure];
    return weaker->figures[figure] > 0 ? weaker->figures[figure] : 0;
}

static void fill_spec(const struct weir_config_deployment *deployment, const struct weir_model_facts *weaker,
                      struct weir_deployment_spec *spec)
{
    const struct weir_model_facts *facts = &deployment->facts;

    spec->input_cost = price_to_choose_by(facts, weaker, WEIR_FIGURE_INPUT);
    spec->output_cost = price_to_choose_by(facts, weaker, WEIR_FIGURE_OUTPUT);
    if (weir_figure_known(facts, WEIR_FIGURE_CONTEXT))
        spec->max_input_tokens = (uint64_t)facts->figures[WEIR_FIGURE_CONTEXT];
    spec->supports_prefill = facts->figures[WEIR_FIGURE_PREFILL] > 0;
    spec->no_web_search =
        weir_figure_known(facts, WEIR_FIGURE_WEB_SEARCH) && !(facts->figures[WEIR_FIGURE_WEB_SEARCH] > 0);
    /* What is left out of a request is asked of nobody. */
    spec->parameters = deployment->drop_params ? UINT64_MAX : ~facts->lacks;
}

static uint64_t parameters_of(const struct weir_names *names)
{
    uint64_t set = 0;

    for (size_t i = 0; i < names->count; i++)
        set |= weir_parameter_bit(names->items[i]);
    return set;
}

void weir_facts_read(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                     struct weir_config_deployment *deployment, struct weir_deployment_spec *spec)
{
    struct weir_model_facts weaker;

    deployment->wild = weir_slice_find_char(s->model, '*') != WEIR_SLICE_NONE;
    deployment->base_model = s->base_model.len > 0 ? s->base_model : s->info_base_model;
    deployment->drop_params =
        s->drop_params == WEIR_UNSAID ? loader->config->settings.drop_params : s->drop_params == WEIR_YES;
    deployment->allowed_parameters = parameters_of(&s->allowed_openai_params);
    read_own(s, &deployment->facts);
    look_up_for(loader->config, deployment, s->model, &weaker);
    weir_model_facts_fill(&deployment->facts, &weaker);
    fill_spec(deployment, &weaker, spec);
}
