/* One small function for each reading, found by its number. */
#include "gateway/metrics/readings.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weir/router.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/alert/alerts.h"
#include "gateway/attempt/upstream.h"
#include "gateway/gateway.h"
#include "gateway/metrics/series.h"
#include "gateway/process/reload.h"
#include "gateway/setup.h"
#include "provider/endpoint.h"

/* What is asked: of the process, or of one deployment. */
struct asked {
    const struct weir_reading_source *source;
    struct weir_gateway *gateway;
    const struct weir_upstream *upstream; /* of the deployment, with the next one */
    struct weir_live_view live;
};

typedef bool read_fn(const struct asked *asked, uint64_t *ret_value);

/* ---- deployments ---- */

static bool is_cooling(const struct asked *asked)
{
    return asked->live.cooldown_until_ns > asked->source->now_ns;
}

static bool read_deployment_state(const struct asked *asked, uint64_t *ret_value)
{
    bool failing = atomic_load_explicit(&asked->upstream->failing, memory_order_relaxed);

    *ret_value = is_cooling(asked) ? 2 : failing ? 1 : 0;
    return true;
}

static bool read_limit(uint64_t limit, uint64_t *ret_value)
{
    *ret_value = limit;
    return limit != WEIR_UNSET_NS;
}

static bool read_tpm_limit(const struct asked *asked, uint64_t *ret_value)
{
    return read_limit(weir_deployment_minute_limits(asked->source->deployment)->tokens, ret_value);
}

static bool read_rpm_limit(const struct asked *asked, uint64_t *ret_value)
{
    return read_limit(weir_deployment_minute_limits(asked->source->deployment)->requests, ret_value);
}

static bool read_remaining(const struct asked *asked, enum weir_remaining which, uint64_t *ret_value)
{
    int_fast64_t left = atomic_load_explicit(&asked->upstream->remaining[which], memory_order_relaxed);

    *ret_value = left < 0 ? 0 : (uint64_t)left;
    return left >= 0;
}

static bool read_remaining_requests(const struct asked *asked, uint64_t *ret_value)
{
    return read_remaining(asked, WEIR_REMAINING_REQUESTS, ret_value);
}

static bool read_remaining_tokens(const struct asked *asked, uint64_t *ret_value)
{
    return read_remaining(asked, WEIR_REMAINING_TOKENS, ret_value);
}

static bool read_eligible(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->source->eligible ? 1 : 0;
    return true;
}

static bool read_cooldown_left(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = is_cooling(asked) ? asked->live.cooldown_until_ns - asked->source->now_ns : 0;
    return true;
}

static bool read_running(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->live.running;
    return true;
}

static bool read_minute_requests(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->live.minute.requests;
    return true;
}

static bool read_minute_tokens(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->live.minute.tokens;
    return true;
}

static bool read_window_successes(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->live.successes;
    return true;
}

static bool read_window_failures(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->live.failures;
    return true;
}

/* ---- the process ---- */

static bool read_build_info(const struct asked *asked, uint64_t *ret_value)
{
    (void)asked;
    *ret_value = 1;
    return true;
}

static bool read_start_time(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->gateway->started_wall_ns;
    return true;
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * WEIR_NS_PER_S + (uint64_t)time.tv_usec * WEIR_NS_PER_US;
}

static bool read_cpu_time(const struct asked *asked, uint64_t *ret_value)
{
    struct rusage usage;

    (void)asked;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return false;
    *ret_value = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
    return true;
}

/* "pages-in-all pages-resident ..." */
static bool read_resident_memory(const struct asked *asked, uint64_t *ret_value)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    struct weir_slice rest, field;
    bool done = false;
    ssize_t len;

    (void)asked;
    if (fd < 0)
        return false;
    len = read(fd, text, sizeof(text));
    (void)close(fd);
    rest = (struct weir_slice){text, len < 0 ? 0 : (size_t)len};
    if (!weir_slice_cut(&rest, ' ', &done, &field) || !weir_slice_cut(&rest, ' ', &done, &field) ||
        weir_slice_u64(field, ret_value) != 0)
        return false;
    *ret_value *= (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

static bool read_connections(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = atomic_load_explicit(&asked->gateway->connections.connections, memory_order_relaxed);
    return true;
}

static bool read_calls_in_hand(const struct asked *asked, uint64_t *ret_value)
{
    struct weir_admission *admission = &asked->gateway->admission;

    *ret_value = weir_admission_counts(admission).running;
    return admission->max_running > 0;
}

static bool read_calls_waiting(const struct asked *asked, uint64_t *ret_value)
{
    struct weir_admission *admission = &asked->gateway->admission;

    *ret_value = weir_admission_counts(admission).waiting;
    return admission->max_running > 0;
}

static bool read_budget_used(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = weir_budget_used(&asked->gateway->budget);
    return true;
}

static bool read_budget_limit(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = asked->source->setup->config->settings.memory_budget_bytes;
    return true;
}

static bool read_redis_up(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = atomic_load_explicit(&asked->gateway->redis_up, memory_order_relaxed) ? 1 : 0;
    return asked->gateway->shares;
}

static bool read_reloads(const struct asked *asked, uint64_t *ret_value)
{
    const struct weir_reload *reload = asked->gateway->reload;

    *ret_value = reload == NULL ? 0 : atomic_load_explicit(&reload->counts.done, memory_order_relaxed);
    return true;
}

static bool read_reloads_refused(const struct asked *asked, uint64_t *ret_value)
{
    const struct weir_reload *reload = asked->gateway->reload;

    *ret_value = reload == NULL ? 0 : atomic_load_explicit(&reload->counts.refused, memory_order_relaxed);
    return true;
}

static bool read_log_dropped(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = weir_log_dropped(asked->gateway->log, WEIR_LOG_ACCESS);
    return true;
}

static bool read_event_log_dropped(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = weir_log_dropped(asked->gateway->log, WEIR_LOG_EVENTS);
    return true;
}

#define READ_ALERTS(name, outcome)                                                                           \
    static bool read_alerts_##name(const struct asked *asked, uint64_t *ret_value)                           \
    {                                                                                                        \
        *ret_value = weir_alerts_total(&asked->gateway->alerts, WEIR_ALERT_OUTCOME_##outcome);               \
        return true;                                                                                         \
    }

READ_ALERTS(sent, SENT)
READ_ALERTS(failed, FAILED)
READ_ALERTS(repeated, REPEATED)
READ_ALERTS(held_back, HELD_BACK)
READ_ALERTS(dropped, DROPPED)

#define READ_SPANS(name)                                                                                     \
    static bool read_spans_##name(const struct asked *asked, uint64_t *ret_value)                            \
    {                                                                                                        \
        *ret_value = atomic_load_explicit(&asked->gateway->span_calls.counts.name, memory_order_relaxed);    \
        return true;                                                                                         \
    }

READ_SPANS(sent)
READ_SPANS(rejected)
READ_SPANS(refused)
READ_SPANS(dropped)

static bool read_series(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = atomic_load_explicit(&asked->gateway->metrics.row_count, memory_order_relaxed);
    return true;
}

static bool read_dropped_series(const struct asked *asked, uint64_t *ret_value)
{
    *ret_value = atomic_load_explicit(&asked->gateway->metrics.dropped, memory_order_relaxed);
    return true;
}

static read_fn *const readers[WEIR_READINGS] = {
#define READING(of, type, id, name, unit, prose, labels) [WEIR_READING_##id] = read_##id,
#include "gateway/metrics/tbl/metrics.h"
};

bool weir_reading_value(weir_reading reading, const struct weir_reading_source *source, uint64_t *ret_value)
{
    struct asked asked = {.source = source, .gateway = source->gateway};

    if (source->deployment != NULL) {
        const struct weir_config_deployment *config = weir_deployment_user(source->deployment);

        asked.upstream = weir_upstream_of(config->endpoint);
        weir_router_view(source->gateway->router, source->deployment, source->now_ns, &asked.live);
    }
    return readers[reading](&asked, ret_value);
}

void weir_reading_labels(const struct weir_reading_source *source, struct weir_label_values *ret_values)
{
    *ret_values = (struct weir_label_values){0};
    if (source->deployment != NULL)
        weir_place_labels(source->deployment, ret_values);
    else
        ret_values->of[WEIR_LABEL_version] = WEIR_SLICE(WEIR_VERSION);
}
