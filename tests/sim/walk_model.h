/*
 * The fallback walk written down a second time (router-semantics 11): which chain a failed group takes, and
 * which of its targets comes next.
 *
 * The model follows a call by its events and questions; every hop must be to the target that it expects, and
 * a call may fail only when there is no target left.
 */
#ifndef TEST_SIM_WALK_MODEL_H
#define TEST_SIM_WALK_MODEL_H

#include "engine_kit.h"

#define WALK_FRAMES_MAX 16
#define WALK_TRIED_MAX  256

/* A group being served and, once it has failed, its chain. */
struct walk_frame {
    struct weir_slice name;  /* by which it was asked for */
    struct weir_slice group; /* what the name stands for */
    struct weir_slice overrides;
    weir_kind kind;  /* of its latest failure */
    bool is_certain; /* the kind is known: a pick without a result after a wait has no event */
    bool has_chain;
    struct weir_chain chain;
    size_t next;
};

struct walk {
    struct walk_frame frames[WALK_FRAMES_MAX];
    size_t depth;  /* of the frame that is served */
    size_t base;   /* of the frame below which the walk does not go back: the one whose stream broke last */
    bool goes_on;  /* the call is one that broke after content and may be continued ... */
    bool by_chain; /* ... by the chain, too */
    struct {
        struct weir_slice name;
        struct weir_slice overrides;
    } tried[WALK_TRIED_MAX];
    size_t tried_count;
    uint32_t hops;
    bool lost; /* something happened that events do not tell; nothing more is checked */
};

void walk_begin(struct walk *walk, const struct kit_call *call);
/* An attempt began, perhaps one that continues: the group that serves is known. */
void walk_started(struct walk *walk, const struct kit_call *call, const struct weir_start *start);
void walk_failed(struct walk *walk, weir_kind kind);
/* A stream broke after content. */
void walk_broke(struct walk *walk, const struct kit_call *call, const struct kit_deployment *deployment,
                const struct weir_failure *failure);
void walk_waited(struct walk *walk);
/* A hop to another group, compared with the expected one. */
void walk_hop(struct walk *walk, const struct kit_call *call, const struct weir_event *event);
/* The call failed: nothing may be left to try. */
void walk_ended(struct walk *walk, const struct kit_call *call);

#endif
