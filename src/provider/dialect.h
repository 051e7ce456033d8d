/*
 * Dialects: how a request is written for a provider and how its answers are read.
 *
 * A dialect is a constant table of functions (one file each, all named in dialect.c).  None keeps state, does
 * I/O or reads a clock.  The body is spliced, never written anew: unknown fields reach the provider byte for
 * byte (decisions 18).
 *
 *     weir_build_request        endpoint + request -> where, head fields, body parts
 *     weir_read_answer          a whole plain answer with status 2xx -> facts, or that it is a failure
 *     weir_read_chunk           one event of a stream -> facts, or that the stream has failed
 *     weir_classify             classify.h: what any failure is
 */
#ifndef WEIR_PROVIDER_DIALECT_H
#define WEIR_PROVIDER_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "provider/endpoint.h"
#include "provider/route.h"
#include "wire/json_scan.h"
#include "wire/sse.h"

enum { WEIR_UPSTREAM_PARTS = 16 };

/* What an upstream request is made from.  Everything must live until the request is over. */
struct weir_build {
    const struct weir_endpoint *endpoint;
    weir_route route;
    struct weir_slice model;              /* weir_start.model: with its provider, wildcards filled in */
    struct weir_slice body;               /* the caller's: a valid JSON object */
    const struct weir_json_item *members; /* its members, in order */
    size_t member_count;
    struct weir_slice overrides; /* weir_start.overrides: a JSON object that beats the body; empty: none */
    bool overrides_trusted; /* may say where and with which key: the configuration's own (decisions 19) */
    bool stream;
    bool stream_usage; /* `always_include_stream_usage` */
    uint64_t
        dropped; /* `drop_params`: what the model does not take goes (parameter.h); 0: everything is sent */
    /* What the caller has of the answer, which is to be carried on (decisions 32); empty: it is a new one. */
    struct weir_slice prefill;
    uint64_t sent_tokens; /* of that answer: a limit on its length shrinks by them */
};

struct weir_upstream_request {
    /* build->endpoint, or its redirected copy in the arena: answers are read and classified by it. */
    const struct weir_endpoint *used;
    bool secure;
    bool redirected; /* not to the endpoint's own place: a caller's or a target's base or key is in use */
    uint16_t port;
    struct weir_slice host;
    struct weir_slice base;   /* for x-litellm-model-api-base */
    struct weir_slice target; /* path and query */
    /* Header lines, "Name: value\r\n" each; without Host, Content-Length, Connection. */
    struct weir_slice fields;
    struct weir_slice parts[WEIR_UPSTREAM_PARTS]; /* of the body */
    size_t part_count;
};

/* A base that is no URL or a key or header that cannot be sent, said by the caller or a target: 400. */
#define WEIR_BUILD_BAD_PLACE 1
/* The request's `messages` leave no place for the text: they end in an answer that is not plain text. */
#define WEIR_BUILD_NO_PREFILL 2

/*
 * Precedence: the endpoint's extra_body, then overrides, then the caller's body, then the endpoint's
 * defaults. `model` and `stream` are set; what tbl/router_fields.h keeps is taken out, and so is what is
 * dropped: of all sources but extra_body, which says what is sent whatever else holds.  Parts refer to body,
 * overrides, endpoint and arena.  0, WEIR_BUILD_BAD_PLACE, WEIR_BUILD_NO_PREFILL, WEIR_ERR_NOMEM,
 * WEIR_ERR_MALFORMED (overrides or body are no JSON objects).
 */
WEIR_MUST_USE int weir_build_request(const struct weir_build *build, struct weir_arena *arena,
                                     struct weir_upstream_request *ret_request);

struct weir_usage {
    bool told; /* the provider said something */
    uint64_t prompt_tokens;
    uint64_t completion_tokens;
    uint64_t total_tokens;
    uint64_t cached_tokens;      /* of the prompt, that the provider had in its cache */
    uint64_t cache_write_tokens; /* of the prompt, that it put there */
    uint64_t reasoning_tokens;   /* of the answer */
};

struct weir_plain_answer {
    struct weir_json_value model; /* a part of the body, to be spliced; type NOTHING: not there */
    struct weir_usage usage;
    struct weir_slice finish; /* the first finish reason, escapes as written; empty: none */
    bool content_filtered;    /* a finish reason is content_filter (router-semantics 11.5) */
    bool empty;               /* an answer of choices, none of which holds anything (beyond 6) */
};

/* Failures that call themselves 200 (decisions 24); classify as the mishap behind the arrow. */
#define WEIR_ANSWER_ERROR   1 /* an error object -> WEIR_MISHAP_ERROR_BODY */
#define WEIR_ANSWER_BAD     2 /* empty, no JSON, or not an answer to this route -> WEIR_MISHAP_BAD_ANSWER */
#define WEIR_ANSWER_GAVE_UP 3 /* the finish reason "error", and no object -> WEIR_MISHAP_GAVE_UP */

/* Reads a whole plain answer.  0, or a condition above.  Pure. */
WEIR_MUST_USE int weir_read_answer(const struct weir_endpoint *endpoint, weir_route route,
                                   struct weir_slice body, struct weir_plain_answer *ret_answer);

typedef enum weir_chunk_class {
    WEIR_CHUNK_EMPTY,   /* no content to a caller: role, lifecycle, ping, usage, empty delta */
    WEIR_CHUNK_TEXT,    /* content: plain assistant text and nothing else */
    WEIR_CHUNK_OTHER,   /* content of another sort is in it: tools, reasoning, refusal, audio, ... (14.2) */
    WEIR_CHUNK_DONE,    /* the end marker */
    WEIR_CHUNK_ERROR,   /* the provider tells a failure: classify `error` as WEIR_MISHAP_ERROR_BODY */
    WEIR_CHUNK_GAVE_UP, /* the finish reason "error", and no object: WEIR_MISHAP_GAVE_UP */
    WEIR_CHUNK_BAD      /* not JSON where JSON is due: WEIR_MISHAP_BAD_CHUNK (decisions 28) */
} weir_chunk_class;

struct weir_chunk {
    weir_chunk_class chunk_class;
    struct weir_slice error;      /* of ERROR: the text to classify; a part of the event */
    struct weir_json_value model; /* a part of the event's data, to be spliced; type NOTHING: not there */
    struct weir_json_value text;  /* likewise, the plain text of its last choice that has some */
    struct weir_usage usage;
    struct weir_slice finish; /* the first finish reason, escapes as written; empty: none */
    uint32_t deltas;          /* choices that hold content */
    /* Choices by their index, a bit each; those from 63 on share the last. */
    uint64_t ended;        /* that have a finish reason */
    uint64_t spoken;       /* that are there at all */
    bool content_filtered; /* one of them is content_filter */
};

/* Reads one event of a stream.  Pure, no allocation.  Slices are parts of the event. */
void weir_read_chunk(const struct weir_endpoint *endpoint, weir_route route,
                     const struct weir_sse_event *event, struct weir_chunk *ret_chunk);

/* One implementation.  Reading is told the route alone: it must not depend on the deployment. */
struct weir_dialect {
    struct weir_slice name;
    /* Path and query for a model; parts of the endpoint or of the arena.  0 or WEIR_ERR_NOMEM. */
    int (*target)(const struct weir_endpoint *endpoint, weir_route route, struct weir_slice model,
                  struct weir_arena *arena, struct weir_slice *ret_target);
    /* The header that carries the key; *ret_name empty: none.  0 or WEIR_ERR_NOMEM. */
    int (*credential)(const struct weir_endpoint *endpoint, struct weir_arena *arena,
                      struct weir_header *ret_header);
    int (*build)(const struct weir_build *build, struct weir_arena *arena,
                 struct weir_upstream_request *ret_request);
    int (*read_answer)(weir_route route, struct weir_slice body, struct weir_plain_answer *ret_answer);
    void (*read_chunk)(weir_route route, const struct weir_sse_event *event, struct weir_chunk *ret_chunk);
};

/* The implementation, or NULL: weir has none, or (sim) nothing is called. */
const struct weir_dialect *weir_dialect_of(weir_dialect_id id);

#endif
