/*
 * Random configurations, random failures, and what must hold whatever happens.
 *
 * Each seed makes a configuration, plays some calls on it, one after another and at once, and compares each
 * step with the rules as model.c knows them:
 *   - a pick is of the group, not blocked, not cooling while another is left, of the right tier, not one that
 *     failed in this call while another is left, and has weight where another has;
 *   - retries happen exactly when and as often as sections 8 and 10 say, and wait as long as 9 says;
 *   - orders and siblings are used up before a call leaves the group; hops stay under their maximum;
 *   - counts and cooldowns are what sections 15 and 16 make of the same failures: equal facts and origin,
 * equal decision;
 *   - the error told is that of the first group's first loop;
 *   - and the host checks what call.h promises of the order of steps, of memory and of waking up.
 * The same seed played again gives the same trace, byte for byte.
 *
 * WEIR_SEED=n plays that seed alone and prints its configuration; WEIR_SEEDS=n sets how many are played.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "clock_model.h"
#include "engine_kit.h"
#include "generate.h"
#include "model.h"
#include "walk_model.h"

#define SEEDS         1500
#define NOMEM_SEEDS   40
#define CALLS_AT_ONCE 4
#define REPLAY_EVERY  4 /* of so many seeds one is played twice */

/* What a failure should lead to next, as the model has it. */
struct expectation {
    bool cooldown;
    weir_cooldown_rule rule;
    uint64_t until_ns;
};

struct play {
    struct model model;
    struct expectation next;
    struct walk walks[CALLS_AT_ONCE];   /* by the place of a call among those that run at once */
    struct clock clocks[CALLS_AT_ONCE]; /* of their latest attempts */
};

static struct walk *walk_of(const struct kit_call *call)
{
    struct play *play = call->kit->user;

    return &play->walks[call->number % CALLS_AT_ONCE];
}

static struct clock *clock_of(const struct kit_call *call)
{
    struct play *play = call->kit->user;

    return &play->clocks[call->number % CALLS_AT_ONCE];
}

/* When the call's time is up, as its latest attempt has it. */
static uint64_t deadline_of(const struct kit_call *call)
{
    return weir_time_add(call->begun_ns, clock_deadline(clock_of(call)));
}

static void on_tell(struct kit_call *call, uint32_t attempt, const struct kit_piece *piece)
{
    if (attempt == call->attempt_count)
        clock_tell(clock_of(call), call, piece);
}

static void on_step(struct kit_call *call, const struct weir_step *step)
{
    if (step->kind == WEIR_STEP_COMMIT)
        clock_commit(clock_of(call), call);
    if (step->kind == WEIR_STEP_CANCEL)
        clock_cancel(clock_of(call), call);
}

/* ---- looking back in a call ---- */

/* The place of the first event of the loop that is running: the one after the last hop of any sort. */
static size_t loop_start(const struct kit_call *call)
{
    size_t start = 0;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_FALLBACK)
            start = i + 1;
    }
    return start;
}

static size_t count_since(const struct kit_call *call, size_t start, weir_event_kind kind)
{
    size_t count = 0;

    for (size_t i = start; i < call->event_count; i++)
        count += call->events[i].kind == kind;
    return count;
}

static const struct weir_event *last_hop(const struct kit_call *call)
{
    size_t start = loop_start(call);

    return start == 0 ? NULL : &call->events[start - 1];
}

static uint64_t bit_of(const struct kit_call *call, const struct kit_deployment *deployment)
{
    return UINT64_C(1) << (deployment - call->config->deployments);
}

/* The deployments of earlier attempts, all of which have failed. */
static uint64_t failed_before(const struct kit_call *call, uint32_t attempt)
{
    uint64_t set = 0;

    for (uint32_t i = 1; i < attempt; i++)
        set |= bit_of(call, call->attempts[i].deployment);
    return set;
}

static uint64_t usable(const struct kit_call *call, uint64_t set, bool even_cooling)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        struct weir_live_view view;

        weir_router_view(call->kit->router, weir_snapshot_deployment(call->kit->snapshot, i),
                         call->kit->now_ns, &view);
        if (call->config->deployments[i].spec.blocked ||
            (!even_cooling && view.cooldown_until_ns > call->kit->now_ns))
            set &= ~(UINT64_C(1) << i);
    }
    return set;
}

static uint64_t of_order(const struct kit_call *call, uint64_t set, int32_t order)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if (call->config->deployments[i].spec.order != order)
            set &= ~(UINT64_C(1) << i);
    }
    return set;
}

static int32_t lowest_order(const struct kit_call *call, uint64_t set)
{
    int32_t lowest = WEIR_UNSET_ORDER;

    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if ((set >> i & 1) != 0 && call->config->deployments[i].spec.order < lowest)
            lowest = call->config->deployments[i].spec.order;
    }
    return lowest;
}

static bool is_set(const struct weir_policy *policy)
{
    for (int i = 0; i < WEIR_POLICY_FIELDS; i++) {
        if (policy->count[i] != WEIR_UNSET)
            return true;
    }
    return false;
}

/* ---- picks ---- */

static double weight_of(const struct kit_deployment *deployment, int source)
{
    return source == 0 ? deployment->spec.weight : source == 1 ? deployment->spec.rpm : deployment->spec.tpm;
}

static void check_weight(const struct kit_call *call, const struct kit_deployment *deployment,
                         uint64_t candidates)
{
    for (int source = 0; source < 3; source++) {
        double largest = 0;

        for (size_t i = 0; i < call->config->deployment_count; i++) {
            double weight = weight_of(&call->config->deployments[i], source);

            if ((candidates >> i & 1) != 0 && weight > largest)
                largest = weight;
        }
        if (largest > 0) {
            if (weight_of(deployment, source) <= 0)
                kit_die(call->kit, "a pick without weight beside one that has some");
            return;
        }
    }
}

static void check_order(const struct kit_call *call, const struct kit_deployment *deployment,
                        uint64_t eligible)
{
    const struct weir_event *hop = last_hop(call);

    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_ORDER) {
        if (deployment->spec.order != hop->u.fallback.order)
            kit_die(call->kit, "a pick of another order than the one walked to");
    } else if (hop == NULL || hop->u.fallback.kind == WEIR_HOP_GROUP) {
        if (deployment->spec.order != lowest_order(call, eligible))
            kit_die(call->kit, "a pick of another order than the lowest");
    }
}

/* Once in a call, or twice where it broke between; the contract is the host's to check. */
static void check_continuation(const struct kit_call *call, const struct kit_deployment *deployment,
                               uint64_t eligible)
{
    uint32_t times = 0;

    if ((eligible & bit_of(call, deployment)) == 0)
        kit_die(call->kit, "a continuation on a deployment that is not eligible");
    for (uint32_t i = 1; i < call->attempt_count; i++)
        times += call->attempts[i].continues && call->attempts[i].deployment == deployment;
    if (times > 0)
        kit_die(call->kit, "a second continuation on the same deployment");
}

static void on_start(struct kit_call *call, const struct kit_deployment *deployment)
{
    const struct weir_start *start = &call->attempts[call->attempt_count].start;
    const struct weir_event *hop = last_hop(call);
    uint64_t set = model_resolve(call->config, start->group);
    uint64_t failed = failed_before(call, call->attempt_count);
    uint64_t eligible = usable(call, set, false);
    uint64_t candidates;

    clock_begin(clock_of(call), call, &call->attempts[call->attempt_count]);
    if (call->kit->now_ns >= deadline_of(call))
        kit_die(call->kit, "an attempt after the deadline");
    walk_started(walk_of(call), call, start);
    if ((set & bit_of(call, deployment)) == 0)
        kit_die(call->kit, "a pick from outside the group");
    if (deployment->spec.blocked)
        kit_die(call->kit, "a pick of a blocked deployment");
    if (call->committed != 0) {
        check_continuation(call, deployment, eligible);
        return;
    }
    if (model_is_id(call->config, start->group))
        return;
    if (eligible == 0 && call->config->router.health_check_routing &&
        is_set(&call->config->router.allowed_fails_policy))
        eligible = usable(call, set, true);
    if ((eligible & bit_of(call, deployment)) == 0)
        kit_die(call->kit, "a pick of a cooling deployment");
    check_order(call, deployment, eligible);
    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_SIBLING && (failed & bit_of(call, deployment)) != 0)
        kit_die(call->kit, "a sibling that has failed already");
    candidates = of_order(call, eligible, deployment->spec.order);
    if ((failed & bit_of(call, deployment)) != 0 && (candidates & ~failed) != 0)
        kit_die(call->kit, "a pick that failed before, though another is left");
    if ((candidates & ~failed) != 0)
        candidates &= ~failed;
    check_weight(call, deployment, candidates);
}

/* ---- failures and retries ---- */

static const struct kit_deployment *deployment_of(const struct kit_call *call, const struct weir_event *event)
{
    return call->attempts[event->attempt].deployment;
}

static const struct weir_event *first_failure(const struct kit_call *call, size_t start)
{
    while (call->events[start].kind != WEIR_EVENT_ATTEMPT_FAILED)
        start++;
    return &call->events[start];
}

/* The least wait before the retry, without jitter. */
static uint64_t least_wait(const struct kit_call *call, const struct weir_event *event, size_t retries)
{
    const struct weir_router_spec *router = &call->config->router;
    uint64_t wait = event->u.attempt_failed.failure.retry_after_ns;

    if (__builtin_popcountll(model_resolve(call->config, event->group)) != 1)
        return 0;
    if (wait != 0 && wait <= 60 * WEIR_NS_PER_S)
        return wait;
    wait = router->initial_retry_delay_ns << (retries < 20 ? retries : 20);
    wait = wait > router->max_retry_delay_ns ? router->max_retry_delay_ns : wait;
    return wait < router->retry_after_ns ? router->retry_after_ns : wait;
}

/* Whether the wait may have been one that would not end before the call's time is up. */
static bool is_too_late(const struct kit_call *call, const struct weir_event *event, size_t retries)
{
    uint64_t wait = least_wait(call, event, retries);

    return call->kit->now_ns + wait + (wait == 0 ? 0 : call->config->router.jitter_ns) >= deadline_of(call);
}

static void check_retry_decision(const struct kit_call *call, const struct weir_event *event)
{
    const struct weir_event *hop = last_hop(call);
    size_t start = loop_start(call);
    size_t retries = count_since(call, start, WEIR_EVENT_RETRY);
    const struct weir_event *first = first_failure(call, start);
    uint32_t limit =
        model_retries(call, first->group, deployment_of(call, first), &first->u.attempt_failed.failure);
    bool expected = retries < limit && model_is_worth(call, event->group, &event->u.attempt_failed.failure);

    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_SIBLING)
        expected = false;
    if (call->committed != 0)
        expected = false;
    if (expected && !event->u.attempt_failed.will_retry && is_too_late(call, event, retries))
        return;
    if (event->u.attempt_failed.will_retry != expected)
        kit_die(call->kit, "retried: %d, expected: %d (%zu of %" PRIu32 ")",
                event->u.attempt_failed.will_retry, expected, retries, limit);
}

static void check_wait(const struct kit_call *call, const struct weir_event *event)
{
    size_t retries = count_since(call, loop_start(call), WEIR_EVENT_RETRY);
    uint64_t least = least_wait(call, event, retries);
    uint64_t most = least == 0 ? 0 : least + call->config->router.jitter_ns - 1;
    uint64_t wait = event->u.attempt_failed.wait_ns;

    if (!event->u.attempt_failed.will_retry)
        return;
    if (wait < least || wait > most)
        kit_die(call->kit, "a wait of %" PRIu64 " ns, expected from %" PRIu64, wait, least);
    if (call->kit->now_ns + wait >= deadline_of(call))
        kit_die(call->kit, "a wait that ends after the deadline");
}

static void on_attempt_failed(struct kit_call *call, const struct weir_event *event)
{
    struct play *play = call->kit->user;

    if (call->attempts[event->attempt].committed)
        walk_broke(walk_of(call), call, deployment_of(call, event), &event->u.attempt_failed.failure);
    play->next.cooldown =
        model_failure(&play->model, call, deployment_of(call, event), &event->u.attempt_failed.failure,
                      event->time_ns, &play->next.rule, &play->next.until_ns);
    check_retry_decision(call, event);
    check_wait(call, event);
    if (!call->attempts[event->attempt].committed)
        walk_failed(walk_of(call), event->u.attempt_failed.failure.kind);
}

static void on_cooldown_set(struct kit_call *call, const struct weir_event *event)
{
    struct play *play = call->kit->user;

    if (!play->next.cooldown || play->next.rule != event->u.cooldown_set.rule ||
        play->next.until_ns != event->u.cooldown_set.until_ns)
        kit_die(call->kit, "a cooldown that the rules do not set so");
    play->next.cooldown = false;
}

/* ---- leaving a group ---- */

static bool skips_the_group(const struct weir_failure *failure)
{
    return failure->kind == WEIR_KIND_CONTEXT_WINDOW || failure->kind == WEIR_KIND_CONTENT_POLICY;
}

static const struct weir_event *last_failure(const struct kit_call *call)
{
    const struct weir_event *last = NULL;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED)
            last = &call->events[i];
    }
    return last;
}

/* Whatever orders and siblings the group still had must have been used up. */
static void check_leaving(const struct kit_call *call, const struct weir_event *hop)
{
    const struct kit_attempt *last = &call->attempts[call->attempt_count];
    const struct weir_event *failure = last_failure(call);
    uint64_t failed = failed_before(call, call->attempt_count + 1);
    uint64_t left;

    if (call->attempt_count == 0 || failure == NULL || call->committed != 0 ||
        !weir_slice_eq(last->start.group, hop->u.fallback.source) ||
        model_is_id(call->config, last->start.group) || skips_the_group(&failure->u.attempt_failed.failure))
        return;
    left = usable(call, model_resolve(call->config, last->start.group), false) & ~failed;
    if (call->config->router.weighted_failover && left != 0)
        kit_die(call->kit, "left the group though a sibling is left");
    for (uint32_t i = 1; i <= call->attempt_count; i++) {
        /* what is in a tier up to the highest that was tried is left to weighted failover */
        if (!weir_slice_eq(call->attempts[i].start.group, last->start.group))
            continue;
        for (size_t d = 0; d < call->config->deployment_count; d++) {
            if (call->config->deployments[d].spec.order <= call->attempts[i].deployment->spec.order)
                left &= ~(UINT64_C(1) << d);
        }
    }
    if (left != 0)
        kit_die(call->kit, "left the group though a higher order is left");
}

static void on_fallback(const struct kit_call *call, const struct weir_event *event)
{
    if (call->request.request.disable_fallbacks)
        kit_die(call->kit, "a hop though fallbacks are disabled");
    if (event->u.fallback.depth > call->config->router.max_fallbacks)
        kit_die(call->kit, "more hops than allowed");
    if (event->u.fallback.kind != WEIR_HOP_GROUP) {
        const struct weir_event *failure = last_failure(call);

        if (failure == NULL || skips_the_group(&failure->u.attempt_failed.failure))
            kit_die(call->kit, "stays in a group that would fail in the same way");
        return;
    }
    check_leaving(call, event);
    walk_hop(walk_of(call), call, event);
}

/* Whether time is up for an attempt on some deployment: a call that comes to one ends. */
static bool is_past_a_deadline(const struct kit_call *call)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        const struct kit_attempt attempt = {.deployment = &call->config->deployments[i]};
        struct clock clock;

        clock_begin(&clock, call, &attempt);
        if (call->kit->now_ns >= weir_time_add(call->begun_ns, clock_deadline(&clock)))
            return true;
    }
    return false;
}

/* A call that ends though there may be something left to try. */
static bool is_cut_short(const struct kit_call *call, const struct weir_event *failed)
{
    const struct weir_event *last = last_failure(call);

    if (failed->u.failed.failure.origin == WEIR_ORIGIN_CLIENT_GONE || is_past_a_deadline(call))
        return true;
    return last != NULL && last->u.attempt_failed.failure.kind == WEIR_KIND_GUARDRAIL;
}

static void on_event(struct kit_call *call, const struct weir_event *event)
{
    struct play *play = call->kit->user;

    if (call->event_count == 1)
        walk_begin(walk_of(call), call);
    if (event->kind != WEIR_EVENT_COOLDOWN_SET && play->next.cooldown)
        kit_die(call->kit, "no cooldown where the rules set one");
    switch (event->kind) {
    case WEIR_EVENT_ATTEMPT_FAILED:
        on_attempt_failed(call, event);
        break;
    case WEIR_EVENT_COOLDOWN_SET:
        on_cooldown_set(call, event);
        break;
    case WEIR_EVENT_FALLBACK:
        on_fallback(call, event);
        break;
    case WEIR_EVENT_SUCCEEDED:
        model_success(&play->model, call, deployment_of(call, event), event->time_ns);
        break;
    case WEIR_EVENT_RETRY:
        walk_waited(walk_of(call));
        break;
    case WEIR_EVENT_FAILED:
        if (!is_cut_short(call, event))
            walk_ended(walk_of(call), call);
        break;
    case WEIR_EVENT_ATTEMPT_STARTED:
    case WEIR_EVENT_STREAM_BROKEN:
    case WEIR_EVENT_STREAM_RECOVERED:
    case WEIR_EVENT_STREAM_CONTINUED:
    case WEIR_EVENT_KINDS:
    default:
        break;
    }
}

/* ---- the end ---- */

/* The first break after content is told, unless the caller has left or the call's time is up. */
static void check_committed_error(const struct kit_call *call)
{
    const struct weir_event *first = NULL;

    if (call->fail.attempt == 0)
        return;
    for (size_t i = 0; first == NULL && i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED &&
            call->attempts[call->events[i].attempt].committed)
            first = &call->events[i];
    }
    if (first == NULL || first->attempt != call->fail.attempt ||
        first->u.attempt_failed.failure.status != call->fail.failure.status)
        kit_die(call->kit, "the error told is not that of the first break");
}

static void check_final_error(const struct kit_call *call)
{
    const struct weir_event *last = NULL;

    if (call->fail.committed) {
        check_committed_error(call);
        return;
    }
    /* a pick that finds nobody, perhaps after a wait, is an error of its own and has no event */
    if (call->fail.reason == WEIR_REASON_CLIENT_GONE || call->fail.reason == WEIR_REASON_NO_DEPLOYMENTS)
        return;
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_FALLBACK)
            break;
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED)
            last = &call->events[i];
    }
    if ((last == NULL ? 0 : last->attempt) != call->fail.attempt)
        kit_die(call->kit, "the error told is not that of the first group");
    if (last != NULL && last->u.attempt_failed.failure.status != call->fail.failure.status)
        kit_die(call->kit, "the error told has another status than its attempt");
}

static void check_end(const struct kit_call *call)
{
    struct weir_summary summary = kit_summary(call);
    const struct play *play = call->kit->user;
    uint32_t hops = 0;

    if (call->end == KIT_RUNNING)
        kit_die(call->kit, "a call that does not end");
    if (play->next.cooldown)
        kit_die(call->kit, "no cooldown where the rules set one");
    for (size_t i = 0; i < call->event_count; i++)
        hops +=
            call->events[i].kind == WEIR_EVENT_FALLBACK && call->events[i].u.fallback.kind == WEIR_HOP_GROUP;
    if (summary.hops != hops || hops > call->config->router.max_fallbacks)
        kit_die(call->kit, "%" PRIu32 " hops, %" PRIu32 " told", hops, summary.hops);
    if (call->end == KIT_FAILED)
        check_final_error(call);
}

static void check_live(const struct kit *kit, const struct model *model)
{
    for (size_t i = 0; i < kit->config->deployment_count; i++) {
        struct weir_live_view view;
        size_t successes;
        size_t failures;

        weir_router_view(kit->router, weir_snapshot_deployment(kit->snapshot, i), kit->now_ns, &view);
        model_window(&model->deployments[i], kit->now_ns, &successes, &failures);
        if (view.successes != successes || view.failures != failures)
            kit_die(kit, "d%zu: %" PRIu32 " successes and %" PRIu32 " failures, expected %zu and %zu", i,
                    view.successes, view.failures, successes, failures);
        if (view.cooldown_until_ns > kit->now_ns || model->deployments[i].until_ns > kit->now_ns)
            assert_int_equal(view.cooldown_until_ns, model->deployments[i].until_ns);
    }
}

static void play_some(struct kit *kit, struct weir_rand *rand)
{
    char request[GENERATE_REQUEST_MAX];
    uint64_t count = 1 + weir_rand_below(rand, CALLS_AT_ONCE);

    for (uint64_t i = 0; i < count; i++) {
        generate_request(rand, request);
        (void)kit_begin(kit, request);
    }
    kit_run_all(kit);
    for (struct kit_call *call = kit->calls; call != NULL; call = call->next)
        check_end(call);
    kit_forget(kit);
    kit_advance(
        kit, weir_time_to_s(weir_rand_below(rand, weir_rand_below(rand, 3) == 0 ? 70000 : 3000) * 1000000));
}

/* Plays a seed and returns its trace. */
static char *play_seed(uint64_t seed, bool verbose)
{
    struct weir_rand rand;
    struct play *play = calloc(1, sizeof(*play));
    char config[GENERATE_CONFIG_MAX];
    uint64_t rounds;
    char *trace;

    assert_non_null(play);
    weir_rand_init(&rand, seed);
    generate_config(&rand, config);
    if (verbose)
        print_message("%s", config);
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, config);
    kit->user = play;
    kit->on_start = on_start;
    kit->on_event = on_event;
    kit->on_step = on_step;
    kit->on_tell = on_tell;
    rounds = 1 + weir_rand_below(&rand, 6);
    for (uint64_t i = 0; i < rounds; i++) {
        play_some(kit, &rand);
        check_live(kit, &play->model);
    }
    trace = strdup(kit->trace);
    free(play);
    return trace;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = otherwise;

    if (text != NULL && weir_slice_u64(weir_slice_str(text), &value) != 0)
        fail_msg("%s is no number", name);
    return value;
}

static void engine_keeps_its_rules_whatever_happens(void **state)
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

/* One call of a seed's configuration whose memory is used up from the n-th allocation on. */
static bool play_without_memory(uint64_t seed, size_t fail_from)
{
    struct weir_rand rand;
    char config[GENERATE_CONFIG_MAX];
    char request[GENERATE_REQUEST_MAX];
    const struct kit_call *call;

    weir_rand_init(&rand, seed);
    generate_config(&rand, config);
    generate_request(&rand, request);
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, config);
    kit->calls_fail_from = fail_from;
    call = kit_call(kit, request);
    if (call == NULL)
        return true;
    assert_int_not_equal(call->end, KIT_RUNNING);
    if (call->mem.failed && call->end == KIT_FAILED && call->fail.reason == WEIR_REASON_NOMEM)
        assert_int_equal(call->fail.failure.status, 500);
    return call->mem.failed;
}

static void a_call_without_memory_ends_with_an_error(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NOMEM_SEEDS; seed++) {
        size_t fail_from = 1;

        while (play_without_memory(seed, fail_from))
            fail_from++;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_keeps_its_rules_whatever_happens),
        cmocka_unit_test(a_call_without_memory_ends_with_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
