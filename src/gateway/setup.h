/*
 * All that follows from one configuration: the configuration itself, its snapshot, what is kept for each of
 * its deployments, and what is worked out from it once.
 *
 * Made on the main thread, whole, before any thread sees it; never changed afterwards but for what is atomic
 * or locks by itself.  Reference counted: each thread that works by it holds one reference (seat.h), however
 * many requests do.  The last one out only lays it into the graves, since taking a large configuration down
 * takes longer than a request may wait; the main thread does that.
 */
#ifndef WEIR_GATEWAY_SETUP_H
#define WEIR_GATEWAY_SETUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/snapshot.h>

#include "gateway/attempt/upstream.h"
#include "gateway/prompts.h"
#include "gateway/request/asked.h"
#include "net/loop.h"

struct weir_config;
struct weir_setup;
struct weir_trust;

/* Setups that nobody uses any more. */
struct weir_graves {
    _Atomic(struct weir_setup *) top;
    weir_loop *loop; /* whose thread buries them; NULL: whoever takes the graves down */
    struct weir_loop_task task;
};

/* Work of one thread by a setup; each in a cache line of its own. */
struct weir_setup_use {
    size_t jobs;
    char apart[64 - sizeof(size_t)];
};

struct weir_setup {
    const struct weir_mem *mem;
    struct weir_config *config;
    weir_snapshot *snapshot; /* the configuration's */
    struct weir_upstreams upstreams;
    struct weir_asked_rules rules;
    struct weir_prompts prompts;
    bool has_patterns;  /* some group's name holds a "*" */
    bool hedges;        /* some group does, or a request may */
    bool keeps_stories; /* of calls, for whoever asks or is sent them later */
    /* private */
    atomic_size_t refs;
    struct weir_graves *graves;
    struct weir_setup *below;    /* in the graves */
    struct weir_setup_use *uses; /* one a seat, of which the seat's thread alone knows */
    size_t seats;
};

enum { WEIR_SETUP_TEXT_MAX = WEIR_UPSTREAMS_TEXT_MAX };

/* The configuration cannot be served by: text says why, for a person. */
#define WEIR_SETUP_REFUSED 1

/* What a setup is made with. */
struct weir_setup_plan {
    const struct weir_mem *mem;
    struct weir_config *config;      /* becomes the setup's; on failure it is freed */
    const struct weir_setup *before; /* whose place it takes: what was learned by it is kept; NULL: none */
    struct weir_trust *trust;        /* outlives it, as do the graves */
    struct weir_graves *graves;
    size_t seats; /* threads that may work by it */
};

/* 0 with one reference, WEIR_SETUP_REFUSED with a NUL-terminated text, or negative. */
WEIR_MUST_USE int weir_setup_new(const struct weir_setup_plan *plan, char text[WEIR_SETUP_TEXT_MAX],
                                 struct weir_setup **ret_setup);

/* Thread-safe, both.  unref accepts NULL. */
struct weir_setup *weir_setup_ref(struct weir_setup *setup);
void weir_setup_unref(struct weir_setup *setup);

/* loop: may be NULL; it lives until the graves are taken down, or all setups are. */
void weir_graves_init(struct weir_graves *ret_graves, weir_loop *loop);

/* Frees what lies in them, on the calling thread; after the last use of any setup.  Accepts zeroed ones. */
void weir_graves_deinit(struct weir_graves *graves);

#endif
