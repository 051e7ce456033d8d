/*
 * One request on its way through the router, as a state machine without I/O.
 *
 * The host begins a call, asks for steps until there is none, does what they say, and tells the call what
 * happened; after each input it asks for steps again.  The engine reads no clock: every function takes the
 * time, which never goes back.  One thread at a time uses a call; calls on different threads share the
 * router.
 *
 *     weir_call_begin(...)
 *     loop: while (weir_call_next(call, now, &step) is 0 and step.kind is not WEIR_STEP_NONE) perform(step)
 *           wait for an event of an attempt, an answer, the caller leaving, or weir_call_expiry(call)
 *           tell it by weir_call_on_*
 *
 * After WEIR_STEP_DELIVER or WEIR_STEP_FAIL the call is over: weir_call_next says NONE for ever and inputs
 * are ignored.
 *
 * A call is bounded whatever a configuration or a request asks of it: 10,000 attempts and hops together,
 * 1,000 targets.  One that reaches a bound ends as if it had nowhere left to go.
 */
#ifndef WEIR_CALL_H
#define WEIR_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_call weir_call;

/* Answers are continued up to so many bytes of text, which their host must be able to keep (decisions 32). */
enum { WEIR_CONTINUE_TEXT_MAX = 256 * 1024 };

/* Testing flags of a request (router-semantics 12); the host has checked that they are allowed.  Bits. */
enum {
    WEIR_MOCK_FALLBACKS = 1,      /* internal failure before any attempt, no retries */
    WEIR_MOCK_CONTEXT_WINDOW = 2, /* context_window failure before any attempt */
    WEIR_MOCK_CONTENT_POLICY = 4, /* content_policy failure before any attempt */
    WEIR_MOCK_RATE_LIMIT = 8,     /* the first attempt in every group fails with 429 */
    WEIR_MOCK_TIMEOUT = 16        /* attempts in the asked group time out */
};

/* A retry policy that the request brings for one group (`model_group_retry_policy`). */
struct weir_group_policy {
    struct weir_slice group;
    struct weir_policy policy;
};

/* A tag of a request, without the mark that says what it does (router-semantics 20). */
typedef enum weir_tag_kind { WEIR_TAG_PLAIN, WEIR_TAG_REQUIRED, WEIR_TAG_EXCLUDED } weir_tag_kind;
struct weir_tag {
    weir_tag_kind kind;
    struct weir_slice name;
    bool inherited; /* of the key or the team: kept where constraints fail open */
};

struct weir_lar1 {
    double confidence;  /* 0 to 1; 0.5 */
    bool is_unverified; /* the evidence holds UNVERIFIED */
    bool is_memory;     /* the time is MEM */
};

/* A weight of a deployment for this request alone; a group that has any is shuffled by them first. */
struct weir_weight {
    struct weir_slice group;
    struct weir_slice id;
    double weight;
};

/* What the engine needs to know of a request.  Slices and arrays must live until the call is freed. */
struct weir_request {
    struct weir_slice model; /* the name that was asked */
    /* The same name with the provider that it is known to belong to ("openai/gpt-4o"); tried on wildcards
       when the bare name has no match (router-semantics 3).  Empty: none. */
    struct weir_slice qualified_model;
    bool stream;
    bool specific_deployment; /* candidates are the deployments whose provider model equals the name */
    bool disable_fallbacks;   /* no hop of any sort, orders and siblings neither */
    bool caller_credentials;  /* uses keys of the caller's own: says nothing about the shared deployment */
    /* A broken answer of the call may be continued at all: a streamed chat with one choice, no log
       probabilities and no constrained output (decisions 32).  The host says so, never the request. */
    bool may_continue;
    unsigned mock; /* WEIR_MOCK_* bits */
    /* Picked events say of so many candidates what became of them; 0: there are no such events.  At most
       WEIR_CANDIDATES_MAX count.  A pick takes some tens of instructions more for each. */
    uint32_t note_candidates;
    /* What filters and strategies look at. */
    uint64_t prompt_tokens;     /* an estimate; 0: unknown */
    uint64_t max_output_tokens; /* that the answer may have; 0: not said */
    uint64_t parameters;        /* bits as in weir_deployment_spec: those that are used and must be taken */
    struct weir_slice region;   /* that is allowed; empty: any */
    uint64_t route;             /* bit as in weir_deployment_spec: the kind of call; 0: not said */
    bool web_search;            /* a web-search tool is in it */
    struct weir_slice team;     /* the caller's, as the host knows it; empty: none (21) */
    bool stateful;              /* refers to stored state: never hedged (beyond.md 4) */
    struct weir_lar1 lar1;      /* evidence (router-semantics 6.7) */
    weir_flag tag_filtering;    /* whether tags route; not said: as the group, else the router has it (20) */
    const struct weir_tag *tags;
    size_t tag_count;
    const struct weir_weight *weights; /* `_router_weights` (6.1) */
    size_t weight_count;
    /* Whether the request fits the deployment's tag patterns; asked of those that have some.  May be NULL. */
    bool (*matches)(void *user, const weir_deployment *deployment);
    void *matches_user;
    struct weir_controls controls;
    struct weir_chain_list lists[WEIR_LIST_KINDS];
    const struct weir_group_policy *retry_policies;
    size_t retry_policy_count;
};

/* Everything absent, false or unset; a confidence of 0.5. */
WEIR_EXPORT void weir_request_init(struct weir_request *request);

/*
 * Begins a call; nothing happens before the first weir_call_next.  The snapshot must have been adopted by the
 * router; the call holds a reference to it.  All memory of the call comes from mem, which may be an arena. 0,
 * WEIR_ERR_NOMEM or WEIR_ERR_INVALID (an empty model, or a snapshot that the router has not adopted).
 */
WEIR_EXPORT WEIR_MUST_USE int weir_call_begin(weir_router *router, weir_snapshot *snapshot,
                                              const struct weir_request *request, const struct weir_mem *mem,
                                              uint64_t now_ns, weir_call **ret_call);

/* At any time; attempts that still run are the host's to stop and count as cancelled.  Accepts NULL. */
WEIR_EXPORT void weir_call_free(weir_call *call);

typedef enum weir_step_kind {
    WEIR_STEP_NONE,  /* nothing to do before weir_call_expiry */
    WEIR_STEP_START, /* start the attempt */
    /* Start an attempt that carries on the text that the caller has: u.start.  Its COMMIT is the seam; what
       the attempts committed before it gave stays, and nothing more comes of them. */
    WEIR_STEP_CONTINUE,
    WEIR_STEP_CANCEL,  /* stop the attempt; late news of it is ignored */
    WEIR_STEP_ASK,     /* may the call use that group? */
    WEIR_STEP_COMMIT,  /* that attempt's content goes to the caller from now on */
    WEIR_STEP_DELIVER, /* that attempt's answer, as far as it came, is the caller's answer; over */
    WEIR_STEP_FAIL     /* tell the caller this failure; over */
} weir_step_kind;

/* Why a failure exists: decides the words of the message, which are the host's (router-semantics). */
typedef enum weir_reason {
    WEIR_REASON_ATTEMPT,          /* as the host reported it for the attempt */
    WEIR_REASON_TIMEOUT,          /* the attempt ran out of its time limit */
    WEIR_REASON_CONTENT_FILTERED, /* filtered, and a content-policy chain was waiting (11.5) */
    WEIR_REASON_NO_DEPLOYMENTS,   /* no candidate; retry_after_ns: until the soonest cooldown ends (16.4) */
    WEIR_REASON_UNKNOWN_MODEL,    /* the name stands for nothing (3.9) */
    WEIR_REASON_PAUSED,           /* a deployment asked by its id is blocked (3.2) */
    WEIR_REASON_MOCK,             /* a testing flag asked for it */
    WEIR_REASON_CLIENT_GONE,      /* the caller left; status 499; nobody is there to be told */
    WEIR_REASON_NOMEM,            /* the call's memory is used up; status 500 */
    WEIR_REASON_MINUTE_LIMIT,     /* an enforced limit of the minute is spent (19); see weir_fail.limit */
    WEIR_REASON_SLOTS,            /* all parallel slots of the deployment are in use (19); likewise */
    WEIR_REASON_USAGE, /* usage-based routing: the limits of all are spent (6.3); weir_call_members */
    WEIR_REASON_TAGS,  /* no deployment has the tags (20); status 401 */
    WEIR_REASON_PROMPT_TOO_LONG, /* for every deployment (18); kind context_window; see weir_fail.limit */
    WEIR_REASON_UNSUITABLE,      /* no deployment takes its parameters or is in its region (18) */
    WEIR_REASON_USAGE_LIMIT /* usage-based routing: its requests were used up when it was to start (6.3) */
} weir_reason;

struct weir_start {
    const weir_deployment *deployment;
    struct weir_slice group;     /* the group being served, as asked on this hop; an alias is resolved */
    struct weir_slice model;     /* the provider's model with its provider, wildcards filled in */
    struct weir_slice overrides; /* of the hop's target; see struct weir_target */
    uint32_t hop;                /* hops to other groups before this attempt */
    uint64_t limit_ns; /* until its end, or its first chunk; 0: none; the engine keeps it (decisions 17) */
    bool holds;        /* a stream has a commit window: its content may be held for long */
};

struct weir_ask {
    uint32_t id;
    unsigned questions;       /* WEIR_ASK_* bits */
    struct weir_slice source; /* the group that failed */
    struct weir_slice target; /* the group that would serve */
};

/* The limit behind a failure by a limit, for its words; all zero for other failures. */
struct weir_limit_story {
    struct weir_slice deployment; /* id */
    struct weir_slice what; /* "RPM", "TPM", "ITPM", "OTPM", "max_parallel_requests", "max_input_tokens" */
    uint64_t limit;
    uint64_t usage; /* without what was refused; of max_input_tokens: the estimate */
};

struct weir_fail {
    struct weir_failure failure;
    weir_reason reason;
    struct weir_limit_story limit;
    uint32_t attempt;        /* whose failure it is: find its text there; 0: no attempt's */
    struct weir_slice group; /* the group that failed so: the asked one */
    bool committed;          /* content has gone out: end the stream with an error instead */
};

/* Slices in a step live until the call is freed. */
struct weir_step {
    weir_step_kind kind;
    uint32_t attempt; /* of START, CONTINUE, CANCEL, COMMIT, DELIVER; counts from 1 within the call */
    union {
        struct weir_start start; /* of CONTINUE too */
        struct weir_ask ask;
        struct weir_fail fail;
    } u;
};

/* 0 or WEIR_ERR_INTERNAL (the call is over then; a defect of weir). */
WEIR_EXPORT WEIR_MUST_USE int weir_call_next(weir_call *call, uint64_t now_ns, struct weir_step *ret_step);

/* When to call weir_call_next again though nothing happened; UINT64_MAX: never. */
WEIR_EXPORT uint64_t weir_call_expiry(const weir_call *call);

/* What a chunk of a stream held; all zero: nothing that a caller would call an answer. */
struct weir_stream_chunk {
    uint32_t deltas;     /* content deltas (14.2), each counted as a token */
    uint32_t text_bytes; /* plain text of the assistant in them */
    bool other;          /* content that is not plain text: nothing of the call is continued any more */
    bool finish;         /* the last finish reason: the answer is complete, whatever happens (decisions 29) */
    bool full;           /* the host can hold no more: the commit window ends */
};

/* How an attempt's answer ended; zeros where the provider did not say. */
struct weir_outcome {
    bool content_filtered; /* finish reason content_filter */
    uint64_t prompt_tokens;
    uint64_t completion_tokens;
};

/* Inputs.  Unknown or finished attempts are ignored. */
/* A response head that is no failure. */
WEIR_EXPORT void weir_call_on_opened(weir_call *call, uint32_t attempt, uint64_t now_ns);
/*
 * A chunk of a stream, every one of them: limits of time and the commit window hang on it.  Of a plain call:
 * an answer too large to hold, said as one delta of other content.  Comments are no chunks.  Steps need to be
 * asked for only when weir_call_expiry is not in the future.
 */
WEIR_EXPORT void weir_call_on_chunk(weir_call *call, uint32_t attempt, const struct weir_stream_chunk *chunk,
                                    uint64_t now_ns);
/* The host reads no more of the attempt's answer until the caller has taken what there is: its silence and
 * its speed are nobody's fault meanwhile.  Both count anew from the end of the pause. */
WEIR_EXPORT void weir_call_on_paused(weir_call *call, uint32_t attempt, bool paused, uint64_t now_ns);
/* The answer is complete, in form too: a stream had its finish reason or its end marker (decisions 29). */
WEIR_EXPORT void weir_call_on_finished(weir_call *call, uint32_t attempt, const struct weir_outcome *outcome,
                                       uint64_t now_ns);
/* Any other end, before or after content. */
WEIR_EXPORT void weir_call_on_failed(weir_call *call, uint32_t attempt, const struct weir_failure *failure,
                                     uint64_t now_ns);

typedef enum weir_answer { WEIR_ANSWER_YES, WEIR_ANSWER_NO, WEIR_ANSWER_UNKNOWN } weir_answer;

/* The answer to an ASK; unknown counts as no (router-semantics 11.4). */
WEIR_EXPORT void weir_call_on_answer(weir_call *call, uint32_t ask_id, weir_answer answer, uint64_t now_ns);

/* The caller left.  A stream is cancelled; a plain call only where the snapshot says so, else it runs on
 * (decisions 25). */
WEIR_EXPORT void weir_call_on_client_gone(weir_call *call, uint64_t now_ns);

/* Takes the next event that observers have not seen.  Returns false when there is none. */
WEIR_EXPORT bool weir_call_event(weir_call *call, struct weir_event *ret_event);

/* A group that was left with a failure, for `include_fallback_errors` and the text of the final error. */
struct weir_hop_failure {
    struct weir_slice group;
    struct weir_failure failure;
    weir_reason reason;
    struct weir_limit_story limit;
    uint32_t attempt; /* 0: none was made */
};

/* Where the call stands; complete after COMMIT, DELIVER or FAIL. */
struct weir_summary {
    struct weir_slice group; /* the group serving now (router-semantics 24: x-litellm-model-group) */
    uint32_t retries;        /* retries made in the loop that is running, served, or lost what FAIL tells */
    uint32_t max_retries;    /* N of that loop; 0 before its first failure */
    uint32_t hops;           /* hops to other groups begun */
    uint32_t attempts;       /* provider calls started */
    const struct weir_hop_failure *failures; /* groups that were left, oldest first */
    size_t failure_count;
};

WEIR_EXPORT void weir_call_summary(const weir_call *call, struct weir_summary *ret_summary);

/* The deployments that a group stands for, for the message of a failure: fills at most max and returns how
 * many there are. */
WEIR_EXPORT size_t weir_call_members(const weir_call *call, struct weir_slice group,
                                     const weir_deployment **ret_members, size_t max);

/*
 * The ids of a group's deployments that are cooling down, for the message of router-semantics 16.4: fills at
 * most max and returns how many there are.
 */
WEIR_EXPORT size_t weir_call_cooling(const weir_call *call, struct weir_slice group, uint64_t now_ns,
                                     struct weir_slice *ret_ids, size_t max);

#ifdef __cplusplus
}
#endif

#endif
