/*
 * The callbacks of a fetch are translated into what a source can say to its attempt: head, body, flush, done
 * or broken.
 */
#include "gateway/attempt/upcall_fetch.h"

#include "gateway/attempt/mishap.h"
#include "gateway/attempt/upcall.h"
#include "gateway/attempt/upstream.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"

static void on_fetch_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct weir_upcall *upcall = fetch->user;

    weir_upcall_enter(upcall);
    weir_upcall_on_head(upcall, head);
    weir_upcall_leave(upcall);
}

static void on_fetch_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct weir_upcall *upcall = fetch->user;

    weir_upcall_enter(upcall);
    weir_upcall_on_body(upcall, bytes);
    weir_upcall_leave(upcall);
}

static void on_fetch_flush(struct weir_fetch *fetch)
{
    struct weir_upcall *upcall = fetch->user;

    weir_upcall_enter(upcall);
    weir_upcall_on_flush(upcall);
    weir_upcall_leave(upcall);
}

static void on_fetch_done(struct weir_fetch *fetch)
{
    struct weir_upcall *upcall = fetch->user;

    weir_upcall_enter(upcall);
    weir_upcall_on_done(upcall);
    upcall->head = NULL;
    weir_upcall_leave(upcall);
}

static void on_fetch_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct weir_upcall *upcall = fetch->user;
    weir_mishap mishap;

    weir_upcall_enter(upcall);
    if (!upcall->told)
        upcall->job->access.cause = weir_fetch_failure_slug(failure->kind);
    if (weir_mishap_of_fetch(failure->kind, &mishap))
        weir_upcall_on_broken(upcall, mishap);
    else
        weir_upcall_fail_here(upcall);
    upcall->head = NULL;
    weir_upcall_leave(upcall);
}

static const struct weir_fetch_events fetch_events = {.on_head = on_fetch_head,
                                                      .on_body = on_fetch_body,
                                                      .on_done = on_fetch_done,
                                                      .on_error = on_fetch_error,
                                                      .on_flush = on_fetch_flush};

int weir_upcall_fetch(struct weir_upcall *upcall)
{
    int r = weir_upstreams_request(&upcall->job->setup->upstreams, upcall->upstream, &upcall->built,
                                   &upcall->request);

    if (r != 0)
        return r;
    upcall->fetch = (struct weir_fetch){.events = &fetch_events, .user = upcall};
    weir_client_start(upcall->job->worker->client, &upcall->fetch, &upcall->request);
    return 0;
}
