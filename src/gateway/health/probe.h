/*
 * One probe: a deployment is asked by a request of its own whether it answers, and what comes is judged as
 * any answer is.
 *
 * The probe is embedded in what its owner keeps of it.  All for the loop's thread; done is called from the
 * loop, once, unless the probe is cancelled before.
 */
#ifndef WEIR_GATEWAY_PROBE_H
#define WEIR_GATEWAY_PROBE_H

#include <stdbool.h>

#include <weir/mem.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "base/buf.h"
#include "net/client.h"
#include "net/timer.h"
#include "provider/classify.h"
#include "provider/dialect.h"

struct weir_config_deployment;
struct weir_probe;
struct weir_setup;

typedef enum weir_probe_end {
    WEIR_PROBE_ANSWERED,
    WEIR_PROBE_FAILED,
    WEIR_PROBE_UNKNOWN /* it could not be asked, for reasons of weir's own */
} weir_probe_end;

/* verdict: of FAILED; it lives during the call.  The probe may be freed, or started anew. */
typedef void weir_probe_done_fn(struct weir_probe *probe, weir_probe_end end,
                                const struct weir_verdict *verdict);

/* Everything outlives the probe. */
struct weir_probe_spec {
    weir_loop *loop;
    weir_client *client;
    const struct weir_mem *mem; /* for what the provider sends: that of the budget */
    struct weir_setup *setup;
    const weir_deployment *deployment; /* of its snapshot; its probe is able */
    weir_probe_done_fn *done;
    void *user; /* the owner's */
};

struct weir_probe {
    struct weir_probe_spec spec;
    /* private */
    const struct weir_config_deployment *deployment;
    struct weir_arena arena;
    struct weir_upstream_request built;
    struct weir_fetch_request request;
    struct weir_fetch fetch;
    struct weir_timer timer; /* the limit of its time; of one that asks nobody, its end */
    struct weir_buf body;
    const struct weir_http1_head *head;
    bool simulated;
    bool late;  /* of a simulated one: it would take longer than it may */
    bool fails; /* likewise, by this kind */
    weir_kind kind;
    bool active;
};

void weir_probe_start(struct weir_probe *probe, const struct weir_probe_spec *spec);

/* done is not called any more.  Does nothing to one that is over; accepts a zeroed one. */
void weir_probe_cancel(struct weir_probe *probe);

#endif
