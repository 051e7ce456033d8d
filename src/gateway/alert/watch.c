/*
 * Each look tells of the calls that have passed the threshold since the look before it, so that none is told
 * of twice and no call needs a mark.
 */
#include "gateway/alert/watch.h"

#include "base/container.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/alert/alerts.h"
#include "gateway/attempt/upcall.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/worker.h"

#define LOOK_MIN_NS (50 * WEIR_NS_PER_MS)
#define LOOK_MAX_NS (5 * WEIR_NS_PER_S)

enum { LOOKS = 16 }; /* within the threshold */

static uint64_t threshold_of(const struct weir_alert_watch *watch)
{
    return watch->worker->seat.setup->config->settings.alert_threshold_ns;
}

static bool is_wanted(const struct weir_alert_watch *watch)
{
    return (watch->worker->seat.setup->config->alerts.types & WEIR_ALERT_BIT(WEIR_ALERT_TYPE_HANGING)) != 0;
}

static void arm(struct weir_alert_watch *watch)
{
    uint64_t gap_ns = threshold_of(watch) / LOOKS;

    if (gap_ns < LOOK_MIN_NS)
        gap_ns = LOOK_MIN_NS;
    if (gap_ns > LOOK_MAX_NS)
        gap_ns = LOOK_MAX_NS;
    weir_loop_arm(watch->worker->loop, &watch->timer, weir_time_add(watch->looked_ns, gap_ns));
}

static void tell(struct weir_alert_watch *watch, const struct weir_job *job, uint64_t now_ns)
{
    const struct weir_config_deployment *deployment =
        job->attempts == NULL ? NULL : job->attempts->deployment;
    struct weir_alert_signal signal = {
        .kind = WEIR_ALERT_HANGING, .time_ns = now_ns, .length_ns = now_ns - job->begun_ns};

    if (deployment == NULL)
        return;
    weir_alert_name_set(&signal.group, deployment->group);
    weir_alert_name_set(&signal.other, deployment->id);
    weir_alert_name_set(&signal.call_id, job->access.call_id);
    weir_alerts_tell(&watch->worker->gateway->alerts, &signal);
}

/* Whether it has passed the threshold since the last look. */
static bool is_late(const struct weir_job *job, uint64_t threshold_ns, uint64_t looked_ns, uint64_t now_ns)
{
    uint64_t late_ns = weir_time_add(job->begun_ns, threshold_ns);

    return job->call != NULL && !job->over && late_ns > looked_ns && late_ns <= now_ns;
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_alert_watch *watch = WEIR_CONTAINER(timer, struct weir_alert_watch, timer);
    uint64_t now_ns = weir_loop_now(watch->worker->loop);

    for (const struct weir_job *job = watch->worker->jobs; job != NULL; job = job->next)
        if (is_late(job, threshold_of(watch), watch->looked_ns, now_ns))
            tell(watch, job, now_ns);
    watch->looked_ns = now_ns;
    arm(watch);
}

void weir_alert_watch_init(struct weir_alert_watch *ret_watch, struct weir_worker *worker)
{
    *ret_watch = (struct weir_alert_watch){.worker = worker, .looked_ns = weir_loop_now(worker->loop)};
    weir_timer_init(&ret_watch->timer, on_timer);
    weir_alert_watch_follow(ret_watch);
}

void weir_alert_watch_follow(struct weir_alert_watch *watch)
{
    if (!is_wanted(watch)) {
        weir_loop_cancel(watch->worker->loop, &watch->timer);
        return;
    }
    if (!weir_timer_armed(&watch->timer))
        watch->looked_ns = weir_loop_now(watch->worker->loop);
    arm(watch);
}

void weir_alert_watch_stop(struct weir_alert_watch *watch)
{
    if (watch->worker != NULL)
        weir_loop_cancel(watch->worker->loop, &watch->timer);
}
