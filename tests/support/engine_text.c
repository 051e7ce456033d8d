/*
 * Reads the texts of engine_kit.h.  The texts are written by tests, so anything unexpected ends the program
 * with the word that was not understood.  The copy of a text is cut up in place; slices point into it.
 */
#include "engine_kit.h"

#include "base/slice.h"

#include "engine_words.h"

static const struct {
    const char *name;
    weir_policy_field field;
} field_names[] = {
    {"auth", WEIR_POLICY_AUTHENTICATION},      {"timeout", WEIR_POLICY_TIMEOUT},
    {"rate_limit", WEIR_POLICY_RATE_LIMIT},    {"content_policy", WEIR_POLICY_CONTENT_POLICY_VIOLATION},
    {"bad_request", WEIR_POLICY_BAD_REQUEST},  {"not_found", WEIR_POLICY_NOT_FOUND},
    {"internal", WEIR_POLICY_INTERNAL_SERVER}, {"service_unavailable", WEIR_POLICY_SERVICE_UNAVAILABLE},
    {"bad_gateway", WEIR_POLICY_BAD_GATEWAY},  {"default", WEIR_POLICY_DEFAULT},
};

static void set_field(struct weir_policy *policy, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(field_names) / sizeof(*field_names); i++) {
        if (strcmp(field_names[i].name, name) == 0) {
            policy->count[field_names[i].field] = count_of(value);
            return;
        }
    }
    refuse("policy field", name);
}

/* What a call may say of how the load of failure is shared. */
static bool parse_call_share(struct weir_controls *controls, const char *key, char *value)
{
    struct weir_resilience said = WEIR_RESILIENCE_NONE;

    if (value == NULL || (strcmp(key, "hedge") != 0 && strcmp(key, "cool_wait") != 0))
        return false;
    (void)kit_parse_resilience(&said, key, value);
    if (said.hedge.after_ns != WEIR_UNSET_NS)
        controls->hedge = said.hedge;
    if (said.all_cooling_wait_ns != WEIR_UNSET_NS)
        controls->all_cooling_wait_ns = said.all_cooling_wait_ns;
    return true;
}

static void parse_target_controls(struct weir_controls *controls, char *text)
{
    while (text != NULL) {
        char *rest = cut(text, '@');
        char *value = cut(text, '=');

        if (strcmp(text, "retries") == 0)
            controls->num_retries = count_of(value);
        else if (strcmp(text, "caller") == 0)
            controls->by_caller = true;
        else if (!parse_call_share(controls, text, value) &&
                 (value == NULL || !kit_parse_limit(&controls->limits, text, value)))
            refuse("control", text);
        text = rest;
    }
}

static struct weir_target parse_target(char *text)
{
    struct weir_target target = {.controls = WEIR_CONTROLS_NONE};
    char *controls = cut(text, '@');
    char *brace = strchr(text, '{');

    if (brace != NULL) {
        target.overrides = weir_slice_str(brace);
        target.model = (struct weir_slice){text, (size_t)(brace - text)};
    } else {
        target.model = weir_slice_str(text);
    }
    parse_target_controls(&target.controls, controls);
    return target;
}

/* A key of a deployment or of the router: where its value goes and how it is written. */
struct key {
    const char *name;
    enum { NUMBER, COUNT, LARGE, ORDER, SECONDS, FLAG } form;
    size_t offset;
};

#define KEY(type, name, form, member)                                                                        \
    {                                                                                                        \
        name, form, offsetof(struct type, member)                                                            \
    }

static const struct key deployment_keys[] = {
    KEY(weir_deployment_spec, "w", NUMBER, weight),
    KEY(weir_deployment_spec, "rpm", NUMBER, rpm),
    KEY(weir_deployment_spec, "tpm", NUMBER, tpm),
    KEY(weir_deployment_spec, "order", ORDER, order),
    KEY(weir_deployment_spec, "retries", COUNT, num_retries),
    KEY(weir_deployment_spec, "cooldown", SECONDS, cooldown_ns),
    KEY(weir_deployment_spec, "fails", COUNT, allowed_fails),
    KEY(weir_deployment_spec, "blocked", FLAG, blocked),
    KEY(weir_deployment_spec, "prefill", FLAG, supports_prefill),
    KEY(weir_deployment_spec, "slots", COUNT, max_parallel),
    KEY(weir_deployment_spec, "max.rpm", LARGE, minute.requests),
    KEY(weir_deployment_spec, "max.tpm", LARGE, minute.tokens),
    KEY(weir_deployment_spec, "max.itpm", LARGE, minute.input_tokens),
    KEY(weir_deployment_spec, "max.otpm", LARGE, minute.output_tokens),
    KEY(weir_deployment_spec, "max_input", LARGE, max_input_tokens),
    KEY(weir_deployment_spec, "params", LARGE, parameters),
    KEY(weir_deployment_spec, "routes", LARGE, routes),
    KEY(weir_deployment_spec, "no_web", FLAG, no_web_search),
    KEY(weir_deployment_spec, "pattern", FLAG, has_tag_pattern),
    KEY(weir_deployment_spec, "fail_open", FLAG, tag_fail_open),
    KEY(weir_deployment_spec, "no_probe", FLAG, never_probed),
    {NULL, FLAG, 0},
};

static const struct key router_keys[] = {
    KEY(weir_router_spec, "retries", COUNT, num_retries),
    KEY(weir_router_spec, "retry_after", SECONDS, retry_after_ns),
    KEY(weir_router_spec, "initial", SECONDS, initial_retry_delay_ns),
    KEY(weir_router_spec, "max_delay", SECONDS, max_retry_delay_ns),
    KEY(weir_router_spec, "jitter", SECONDS, jitter_ns),
    KEY(weir_router_spec, "max_fallbacks", COUNT, max_fallbacks),
    KEY(weir_router_spec, "weighted", FLAG, weighted_failover),
    KEY(weir_router_spec, "cooldown", SECONDS, cooldown_ns),
    KEY(weir_router_spec, "cap", SECONDS, cooldown_cap_ns),
    KEY(weir_router_spec, "no_cooldowns", FLAG, disable_cooldowns),
    KEY(weir_router_spec, "fails", COUNT, allowed_fails),
    KEY(weir_router_spec, "threshold", NUMBER, failure_threshold),
    KEY(weir_router_spec, "min_requests", COUNT, failure_min_requests),
    KEY(weir_router_spec, "single", COUNT, single_failure_minimum),
    KEY(weir_router_spec, "bypass", FLAG, health_check_routing),
    KEY(weir_router_spec, "cancel_on_disconnect", FLAG, cancel_on_disconnect),
    KEY(weir_router_spec, "continuation", FLAG, continuation),
    KEY(weir_router_spec, "enforce", FLAG, enforce_minute_limits),
    KEY(weir_router_spec, "checks", FLAG, pre_call_checks),
    KEY(weir_router_spec, "margin", NUMBER, token_margin),
    KEY(weir_router_spec, "filter", FLAG, tag_filtering),
    KEY(weir_router_spec, "match_all", FLAG, tag_match_all),
    KEY(weir_router_spec, "probes", FLAG, health_check_routing),
    KEY(weir_router_spec, "stale", SECONDS, health_staleness_ns),
    KEY(weir_router_spec, "no_transient", FLAG, health_ignore_transient),
    {NULL, FLAG, 0},
};

static void set_key(const struct key *key, void *object, const char *value)
{
    void *member = (char *)object + key->offset;

    switch (key->form) {
    case NUMBER:
        *(double *)member = number(value);
        break;
    case COUNT:
        *(uint32_t *)member = count_of(value);
        break;
    case LARGE:
        *(uint64_t *)member = (uint64_t)number(value);
        break;
    case ORDER:
        *(int32_t *)member = (int32_t)number(value);
        break;
    case SECONDS:
        *(uint64_t *)member = seconds(value);
        break;
    case FLAG:
        *(bool *)member = true;
        break;
    }
}

static void set_by_name(const struct key *keys, void *object, const char *name, const char *value)
{
    while (keys->name != NULL && strcmp(keys->name, name) != 0)
        keys++;
    if (keys->name == NULL || (value == NULL && keys->form != FLAG))
        refuse("key", name);
    set_key(keys, object, value);
}

static void set_deployment(struct kit_deployment *deployment, const char *key, char *value)
{
    struct weir_deployment_spec *spec = &deployment->spec;

    if (kit_parse_deployment_facts(deployment, key, value) || kit_parse_strategy_facts(spec, key, value))
        return;
    if (strncmp(key, "fails.", 6) == 0)
        set_field(&spec->allowed_fails_policy, key + 6, value);
    else if (strcmp(key, "model") == 0)
        spec->model = weir_slice_str(value);
    else if (value == NULL || !kit_parse_limit(&spec->limits, key, value))
        set_by_name(deployment_keys, spec, key, value);
}

static void parse_deployment(struct kit_config *config, char *id, char *rest)
{
    struct kit_deployment *deployment = &config->deployments[config->deployment_count];
    char *group;
    char *word;

    check_room(config->deployment_count++, KIT_DEPLOYMENTS_MAX, id);
    weir_deployment_spec_init(&deployment->spec);
    group = next_word(&rest);
    if (group == NULL)
        refuse("line", id);
    deployment->spec.id = weir_slice_str(id);
    deployment->spec.group = weir_slice_str(group);
    deployment->spec.model = WEIR_SLICE("openai/m");
    deployment->answers[0] = (struct kit_answer){
        .pieces = {{.kind = KIT_OK, .times = 1, .u.outcome = {.prompt_tokens = 3, .completion_tokens = 5}}},
        .count = 1};
    deployment->answer_count = 1;
    while ((word = next_word(&rest)) != NULL) {
        if (strcmp(word, ":") == 0) {
            kit_parse_answers(deployment, rest);
            return;
        }
        char *value = cut(word, '=');

        set_deployment(deployment, word, value);
    }
}

static unsigned parse_ask(const char *value)
{
    if (strcmp(value, "access") == 0)
        return WEIR_ASK_ACCESS;
    if (strcmp(value, "budget") == 0)
        return WEIR_ASK_BUDGET;
    return WEIR_ASK_ACCESS | WEIR_ASK_BUDGET;
}

static void set_router(struct weir_router_spec *router, const char *key, char *value)
{
    if (strncmp(key, "fails.", 6) == 0)
        set_field(&router->allowed_fails_policy, key + 6, value);
    else if (strncmp(key, "policy.", 7) == 0)
        set_field(&router->retry_policy, key + 7, value);
    else if (strcmp(key, "ask") == 0)
        router->ask_before_hop = parse_ask(value);
    else if (strcmp(key, "targets") == 0)
        kit_parse_targets(router->continue_to, value);
    else if (value == NULL || (!kit_parse_limit(&router->limits, key, value) &&
                               !kit_parse_resilience(&router->resilience, key, value) &&
                               !kit_parse_strategy(&router->strategy, key, value)))
        set_by_name(router_keys, router, key, value);
}

static void parse_router(struct kit_config *config, char *rest)
{
    char *word;

    while ((word = next_word(&rest)) != NULL) {
        char *value = cut(word, '=');

        if (!kit_parse_router_facts(config, word, value))
            set_router(&config->router, word, value);
    }
}

static void parse_group(struct kit_config *config, char *rest)
{
    struct kit_group *group = &config->groups[config->group_count];
    char *word;

    check_room(config->group_count++, KIT_CHAINS_MAX, rest);
    weir_group_spec_init(&group->spec);
    group->name = weir_slice_str(next_word(&rest));
    while ((word = next_word(&rest)) != NULL) {
        char *value = cut(word, '=');

        if (value == NULL)
            refuse("key", word);
        if (strcmp(word, "targets") == 0)
            kit_parse_targets(group->spec.continue_to, value);
        else if (!kit_parse_limit(&group->spec.limits, word, value) &&
                 !kit_parse_resilience(&group->spec.resilience, word, value))
            refuse("key", word);
    }
}

static bool parse_chain(struct kit_config *config, const char *word, char *rest)
{
    static const char *const lists[WEIR_LIST_KINDS] = {"fallbacks", "context", "content"};
    bool is_process = strncmp(word, "process-", 8) == 0;
    struct kit_chain *chain = &config->chains[config->chain_count];
    int list = 0;
    char *target;

    while (list < WEIR_LIST_KINDS && strcmp(lists[list], is_process ? word + 8 : word) != 0)
        list++;
    if (list == WEIR_LIST_KINDS)
        return false;
    check_room(config->chain_count++, KIT_CHAINS_MAX, word);
    *chain = (struct kit_chain){.list = (weir_list_kind)list,
                                .source = is_process ? WEIR_SOURCE_PROCESS : WEIR_SOURCE_ROUTER};
    target = next_word(&rest);
    if (target == NULL || target[strlen(target) - 1] != ':')
        refuse("chain", word);
    chain->chain.group = (struct weir_slice){target, strlen(target) - 1};
    chain->chain.targets = chain->targets;
    while ((target = next_word(&rest)) != NULL) {
        check_room(chain->chain.count, KIT_TARGETS_MAX, target);
        chain->targets[chain->chain.count++] = parse_target(target);
    }
    return true;
}

static bool parse_default(struct kit_config *config, const char *word, char *rest)
{
    weir_list_source source;
    char *target;

    if (strcmp(word, "default") == 0)
        source = WEIR_SOURCE_ROUTER;
    else if (strcmp(word, "process-default") == 0)
        source = WEIR_SOURCE_PROCESS;
    else
        return false;
    while ((target = next_word(&rest)) != NULL) {
        check_room(config->default_counts[source], KIT_TARGETS_MAX, target);
        config->defaults[source][config->default_counts[source]++] = parse_target(target);
    }
    return true;
}

static void parse_alias(struct kit_config *config, char *rest)
{
    struct kit_alias *alias = &config->aliases[config->alias_count];

    check_room(config->alias_count++, KIT_CHAINS_MAX, rest);
    alias->name = weir_slice_str(next_word(&rest));
    alias->target = weir_slice_str(next_word(&rest));
    alias->hidden = next_word(&rest) != NULL;
}

static void parse_policy(struct kit_config *config, char *rest)
{
    struct weir_group_policy *policy = &config->policies[config->policy_count];
    char *word;

    check_room(config->policy_count++, KIT_CHAINS_MAX, rest);
    weir_policy_init(&policy->policy);
    policy->group = weir_slice_str(next_word(&rest));
    while ((word = next_word(&rest)) != NULL) {
        char *value = cut(word, '=');

        set_field(&policy->policy, word, value);
    }
}

static void parse_reply(struct kit_config *config, char *rest)
{
    struct kit_reply *reply = &config->replies[config->reply_count];
    const char *answer;

    check_room(config->reply_count++, KIT_CHAINS_MAX, rest);
    reply->target = weir_slice_str(next_word(&rest));
    answer = next_word(&rest);
    reply->answer = strcmp(answer, "yes") == 0  ? WEIR_ANSWER_YES
                    : strcmp(answer, "no") == 0 ? WEIR_ANSWER_NO
                                                : WEIR_ANSWER_UNKNOWN;
}

static void parse_line(struct kit_config *config, char *line)
{
    char *word = next_word(&line);

    if (word == NULL)
        return;
    if (strcmp(word, "router") == 0)
        parse_router(config, line);
    else if (strcmp(word, "alias") == 0)
        parse_alias(config, line);
    else if (strcmp(word, "group") == 0)
        parse_group(config, line);
    else if (strcmp(word, "policy") == 0)
        parse_policy(config, line);
    else if (strcmp(word, "routing") == 0)
        kit_parse_routing(config, line);
    else if (strcmp(word, "answer") == 0)
        parse_reply(config, line);
    else if (!parse_chain(config, word, line) && !parse_default(config, word, line))
        parse_deployment(config, word, line);
}

void kit_parse_config(struct kit_config *config, const char *text)
{
    char *line;

    memset(config, 0, sizeof(*config));
    weir_router_spec_init(&config->router);
    config->text = strdup(text);
    for (line = config->text; line != NULL && *line != '\0';) {
        char *end = line + strcspn(line, ";\n");
        bool is_last = *end == '\0';

        *end = '\0';
        parse_line(config, line);
        line = is_last ? NULL : end + 1;
    }
}

void kit_config_deinit(struct kit_config *config)
{
    free(config->text);
    config->text = NULL;
}

static void parse_request_list(struct kit_request *request, weir_list_kind list, char *value)
{
    struct weir_chain_list *ret = &request->request.lists[list];
    size_t target_count = 0;

    ret->presence = strcmp(value, "null") == 0 ? WEIR_LIST_NULL : WEIR_LIST_GIVEN;
    if (ret->presence == WEIR_LIST_NULL || strcmp(value, "[]") == 0)
        return;
    ret->chains = request->chains[list];
    while (value != NULL) {
        char *more = cut(value, '|');
        char *targets = cut(value, ':');
        struct weir_chain *chain = &request->chains[list][ret->count];

        check_room(ret->count++, KIT_CHAINS_MAX, value);
        *chain = (struct weir_chain){targets == NULL ? WEIR_SLICE("*") : weir_slice_str(value),
                                     &request->targets[list][target_count], 0};
        if (targets == NULL)
            targets = value;
        while (targets != NULL && *targets != '\0') {
            char *rest = cut(targets, ',');

            check_room(target_count, KIT_TARGETS_MAX, targets);
            request->targets[list][target_count++] = parse_target(targets);
            chain->count++;
            targets = rest;
        }
        value = more;
    }
}

static void parse_request_policy(struct kit_request *request, char *key, const char *value)
{
    char *field = cut(key, '.');
    struct weir_group_policy *policy = &request->policies[request->request.retry_policy_count];

    if (field == NULL)
        refuse("policy", key);
    check_room(request->request.retry_policy_count++, KIT_CHAINS_MAX, key);
    policy->group = weir_slice_str(key);
    weir_policy_init(&policy->policy);
    set_field(&policy->policy, field, value);
    request->request.retry_policies = request->policies;
}

static unsigned mock_of(const char *name)
{
    static const char *const names[] = {"fallbacks", "context", "content", "rate_limit", "timeout"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i], name) == 0)
            return 1u << i;
    }
    refuse("mock flag", name);
}

static bool set_request_flag(struct weir_request *request, const char *key)
{
    if (strcmp(key, "stream") == 0)
        request->stream = true;
    else if (strcmp(key, "caller") == 0)
        request->controls.by_caller = true;
    else if (strcmp(key, "no_fallbacks") == 0)
        request->disable_fallbacks = true;
    else if (strcmp(key, "specific") == 0)
        request->specific_deployment = true;
    else if (strcmp(key, "creds") == 0)
        request->caller_credentials = true;
    else if (strcmp(key, "stateful") == 0)
        request->stateful = true;
    else if (strcmp(key, "continue") == 0)
        request->may_continue = true;
    else
        return false;
    return true;
}

static void set_request(struct kit_request *kit_request, char *key, char *value)
{
    struct weir_request *request = &kit_request->request;

    if (set_request_flag(request, key) || kit_parse_request_facts(kit_request, key, value) ||
        kit_parse_request_strategy(kit_request, key, value))
        return;
    if (value == NULL)
        refuse("word of a call", key);
    if (strcmp(key, "retries") == 0)
        request->controls.num_retries = count_of(value);
    else if (strcmp(key, "note") == 0)
        request->note_candidates = count_of(value);
    else if (strcmp(key, "qualified") == 0)
        request->qualified_model = weir_slice_str(value);
    else if (strcmp(key, "gone") == 0)
        kit_request->gone_after_ns = seconds(value);
    else if (strcmp(key, "mock") == 0)
        request->mock |= mock_of(value);
    else if (strncmp(key, "policy.", 7) == 0)
        parse_request_policy(kit_request, key + 7, value);
    else if (strcmp(key, "fallbacks") == 0)
        parse_request_list(kit_request, WEIR_LIST_GENERIC, value);
    else if (strcmp(key, "context") == 0)
        parse_request_list(kit_request, WEIR_LIST_CONTEXT_WINDOW, value);
    else if (strcmp(key, "content") == 0)
        parse_request_list(kit_request, WEIR_LIST_CONTENT_POLICY, value);
    else if (!parse_call_share(&request->controls, key, value) &&
             !kit_parse_limit(&request->controls.limits, key, value))
        refuse("key of a call", key);
}

void kit_parse_request(struct kit_request *request, const char *text)
{
    char *rest;
    char *word;

    memset(request, 0, sizeof(*request));
    weir_request_init(&request->request);
    request->gone_after_ns = UINT64_MAX;
    request->text = strdup(text);
    rest = request->text;
    word = next_word(&rest);
    request->request.model = weir_slice_str(word);
    while ((word = next_word(&rest)) != NULL) {
        char *value = cut(word, '=');

        set_request(request, word, value);
    }
}

void kit_request_deinit(struct kit_request *request)
{
    free(request->text);
    request->text = NULL;
}
