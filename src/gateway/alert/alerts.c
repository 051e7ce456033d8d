/*
 * The queue is a ring under a lock.  Invariant: while it is not empty the task is posted or runs, and it is
 * never posted twice: whoever puts something in posts it, unless it is in the loop's queue still.
 */
#include "gateway/alert/alerts.h"

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/worker.h"

void weir_alerts_init(struct weir_alerts *ret_alerts, const struct weir_mem *mem)
{
    ret_alerts->mem = mem;
    ret_alerts->signals = NULL;
    ret_alerts->first = ret_alerts->count = 0;
    ret_alerts->loop = NULL;
    ret_alerts->task = NULL;
    ret_alerts->posted = ret_alerts->missed = false;
    atomic_init(&ret_alerts->wanted, 0);
    atomic_init(&ret_alerts->threshold_ns, 0);
    for (size_t kind = 0; kind < WEIR_ALERT_KINDS; kind++)
        for (size_t outcome = 0; outcome < WEIR_ALERT_OUTCOMES; outcome++)
            atomic_init(&ret_alerts->counts[kind][outcome], 0);
    (void)pthread_mutex_init(&ret_alerts->lock, NULL);
}

void weir_alerts_deinit(struct weir_alerts *alerts)
{
    if (alerts->mem == NULL)
        return;
    if (alerts->signals != NULL)
        alerts->mem->free(alerts->mem->user, alerts->signals,
                          WEIR_ALERT_SIGNALS_MAX * sizeof(*alerts->signals));
    (void)pthread_mutex_destroy(&alerts->lock);
    alerts->mem = NULL;
}

/* ---- counts ---- */

void weir_alerts_note(struct weir_alerts *alerts, weir_alert_kind kind, weir_alert_outcome outcome)
{
    atomic_fetch_add_explicit(&alerts->counts[kind][outcome], 1, memory_order_relaxed);
}

uint64_t weir_alerts_count(const struct weir_alerts *alerts, weir_alert_kind kind, weir_alert_outcome outcome)
{
    return atomic_load_explicit(&alerts->counts[kind][outcome], memory_order_relaxed);
}

uint64_t weir_alerts_total(const struct weir_alerts *alerts, weir_alert_outcome outcome)
{
    uint64_t total = 0;

    for (size_t kind = 0; kind < WEIR_ALERT_KINDS; kind++)
        total += weir_alerts_count(alerts, (weir_alert_kind)kind, outcome);
    return total;
}

/* ---- the queue ---- */

int weir_alerts_attach(struct weir_alerts *alerts, weir_loop *loop, struct weir_loop_task *task)
{
    struct weir_alert_signal *signals = alerts->signals;

    if (signals == NULL)
        signals = alerts->mem->alloc(alerts->mem->user, WEIR_ALERT_SIGNALS_MAX * sizeof(*signals));
    if (signals == NULL)
        return WEIR_ERR_NOMEM;
    (void)pthread_mutex_lock(&alerts->lock);
    alerts->signals = signals;
    alerts->loop = loop;
    alerts->task = task;
    alerts->count = 0;
    alerts->posted = alerts->missed = false;
    (void)pthread_mutex_unlock(&alerts->lock);
    return 0;
}

void weir_alerts_detach(struct weir_alerts *alerts)
{
    weir_alerts_want(alerts, 0, 0);
    (void)pthread_mutex_lock(&alerts->lock);
    alerts->loop = NULL;
    (void)pthread_mutex_unlock(&alerts->lock);
}

void weir_alerts_want(struct weir_alerts *alerts, uint32_t types, uint64_t threshold_ns)
{
    atomic_store_explicit(&alerts->threshold_ns, threshold_ns, memory_order_relaxed);
    atomic_store_explicit(&alerts->wanted, types, memory_order_relaxed);
}

/* Of a cooldown the news may be an outage too. */
static uint32_t types_of(weir_alert_kind kind)
{
    uint32_t types = WEIR_ALERT_BIT(weir_alert_kind_row(kind)->type);

    return kind == WEIR_ALERT_COOLDOWN ? types | WEIR_ALERT_BIT(WEIR_ALERT_TYPE_OUTAGE) : types;
}

static bool is_wanted(const struct weir_alerts *alerts, weir_alert_kind kind)
{
    return (atomic_load_explicit(&alerts->wanted, memory_order_relaxed) & types_of(kind)) != 0;
}

static bool put(struct weir_alerts *alerts, const struct weir_alert_signal *signal)
{
    if (alerts->loop == NULL || alerts->count == WEIR_ALERT_SIGNALS_MAX)
        return false;
    alerts->signals[(alerts->first + alerts->count) % WEIR_ALERT_SIGNALS_MAX] = *signal;
    alerts->count++;
    if (!alerts->posted)
        weir_loop_post(alerts->loop, alerts->task);
    alerts->posted = true;
    return true;
}

void weir_alerts_tell(struct weir_alerts *alerts, const struct weir_alert_signal *signal)
{
    bool taken;

    if (!is_wanted(alerts, signal->kind))
        return;
    (void)pthread_mutex_lock(&alerts->lock);
    taken = put(alerts, signal);
    alerts->missed |= !taken && signal->kind == WEIR_ALERT_COOLDOWN;
    (void)pthread_mutex_unlock(&alerts->lock);
    if (!taken)
        weir_alerts_note(alerts, signal->kind, WEIR_ALERT_OUTCOME_DROPPED);
}

void weir_alerts_begin(struct weir_alerts *alerts)
{
    (void)pthread_mutex_lock(&alerts->lock);
    alerts->posted = false;
    (void)pthread_mutex_unlock(&alerts->lock);
}

bool weir_alerts_take(struct weir_alerts *alerts, struct weir_alert_signal *ret_signal)
{
    bool any;

    (void)pthread_mutex_lock(&alerts->lock);
    any = alerts->count > 0;
    if (any) {
        *ret_signal = alerts->signals[alerts->first];
        alerts->first = (alerts->first + 1) % WEIR_ALERT_SIGNALS_MAX;
        alerts->count--;
    }
    (void)pthread_mutex_unlock(&alerts->lock);
    return any;
}

bool weir_alerts_missed(struct weir_alerts *alerts)
{
    bool missed;

    (void)pthread_mutex_lock(&alerts->lock);
    missed = alerts->missed;
    alerts->missed = false;
    (void)pthread_mutex_unlock(&alerts->lock);
    return missed;
}

/* ---- what is seen ---- */

static void tell_cooldown(struct weir_alerts *alerts, const struct weir_event *event)
{
    struct weir_alert_signal signal = {.kind = WEIR_ALERT_COOLDOWN,
                                       .time_ns = event->time_ns,
                                       .length_ns = event->u.cooldown_set.length_ns,
                                       .failure = event->u.cooldown_set.failure.kind,
                                       .status = event->u.cooldown_set.failure.status,
                                       .rule = event->u.cooldown_set.rule};

    weir_alert_name_set(&signal.group, event->group);
    weir_alert_name_set(&signal.other, event->deployment);
    weir_alerts_tell(alerts, &signal);
}

static void tell_fallback(struct weir_alerts *alerts, const struct weir_event *event)
{
    struct weir_alert_signal signal = {.kind = WEIR_ALERT_STORM, .time_ns = event->time_ns};

    if (event->u.fallback.kind != WEIR_HOP_GROUP)
        return;
    weir_alert_name_set(&signal.group, event->u.fallback.source);
    weir_alert_name_set(&signal.other, event->u.fallback.target);
    weir_alerts_tell(alerts, &signal);
}

/* Of the caller's making: nobody else can mend it. */
static bool is_callers(weir_kind kind)
{
    switch (kind) {
    case WEIR_KIND_BAD_REQUEST:
    case WEIR_KIND_UNSUPPORTED_PARAMS:
    case WEIR_KIND_CONTEXT_WINDOW:
    case WEIR_KIND_CONTENT_POLICY:
    case WEIR_KIND_UNPROCESSABLE:
    case WEIR_KIND_GUARDRAIL:
        return true;
    case WEIR_KIND_AUTH:
    case WEIR_KIND_PERMISSION:
    case WEIR_KIND_NOT_FOUND:
    case WEIR_KIND_TIMEOUT:
    case WEIR_KIND_RATE_LIMIT:
    case WEIR_KIND_INTERNAL:
    case WEIR_KIND_BAD_GATEWAY:
    case WEIR_KIND_SERVICE_UNAVAILABLE:
    case WEIR_KIND_CONNECTION:
    case WEIR_KIND_API_ERROR:
    case WEIR_KIND_COUNT:
        break;
    }
    return false;
}

/* What a provider did, and that nobody was there to be asked; not what callers limit, or drop. */
static bool is_told(const struct weir_failure *failure)
{
    if (failure->origin == WEIR_ORIGIN_ROUTER)
        return failure->status == 429 || failure->status >= 500;
    return failure->origin == WEIR_ORIGIN_PROVIDER && !is_callers(failure->kind);
}

static void tell_failed(struct weir_alerts *alerts, const struct weir_job *job,
                        const struct weir_event *event)
{
    const struct weir_failure *failure = &event->u.failed.failure;
    struct weir_alert_signal signal = {.kind = WEIR_ALERT_FAILED,
                                       .time_ns = event->time_ns,
                                       .length_ns = event->time_ns - job->begun_ns,
                                       .failure = failure->kind,
                                       .status = failure->status};

    if (!is_told(failure))
        return;
    weir_alert_name_set(&signal.group, event->group);
    weir_alert_name_set(&signal.other, event->deployment);
    weir_alert_name_set(&signal.call_id, job->access.call_id);
    weir_alerts_tell(alerts, &signal);
}

void weir_alerts_event(struct weir_job *job, const struct weir_event *event)
{
    struct weir_alerts *alerts = &job->worker->gateway->alerts;

    if (event->kind == WEIR_EVENT_COOLDOWN_SET && is_wanted(alerts, WEIR_ALERT_COOLDOWN))
        tell_cooldown(alerts, event);
    else if (event->kind == WEIR_EVENT_FALLBACK && is_wanted(alerts, WEIR_ALERT_STORM))
        tell_fallback(alerts, event);
    else if (event->kind == WEIR_EVENT_FAILED && is_wanted(alerts, WEIR_ALERT_FAILED))
        tell_failed(alerts, job, event);
}

static void tell_slow(struct weir_alerts *alerts, const struct weir_job *job)
{
    const struct weir_access *access = &job->access;
    struct weir_alert_signal signal = {
        .kind = WEIR_ALERT_SLOW, .time_ns = weir_job_now(job), .length_ns = access->duration_ns};

    weir_alert_name_set(&signal.group, access->group);
    weir_alert_name_set(&signal.other, access->deployment);
    weir_alert_name_set(&signal.call_id, access->call_id);
    weir_alerts_tell(alerts, &signal);
}

void weir_alerts_end(struct weir_job *job)
{
    struct weir_alerts *alerts = &job->worker->gateway->alerts;

    if (is_wanted(alerts, WEIR_ALERT_SLOW) && job->call != NULL && job->access.status < 400 &&
        job->access.duration_ns > atomic_load_explicit(&alerts->threshold_ns, memory_order_relaxed))
        tell_slow(alerts, job);
}

void weir_alerts_router(struct weir_alerts *alerts, const struct weir_router_event *event)
{
    struct weir_alert_signal signal = {.kind = WEIR_ALERT_COOLDOWN,
                                       .time_ns = event->time_ns,
                                       .length_ns = event->length_ns,
                                       .failure = event->failure,
                                       .status = event->status,
                                       .rule = event->rule,
                                       .by = event->by};

    /* Of what another process has set that one tells. */
    if (event->kind != WEIR_ROUTER_EVENT_COOLDOWN_SET)
        return;
    weir_alert_name_set(&signal.group, event->group);
    weir_alert_name_set(&signal.other, event->deployment);
    weir_alerts_tell(alerts, &signal);
}
