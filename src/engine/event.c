/* Nodes that were pulled are used again, so a host that pulls after each step needs a handful of them. */
#include "engine/event.h"

#include "base/container.h"

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

static const struct weir_slice hop_names[WEIR_HOP_KINDS] = {
#define X(hop, name, prose) [WEIR_HOP_##hop] = WEIR_SLICE_INIT(name),
#include <weir/tbl/hop_kinds.h>
#undef X
};

static const struct weir_slice refused_names[WEIR_REFUSED_KINDS] = {
#define X(what, name, prose) [WEIR_REFUSED_##what] = WEIR_SLICE_INIT(name),
#include <weir/tbl/refused.h>
#undef X
};

struct weir_slice weir_event_name(weir_event_kind kind)
{
    return (unsigned)kind < WEIR_EVENT_KINDS ? event_names[kind] : WEIR_SLICE("unknown");
}

static const struct weir_slice fate_names[WEIR_FATES] = {
#define X(fate, name, prose) [WEIR_FATE_##fate] = WEIR_SLICE_INIT(name),
#include <weir/tbl/fates.h>
#undef X
};

static const struct weir_slice purpose_names[WEIR_PICK_PURPOSES] = {
#define X(purpose, name, prose) [WEIR_PICK_FOR_##purpose] = WEIR_SLICE_INIT(name),
#include <weir/tbl/pick_purposes.h>
#undef X
};

struct weir_slice weir_fate_name(weir_fate fate)
{
    return (unsigned)fate < WEIR_FATES ? fate_names[fate] : WEIR_SLICE("unknown");
}

struct weir_slice weir_pick_purpose_name(weir_pick_purpose purpose)
{
    return (unsigned)purpose < WEIR_PICK_PURPOSES ? purpose_names[purpose] : WEIR_SLICE("unknown");
}

struct weir_slice weir_cooldown_rule_name(weir_cooldown_rule rule)
{
    return (unsigned)rule < WEIR_COOLDOWN_RULES ? rule_names[rule] : WEIR_SLICE("unknown");
}

struct weir_slice weir_hop_name(weir_hop_kind kind)
{
    return (unsigned)kind < WEIR_HOP_KINDS ? hop_names[kind] : WEIR_SLICE("unknown");
}

struct weir_slice weir_refused_name(weir_refused what)
{
    return (unsigned)what < WEIR_REFUSED_KINDS ? refused_names[what] : WEIR_SLICE("unknown");
}

void weir_event_queue_init(struct weir_event_queue *queue, struct weir_arena *arena)
{
    *queue = (struct weir_event_queue){.arena = arena};
    queue->last = &queue->first;
}

static struct weir_event_node *take_node(struct weir_event_queue *queue)
{
    struct weir_event_node *node = queue->spare;

    if (node != NULL) {
        queue->spare = node->next;
        return node;
    }
    node = queue->waiting < WEIR_EVENTS_MAX ? weir_arena_alloc(queue->arena, sizeof(*node)) : NULL;
    if (node != NULL) {
        node->candidates = NULL;
        node->room = 0;
    }
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

struct weir_candidate *weir_event_room(struct weir_event_queue *queue, struct weir_event *event,
                                       uint32_t count)
{
    struct weir_event_node *node;

    if (event == &queue->lost)
        return NULL;
    node = WEIR_CONTAINER(event, struct weir_event_node, event);
    if (node->room >= count)
        return node->candidates;
    node->candidates = weir_arena_alloc(queue->arena, count * sizeof(*node->candidates));
    node->room = node->candidates == NULL ? 0 : count;
    return node->candidates;
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
