/*
 * Routing events: what observers (logs, metrics, traces) see of a call.
 *
 * Events are pulled from the call (weir_call_event) and are plain values; their slices live until the call is
 * freed, and those of deployments as long as the snapshot.  The candidates of a Picked event live until the
 * call is told something or asked for a step: whoever keeps them copies them.  At most 1,024 events wait to
 * be pulled; what comes after those is lost.
 */
#ifndef WEIR_EVENT_H
#define WEIR_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/candidate.h>
#include <weir/failure.h>
#include <weir/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_event_kind {
#define X(event, name, prose) WEIR_EVENT_##event,
#include <weir/tbl/events.h>
#undef X
    WEIR_EVENT_KINDS
} weir_event_kind;

/* Why a cooldown was set (router-semantics 15.5). */
typedef enum weir_cooldown_rule {
#define X(rule, name, prose) WEIR_COOLDOWN_##rule,
#include <weir/tbl/cooldown_rules.h>
#undef X
    WEIR_COOLDOWN_RULES
} weir_cooldown_rule;

/* Which way a Fallback event went. */
typedef enum weir_hop_kind {
#define X(hop, name, prose) WEIR_HOP_##hop,
#include <weir/tbl/hop_kinds.h>
#undef X
    WEIR_HOP_KINDS
} weir_hop_kind;

/* What a spent retry budget did not pay for. */
typedef enum weir_refused {
#define X(what, name, prose) WEIR_REFUSED_##what,
#include <weir/tbl/refused.h>
#undef X
    WEIR_REFUSED_KINDS
} weir_refused;

/* What was seen of one attempt's stream. */
struct weir_stream_facts {
    uint64_t first_chunk_ns;     /* since the attempt began; 0: none came */
    uint64_t first_content_ns;   /* since the attempt began; 0: none came */
    uint64_t longest_silence_ns; /* between two chunks, or the last one and the end; pauses left out */
    uint32_t chunks;
    uint32_t deltas; /* content deltas: tokens, where the provider does not tell */
};

struct weir_event {
    weir_event_kind kind;
    uint64_t time_ns;
    uint32_t attempt;             /* 0: none */
    struct weir_slice group;      /* being served */
    struct weir_slice deployment; /* id; empty: none */
    union {
        /* Only where the request has note_candidates.  deployment: the chosen one; empty: nobody. */
        struct {
            weir_pick_purpose purpose;
            struct weir_slice strategy; /* that chose; empty: an id was asked.  Lives for ever */
            /* In the order of the configuration, the chosen one always among them. */
            const struct weir_candidate *candidates;
            uint32_t count;
            uint32_t omitted; /* that the name stands for besides */
        } picked;
        struct {
            struct weir_failure failure;
            bool will_retry;
            uint64_t wait_ns;     /* before the retry */
            uint64_t duration_ns; /* of the attempt */
        } attempt_failed;         /* of ATTEMPT_REFUSED too */
        struct {
            uint32_t number; /* 1 = the first retry */
            uint32_t max;
            uint64_t waited_ns;
        } retry;
        struct {
            weir_refused what;
            uint64_t requests; /* of the deployment's own group, in the last ten seconds ... */
            uint64_t spent;    /* ... and its retries and hedges */
        } retry_refused;
        struct {
            uint64_t waited_ns; /* since the attempt began */
        } hedged;
        struct {
            uint64_t wait_ns;
        } cooling_wait;
        struct {
            uint32_t winner; /* the attempt that has answered */
        } hedge_lost;
        struct {
            weir_hop_kind kind;
            struct weir_slice source;
            struct weir_slice target;
            int32_t order;             /* the tier walked to; WEIR_UNSET_ORDER: none */
            uint32_t depth;            /* hops to other groups so far, this one included */
            uint32_t level;            /* nesting of walks; 0: from the asked group */
            struct weir_failure cause; /* what the source was left for */
        } fallback;
        struct {
            struct weir_failure failure;
            weir_cooldown_rule rule;
            uint64_t length_ns;
            uint64_t until_ns;
            bool capped;     /* the provider's Retry-After was longer than the cap */
            uint32_t number; /* of cooldowns in a row, without a success between */
        } cooldown_set;
        struct {
            struct weir_failure failure;
        } failed;
        struct {
            uint64_t prompt_tokens;
            uint64_t completion_tokens;
            uint64_t duration_ns;            /* of the call */
            struct weir_stream_facts stream; /* of the attempt; zeros for a plain call */
        } succeeded;
        struct {
            struct weir_failure failure;
            struct weir_stream_facts stream;
            bool committed; /* content had gone out */
        } stream_broken;
        struct {
            uint32_t broken;     /* the attempt whose text is carried on */
            uint64_t text_bytes; /* that the caller had */
        } stream_continued;
    } u;
};

/* "AttemptStarted", ...  Lives for ever. */
WEIR_EXPORT struct weir_slice weir_event_name(weir_event_kind kind);

/* "failure_share", ...  Lives for ever, as the next two. */
WEIR_EXPORT struct weir_slice weir_cooldown_rule_name(weir_cooldown_rule rule);
/* "group", ... */
WEIR_EXPORT struct weir_slice weir_hop_name(weir_hop_kind kind);
/* "retry", ... */
WEIR_EXPORT struct weir_slice weir_refused_name(weir_refused what);

#ifdef __cplusplus
}
#endif

#endif
