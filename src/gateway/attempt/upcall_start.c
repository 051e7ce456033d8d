/*
 * An attempt that is over may serve for the next one of its job, so that a call with many attempts needs the
 * memory of a few.  What fails before anything was asked is told as the failure of the attempt: the engine
 * then tries elsewhere.
 */
#include "gateway/attempt/upcall.h"

#include <weir/error.h>

#include "base/map.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/attempt/upcall_fetch.h"
#include "gateway/continuation/continuable.h"
#include "gateway/continuation/continued.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/span/trace.h"
#include "gateway/worker.h"
#include "provider/prefill.h"
#include "wire/json_write.h"

/* Text that waited at the seam, escaped: it goes out with an event. */
enum { HELD_TEXT_MAX = 6 * WEIR_CONTINUE_TEXT_MAX };

static const struct weir_settings *settings_of(const struct weir_upcall *upcall)
{
    return &upcall->job->setup->config->settings;
}

static bool may_be_used_anew(const struct weir_upcall *upcall)
{
    return upcall->told && !upcall->entered && upcall != upcall->job->server && weir_upcall_quiet(upcall);
}

/* A used attempt of the job, or a new one; linked into the job. */
static struct weir_upcall *take(struct weir_job *job)
{
    struct weir_upcall *upcall = job->attempts;

    while (upcall != NULL && !may_be_used_anew(upcall))
        upcall = upcall->next;
    if (upcall != NULL) {
        struct weir_upcall *next = upcall->next;

        weir_upcall_release(upcall);
        *upcall = (struct weir_upcall){.next = next};
        return upcall;
    }
    upcall = weir_arena_zalloc(&job->arena, 1, sizeof(*upcall));
    if (upcall != NULL) {
        upcall->next = job->attempts;
        job->attempts = upcall;
    }
    return upcall;
}

/* The asked name while no hop was made, then the group that serves (decisions 16); `model_alias_map` may
 * rename either (RS 3.10). */
static int name_model(struct weir_upcall *upcall, const struct weir_start *start)
{
    struct weir_job *job = upcall->job;
    struct weir_slice name = start->hop == 0 ? job->asked.request.model : start->group;
    const struct weir_slice *rename = weir_map_get(&job->setup->config->renames, name);
    struct weir_buf json;
    struct weir_json_writer writer;
    int r;

    if (rename != NULL)
        name = *rename;
    weir_buf_init(&json, weir_arena_mem(&job->arena), 6 * name.len + 2);
    weir_json_writer_init(&writer, &json);
    weir_json_put_string(&writer, name);
    r = weir_json_writer_end(&writer);
    upcall->reported = weir_buf_slice(&json);
    return r;
}

/* The parameters that the model does not take and the configuration wants left out. */
static uint64_t dropped(const struct weir_upcall *upcall)
{
    struct weir_worker *worker = upcall->job->worker;
    struct weir_model_facts room;

    if (!upcall->deployment->drop_params)
        return 0;
    return weir_model_memo_facts(&worker->models, upcall->job->setup->config, upcall->deployment,
                                 upcall->model, &room)
        ->lacks;
}

/* Unless the configuration sends such fields of its own. */
static int tell_trace(struct weir_upcall *upcall)
{
    const struct weir_endpoint *endpoint = upcall->built.used;

    if (!upcall->job->trace.forwards ||
        weir_header_among(endpoint->headers, endpoint->header_count, WEIR_SLICE("traceparent")) ||
        weir_header_among(endpoint->headers, endpoint->header_count, WEIR_SLICE("tracestate")))
        return 0;
    return weir_trace_lines(upcall->job, upcall->number, &upcall->built.fields);
}

static int build(struct weir_upcall *upcall, const struct weir_start *start)
{
    const struct weir_job *job = upcall->job;
    const struct weir_continued *continued = upcall->continued;
    const struct weir_build build = {.endpoint = upcall->upstream->endpoint,
                                     .route = job->route,
                                     .model = start->model,
                                     .body = job->asked.body,
                                     .members = job->asked.members,
                                     .member_count = job->asked.member_count,
                                     .overrides = start->overrides,
                                     .overrides_trusted =
                                         true, /* a request's own were checked as they were read */
                                     .stream = upcall->stream,
                                     .stream_usage = settings_of(upcall)->always_stream_usage,
                                     .dropped = dropped(upcall),
                                     .prefill = continued == NULL ? WEIR_SLICE_EMPTY : continued->prefill,
                                     .sent_tokens = job->so_far.deltas};
    int r = weir_build_request(&build, &upcall->job->arena, &upcall->built);

    if (r == 0)
        r = tell_trace(upcall);
    if (r == 0 && upcall->built.redirected) {
        const struct weir_slice parts[] = {WEIR_SLICE("x-litellm-model-api-base: "), upcall->built.base,
                                           WEIR_SLICE("\r\n")};

        upcall->base_line = weir_arena_join(&upcall->job->arena, parts, sizeof(parts) / sizeof(parts[0]));
    }
    return r;
}

/* The request says where it goes or with which key, and this deployment does not take that from callers. */
static bool place_refused(const struct weir_upcall *upcall)
{
    return (upcall->job->asked.places & ~upcall->upstream->endpoint->caller_places) != 0;
}

static int refuse(struct weir_upcall *upcall, struct weir_slice text, struct weir_failure *ret_failure)
{
    const struct weir_verdict verdict = {.failure = {WEIR_KIND_BAD_REQUEST, 400, 0, WEIR_ORIGIN_ROUTER},
                                         .text = text,
                                         .type = WEIR_SLICE("invalid_request_error")};

    weir_upcall_record(upcall, &verdict);
    upcall->told = true;
    *ret_failure = verdict.failure;
    return WEIR_UPCALL_FAILED;
}

/* Of the request, and of what the configuration makes of it for this attempt. */
static bool may_carry_on(const struct weir_upcall *upcall, const struct weir_start *start)
{
    const struct weir_request *request = &upcall->job->asked.request;
    const struct weir_endpoint *endpoint = upcall->upstream->endpoint;

    return request->may_continue && !request->disable_fallbacks &&
           weir_snapshot_router(upcall->job->setup->snapshot)->continuation &&
           weir_continuable_with(endpoint->defaults) && weir_continuable_with(endpoint->extra_body) &&
           weir_continuable_with(start->overrides);
}

/* A new answer, or more of the one that the caller has.  0, WEIR_BUILD_NO_PREFILL, or negative. */
static int begin(struct weir_upcall *upcall, const struct weir_start *start, bool continues)
{
    const struct weir_provider *provider = upcall->upstream->endpoint->provider;
    struct weir_job *job = upcall->job;
    struct weir_continued *continued;

    upcall->may_be_continued = may_carry_on(upcall, start);
    if (!continues) {
        weir_so_far_begin(&job->so_far, upcall->number, upcall->may_be_continued);
        weir_so_far_note_speaker(&job->so_far, upcall->upstream->id);
        return 0;
    }
    weir_so_far_carry_on(&job->so_far, upcall->number);
    weir_so_far_note_speaker(&job->so_far, upcall->upstream->id);
    if (!job->so_far.keeps || !upcall->may_be_continued)
        return WEIR_BUILD_NO_PREFILL;
    continued = weir_continued_new(&job->so_far, weir_budget_mem(&job->worker->gateway->budget),
                                   (size_t)settings_of(upcall)->max_event_bytes + HELD_TEXT_MAX, &job->arena);
    if (continued == NULL)
        return WEIR_ERR_NOMEM;
    weir_continued_show(
        continued, weir_prefill_sent(weir_prefill_form_of(provider, start->model), continued->prefill).len);
    upcall->continued = continued;
    upcall->refuses_empty = false; /* the answer is not empty */
    return 0;
}

static struct weir_slice refusal(int condition)
{
    return condition == WEIR_BUILD_NO_PREFILL
               ? WEIR_SLICE(
                     "the answer cannot be carried on here: there is no place for what was said, or the "
                     "output would be constrained")
               : WEIR_SLICE("the request's api_base is no URL, or its key cannot be sent");
}

int weir_upcall_start(struct weir_job *job, uint32_t number, const struct weir_start *start, bool continues,
                      struct weir_failure *ret_failure)
{
    const struct weir_config_deployment *deployment = weir_deployment_user(start->deployment);
    struct weir_upcall *upcall = take(job);
    int r;

    if (upcall == NULL)
        return WEIR_ERR_NOMEM;
    weir_upcall_init(upcall, job, number);
    upcall->limit_ns = start->limit_ns;
    upcall->deployment = deployment;
    upcall->model = start->model;
    upcall->refuses_empty = deployment->fail_empty;
    upcall->upstream = weir_upstream_of(deployment->endpoint);
    if (place_refused(upcall))
        return refuse(upcall, WEIR_SLICE("the deployment takes no address and no key from requests"),
                      ret_failure);
    r = name_model(upcall, start);
    if (r == 0)
        r = begin(upcall, start, continues);
    upcall->simulated = deployment->endpoint->sim != NULL || deployment->endpoint->mock_response.len > 0;
    if (r == 0)
        r = upcall->simulated ? weir_sim_start(&upcall->sim, upcall) : build(upcall, start);
    if (r > 0)
        return refuse(upcall, refusal(r), ret_failure);
    if (r == 0 && !upcall->simulated)
        r = weir_upcall_fetch(upcall);
    upcall->told = r < 0;
    return r;
}
