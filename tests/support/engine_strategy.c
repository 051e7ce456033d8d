/*
 * Reads strategies and what they look at, of engine_kit.h.
 */
#include "engine_kit.h"

#include "base/slice.h"

#include "engine_words.h"

static weir_strategy strategy_of(const char *name)
{
    static const char *const names[] = {
#define X(strategy, name_, other_name, prose) [WEIR_STRATEGY_##strategy] = (name_),
#include <weir/tbl/strategies.h>
#undef X
    };

    for (int i = 0; i < WEIR_STRATEGY_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (weir_strategy)i;
    refuse("strategy", name);
}

bool kit_parse_strategy(struct weir_strategy_spec *spec, const char *key, const char *value)
{
    if (strcmp(key, "strategy") == 0)
        weir_strategy_spec_init(spec, strategy_of(value));
    else if (strcmp(key, "ttl") == 0)
        spec->ttl_ns = seconds(value);
    else if (strcmp(key, "buffer") == 0)
        spec->lowest_latency_buffer = number(value);
    else if (strcmp(key, "samples") == 0)
        spec->max_latency_samples = count_of(value);
    else if (strcmp(key, "low") == 0)
        spec->confidence_low = number(value);
    else if (strcmp(key, "medium") == 0)
        spec->confidence_medium = number(value);
    else if (strcmp(key, "high") == 0)
        spec->confidence_high = number(value);
    else if (strcmp(key, "decay") == 0)
        spec->decay_ns = seconds(value);
    else
        return false;
    return true;
}

void kit_parse_routing(struct kit_config *config, char *rest)
{
    struct kit_routing *routing = &config->routings[config->routing_count];
    struct weir_routing_group *group = &routing->group;
    char *word;

    check_room(config->routing_count++, KIT_ROUTINGS_MAX, rest);
    *group = (struct weir_routing_group){.name = weir_slice_str(next_word(&rest)),
                                         .models = routing->models,
                                         .priorities = routing->priorities};
    weir_strategy_spec_init(&group->strategy, strategy_of(next_word(&rest)));
    while ((word = next_word(&rest)) != NULL) {
        char *value = cut(word, '=');

        if (value != NULL && kit_parse_strategy(&group->strategy, word, value))
            continue;
        check_room(group->count, KIT_ROUTED_MAX, word);
        routing->priorities[group->count] = value == NULL ? WEIR_UNSET_ORDER : (int32_t)number(value);
        routing->models[group->count++] = weir_slice_str(word);
    }
}

static weir_lar1_class class_of(const char *name)
{
    static const char *const names[] = {"", "cloud-smart", "cloud-fast", "local", "deep"};

    for (int i = WEIR_LAR1_CLOUD_SMART; i <= WEIR_LAR1_DEEP; i++)
        if (strcmp(names[i], name) == 0)
            return (weir_lar1_class)i;
    refuse("class", name);
}

bool kit_parse_strategy_facts(struct weir_deployment_spec *spec, const char *key, char *value)
{
    char *output;

    if (strcmp(key, "class") == 0) {
        spec->lar1_class = class_of(value);
    } else if (strcmp(key, "price") == 0) {
        output = cut(value, '/');
        spec->input_cost = number(value);
        spec->output_cost = number(output);
    } else {
        return false;
    }
    return true;
}

static void parse_lar1(struct weir_lar1 *lar1, char *text)
{
    char *evidence = cut(text, '/');

    lar1->confidence = number(text);
    lar1->is_unverified = evidence != NULL && strcmp(evidence, "unverified") == 0;
    lar1->is_memory = evidence != NULL && strcmp(evidence, "memory") == 0;
}

static void parse_weights(struct kit_request *request, char *text)
{
    request->request.weights = request->weights;
    while (text != NULL) {
        char *rest = cut(text, ',');
        char *id = cut(text, ':');
        char *weight = cut(id, ':');

        check_room(request->request.weight_count, KIT_WEIGHTS_MAX, text);
        request->weights[request->request.weight_count++] =
            (struct weir_weight){weir_slice_str(text), weir_slice_str(id), number(weight)};
        text = rest;
    }
}

bool kit_parse_request_strategy(struct kit_request *request, const char *key, char *value)
{
    if (strcmp(key, "lar1") == 0)
        parse_lar1(&request->request.lar1, value);
    else if (strcmp(key, "weights") == 0)
        parse_weights(request, value);
    else
        return false;
    return true;
}
