/* Nodes that were pulled are used again, so a host that pulls after each step needs a handful of them. */
#include "engine/event.h"

static const struct weir_slice event_names[WEIR_EVENT_KINDS] = {
#define X(event, name, prose) [WEIR_EVENT_##event] = WEIR_SLICE_INIT(name),
#include <weir/tbl/events.h>
#undef X
};

static const struct weir_slice rule_names[] = {
    [WEIR_COOLDOWN_DEPLOYMENT_POLICY] = WEIR_SLICE_INIT("deployment_policy"),
    [WEIR_COOLDOWN_DEPLOYMENT_FAILS] = WEIR_SLICE_INIT("deployment_fails"),
    [WEIR_COOLDOWN_ROUTER_POLICY] = WEIR_SLICE_INIT("router_policy"),
    [WEIR_COOLDOWN_ROUTER_FAILS] = WEIR_SLICE_INIT("router_fails"),
    [WEIR_COOLDOWN_RATE_LIMITED] = WEIR_SLICE_INIT("rate_limited"),
    [WEIR_COOLDOWN_ALL_FAILED] = WEIR_SLICE_INIT("all_failed"),
    [WEIR_COOLDOWN_FAILURE_SHARE] = WEIR_SLICE_INIT("failure_share"),
    [WEIR_COOLDOWN_NOT_RETRYABLE] = WEIR_SLICE_INIT("not_retryable"),
};

struct weir_slice weir_event_name(weir_event_kind kind)
{
    return (unsigned)kind < WEIR_EVENT_KINDS ? event_names[kind] : WEIR_SLICE("unknown");
}

struct weir_slice weir_cooldown_rule_name(weir_cooldown_rule rule)
{
    return (unsigned)rule < sizeof(rule_names) / sizeof(rule_names[0]) ? rule_names[rule]
                                                                       : WEIR_SLICE("unknown");
}

void weir_event_queue_init(struct weir_event_queue *queue, struct weir_arena *arena)
{
    *queue = (struct weir_event_queue){.arena = arena};
    queue->last = &queue->first;
}

static struct weir_event_node *take_node(struct weir_event_queue *queue)
{
    struct weir_event_node *node = queue->spare;

    if (node == NULL)
        return queue->waiting < WEIR_EVENTS_MAX ? weir_arena_alloc(queue->arena, sizeof(*node)) : NULL;
    queue->spare = node->next;
    return node;
}

struct weir_event *weir_event_add(struct weir_event_queue *queue, weir_event_kind kind, uint64_t now_ns)
{
    struct weir_event_node *node = take_node(queue);
    struct weir_event *event = node == NULL ? &queue->lost : &node->event;

    *event = (struct weir_event){.kind = kind, .time_ns = now_ns};
    if (node == NULL)
        return event;
    node->next = NULL;
    *queue->last = node;
    queue->last = &node->next;
    queue->waiting++;
    return event;
}

bool weir_event_take(struct weir_event_queue *queue, struct weir_event *ret_event)
{
    struct weir_event_node *node = queue->first;

    if (node == NULL)
        return false;
    *ret_event = node->event;
    queue->first = node->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    node->next = queue->spare;
    queue->spare = node;
    queue->waiting--;
    return true;
}
