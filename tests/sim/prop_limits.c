/*
 * Random configurations in which deployments refuse attempts and filters drop candidates, and what must hold
 * whatever happens:
 *   - as many attempts run on a deployment as the router says, never more than it has slots, and none at the
 *     end;
 *   - its requests of the minute are those that were made, and never more than an enforced limit of them;
 *   - an attempt is refused by a limit that is used up, and by no other;
 *   - no pick is one that a filter drops;
 *   - what a pick says of its candidates is true, and each attempt is on the one that was picked.
 * The host checks what call.h promises of the order of steps.  The same seed gives the same trace.
 *
 * WEIR_SEED=n plays that seed alone and prints its configuration; WEIR_SEEDS=n sets how many are played.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "engine_kit.h"
#include "generate.h"
#include "model.h"
#include "pick_model.h"

enum { SEEDS = 1500, ROUNDS_MAX = 5, CALLS_MAX = 5, REPLAY_EVERY = 4 };

#define MINUTE_NS (60 * WEIR_NS_PER_S)

/* The requests of each deployment in the minute in which it had its latest. */
struct watch {
    uint64_t minutes[KIT_DEPLOYMENTS_MAX];
    uint64_t requests[KIT_DEPLOYMENTS_MAX];
};

static const struct kit_deployment *deployment_of(const struct kit_call *call, struct weir_slice id)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if (weir_slice_eq(call->config->deployments[i].spec.id, id))
            return &call->config->deployments[i];
    }
    kit_die(call->kit, "an event of a deployment that does not exist");
}

static struct weir_live_view view_of(const struct kit_call *call, const struct kit_deployment *deployment)
{
    struct weir_live_view view;

    weir_router_view(call->kit->router,
                     weir_snapshot_find_deployment(call->kit->snapshot, deployment->spec.id),
                     call->kit->now_ns, &view);
    return view;
}

/* The part of the estimate that counts: a quarter may be wrong. */
static uint64_t sure_tokens(const struct kit_call *call)
{
    return call->request.request.prompt_tokens * 3 / 4;
}

/* ---- slots and requests ---- */

static uint32_t attempts_on(const struct kit *kit, const struct kit_deployment *deployment)
{
    uint32_t count = 0;

    for (const struct kit_call *call = kit->calls; call != NULL; call = call->next) {
        if (call->request.request.caller_credentials)
            continue;
        for (uint32_t i = 1; i <= call->attempt_count; i++)
            count += call->attempts[i].running && call->attempts[i].deployment == deployment;
    }
    return count;
}

static void count_request(const struct kit_call *call, size_t index)
{
    struct watch *watch = call->kit->user;
    uint64_t minute = call->kit->now_ns / MINUTE_NS;

    if (watch->minutes[index] != minute)
        watch->requests[index] = 0;
    watch->minutes[index] = minute;
    watch->requests[index] += !call->request.request.caller_credentials;
}

static void check_counts(const struct kit_call *call, const struct kit_deployment *deployment)
{
    size_t index = (size_t)(deployment - call->config->deployments);
    const struct weir_deployment_spec *spec = &deployment->spec;
    struct weir_live_view view = view_of(call, deployment);
    const struct watch *watch = call->kit->user;

    count_request(call, index);
    if (view.running != attempts_on(call->kit, deployment))
        kit_die(call->kit, "%u attempts are said to run, not %u", view.running,
                attempts_on(call->kit, deployment));
    if (view.minute.requests != watch->requests[index])
        kit_die(call->kit, "requests of the minute are not those that were made");
    if (call->request.request.caller_credentials)
        return;
    if (view.running > spec->max_parallel)
        kit_die(call->kit, "more attempts at once than slots");
    if (call->config->router.enforce_minute_limits && view.minute.requests > spec->minute.requests)
        kit_die(call->kit, "more requests than the limit");
}

/* ---- filters ---- */

static bool carries(const struct weir_deployment_spec *spec, struct weir_slice tag)
{
    for (size_t i = 0; i < spec->tag_count; i++) {
        if (weir_slice_eq(spec->tags[i], tag))
            return true;
    }
    return false;
}

static bool is_set(uint64_t set, size_t index)
{
    return (set >> index & 1) != 0;
}

static bool tags_route(const struct kit_call *call, uint64_t set)
{
    weir_flag flag = call->request.request.tag_filtering;

    for (size_t i = 0; flag == WEIR_FLAG_UNSAID && i < call->config->deployment_count; i++) {
        if (is_set(set, i))
            flag = call->config->deployments[i].spec.tag_filtering;
    }
    return flag == WEIR_FLAG_UNSAID ? call->config->router.tag_filtering : flag == WEIR_FLAG_ON;
}

static bool fails_open(const struct kit_call *call, uint64_t set)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if (is_set(set, i) && call->config->deployments[i].spec.tag_fail_open)
            return true;
    }
    return false;
}

static void check_tags(const struct kit_call *call, const struct kit_deployment *deployment, uint64_t set)
{
    const struct weir_request *request = &call->request.request;
    const struct weir_deployment_spec *spec = &deployment->spec;
    bool open = fails_open(call, set), has_plain = false, may_match = carries(spec, WEIR_SLICE("default"));

    may_match |= spec->has_tag_pattern && request->matches != NULL;
    for (size_t i = 0; i < request->tag_count; i++) {
        const struct weir_tag *tag = &request->tags[i];

        has_plain |= tag->kind == WEIR_TAG_PLAIN;
        may_match |= tag->kind == WEIR_TAG_PLAIN && carries(spec, tag->name);
        if (tag->kind != WEIR_TAG_PLAIN && (tag->inherited || !open) &&
            carries(spec, tag->name) != (tag->kind == WEIR_TAG_REQUIRED))
            kit_die(call->kit, "a pick that breaks a constraint of the tags");
    }
    if (has_plain && !may_match && !open)
        kit_die(call->kit, "a pick that matches no tag");
}

static void check_web_search(const struct kit_call *call, const struct kit_deployment *deployment,
                             uint64_t set)
{
    if (!call->request.request.web_search || !deployment->spec.no_web_search)
        return;
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        const struct weir_deployment_spec *other = &call->config->deployments[i].spec;

        if (is_set(set, i) && !other->blocked && !other->no_web_search)
            kit_die(call->kit, "a pick that cannot search the web, though another can");
    }
}

static void check_route(const struct kit_call *call, const struct kit_deployment *deployment, uint64_t set)
{
    uint64_t route = call->request.request.route;

    if ((deployment->spec.routes & route) == route)
        return;
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        const struct weir_deployment_spec *other = &call->config->deployments[i].spec;

        if (is_set(set, i) && !other->blocked && (other->routes & route) == route)
            kit_die(call->kit, "a pick that does not serve the call, though another does");
    }
}

static void check_before_call(const struct kit_call *call, const struct kit_deployment *deployment)
{
    const struct weir_request *request = &call->request.request;
    const struct weir_deployment_spec *spec = &deployment->spec;
    uint64_t before = view_of(call, deployment).minute.requests - !request->caller_credentials;

    if (sure_tokens(call) > spec->max_input_tokens)
        kit_die(call->kit, "a pick for which the prompt is too long");
    if (before >= spec->minute.requests)
        kit_die(call->kit, "a pick whose requests are used up");
    if (request->region.len > 0 && spec->region.len > 0 && !weir_slice_eq(request->region, spec->region))
        kit_die(call->kit, "a pick of another region");
    if ((request->parameters & ~spec->parameters) != 0)
        kit_die(call->kit, "a pick that lacks a parameter");
}

static void on_start(struct kit_call *call, const struct kit_deployment *deployment)
{
    struct weir_slice group = call->attempts[call->attempt_count].start.group;
    uint64_t set = model_resolve(call->config, group);

    check_counts(call, deployment);
    if (model_is_id(call->config, group))
        return;
    check_route(call, deployment, set);
    check_web_search(call, deployment, set);
    if (call->config->router.pre_call_checks)
        check_before_call(call, deployment);
    if (tags_route(call, set))
        check_tags(call, deployment, set);
}

/* ---- refusals ---- */

static uint64_t at_least_one(uint64_t tokens)
{
    return tokens == 0 ? 1 : tokens;
}

static bool is_spent(const struct kit_call *call, const struct weir_deployment_spec *spec,
                     const struct weir_minute_usage *used)
{
    const struct weir_minute_limits *limits = &spec->minute;

    if (used->requests >= limits->requests)
        return true;
    return call->config->router.enforce_minute_limits &&
           (used->tokens >= limits->tokens ||
            used->input_tokens + at_least_one(sure_tokens(call)) > limits->input_tokens ||
            used->output_tokens + at_least_one(call->request.request.max_output_tokens) >
                limits->output_tokens);
}

static void on_event(struct kit_call *call, const struct weir_event *event)
{
    const struct kit_deployment *deployment;
    struct weir_live_view view;

    if (event->kind == WEIR_EVENT_PICKED)
        pick_check(call, event);
    if (event->kind == WEIR_EVENT_ATTEMPT_STARTED || event->kind == WEIR_EVENT_ATTEMPT_REFUSED)
        pick_check_attempt(call, event);
    if (event->kind != WEIR_EVENT_ATTEMPT_REFUSED)
        return;
    deployment = deployment_of(call, event->deployment);
    view = view_of(call, deployment);
    if (call->request.request.caller_credentials)
        kit_die(call->kit, "a refusal of a call with keys of its own");
    if (event->u.attempt_failed.failure.origin == WEIR_ORIGIN_ROUTER &&
        view.running < deployment->spec.max_parallel)
        kit_die(call->kit, "a refusal though a slot is free");
    if (event->u.attempt_failed.failure.origin != WEIR_ORIGIN_ROUTER &&
        !is_spent(call, &deployment->spec, &view.minute))
        kit_die(call->kit, "a refusal though no limit is used up");
}

/* ---- plays ---- */

static void play_some(struct kit *kit, struct weir_rand *rand)
{
    char request[GENERATE_REQUEST_MAX];
    uint64_t count = 1 + weir_rand_below(rand, CALLS_MAX);

    for (uint64_t i = 0; i < count; i++) {
        generate_limited_request(rand, request);
        (void)kit_begin(kit, request);
    }
    if (weir_rand_below(rand, 4) != 0)
        kit_run_all(kit);
    kit_forget(kit);
    kit_advance(kit, (double)weir_rand_below(rand, 30));
}

static char *play_seed(uint64_t seed, bool verbose)
{
    struct weir_rand rand;
    struct watch watch = {.minutes = {0}};
    char config[GENERATE_CONFIG_MAX];
    uint64_t rounds;

    weir_rand_init(&rand, seed);
    generate_limited_config(&rand, config);
    if (verbose)
        print_message("%s", config);
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, config);
    kit->on_start = on_start;
    kit->on_event = on_event;
    kit->user = &watch;
    rounds = 1 + weir_rand_below(&rand, ROUNDS_MAX);
    for (uint64_t i = 0; i < rounds; i++)
        play_some(kit, &rand);
    return strdup(kit->trace);
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = otherwise;

    if (text != NULL && weir_slice_u64(weir_slice_str(text), &value) != 0)
        fail_msg("%s is no number", name);
    return value;
}

static void limits_and_filters_hold_whatever_happens(void **state)
{
    uint64_t only = number_from_environment("WEIR_SEED", 0);
    uint64_t last = number_from_environment("WEIR_SEEDS", SEEDS);
    (void)state;

    for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : last); seed++) {
        char *trace = play_seed(seed, only != 0);

        if (seed % REPLAY_EVERY == 0) {
            char *again = play_seed(seed, false);

            assert_string_equal(trace, again);
            free(again);
        }
        free(trace);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(limits_and_filters_hold_whatever_happens)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
