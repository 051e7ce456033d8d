/* Nodes that were pulled are used again, so a host that pulls after each step needs a handful of them. */
#include "engine/event.h"

static const struct weir_slice event_names[WEIR_EVENT_KINDS] = {
#define X(event, name, prose) [WEIR_EVENT_##event] = WEIR_SLICE_INIT(name),
#include <weir/tbl/events.h>
#undef X
};

static const struct weir_slice rule_names[WEIR_COOLDOWN_RULES] = {
#define X(rule, name, prose) [WEIR_COOLDOWN_##rule] = WEIR_SLICE_INIT(name),
#include <weir/tbl/cooldown_rules.h>
#undef X
};

struct weir_slice weir_event_name(weir_event_kind kind)
{
    return (unsigned)kind < WEIR_EVENT_KINDS ? event_names[kind] : WEIR_SLICE("unknown");
}

struct weir_slice weir_cooldown_rule_name(weir_cooldown_rule rule)
{
    return (unsigned)rule < WEIR_COOLDOWN_RULES ? rule_names[rule] : WEIR_SLICE("unknown");
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
