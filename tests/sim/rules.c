/*
 * Each check stands where the call tells what it checks: at a start, at a step, at an event, at the end.
 */
#include "rules.h"

#include <inttypes.h>

#include "base/slice.h"
#include "base/time.h"

#include "look_back.h"
#include "pick_model.h"

static struct walk *walk_of(const struct kit_call *call)
{
    struct rules *rules = call->kit->user;

    return &rules->walks[call->number % RULES_CALLS_MAX];
}

static struct clock *clock_of(const struct kit_call *call, uint32_t attempt)
{
    struct rules *rules = call->kit->user;

    return &rules->clocks[call->number % RULES_CALLS_MAX][attempt % RULES_ATTEMPTS_MAX];
}

static struct race *race_of(const struct kit_call *call)
{
    struct rules *rules = call->kit->user;

    return &rules->races[call->number % RULES_CALLS_MAX];
}

static struct race_budgets *budgets_of(const struct kit_call *call)
{
    struct rules *rules = call->kit->user;

    return &rules->budgets;
}

/* When the call's time is up, as its latest attempt has it. */
static uint64_t deadline_of(const struct kit_call *call)
{
    return weir_time_add(call->begun_ns, clock_deadline(clock_of(call, call->attempt_count)));
}

static void on_tell(struct kit_call *call, uint32_t attempt, const struct kit_piece *piece)
{
    clock_tell(clock_of(call, attempt), call, piece, deadline_of(call));
}

/* A guardrail's word ends all attempts of the call. */
static bool is_refused(const struct kit_call *call)
{
    const struct weir_event *last = look_back_failure(call);

    return last != NULL && last->u.attempt_failed.failure.kind == WEIR_KIND_GUARDRAIL;
}

static void on_step(struct kit_call *call, const struct weir_step *step)
{
    if (step->kind == WEIR_STEP_COMMIT)
        clock_commit(clock_of(call, step->attempt), call);
    if (step->kind == WEIR_STEP_CANCEL && !race_was_lost(call, step->attempt) && !is_refused(call))
        clock_cancel(clock_of(call, step->attempt), call, deadline_of(call));
}

/* ---- picks ---- */

static bool is_set(const struct weir_policy *policy)
{
    for (int i = 0; i < WEIR_POLICY_FIELDS; i++) {
        if (policy->count[i] != WEIR_UNSET)
            return true;
    }
    return false;
}

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
    const struct weir_event *hop = look_back_hop(call);

    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_ORDER) {
        if (deployment->spec.order != hop->u.fallback.order)
            kit_die(call->kit, "a pick of another order than the one walked to");
    } else if (hop == NULL || hop->u.fallback.kind == WEIR_HOP_GROUP) {
        if (deployment->spec.order != look_back_lowest_order(call, eligible))
            kit_die(call->kit, "a pick of another order than the lowest");
    }
}

/* Once in a call, or twice where it broke between; the contract is the host's to check. */
static void check_continuation(const struct kit_call *call, const struct kit_deployment *deployment,
                               uint64_t eligible)
{
    uint32_t times = 0;

    if ((eligible & look_back_bit(call, deployment)) == 0)
        kit_die(call->kit, "a continuation on a deployment that is not eligible");
    for (uint32_t i = 1; i < call->attempt_count; i++)
        times += call->attempts[i].continues && call->attempts[i].deployment == deployment;
    if (times > 0)
        kit_die(call->kit, "a second continuation on the same deployment");
}

/* Beside others, on one that neither runs nor has failed. */
static void check_hedge(const struct kit_call *call, const struct kit_deployment *deployment,
                        uint64_t eligible, uint64_t failed)
{
    const struct kit_attempt *first = &call->attempts[race_of(call)->first];

    if ((eligible & ~failed & look_back_bit(call, deployment)) == 0)
        kit_die(call->kit, "a second attempt on a deployment that is not eligible");
    if (deployment->spec.order != first->deployment->spec.order)
        kit_die(call->kit, "a second attempt of another order");
    check_weight(call, deployment, look_back_of_order(call, eligible & ~failed, deployment->spec.order));
}

/* An attempt that joins a race gives its call no more time. */
static void begin_clock(const struct kit_call *call)
{
    uint32_t number = call->attempt_count;
    struct clock *clock = clock_of(call, number);

    clock_begin(clock, call, &call->attempts[number]);
    if (race_joins(call) && clock_deadline(clock_of(call, number - 1)) < clock_deadline(clock))
        clock->limits.call_deadline_ns = clock_deadline(clock_of(call, number - 1));
}

static void on_start(struct kit_call *call, const struct kit_deployment *deployment)
{
    const struct weir_start *start = &call->attempts[call->attempt_count].start;
    const struct weir_event *hop = look_back_hop(call);
    uint64_t set = model_resolve(call->config, start->group);
    uint64_t failed = look_back_failed(call, call->attempt_count);
    uint64_t eligible = look_back_usable(call, set, false);
    uint64_t candidates;

    begin_clock(call);
    if (call->kit->now_ns >= deadline_of(call))
        kit_die(call->kit, "an attempt after the deadline");
    walk_started(walk_of(call), call, start);
    if ((set & look_back_bit(call, deployment)) == 0)
        kit_die(call->kit, "a pick from outside the group");
    if (deployment->spec.blocked)
        kit_die(call->kit, "a pick of a blocked deployment");
    if (call->committed != 0) {
        check_continuation(call, deployment, eligible);
        return;
    }
    if (race_joins(call)) {
        check_hedge(call, deployment, eligible, failed);
        return;
    }
    if (model_is_id(call->config, start->group))
        return;
    if (eligible == 0 && call->config->router.health_check_routing &&
        is_set(&call->config->router.allowed_fails_policy))
        eligible = look_back_usable(call, set, true);
    if ((eligible & look_back_bit(call, deployment)) == 0)
        kit_die(call->kit, "a pick of a cooling deployment");
    check_order(call, deployment, eligible);
    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_SIBLING &&
        (failed & look_back_bit(call, deployment)) != 0)
        kit_die(call->kit, "a sibling that has failed already");
    candidates = look_back_of_order(call, eligible, deployment->spec.order);
    if ((failed & look_back_bit(call, deployment)) != 0 && (candidates & ~failed) != 0)
        kit_die(call->kit, "a pick that failed before, though another is left");
    if ((candidates & ~failed) != 0)
        candidates &= ~failed;
    check_weight(call, deployment, candidates);
}

/* ---- failures and retries ---- */

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

/* The budget was asked and had nothing left, as race_refused has checked. */
static bool was_refused(const struct kit_call *call, uint32_t attempt)
{
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_RETRY_REFUSED && call->events[i].attempt == attempt &&
            call->events[i].u.retry_refused.what == WEIR_REFUSED_RETRY)
            return true;
    }
    return false;
}

static void check_retry_decision(const struct kit_call *call, const struct weir_event *event)
{
    const struct weir_event *hop = look_back_hop(call);
    size_t start = look_back_loop_start(call);
    size_t retries = look_back_count(call, start, WEIR_EVENT_RETRY);
    const struct weir_event *first = first_failure(call, start);
    uint32_t limit = model_retries(call, first->group, look_back_deployment(call, first),
                                   &first->u.attempt_failed.failure);
    bool expected = retries < limit && model_is_worth(call, event->group, &event->u.attempt_failed.failure);

    if (hop != NULL && hop->u.fallback.kind == WEIR_HOP_SIBLING)
        expected = false;
    if (call->committed != 0 || race_goes_on(race_of(call), call, event->attempt))
        expected = false;
    if (expected && !event->u.attempt_failed.will_retry && was_refused(call, event->attempt))
        return;
    if (expected && !event->u.attempt_failed.will_retry && is_too_late(call, event, retries))
        return;
    if (event->u.attempt_failed.will_retry != expected)
        kit_die(call->kit, "retried: %d, expected: %d (%zu of %" PRIu32 ")",
                event->u.attempt_failed.will_retry, expected, retries, limit);
}

static void check_wait(const struct kit_call *call, const struct weir_event *event)
{
    size_t retries = look_back_count(call, look_back_loop_start(call), WEIR_EVENT_RETRY);
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
    struct rules *rules = call->kit->user;

    if (call->attempts[event->attempt].committed)
        walk_broke(walk_of(call), call, look_back_deployment(call, event), &event->u.attempt_failed.failure);
    rules->next.cooldown = model_failure(&rules->model, call, look_back_deployment(call, event),
                                         &event->u.attempt_failed.failure, event->time_ns, &rules->next.rule,
                                         &rules->next.until_ns);
    check_retry_decision(call, event);
    check_wait(call, event);
    if (event->u.attempt_failed.will_retry &&
        !race_pay(budgets_of(call), call, look_back_deployment(call, event)))
        kit_die(call->kit, "a retry for which the budget has nothing left");
    if (!call->attempts[event->attempt].committed)
        walk_failed(walk_of(call), event->u.attempt_failed.failure.kind);
}

static void on_cooldown_set(struct kit_call *call, const struct weir_event *event)
{
    struct rules *rules = call->kit->user;

    if (!rules->next.cooldown || rules->next.rule != event->u.cooldown_set.rule ||
        rules->next.until_ns != event->u.cooldown_set.until_ns)
        kit_die(call->kit, "a cooldown by rule %d until %" PRIu64 ", expected: %d, by rule %d until %" PRIu64,
                (int)event->u.cooldown_set.rule, event->u.cooldown_set.until_ns, rules->next.cooldown,
                (int)rules->next.rule, rules->next.until_ns);
    rules->next.cooldown = false;
}

/* ---- leaving a group ---- */

static bool skips_the_group(const struct weir_failure *failure)
{
    return failure->kind == WEIR_KIND_CONTEXT_WINDOW || failure->kind == WEIR_KIND_CONTENT_POLICY;
}

/* Whatever orders and siblings the group still had must have been used up. */
static void check_leaving(const struct kit_call *call, const struct weir_event *hop)
{
    const struct kit_attempt *last = &call->attempts[call->attempt_count];
    const struct weir_event *failure = look_back_failure(call);
    uint64_t failed = look_back_failed(call, call->attempt_count + 1);
    uint64_t left;

    if (call->attempt_count == 0 || failure == NULL || call->committed != 0 ||
        !weir_slice_eq(last->start.group, hop->u.fallback.source) ||
        model_is_id(call->config, last->start.group) || skips_the_group(&failure->u.attempt_failed.failure))
        return;
    left = look_back_usable(call, model_resolve(call->config, last->start.group), false) & ~failed;
    if (call->config->router.weighted_failover && left != 0 &&
        call->config->router.strategy.strategy == WEIR_STRATEGY_SIMPLE_SHUFFLE)
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
        const struct weir_event *failure = look_back_failure(call);

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
    return failed->u.failed.failure.origin == WEIR_ORIGIN_CLIENT_GONE || is_past_a_deadline(call) ||
           is_refused(call);
}

static void on_event(struct kit_call *call, const struct weir_event *event)
{
    struct rules *rules = call->kit->user;

    if (call->event_count == 1) {
        walk_begin(walk_of(call), call);
        *race_of(call) = (struct race){.first = 0};
    }
    if (event->kind != WEIR_EVENT_COOLDOWN_SET && rules->next.cooldown)
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
        model_success(&rules->model, call, look_back_deployment(call, event), event->time_ns);
        break;
    case WEIR_EVENT_RETRY:
        walk_waited(walk_of(call));
        break;
    case WEIR_EVENT_FAILED:
        if (!is_cut_short(call, event))
            walk_ended(walk_of(call), call);
        break;
    case WEIR_EVENT_ATTEMPT_STARTED:
        pick_check_attempt(call, event);
        race_started(race_of(call), budgets_of(call), call, event);
        break;
    case WEIR_EVENT_RETRY_REFUSED:
        race_refused(budgets_of(call), call, event);
        break;
    case WEIR_EVENT_HEDGED:
        race_hedged(race_of(call), budgets_of(call), call, event);
        break;
    case WEIR_EVENT_HEDGE_LOST:
        race_lost(race_of(call), call, event);
        break;
    case WEIR_EVENT_PICKED:
        pick_check(call, event);
        pick_check_fates(call, event);
        break;
    case WEIR_EVENT_ATTEMPT_REFUSED:
    case WEIR_EVENT_COOLING_WAIT:
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

void rules_check_end(const struct kit_call *call)
{
    struct weir_summary summary = kit_summary(call);
    const struct rules *rules = call->kit->user;
    uint32_t hops = 0;

    if (call->end == KIT_RUNNING)
        kit_die(call->kit, "a call that does not end");
    if (rules->next.cooldown)
        kit_die(call->kit, "no cooldown where the rules set one");
    for (size_t i = 0; i < call->event_count; i++)
        hops +=
            call->events[i].kind == WEIR_EVENT_FALLBACK && call->events[i].u.fallback.kind == WEIR_HOP_GROUP;
    if (summary.hops != hops || hops > call->config->router.max_fallbacks)
        kit_die(call->kit, "%" PRIu32 " hops, %" PRIu32 " told", hops, summary.hops);
    if (call->end == KIT_FAILED)
        check_final_error(call);
}

void rules_check_live(const struct kit *kit)
{
    const struct rules *rules = kit->user;
    const struct model *model = &rules->model;

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

void rules_watch(struct rules *rules, struct kit *kit)
{
    kit->user = rules;
    kit->on_start = on_start;
    kit->on_event = on_event;
    kit->on_step = on_step;
    kit->on_tell = on_tell;
}
