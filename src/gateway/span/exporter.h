/*
 * Sends the spans of calls to a collector, by OTLP over HTTP (config/otlp.h): takes what workers have laid
 * down (calls.h), encodes it and posts it in batches, one at a time.
 *
 * It works by the newest setup that wants traces, also to get rid of what is left when another one does not.
 * For the background thread, on its seat's loop.
 */
#ifndef WEIR_GATEWAY_EXPORTER_H
#define WEIR_GATEWAY_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "gateway/background/post.h"
#include "gateway/seat.h"
#include "gateway/span/batches.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/timer.h"

struct weir_background;

struct weir_exporter {
    struct weir_background *background;
    weir_loop *loop;
    weir_client *client;
    struct weir_setup *setup; /* a reference: by whose settings it sends; NULL: none wanted traces yet */
    bool is_stale;            /* that is not the newest, or has not been looked at */
    struct weir_post_place place;
    bool has_place;
    struct weir_span_batches batches;
    struct weir_buf scratch; /* the spans of one call */
    struct weir_buf lead;    /* of the post: what stands before the batch */
    struct weir_post post;
    struct weir_timer timer; /* the next look at what there is */
    bool is_away;            /* the collector did not take the last batch, and that was told */
    uint64_t end_ns;         /* 0: it goes on */
};

/* On the seat's loop, which outlives it.  0 or negative; weir_exporter_deinit is due in every case. */
WEIR_MUST_USE int weir_exporter_init(struct weir_exporter *ret_exporter, struct weir_background *background);

/* What waits still is lost, and counted.  Accepts a zeroed one, and one that has ended. */
void weir_exporter_deinit(struct weir_exporter *exporter);

/* The seat has another setup, or its first. */
void weir_exporter_follow(struct weir_exporter *exporter);

/* Sends what is left, for a moment at most; then weir_background_ended is called.  No worker may run. */
void weir_exporter_end(struct weir_exporter *exporter);

#endif
