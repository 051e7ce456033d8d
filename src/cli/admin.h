/*
 * Asking a running weir, for the commands that show what it knows: GET on its admin routes, over HTTP or
 * HTTPS.
 *
 * What goes wrong is told in a sentence that says how to mend it.  An answer is bounded in size and time.
 * Everything belongs to one thread, which runs the loop: a command may have other things on it (a terminal),
 * or wait for one answer (weir_admin_wait).
 */
#ifndef WEIR_CLI_ADMIN_H
#define WEIR_CLI_ADMIN_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "net/client.h"
#include "net/loop.h"
#include "wire/url.h"

#include <yyjson.h>

enum { WEIR_ADMIN_TEXT_MAX = 512, WEIR_ADMIN_ANSWER_MAX = 64 * 1024 * 1024 };

#define WEIR_ADMIN_URL "http://127.0.0.1:4000"

/* Where weir is and who asks. */
struct weir_admin_place {
    const char *url; /* NULL: WEIR_ADMIN_URL */
    const char *key; /* NULL: the variables WEIR_KEY and LITELLM_MASTER_KEY; none: no key is sent */
};

struct weir_admin {
    weir_loop *loop;
    weir_resolver *resolver;
    weir_client *client;
    struct weir_proxies proxies;
    weir_tls_context *tls;   /* NULL: plain HTTP */
    struct weir_slice where; /* the URL as it was written */
    struct weir_url url;
    struct weir_buf fields; /* of each request */
    bool has_key;           /* among them */
};

/* What is said of an answer that has not what its page has. */
#define WEIR_ADMIN_STRANGE "the answer is not of the kind that weir gives: is it weir that listens there?"

/* The place is unusable: text says why. */
#define WEIR_ADMIN_REFUSED 1

/* place and what it points to live as long as the admin.  Ignores SIGPIPE.  0, WEIR_ADMIN_REFUSED with a
 * NUL-terminated text, or negative; the admin must be deinited in every case. */
WEIR_MUST_USE int weir_admin_init(struct weir_admin *ret_admin, const struct weir_admin_place *place,
                                  char text[WEIR_ADMIN_TEXT_MAX]);

/* No question may be out, and everything else on the loop must be closed.  Accepts a zeroed one. */
void weir_admin_deinit(struct weir_admin *admin);

/* One question and its answer; zeroed by the caller before the first use, which sets done. */
struct weir_admin_get {
    /* Called from the loop, once for each start that is not cancelled.  May start it again. */
    void (*done)(struct weir_admin_get *get);
    void *user;
    /* The answer: an object; NULL when there is none, and text says why.  Until the next start or clear. */
    yyjson_doc *doc;
    char text[WEIR_ADMIN_TEXT_MAX];
    /* private */
    struct weir_admin *admin;
    struct weir_fetch fetch;
    struct weir_fetch_request request;
    struct weir_buf target;
    struct weir_buf body;
    struct weir_timer timer;
    unsigned status;
};

/* path with its query, percent-encoded, is copied. */
void weir_admin_start(struct weir_admin *admin, struct weir_admin_get *get, struct weir_slice path);

/* The same, running the loop until the answer is there; done is not called. */
void weir_admin_wait(struct weir_admin *admin, struct weir_admin_get *get, struct weir_slice path);

/* Takes the document out of the answer: the caller frees it.  NULL: there is none. */
yyjson_doc *weir_admin_take(struct weir_admin_get *get);

/* Cancels what is under way and gives everything back.  Accepts a zeroed one. */
void weir_admin_clear(struct weir_admin_get *get);

/* Appends text with everything but letters, digits and "-._~," percent-encoded: a part of a path or query. */
WEIR_MUST_USE int weir_admin_escape(struct weir_buf *buf, struct weir_slice text);

#endif
