/*
 * The queue of routing events of one call.
 *
 * Events wait until the host pulls them; at most WEIR_EVENTS_MAX wait at once, what comes after is lost.
 */
#ifndef WEIR_ENGINE_EVENT_H
#define WEIR_ENGINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/event.h>

#include "base/arena.h"

enum { WEIR_EVENTS_MAX = 1024 };

struct weir_event_node {
    struct weir_event_node *next;
    struct weir_event event;
    struct weir_candidate *candidates; /* room for so many */
    uint32_t room;
};

struct weir_event_queue {
    struct weir_arena *arena;
    struct weir_event_node *first;
    struct weir_event_node **last; /* where the next one is hung */
    struct weir_event_node *spare;
    size_t waiting;
    struct weir_event lost; /* is written to when there is no room */
};

/* The nodes come from the arena and go with it; the queue does not move afterwards. */
void weir_event_queue_init(struct weir_event_queue *queue, struct weir_arena *arena);

/* A new event at the end, zeroed but for kind and time, to be filled in at once.  Never NULL. */
struct weir_event *weir_event_add(struct weir_event_queue *queue, weir_event_kind kind, uint64_t now_ns);

/*
 * Room for so many candidates, up to WEIR_CANDIDATES_MAX, that stays with the newest event until it was taken
 * and another one is added.  NULL: the event is lost, or there is no memory.
 */
struct weir_candidate *weir_event_room(struct weir_event_queue *queue, struct weir_event *event,
                                       uint32_t count);

/* Takes the first event; false when there is none. */
bool weir_event_take(struct weir_event_queue *queue, struct weir_event *ret_event);

#endif
