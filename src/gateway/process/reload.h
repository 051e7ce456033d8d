/*
 * Reading the configuration again, and serving by it from then on.
 *
 * Whoever wants a reload asks for one: a signal, a changed file, a request.  The main thread loads the file,
 * away from the path of requests, and either puts the whole of it in place or changes nothing and says why.
 * What is asked for while a reload runs is done by the next one, all of it by one; so any number of wishes
 * cost one reload at a time, and whoever asked learns of one that began after the question.
 *
 *   - live state of deployments that stay is kept (router.h), so are cooldowns;
 *   - calls under way finish by the setup that they began with (seat.h);
 *   - what needs a restart holds as it was, and is named (config/changes.h).
 */
#ifndef WEIR_GATEWAY_RELOAD_H
#define WEIR_GATEWAY_RELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "base/buf.h"
#include "config/config.h"
#include "gateway/process/file_watch.h"
#include "net/loop.h"

struct weir_gateway;

/* Where configurations come from. */
struct weir_reload_source {
    const char *path;
    struct weir_config_env env;
    const struct weir_mem *mem;
    void *user;
    /*
     * Lays over a loaded configuration what beats it (the command line), and looks whether it may be served
     * by: 0, or 1 with a NUL-terminated text that says why not.
     */
    int (*amend)(void *user, struct weir_config *config, char *text, size_t text_bytes);
    /* Tells a person what is wrong with a file; NULL: nobody. */
    void (*tell)(void *user, const struct weir_diags *diags);
};

enum weir_reload_cause { WEIR_RELOAD_BY_SIGNAL, WEIR_RELOAD_BY_FILE };

/* A question of another thread, embedded by who asks; its own again from done on. */
struct weir_reload_ask {
    weir_loop *loop; /* where done is called */
    void (*done)(struct weir_reload_ask *ask);
    int status;           /* 200; 400: the configuration is refused; 503: not now */
    struct weir_buf text; /* JSON of what changed, or a message; the asker deinits it */
    /* private */
    struct weir_reload *reload;
    struct weir_reload_ask *next;
    struct weir_loop_task task;
};

/* How often; for a page of any thread. */
struct weir_reload_counts {
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t refused;
};

struct weir_reload {
    weir_loop *loop;
    struct weir_gateway *gateway;
    struct weir_reload_source source;
    struct weir_file_watch files;
    struct weir_loop_task task;
    bool posted;
    bool closed;
    struct weir_reload_ask *asks; /* for the next one */
    struct weir_reload_counts counts;
    /* Set by who wants to know: one begins; it is over.  NULL: nobody. */
    void (*phase)(struct weir_reload *reload, bool begins);
};

/* On the gateway's home loop, before its workers start.  The source's path and user outlive it. */
void weir_reload_init(struct weir_reload *ret_reload, weir_loop *loop, struct weir_gateway *gateway,
                      const struct weir_reload_source *source);

/* From the loop's thread: no reload any more (weir drains); who asks is told so.  May be called again. */
void weir_reload_close(struct weir_reload *reload);

/* From the loop's thread: a reload is wanted, soon. */
void weir_reload_request(struct weir_reload *reload, enum weir_reload_cause cause);

/* From the thread of ask->loop, with loop and done set.  done is called unless the main thread ends first. */
void weir_reload_ask(struct weir_reload *reload, struct weir_reload_ask *ask);

#endif
