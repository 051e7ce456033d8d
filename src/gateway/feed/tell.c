/* One text serves both, composed in the lane's room: the log takes it with a line feed, the feed without. */
#include "gateway/feed/tell.h"

#include "base/slice.h"
#include "base/time.h"
#include "gateway/feed/feed.h"
#include "gateway/feed/router_event_json.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/story/event_json.h"
#include "gateway/worker.h"

static bool is_wanted(const struct weir_gateway *gateway)
{
    return weir_feed_is_heard(&gateway->feed) || weir_log_is_on(gateway->log, WEIR_LOG_EVENTS);
}

/* One that is too long is counted as a dropped line; on the feed it is missing. */
static void tell(struct weir_gateway *gateway, size_t lane, size_t kind,
                 const struct weir_json_writer *writer)
{
    struct weir_slice text;

    if (weir_json_writer_end(writer) < 0 || weir_buf_append(writer->buf, WEIR_SLICE("\n")) < 0) {
        weir_log_lose(gateway->log, WEIR_LOG_EVENTS, lane);
        return;
    }
    text = weir_buf_slice(writer->buf);
    weir_log_put(gateway->log, WEIR_LOG_EVENTS, lane, text);
    if (weir_feed_is_heard(&gateway->feed))
        weir_feed_publish(&gateway->feed, kind, weir_slice_sub(text, 0, text.len - 1));
}

void weir_tell_event(struct weir_job *job, const struct weir_event *event)
{
    struct weir_gateway *gateway = job->worker->gateway;
    struct weir_event_place place;
    struct weir_json_writer writer;

    if (!is_wanted(gateway))
        return;
    place = (struct weir_event_place){.wall_ns = weir_loop_wall_ns(job->worker->loop),
                                      .at_ns = weir_job_now(job),
                                      .call_id = job->access.call_id,
                                      .clock = &job->worker->clock};
    weir_json_writer_init(&writer, weir_log_room(gateway->log, job->worker->index));
    weir_event_json(&writer, event, &place);
    tell(gateway, job->worker->index, event->kind, &writer);
}

void weir_tell_router_event(struct weir_gateway *gateway, const struct weir_router_event *event,
                            uint64_t now_ns, uint64_t wall_ns)
{
    const size_t lane = gateway->workers;
    struct weir_json_writer writer;

    if (!is_wanted(gateway))
        return;
    weir_json_writer_init(&writer, weir_log_room(gateway->log, lane));
    weir_router_event_json(&writer, event, now_ns, wall_ns);
    tell(gateway, lane, WEIR_EVENT_KINDS + (size_t)event->kind, &writer);
}
