/*
 * A scripted host for the engine, in virtual time: a test is a configuration, a call and the story of it.
 *
 *     KIT(kit, "d1 g w=1 : 429 ok\n"
 *              "d2 g w=0 : ok\n"
 *              "router retries=1 cooldown=3\n");
 *     expect(kit, "g", "d1:429 d2:ok");
 *
 * Configuration, one thing a line (or between semicolons):
 *     ID GROUP key=value... : ANSWER...   a deployment and its answers, one an attempt; the last one repeats
 *         w rpm tpm order retries cooldown fails fails.FIELD model blocked prefill LIMIT
 *         slots max.rpm max.tpm max.itpm max.otpm max_input params region no_web routes tags=TAG,TAG pattern
 *         window=START-END/TEAM filter=on|off fail_open class=LAR1_CLASS price=IN/OUT no_probe
 *     group GROUP key=value...
 *         targets LIMIT SHARE
 *     router key=value...
 *         retries retry_after initial max_delay jitter max_fallbacks weighted cooldown cap no_cooldowns fails
 *         fails.FIELD policy.FIELD threshold min_requests single bypass cancel_on_disconnect
 *         enforce checks margin filter match_all STRATEGY
 *         ask=access|budget|both continuation targets=fallback|group|fallback,group|group,fallback LIMIT
 *         probes stale=SECONDS no_transient probed=GROUP,GROUP   health-check routing
 *         shares   the router shares its state, from the first text on
 *         SHARE
 *     routing NAME STRATEGY_NAME MODEL[=PRIORITY]... key=value...
 *     alias NAME TARGET [hidden]
 *     fallbacks|context|content A: TARGET...      and process-fallbacks, process-context, process-content
 *     default TARGET...                           and process-default
 *     policy GROUP FIELD=N...
 *     answer TARGET yes|no|unknown                to an ASK about that target; the default is yes
 *   TARGET is NAME[{overrides}][@retries=N][@LIMIT][@hedge=...][@caller]; FIELD is a name of field_names in
 *   engine_text.c; durations are seconds.
 *   LIMIT is timeout ttft idle stream_timeout deadline =SECONDS, rate=TOKENS_PER_S[/WINDOW[/GRACE]], or
 *   hold=all|TOKENS|/SECONDS|TOKENS/SECONDS.
 *   STRATEGY is strategy=NAME ttl buffer samples low medium high decay, the name before the others.
 *   SHARE is budget=RATIO[/MIN_PER_S], hedge=AFTER[/MAX], cool_wait=SECONDS, growth=FACTOR[/MAX] or
 *   ramp=SECONDS.
 *
 * ANSWER is PIECE,PIECE...; PIECE is open, a CHUNK, pause, resume, ok[=TOKENS_IN/TOKENS_OUT], filtered, hang
 * or a failure (STATUS or KIND[=STATUS])[/RETRY_AFTER][@ORIGIN]; each may end in +SECONDS, its delay (0), and
 * begin with a number of times, as in 20xtext+0.1. CHUNK is what one chunk of the stream holds, joined by
 * "&": chunk   nothing                         content   a delta (of text without a byte) text    a delta of
 * four bytes of text   text:N    a delta of N bytes of text tool    a delta that is not text        finish a
 * finish reason full    the host can hold no more
 *
 * A call is MODEL key=value...
 *     stream retries caller no_fallbacks specific creds continue stateful qualified=NAME gone=SECONDS LIMIT
 *     tokens=PROMPT[/MOST_OF_THE_ANSWER] params region web filter=on|off tags=TAG,TAG matches=ID,ID
 *     hedge=AFTER[/MAX] cool_wait=SECONDS route=BIT team=NAME
 *     lar1=CONFIDENCE[/unverified|/memory] weights=GROUP:ID:WEIGHT,...
 *     mock=fallbacks|context|content|rate_limit|timeout policy.GROUP.FIELD=N note=CANDIDATES
 *     fallbacks|context|content=null|[]|TARGET,TARGET|A:TARGET,TARGET|B:...
 *
 * TAG is [&|!]NAME, with a ^ before all if it is the key's.
 *
 * The story of a call, in the order of the steps:
 *     d1:500   an attempt on d1 that failed with 500      d1:ok    one whose answer was delivered
 *     d1*:ok   one that was committed                      d1:cancel   one that was cancelled
 *     d2>:ok   one that carries on what was committed      d1*:500:ok   one whose failure came after its end
 *     d1!      one that its limits refused                 fail:500   the end; fail*:500 after a commit
 *     ?B=yes   a question about B and its answer
 *     d1 d2 d1:cancel d2:ok    two that ran at once: an attempt is named again after news of another one
 *
 * The host checks the contract of call.h at every step and that no memory is lost; see engine_host.c.
 */
#ifndef TEST_ENGINE_KIT_H
#define TEST_ENGINE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weir/weir.h>

#include "test_mem.h"
#include "unit.h"

#define KIT_TARGETS_MAX     32
#define KIT_CHAINS_MAX      32
#define KIT_ROUTINGS_MAX    8
#define KIT_ROUTED_MAX      8
#define KIT_WEIGHTS_MAX     8
#define KIT_DEPLOYMENTS_MAX 64
#define KIT_TAGS_MAX        8
#define KIT_ANSWERS_MAX     32
#define KIT_PIECES_MAX      24
/* Text that the caller has above which a call is not continued (decisions 32). */
#define KIT_CONTINUE_MAX_BYTES (256 * 1024)

#define KIT_ATTEMPTS_MAX 512
#define KIT_WAITS_MAX    512
#define KIT_EVENTS_MAX   1536
#define KIT_NOTED_MAX    32768
#define KIT_STORY_MAX    16384
#define KIT_TRACE_MAX    262144

typedef enum kit_piece_kind {
    KIT_OPEN,
    KIT_CHUNK,
    KIT_PAUSE,
    KIT_RESUME,
    KIT_OK,
    KIT_FILTERED,
    KIT_FAILURE,
    KIT_HANG
} kit_piece_kind;

struct kit_piece {
    kit_piece_kind kind;
    uint32_t times;
    uint64_t delay_ns;
    union {
        struct weir_stream_chunk chunk;
        struct weir_failure failure;
        struct weir_outcome outcome;
    } u;
};

struct kit_answer {
    struct kit_piece pieces[KIT_PIECES_MAX];
    size_t count;
};

struct kit_deployment {
    struct weir_deployment_spec spec;
    struct weir_slice tags[KIT_TAGS_MAX];
    struct weir_access_window window;
    struct weir_slice team; /* of the window */
    struct kit_answer answers[KIT_ANSWERS_MAX];
    size_t answer_count;
    size_t calls; /* attempts so far */
};

struct kit_chain {
    struct weir_chain chain;
    struct weir_target targets[KIT_TARGETS_MAX];
    weir_list_kind list;
    weir_list_source source;
};

struct kit_group {
    struct weir_slice name;
    struct weir_group_spec spec;
};

struct kit_alias {
    struct weir_slice name;
    struct weir_slice target;
    bool hidden;
};

struct kit_routing {
    struct weir_routing_group group;
    struct weir_slice models[KIT_ROUTED_MAX];
    int32_t priorities[KIT_ROUTED_MAX];
};

struct kit_reply {
    struct weir_slice target;
    weir_answer answer;
};

/* What a configuration text says. */
struct kit_config {
    char *text; /* cut up by the parser; all slices lie in it */
    struct weir_router_spec router;
    struct weir_slice probed[KIT_TAGS_MAX]; /* groups */
    bool shares;
    struct kit_deployment deployments[KIT_DEPLOYMENTS_MAX];
    size_t deployment_count;
    struct kit_chain chains[KIT_CHAINS_MAX];
    size_t chain_count;
    struct weir_target defaults[WEIR_LIST_SOURCES][KIT_TARGETS_MAX];
    size_t default_counts[WEIR_LIST_SOURCES];
    struct kit_group groups[KIT_CHAINS_MAX];
    size_t group_count;
    struct kit_alias aliases[KIT_CHAINS_MAX];
    size_t alias_count;
    struct kit_routing routings[KIT_ROUTINGS_MAX];
    size_t routing_count;
    struct weir_group_policy policies[KIT_CHAINS_MAX];
    size_t policy_count;
    struct kit_reply replies[KIT_CHAINS_MAX];
    size_t reply_count;
    struct kit_config *older; /* of snapshots that calls may still run on */
};

/* What a call's text says. */
struct kit_request {
    char *text;
    struct weir_request request;
    struct weir_chain chains[WEIR_LIST_KINDS][KIT_CHAINS_MAX];
    struct weir_target targets[WEIR_LIST_KINDS][KIT_TARGETS_MAX];
    struct weir_group_policy policies[KIT_CHAINS_MAX];
    struct weir_tag tags[KIT_TAGS_MAX];
    struct weir_weight weights[KIT_WEIGHTS_MAX];
    uint64_t gone_after_ns; /* UINT64_MAX: the caller stays */
};

typedef enum kit_end { KIT_RUNNING, KIT_DELIVERED, KIT_FAILED } kit_end;

struct kit_attempt {
    struct kit_deployment *deployment;
    const struct kit_answer *answer;
    size_t piece;
    uint32_t times; /* that the piece was told already */
    uint64_t due_ns;
    bool running;
    bool continues; /* carries on what was committed before it */
    bool committed;
    bool has_content;  /* something that can be committed was told */
    bool is_complete;  /* its end, or a finish reason, was told */
    bool has_answered; /* one of these, or the head of a plain answer: it wins a race */
    uint64_t text_bytes;
    bool other;
    struct weir_start start;
};

struct kit;

struct kit_call {
    struct kit *kit;
    size_t number;             /* within the kit, from 1 */
    struct kit_config *config; /* of the snapshot it began on */
    struct kit_request request;
    struct test_mem mem;
    weir_call *call;
    uint64_t begun_ns;
    uint64_t gone_ns;
    uint32_t attempt_count;
    uint32_t committed;  /* the last attempt that was; 0: none */
    uint64_t text_bytes; /* that the caller has */
    bool other;          /* and content that is not text */
    bool is_quiet;       /* a chunk was told after which the call wanted no steps to be asked for */
    uint32_t delivered;
    kit_end end;
    struct weir_fail fail;
    struct {
        bool open;
        struct weir_ask ask;
    } question;
    size_t wait_count;
    size_t event_count;
    size_t story_len;
    uint32_t told_of; /* the attempt that the story named last */
    struct kit_call *next;
    char story[KIT_STORY_MAX];
    uint64_t waits[KIT_WAITS_MAX]; /* the times at which nothing ran, in order; zero ones are not seen */
    struct kit_attempt attempts[KIT_ATTEMPTS_MAX + 1]; /* by number */
    struct weir_event events[KIT_EVENTS_MAX];
    size_t noted_count;
    struct weir_candidate noted[KIT_NOTED_MAX]; /* of the Picked events */
};

struct kit {
    struct kit_config *config;
    struct test_mem mem;
    weir_router *router;
    weir_snapshot *snapshot;
    uint64_t now_ns;
    uint64_t seed;
    struct kit_call *calls;    /* newest first, alive until the kit is closed or forgets them */
    size_t begun;              /* calls so far */
    size_t speaking;           /* the number of the call that the trace is about; 0: none */
    size_t running;            /* calls that have not ended */
    char trace[KIT_TRACE_MAX]; /* everything that happened, with times; cut off when full */
    size_t trace_len;
    /* Called at each START and CONTINUE when it was noted, before a step is performed, before a piece is
       told, and at each event; each may be NULL. */
    void (*on_start)(struct kit_call *call, const struct kit_deployment *deployment);
    void (*on_step)(struct kit_call *call, const struct weir_step *step);
    void (*on_tell)(struct kit_call *call, uint32_t attempt, const struct kit_piece *piece);
    void (*on_event)(struct kit_call *call, const struct weir_event *event);
    void *user;
    size_t notified;        /* times that the router said that something is to be told */
    size_t calls_fail_from; /* the number of the allocation from which a new call's memory is used up; 0:
                               never */
};

/* The first time of every kit: far from zero, so that a difference taken the wrong way round is seen. */
#define KIT_EPOCH_NS UINT64_C(1000000000000)

struct kit *kit_new(uint64_t seed, const char *config);
void kit_close(struct kit **kit);

/* Opens a kit that closes itself; the seed is fixed. */
#define KIT(name, config) WEIR_CLEANUP(kit_close) struct kit *name = kit_new(1, config)

/* Replaces the snapshot by that of another text, as a reload does; the router stays. */
void kit_reload(struct kit *kit, const char *config);

void kit_advance(struct kit *kit, double seconds);

/* Begins a call and plays its first steps.  NULL only when its memory is used up (calls_fail_from). */
struct kit_call *kit_begin(struct kit *kit, const char *request);
/* Plays a call up to that time or its end; to its end. */
void kit_run_until(struct kit_call *call, uint64_t until_ns);
void kit_run(struct kit_call *call);
/* Plays all calls that run, in the order of time, to their ends. */
void kit_run_all(struct kit *kit);
/* Begins and runs. */
struct kit_call *kit_call(struct kit *kit, const char *request);
/* Frees the calls so far: for tests of thousands of them. */
void kit_forget(struct kit *kit);

/* Runs a call and compares its story; a star at the story's end leaves out the rest. */
struct kit_call *kit_expect(struct kit *kit, const char *request, const char *story, const char *file,
                            int line);
#define expect(kit, request, story)      ((void)kit_expect(kit, request, story, __FILE__, __LINE__))
#define expect_call(kit, request, story) kit_expect(kit, request, story, __FILE__, __LINE__)

/* The same call several times. */
void kit_expect_each(struct kit *kit, size_t times, const char *request, const char *story, const char *file,
                     int line);
#define expect_each(kit, times, request, story)                                                              \
    kit_expect_each(kit, times, request, story, __FILE__, __LINE__)

/* The number of waits, and that each lies between the two, in seconds. */
void kit_expect_waits(const struct kit_call *call, size_t count, double least, double most, const char *file,
                      int line);
#define expect_waits(call, count, least, most) kit_expect_waits(call, count, least, most, __FILE__, __LINE__)

/* The events of a call as text, without times: "AttemptStarted d1, AttemptFailed d1 500 retry, ..." */
void kit_expect_events(const struct kit_call *call, const char *kinds, const char *text, const char *file,
                       int line);
#define expect_events(call, kinds, text) kit_expect_events(call, kinds, text, __FILE__, __LINE__)

/* The n-th event of that kind (0 = first), or NULL. */
const struct weir_event *kit_event(const struct kit_call *call, weir_event_kind kind, size_t n);
size_t kit_event_count(const struct kit_call *call, weir_event_kind kind);

/* The deployment in the present snapshot. */
const weir_deployment *kit_find(const struct kit *kit, const char *id);
/* A probe of the deployment ends: as "ok" or with a failure, written as in an answer. */
void kit_probe(struct kit *kit, const char *id, const char *result);
struct kit_deployment *kit_deployment(const struct kit *kit, const char *id);
struct weir_live_view kit_view(const struct kit *kit, const char *id);
/* Seconds until the deployment is back; 0: it is not cooling. */
double kit_cooling(const struct kit *kit, const char *id);
/* By hand. */
void kit_cool(struct kit *kit, const char *id, double seconds, const char *by);
bool kit_lift(struct kit *kit, const char *id, const char *by);
struct weir_summary kit_summary(const struct kit_call *call);

/* The deployment that the first attempt of a call goes to, which ends there; NULL: none. */
const weir_deployment *kit_pick(weir_router *router, weir_snapshot *snapshot,
                                const struct weir_request *request, uint64_t now_ns);
/* What a sum over so many cells may be. */
double kit_chi_square_bound(size_t cells);
#define KIT_PICKS 20000
/* Compares the picks of the deployments, in the order of the configuration, with their expected shares. */
void kit_expect_shares(struct kit *kit, const char *request, const double *shares, size_t count);

/* Replaces a deployment's answers from its next attempt on. */
void kit_script(struct kit *kit, const char *id, const char *answers);

/* Ends the test with the configuration, the seed and the trace; a format as printf's. */
void kit_die(const struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Both end the program on a text they do not understand. */
void kit_parse_config(struct kit_config *config, const char *text);
void kit_parse_request(struct kit_request *request, const char *text);
void kit_parse_answers(struct kit_deployment *deployment, char *text);
/* Reads a limit; false when the key is none. */
bool kit_parse_limit(struct weir_limits *limits, const char *key, char *value);
/* How the load of failure is shared; false when the key says nothing of it. */
bool kit_parse_resilience(struct weir_resilience *resilience, const char *key, char *value);
/* Reads what filters look at, of a deployment and of a request; false when the key is none of it. */
bool kit_parse_deployment_facts(struct kit_deployment *deployment, const char *key, char *value);
bool kit_parse_router_facts(struct kit_config *config, const char *key, char *value);
bool kit_parse_request_facts(struct kit_request *request, const char *key, char *value);
void kit_parse_targets(weir_continue_to *targets, char *value);
void kit_config_deinit(struct kit_config *config);
void kit_request_deinit(struct kit_request *request);
/* Reads an argument of a strategy, or its name; what strategies look at of a deployment and of a request. */
bool kit_parse_strategy(struct weir_strategy_spec *spec, const char *key, const char *value);
bool kit_parse_strategy_facts(struct weir_deployment_spec *spec, const char *key, char *value);
bool kit_parse_request_strategy(struct kit_request *request, const char *key, char *value);
void kit_parse_routing(struct kit_config *config, char *rest);
/* Makes a snapshot of what a configuration says; 0 or what the builder answered. */
int kit_build(const struct kit_config *config, const struct weir_mem *mem, weir_snapshot **ret_snapshot);

/*
 * The table at the head of a test file: X("rule", test).  It declares and registers the tests, so a test that
 * is not in it does not compile.
 */
#define KIT_TEST_DECLARE(rule, name) static void name(void **state);
#define KIT_TEST_ROW(rule, name)     {rule ": " #name, name, NULL, NULL, NULL},
#define KIT_TESTS_MAIN(table)                                                                                \
    int main(void)                                                                                           \
    {                                                                                                        \
        static const struct CMUnitTest tests[] = {table(KIT_TEST_ROW)};                                      \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                    \
    }

#endif
