/*
 * The cells that a thread counts in, found again by what is at hand when something happens.
 *
 * A series is a group of blocks, one for each of the sets that the same happening concerns; its labels are
 * worked out once, when it is made, from the deployment and the rest of the key.  Each thread keeps a few
 * hundred of them, so that counting costs one look-up and the additions; what is found no more is made anew,
 * which takes a lock.
 */
#ifndef WEIR_GATEWAY_METRICS_SERIES_H
#define WEIR_GATEWAY_METRICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/event.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "gateway/metrics/registry.h"
#include "gateway/metrics/table.h"

struct weir_setup;
struct weir_upstream;

/*
 * What has happened, as far as labels tell it.  Texts that are empty are not known.  Those that live as long
 * as the setup are told apart by where they stand.
 */
struct weir_series_key {
    uint32_t sets; /* WEIR_SET_BITs */
    const struct weir_setup *setup;
    struct weir_slice requested;  /* the name that was asked for */
    struct weir_slice group;      /* as events have it; of a hop, the one that was left */
    struct weir_slice other;      /* of a hop, the target; of a cooldown, the rule */
    struct weir_slice deployment; /* id; lives as long as the setup, and the next three for ever */
    struct weir_slice route;
    struct weir_slice kind; /* of the failure */
    struct weir_slice what; /* kind of hop; what was not paid for */
    uint16_t status;
    uint8_t state; /* weir_call_state */
    bool flag;     /* streamed; of a break: committed */
};

struct weir_series {
    struct weir_series_key key; /* texts that do not last stand behind it */
    uint64_t hash;
    size_t bytes;
    struct weir_upstream *upstream; /* of the key's deployment; NULL: none.  Lives as long as the setup */
    uint64_t missing;               /* sets that found no room */
    weir_cell *cells[WEIR_SETS];    /* of the key's sets; never NULL there: see spill */
};

enum { WEIR_SERIES_SLOTS = 128, WEIR_SERIES_WAYS = 4 };

/* Of one thread. */
struct weir_series_cache {
    struct weir_metrics *metrics;
    size_t seat;
    struct weir_series *(*slots)[WEIR_SERIES_WAYS]; /* NULL: nothing was looked up so far */
    unsigned turn;                                  /* which way is given up next */
    weir_cell *events[WEIR_EVENT_KINDS];            /* NULL: not met yet */
    struct weir_series none;                        /* where there is no memory for a series */
    weir_cell spill[WEIR_CELLS];                    /* counted in vain: there was no room */
};

/* The cells of one metric in a series. */
#define WEIR_SERIES_CELL(series, id) ((series)->cells[WEIR_SET_OF_##id] + WEIR_OFFSET_##id)

void weir_series_init(struct weir_series_cache *ret_cache, struct weir_metrics *metrics, size_t seat);

/* Accepts a zeroed one. */
void weir_series_deinit(struct weir_series_cache *cache);

/* Another setup holds for the thread: series of the one before are not kept. */
void weir_series_forget(struct weir_series_cache *cache);

/* Never NULL.  Lives until the next call; the cells live as long as the metrics. */
const struct weir_series *weir_series_find(struct weir_series_cache *cache,
                                           const struct weir_series_key *key);

/* The cell that counts events of the kind. */
weir_cell *weir_series_event(struct weir_series_cache *cache, weir_event_kind kind);

/* What a deployment tells of itself: its names and its place.  Values live as long as its configuration. */
void weir_place_labels(const weir_deployment *deployment, struct weir_label_values *values);

/* What the labels of a key are; values point into the key, the setup, or room. */
enum { WEIR_SERIES_ROOM = 128 };
void weir_series_labels(const struct weir_series_key *key, char room[WEIR_SERIES_ROOM],
                        struct weir_label_values *ret_values);

#endif
