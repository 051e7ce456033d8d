/* One text serves both, composed in the lane's room: the log takes it with a line feed, the feed without. */
#include "gateway/feed/tell.h"

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/feed/feed.h"
#include "gateway/feed/router_event_json.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/story/event_json.h"
#include "gateway/worker.h"

/* What calls have that nothing happens to; the access log tells of these calls already. */
static bool is_routine(weir_event_kind kind)
{
    return kind == WEIR_EVENT_PICKED || kind == WEIR_EVENT_ATTEMPT_STARTED || kind == WEIR_EVENT_SUCCEEDED;
}

static bool is_logged(const struct weir_job *job, weir_event_kind kind)
{
    return weir_log_is_on(job->worker->gateway->log, WEIR_LOG_EVENTS) &&
           (!is_routine(kind) || job->setup->config->settings.event_log_routine);
}

/* One that is too long is counted as a dropped line; on the feed it is missing. */
static void tell(struct weir_gateway *gateway, size_t lane, size_t kind, bool logged,
                 const struct weir_json_writer *writer)
{
    struct weir_slice text;

    if (weir_json_writer_end(writer) < 0 || weir_buf_append(writer->buf, WEIR_SLICE("\n")) < 0) {
        weir_log_lose(gateway->log, WEIR_LOG_EVENTS, lane);
        return;
    }
    text = weir_buf_slice(writer->buf);
    if (logged)
        weir_log_put(gateway->log, WEIR_LOG_EVENTS, lane, text);
    if (weir_feed_is_heard(&gateway->feed))
        weir_feed_publish(&gateway->feed, kind, weir_slice_sub(text, 0, text.len - 1));
}

void weir_tell_event(struct weir_job *job, const struct weir_event *event)
{
    struct weir_gateway *gateway = job->worker->gateway;
    bool logged = is_logged(job, event->kind);
    struct weir_event_place place;
    struct weir_json_writer writer;

    if (!logged && !weir_feed_is_heard(&gateway->feed))
        return;
    place = (struct weir_event_place){.wall_ns = weir_loop_wall_ns(job->worker->loop),
                                      .at_ns = weir_job_now(job),
                                      .call_id = job->access.call_id,
                                      .clock = &job->worker->clock};
    weir_json_writer_init(&writer, weir_log_room(gateway->log, job->worker->index));
    weir_event_json(&writer, event, &place);
    tell(gateway, job->worker->index, event->kind, logged, &writer);
}

void weir_tell_router_event(struct weir_gateway *gateway, const struct weir_router_event *event,
                            uint64_t now_ns, uint64_t wall_ns)
{
    const size_t lane = gateway->workers;
    bool logged = weir_log_is_on(gateway->log, WEIR_LOG_EVENTS);
    struct weir_json_writer writer;

    if (!logged && !weir_feed_is_heard(&gateway->feed))
        return;
    weir_json_writer_init(&writer, weir_log_room(gateway->log, lane));
    weir_router_event_json(&writer, event, now_ns, wall_ns);
    tell(gateway, lane, WEIR_EVENT_KINDS + (size_t)event->kind, logged, &writer);
}
