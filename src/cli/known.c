/* Figures of one source stand together, so that the usual deployment has one line. */
#include "cli/known.h"

#include <stdio.h>

#include "base/slice.h"
#include "cli/command.h"
#include "provider/model_facts.h"
#include "provider/parameter.h"

enum form { TOKENS, PRICE, YES_NO };

static const struct {
    enum weir_figure figure;
    enum form form;
    const char *name;
} shown[] = {
    {WEIR_FIGURE_CONTEXT, TOKENS, "context"},
    {WEIR_FIGURE_INPUT, PRICE, "input"},
    {WEIR_FIGURE_OUTPUT, PRICE, "output"},
    {WEIR_FIGURE_CACHE_READ, PRICE, "cached"},
    {WEIR_FIGURE_CACHE_WRITE, PRICE, "cache write"},
    {WEIR_FIGURE_REASONING, PRICE, "reasoning"},
    {WEIR_FIGURE_LONG_FROM, TOKENS, "beyond tokens"},
    {WEIR_FIGURE_LONG_INPUT, PRICE, "input"},
    {WEIR_FIGURE_LONG_OUTPUT, PRICE, "output"},
    {WEIR_FIGURE_LONG_CACHE_READ, PRICE, "cached"},
    {WEIR_FIGURE_LONG_CACHE_WRITE, PRICE, "cache write"},
    {WEIR_FIGURE_PREFILL, YES_NO, "prefill"},
    {WEIR_FIGURE_WEB_SEARCH, YES_NO, "web search"},
};

static void print_source(const struct weir_config *config, const struct weir_model_facts *facts,
                         enum weir_fact_source source)
{
    switch (source) {
    case WEIR_FACT_PARAMS:
        fputs("litellm_params", stdout);
        break;
    case WEIR_FACT_INFO:
        fputs("model_info", stdout);
        break;
    case WEIR_FACT_MAP:
        weir_cli_print_slice(stdout, config->model_map_path);
        break;
    case WEIR_FACT_TABLE:
        fputs("built in", stdout);
        if (facts->page.len > 0) {
            fputs(", ", stdout);
            weir_cli_print_slice(stdout, facts->page);
        }
        break;
    case WEIR_FACT_UNKNOWN:
        break;
    }
}

static void print_value(enum form form, double value)
{
    if (form == PRICE)
        printf(" $%.6g/M", value * 1e6); /* a million tokens */
    else if (form == TOKENS)
        printf(" %.0f", value);
    else
        fputs(value > 0 ? " yes" : " no", stdout);
}

static void print_figures(const struct weir_config *config, const struct weir_model_facts *facts,
                          enum weir_fact_source source)
{
    const char *separator = "      ";

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        if (facts->sources[shown[i].figure] != source)
            continue;
        printf("%s%s", separator, shown[i].name);
        print_value(shown[i].form, facts->figures[shown[i].figure]);
        separator = ", ";
    }
    if (separator[0] == ' ')
        return;
    fputs("  (", stdout);
    print_source(config, facts, source);
    puts(")");
}

static void print_lacks(const struct weir_config *config, const struct weir_config_deployment *deployment)
{
    const struct weir_model_facts *facts = &deployment->facts;
    const char *separator = "      does not take ";

    for (uint64_t left = facts->lacks; left != 0; left &= left - 1) {
        fputs(separator, stdout);
        weir_cli_print_slice(stdout, weir_parameter_first(left));
        separator = ", ";
    }
    if (facts->lacks == 0)
        return;
    fputs(deployment->drop_params ? ": left out  (" : "  (", stdout);
    if (facts->lacks_source == WEIR_FACT_TABLE) {
        fputs("built in, ", stdout);
        weir_cli_print_slice(stdout, facts->lacks_page);
    } else {
        print_source(config, facts, facts->lacks_source);
    }
    puts(")");
}

void weir_cli_print_known(const struct weir_config *config, const struct weir_config_deployment *deployment)
{
    static const enum weir_fact_source sources[] = {WEIR_FACT_PARAMS, WEIR_FACT_INFO, WEIR_FACT_MAP,
                                                    WEIR_FACT_TABLE};

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        print_figures(config, &deployment->facts, sources[i]);
    print_lacks(config, deployment);
}
