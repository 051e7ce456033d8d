/*
 * One POST to a place that is no provider: a collector, a webhook.  The request goes out whole, the answer
 * comes back whole or not at all; redirects are not followed, and nothing is tried twice.
 *
 * A post is embedded in what its owner keeps of it and may be used again once it is over.  All for the loop's
 * thread; done is called from the loop, once, unless the post is cancelled before.  The process's proxies
 * hold here too.
 */
#ifndef WEIR_GATEWAY_POST_H
#define WEIR_GATEWAY_POST_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "net/client.h"
#include "net/timer.h"

struct weir_gateway;
struct weir_post;
struct weir_settings;
struct weir_trust;

/* What is kept of an answer's body; one that is longer counts as whole, and ends there. */
enum { WEIR_POST_ANSWER_MAX = 64 * 1024 };

enum { WEIR_POST_TEXT_MAX = 320 };

/* Where to. */
struct weir_post_place {
    bool secure;
    uint16_t port;
    struct weir_slice host;   /* fit for a log, as the rest of a URL is not */
    struct weir_slice target; /* path and query */
    weir_tls_context *tls;    /* a reference; NULL: plain */
    struct weir_buf text;     /* what the slices are parts of */
};

/* It cannot be: text says why, for a person, and holds nothing of the URL but its host. */
#define WEIR_POST_REFUSED 1

/*
 * Makes a place of an http or https URL, which is copied; the process's settings say whose certificates are
 * trusted.  A URL with a user in it is refused: what lets in belongs into a header.  0, WEIR_POST_REFUSED
 * with a NUL-terminated text, or negative; then there is nothing to take down.
 */
WEIR_MUST_USE int weir_post_place_init(struct weir_post_place *ret_place, struct weir_slice url,
                                       const struct weir_settings *settings, struct weir_trust *trust,
                                       const struct weir_mem *mem, char text[WEIR_POST_TEXT_MAX]);

/* No post to it may be under way.  Accepts a zeroed one. */
void weir_post_place_deinit(struct weir_post_place *place);

/* A client for a few connections, with the gateway's resolver and proxies and the limits of the settings; its
 * owner closes it.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_post_client(const struct weir_gateway *gateway, const struct weir_settings *settings,
                                   weir_loop *loop, weir_client **ret_client);

/* What came of it; the slices live during the call. */
struct weir_post_outcome {
    unsigned status;          /* 0: no whole answer came in time */
    struct weir_slice reason; /* then: a word why, of net/tbl/fetch_failures.h, or "timed_out" */
    uint64_t retry_after_ns;  /* the answer's Retry-After; 0: none */
    struct weir_slice body;   /* its first WEIR_POST_ANSWER_MAX bytes, decoded */
};

/* The post may be started anew or freed. */
typedef void weir_post_done_fn(struct weir_post *post, const struct weir_post_outcome *outcome);

/* Everything that is pointed to stays as it is until the post is over. */
struct weir_post_spec {
    weir_loop *loop;
    weir_client *client;
    const struct weir_mem *mem; /* for the answer's body */
    const struct weir_post_place *place;
    struct weir_slice fields; /* header lines, Content-Type among them, as in weir_fetch_request */
    struct weir_slice lead;   /* of the body what comes first, from elsewhere; may be empty */
    struct weir_slice body;
    uint64_t limit_ns; /* for all of it */
    weir_post_done_fn *done;
};

struct weir_post {
    struct weir_post_spec spec;
    /* private */
    struct weir_slice parts[2];
    struct weir_fetch_request request;
    struct weir_fetch fetch;
    struct weir_timer timer;
    const struct weir_http1_head *head;
    struct weir_buf answer;
    bool active;
};

/* One that is not active. */
void weir_post_start(struct weir_post *post, const struct weir_post_spec *spec);

/* done is not called any more.  Does nothing to one that is over; accepts a zeroed one. */
void weir_post_cancel(struct weir_post *post);

static inline bool weir_post_active(const struct weir_post *post)
{
    return post->active;
}

#endif
