/* What an event of a kind has is what shared.h says; the rest of its members mean nothing. */
#include "gateway/feed/router_event_json.h"

#include "base/slice.h"
#include "gateway/story/event_json.h"

static void put_failure(struct weir_json_writer *writer, const struct weir_router_event *event)
{
    const struct weir_failure failure = {.kind = event->failure, .status = event->status};

    weir_event_json_failure(writer, WEIR_SLICE("failure"), &failure);
}

static void put_cooldown(struct weir_json_writer *writer, const struct weir_router_event *event,
                         uint64_t wall_ns)
{
    bool by_hand = event->kind == WEIR_ROUTER_EVENT_COOLDOWN_SET && event->rule == WEIR_COOLDOWN_BY_HAND;

    if (!by_hand)
        put_failure(writer, event);
    if (event->kind == WEIR_ROUTER_EVENT_COOLDOWN_SET)
        weir_event_json_text(writer, WEIR_SLICE("rule"), weir_cooldown_rule_name(event->rule));
    weir_event_json_s(writer, WEIR_SLICE("length_s"), event->length_ns);
    weir_event_json_time(writer, WEIR_SLICE("until"), wall_ns + event->length_ns);
}

static struct weir_slice by(const struct weir_router_event *event)
{
    return (struct weir_slice){event->by.text, event->by.len};
}

void weir_router_event_json(struct weir_json_writer *writer, const struct weir_router_event *event,
                            uint64_t now_ns, uint64_t wall_ns)
{
    uint64_t then_ns = wall_ns - (now_ns - event->time_ns);

    weir_json_open(writer, '{');
    weir_event_json_time(writer, WEIR_SLICE("time"), then_ns);
    weir_event_json_text(writer, WEIR_SLICE("kind"), weir_router_event_name(event->kind));
    weir_event_json_text(writer, WEIR_SLICE("group"), event->group);
    weir_event_json_text(writer, WEIR_SLICE("deployment"), event->deployment);
    switch (event->kind) {
    case WEIR_ROUTER_EVENT_COOLDOWN_SET:
    case WEIR_ROUTER_EVENT_COOLDOWN_LEARNED:
        put_cooldown(writer, event, then_ns);
        break;
    case WEIR_ROUTER_EVENT_HEALTH_CHANGED:
        weir_json_put_bool_member(writer, WEIR_SLICE("healthy"), event->healthy);
        if (!event->healthy)
            put_failure(writer, event);
        break;
    case WEIR_ROUTER_EVENT_COOLDOWN_LIFTED:
    case WEIR_ROUTER_EVENT_KINDS:
        break;
    }
    weir_event_json_text(writer, WEIR_SLICE("by"), by(event));
    weir_json_close(writer, '}');
}
