/*
 * A usual request costs three look-ups: one when its attempt begins, one when that succeeds, one at its end.
 *
 * A hop to another group has an outcome only later: it has failed when the next one begins or the call fails,
 * and succeeded when the call does.
 */
#include "gateway/metrics/count.h"

#include "base/slice.h"
#include "gateway/attempt/upstream.h"
#include "gateway/job.h"
#include "gateway/log/access_log.h"
#include "gateway/metrics/series.h"
#include "gateway/setup.h"
#include "gateway/story/state.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

#define ADD(series, id, amount)       weir_cell_add(WEIR_SERIES_CELL(series, id), (amount))
#define OBSERVE(series, id, duration) weir_cell_observe(WEIR_SERIES_CELL(series, id), (duration))

/* ---- events ---- */

static struct weir_series_key key_of(const struct weir_job *job, const struct weir_event *event,
                                     uint32_t sets)
{
    return (struct weir_series_key){
        .sets = sets, .setup = job->setup, .group = event->group, .deployment = event->deployment};
}

static const struct weir_series *find(struct weir_job *job, const struct weir_series_key *key)
{
    return weir_series_find(&job->worker->series, key);
}

/* Of the group alone. */
static const struct weir_series *find_loop(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(LOOPS));

    key.deployment = WEIR_SLICE_EMPTY;
    return find(job, &key);
}

static const struct weir_series *find_attempt(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(ATTEMPTS) | WEIR_SET_BIT(SERVED));

    key.requested = job->asked.request.model;
    return find(job, &key);
}

static void put_failure(struct weir_series_key *key, const struct weir_failure *failure)
{
    key->kind = weir_kind_row(failure->kind)->name;
    key->status = (uint16_t)failure->status;
}

/* Such a state is written by every request but changes seldom: who finds it as it should be leaves it. */
static void note_health(struct weir_upstream *upstream, bool failing)
{
    if (upstream != NULL && atomic_load_explicit(&upstream->failing, memory_order_relaxed) != failing)
        atomic_store_explicit(&upstream->failing, failing, memory_order_relaxed);
}

static void settle_hop(struct weir_job *job, const struct weir_event *event, bool succeeded)
{
    struct weir_call_counts *counts = &job->counts;
    const struct weir_series *series;
    struct weir_series_key key;

    if (counts->hop.len == 0)
        return;
    key = key_of(job, event, WEIR_SET_BIT(FELL_BACK));
    key.group = WEIR_SLICE_EMPTY;
    if (key.deployment.len == 0)
        key.deployment = job->access.deployment;
    key.requested = job->asked.request.model;
    key.other = counts->hop;
    put_failure(&key, &counts->hop_cause);
    series = find(job, &key);
    if (succeeded)
        ADD(series, fallbacks_succeeded, 1);
    else
        ADD(series, fallbacks_failed, 1);
    counts->hop = WEIR_SLICE_EMPTY;
}

static void count_started(struct weir_job *job, const struct weir_event *event)
{
    const struct weir_series *series = find_attempt(job, event);

    ADD(series, attempts, 1);
    ADD(series, deployment_requests, 1);
    if (series->missing == 0)
        job->counts.attempt = (struct weir_attempt_cells){event->attempt, series->cells[WEIR_SET_ATTEMPTS],
                                                          series->cells[WEIR_SET_SERVED], series->upstream};
}

/* Mostly the attempt that succeeds is the one that was begun last. */
static struct weir_attempt_cells cells_of(struct weir_job *job, const struct weir_event *event)
{
    const struct weir_series *series;

    if (job->counts.attempt.number == event->attempt && event->attempt > 0)
        return job->counts.attempt;
    series = find_attempt(job, event);
    return (struct weir_attempt_cells){event->attempt, series->cells[WEIR_SET_ATTEMPTS],
                                       series->cells[WEIR_SET_SERVED], series->upstream};
}

static void count_succeeded(struct weir_job *job, const struct weir_event *event)
{
    const struct weir_attempt_cells cells = cells_of(job, event);

    weir_cell_add(cells.attempts + WEIR_OFFSET_successes, 1);
    weir_cell_add(cells.served + WEIR_OFFSET_deployment_successes, 1);
    job->counts.first_content_ns = event->u.succeeded.stream.first_content_ns;
    if (job->counts.first_content_ns > 0)
        weir_cell_observe(cells.attempts + WEIR_OFFSET_attempt_first_content_time,
                          weir_duration_of(job->counts.first_content_ns));
    note_health(cells.upstream, false);
    settle_hop(job, event, true);
}

static void count_bad_chunk(struct weir_job *job, const struct weir_event *event)
{
    if (job->counts.bad_chunk == 0 || job->counts.bad_chunk != event->attempt)
        return;
    job->counts.bad_chunk = 0;
    ADD(find_attempt(job, event), bad_chunks, 1);
}

static void count_failed_attempt(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(FAILURES) | WEIR_SET_BIT(UNSERVED));
    const struct weir_series *series;

    key.requested = job->asked.request.model;
    put_failure(&key, &event->u.attempt_failed.failure);
    series = find(job, &key);
    ADD(series, failures, 1);
    ADD(series, failure_time, event->u.attempt_failed.duration_ns);
    ADD(series, deployment_failures, 1);
    note_health(series->upstream, true);
    count_bad_chunk(job, event);
}

static void count_refused(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(REFUSALS));

    key.kind = weir_kind_row(event->u.attempt_failed.failure.kind)->name;
    ADD(find(job, &key), attempts_refused, 1);
}

static void count_retry(struct weir_job *job, const struct weir_event *event)
{
    const struct weir_series *series = find_loop(job, event);

    ADD(series, retries, 1);
    ADD(series, retry_waits, event->u.retry.waited_ns);
}

static void count_unpaid(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(BUDGETS));

    key.deployment = WEIR_SLICE_EMPTY;
    key.what = weir_refused_name(event->u.retry_refused.what);
    ADD(find(job, &key), budget_refusals, 1);
}

static void count_hop(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(HOPS));

    key.deployment = WEIR_SLICE_EMPTY;
    key.group = event->u.fallback.source;
    key.other = event->u.fallback.target;
    key.what = weir_hop_name(event->u.fallback.kind);
    ADD(find(job, &key), fallbacks, 1);
    if (event->u.fallback.kind != WEIR_HOP_GROUP)
        return;
    settle_hop(job, event, false);
    job->counts.hop = event->u.fallback.target;
    job->counts.hop_cause = event->u.fallback.cause;
}

static void count_break(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(BREAKS));

    key.flag = event->u.stream_broken.committed;
    ADD(find(job, &key), broken, 1);
    count_bad_chunk(job, event);
}

static void count_cooldown(struct weir_job *job, const struct weir_event *event)
{
    struct weir_series_key key = key_of(job, event, WEIR_SET_BIT(COOLDOWNS) | WEIR_SET_BIT(COOLED));
    const struct weir_series *series;

    key.other = weir_cooldown_rule_name(event->u.cooldown_set.rule);
    put_failure(&key, &event->u.cooldown_set.failure);
    series = find(job, &key);
    ADD(series, cooldowns, 1);
    ADD(series, cooldown_time, event->u.cooldown_set.length_ns);
    ADD(series, cooled_down, 1);
}

static void count_hedged(struct weir_job *job, const struct weir_event *event)
{
    ADD(find_attempt(job, event), hedges, 1);
}

static void count_hedge_lost(struct weir_job *job, const struct weir_event *event)
{
    ADD(find_attempt(job, event), hedges_lost, 1);
}

static void count_cooling_wait(struct weir_job *job, const struct weir_event *event)
{
    ADD(find_loop(job, event), cooling_waits, 1);
}

static void count_recovered(struct weir_job *job, const struct weir_event *event)
{
    ADD(find_loop(job, event), recovered, 1);
}

static void count_continued(struct weir_job *job, const struct weir_event *event)
{
    ADD(find_loop(job, event), continued, 1);
}

static void count_failed(struct weir_job *job, const struct weir_event *event)
{
    settle_hop(job, event, false);
}

/* NULL: it is only counted as an event. */
static void (*const counters[WEIR_EVENT_KINDS])(struct weir_job *job, const struct weir_event *event) = {
    [WEIR_EVENT_ATTEMPT_STARTED] = count_started,
    [WEIR_EVENT_ATTEMPT_FAILED] = count_failed_attempt,
    [WEIR_EVENT_ATTEMPT_REFUSED] = count_refused,
    [WEIR_EVENT_RETRY] = count_retry,
    [WEIR_EVENT_RETRY_REFUSED] = count_unpaid,
    [WEIR_EVENT_FALLBACK] = count_hop,
    [WEIR_EVENT_HEDGED] = count_hedged,
    [WEIR_EVENT_HEDGE_LOST] = count_hedge_lost,
    [WEIR_EVENT_COOLING_WAIT] = count_cooling_wait,
    [WEIR_EVENT_COOLDOWN_SET] = count_cooldown,
    [WEIR_EVENT_STREAM_BROKEN] = count_break,
    [WEIR_EVENT_STREAM_RECOVERED] = count_recovered,
    [WEIR_EVENT_STREAM_CONTINUED] = count_continued,
    [WEIR_EVENT_SUCCEEDED] = count_succeeded,
    [WEIR_EVENT_FAILED] = count_failed};

void weir_count_event(struct weir_job *job, const struct weir_event *event)
{
    weir_cell_add(weir_series_event(&job->worker->series, event->kind), 1);
    if (counters[event->kind] != NULL)
        counters[event->kind](job, event);
}

/* ---- beside calls ---- */

/* Where a seat counts, from the last one backwards; NULL: there is no room. */
static weir_cell *cells_beside(struct weir_metrics *metrics, size_t back, weir_label_set set,
                               const struct weir_label_values *values)
{
    weir_cell *cells;

    if (weir_metrics_cells(metrics, set, values, metrics->seats - back, &cells) == 0)
        return cells;
    weir_metrics_drop(metrics, 1);
    return NULL;
}

static void count_cooldown_outside(struct weir_metrics *metrics, const struct weir_setup *setup,
                                   const struct weir_router_event *event)
{
    const struct weir_series_key key = {
        .sets = WEIR_SET_BIT(COOLDOWNS),
        .setup = setup,
        .group = event->group,
        .deployment = event->deployment,
        .other = weir_cooldown_rule_name(event->rule),
        .kind = event->rule == WEIR_COOLDOWN_BY_HAND ? WEIR_SLICE_EMPTY : weir_kind_row(event->failure)->name,
        .status = (uint16_t)event->status};
    struct weir_label_values values;
    char room[WEIR_SERIES_ROOM];
    weir_cell *cells;

    weir_series_labels(&key, room, &values);
    cells = cells_beside(metrics, 1, WEIR_SET_COOLDOWNS, &values);
    if (cells != NULL) {
        weir_cell_add(&cells[WEIR_OFFSET_cooldowns], 1);
        weir_cell_add(&cells[WEIR_OFFSET_cooldown_time], event->length_ns);
    }
    cells = cells_beside(metrics, 1, WEIR_SET_COOLED, &values);
    if (cells != NULL)
        weir_cell_add(&cells[WEIR_OFFSET_cooled_down], 1);
}

void weir_count_router(struct weir_metrics *metrics, const struct weir_setup *setup,
                       const struct weir_router_event *event)
{
    struct weir_label_values values = {0};
    weir_cell *cells;

    values.of[WEIR_LABEL_event] = weir_router_event_name(event->kind);
    cells = cells_beside(metrics, 1, WEIR_SET_EVENTS, &values);
    if (cells != NULL)
        weir_cell_add(&cells[WEIR_OFFSET_events], 1);
    if (event->kind == WEIR_ROUTER_EVENT_COOLDOWN_SET)
        count_cooldown_outside(metrics, setup, event);
}

void weir_count_redis(struct weir_metrics *metrics, uint64_t took_ns, bool answered)
{
    const struct weir_label_values values = {0};
    weir_cell *cells = cells_beside(metrics, 2, WEIR_SET_REDIS, &values);

    if (cells == NULL)
        return;
    if (answered)
        weir_cell_observe(&cells[WEIR_OFFSET_redis_latency], weir_duration_of(took_ns));
    else
        weir_cell_add(&cells[WEIR_OFFSET_redis_fails], 1);
}

/* ---- ends ---- */

static struct weir_series_key key_of_end(const struct weir_setup *setup, const struct weir_access *access)
{
    struct weir_series_key key = {.sets = WEIR_SET_BIT(CALLS) | WEIR_SET_BIT(PROXY),
                                  .setup = setup,
                                  .requested = access->model,
                                  .group = access->group,
                                  .deployment = access->deployment,
                                  .route = access->route,
                                  .kind = access->kind,
                                  .status = (uint16_t)access->status,
                                  .state = (uint8_t)weir_call_state_of(access),
                                  .flag = access->stream};

    if (key.state == WEIR_CALL_SUCCEEDED)
        key.sets |= WEIR_SET_BIT(LATENCY) | WEIR_SET_BIT(OVERHEAD) | WEIR_SET_BIT(PER_TOKEN) |
                    WEIR_SET_BIT(ATTEMPTS) | WEIR_SET_BIT(SELF);
    if (key.state == WEIR_CALL_FAILED)
        key.sets |= WEIR_SET_BIT(PROXY_FAILED);
    if (key.route.len > 0)
        key.sets |= WEIR_SET_BIT(TIMES);
    if (access->prompt_tokens > 0 || access->completion_tokens > 0)
        key.sets |= WEIR_SET_BIT(USAGE) | WEIR_SET_BIT(TOKENS);
    return key;
}

static void count_usage(const struct weir_series *series, const struct weir_access *access)
{
    ADD(series, prompt_tokens, access->prompt_tokens);
    ADD(series, completion_tokens, access->completion_tokens);
    ADD(series, cost, access->cost);
    ADD(series, input_tokens, access->prompt_tokens);
    ADD(series, output_tokens, access->completion_tokens);
    ADD(series, total_tokens, access->prompt_tokens + access->completion_tokens);
    ADD(series, spend, access->cost);
}

static uint64_t overhead_of(const struct weir_access *access)
{
    return access->duration_ns > access->upstream_ns ? access->duration_ns - access->upstream_ns : 0;
}

/* The durations that several histograms have. */
struct durations {
    struct weir_duration whole;
    struct weir_duration upstream;
    struct weir_duration overhead;
    struct weir_duration queued;
};

static struct durations durations_of(const struct weir_access *access)
{
    return (struct durations){weir_duration_of(access->duration_ns), weir_duration_of(access->upstream_ns),
                              weir_duration_of(overhead_of(access)), weir_duration_of(access->queued_ns)};
}

static void count_success(const struct weir_series *series, const struct weir_access *access,
                          const struct durations *durations, uint64_t first_content_ns)
{
    OBSERVE(series, success_time, durations->upstream);
    OBSERVE(series, total_latency, durations->whole);
    OBSERVE(series, self_latency, durations->whole);
    OBSERVE(series, api_latency, durations->upstream);
    OBSERVE(series, request_queue, durations->queued);
    OBSERVE(series, overhead_latency, durations->overhead);
    if (first_content_ns > 0)
        OBSERVE(series, api_first_token, weir_duration_of(first_content_ns));
    if (access->completion_tokens > 0)
        OBSERVE(series, per_output_token, weir_duration_of(access->upstream_ns / access->completion_tokens));
}

static void count_times(const struct weir_series *series, const struct weir_access *access,
                        const struct durations *durations, bool succeeded)
{
    OBSERVE(series, request_time, durations->whole);
    OBSERVE(series, queue_time, durations->queued);
    if (access->first_ns > 0)
        OBSERVE(series, first_content_time, weir_duration_of(access->first_ns));
    if (succeeded)
        OBSERVE(series, overhead_time, durations->overhead);
}

static void count_end(struct weir_worker *worker, const struct weir_setup *setup,
                      const struct weir_access *access, uint64_t first_content_ns)
{
    const struct weir_series_key key = key_of_end(setup, access);
    const struct weir_series *series = weir_series_find(&worker->series, &key);
    const struct durations durations = durations_of(access);

    ADD(series, requests, 1);
    ADD(series, proxy_requests, 1);
    if (key.state == WEIR_CALL_FAILED)
        ADD(series, proxy_failures, 1);
    if (key.route.len > 0)
        count_times(series, access, &durations, key.state == WEIR_CALL_SUCCEEDED);
    if ((key.sets & WEIR_SET_BIT(USAGE)) != 0)
        count_usage(series, access);
    if (key.state == WEIR_CALL_SUCCEEDED)
        count_success(series, access, &durations, first_content_ns);
}

void weir_count_end(struct weir_job *job)
{
    count_end(job->worker, job->setup, &job->access, job->counts.first_content_ns);
}

void weir_count_headless(struct weir_worker *worker, const struct weir_access *access)
{
    count_end(worker, worker->seat.setup, access, 0);
}

/* ---- what is left of limits ---- */

static void note_remaining(struct weir_upstream *upstream, enum weir_remaining which, struct weir_slice text)
{
    uint64_t value;

    if (weir_slice_u64(text, &value) == 0 && value <= INT64_MAX)
        atomic_store_explicit(&upstream->remaining[which], (int_fast64_t)value, memory_order_relaxed);
}

void weir_count_remaining(struct weir_upstream *upstream, const struct weir_http1_head *head)
{
    struct weir_slice requests = WEIR_SLICE("x-ratelimit-remaining-requests");
    struct weir_slice tokens = WEIR_SLICE("x-ratelimit-remaining-tokens");

    for (size_t i = 0; i < head->field_count; i++) {
        const struct weir_http1_field *field = &head->fields[i];

        if (field->name.len == requests.len && weir_slice_eq_ci(field->name, requests))
            note_remaining(upstream, WEIR_REMAINING_REQUESTS, field->value);
        else if (field->name.len == tokens.len && weir_slice_eq_ci(field->name, tokens))
            note_remaining(upstream, WEIR_REMAINING_TOKENS, field->value);
    }
}
