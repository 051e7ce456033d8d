/*
 * One loop performs steps until the engine has none; everything else only tells the engine something and
 * enters that loop.  Performing a step may not call back into the loop: sources of answers report from the
 * event loop only, and an attempt that fails while it is started is reported by the loop itself.
 *
 * The timer is armed lazily: while weir_call_expiry only moves away, as it does with each chunk of a stream,
 * an armed timer is left where it is; when it fires too early the engine has nothing to do and it is armed
 * anew.
 */
#include "gateway/driver.h"

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "config/tag_regex.h"
#include "gateway/attempt/upcall.h"
#include "gateway/continuation/continuable.h"
#include "gateway/deliver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/keepalive.h"
#include "gateway/observe.h"
#include "gateway/request/paths.h"
#include "gateway/request/stateful.h"
#include "gateway/setup.h"
#include "gateway/story/draft.h"
#include "gateway/worker.h"
#include "provider/prompt.h"
#include "provider/provider.h"
#include "wire/http1_read.h"
#include "wire/http_field.h"

static void perform_start(struct weir_job *job, const struct weir_step *step)
{
    struct weir_failure failure = {WEIR_KIND_SERVICE_UNAVAILABLE, 503, 0, WEIR_ORIGIN_ROUTER};
    int r = weir_upcall_start(job, step->attempt, &step->u.start, step->kind == WEIR_STEP_CONTINUE, &failure);

    job->access.attempts++;
    job->access.cause = WEIR_SLICE_EMPTY;
    job->access.deployment = weir_deployment_id(step->u.start.deployment);
    if (r != 0)
        weir_call_on_failed(job->call, step->attempt, &failure, weir_job_now(job));
}

static void perform_cancel(struct weir_job *job, const struct weir_step *step)
{
    struct weir_upcall *upcall = weir_upcall_find(job, step->attempt);

    if (upcall != NULL)
        weir_upcall_cancel(upcall, WEIR_MISHAP_TIMED_OUT);
}

static void perform_commit(struct weir_job *job, const struct weir_step *step)
{
    struct weir_upcall *upcall = weir_upcall_find(job, step->attempt);

    if (upcall == NULL)
        return;
    upcall->committed = true;
    job->server = upcall;
    weir_deliver_commit(job, upcall);
}

static void perform_deliver(struct weir_job *job, const struct weir_step *step)
{
    job->over = true;
    job->server = weir_upcall_find(job, step->attempt);
    if (job->server != NULL)
        weir_deliver_answer(job, job->server);
}

static void perform_fail(struct weir_job *job, const struct weir_step *step)
{
    job->over = true;
    weir_deliver_failure(job, &step->u.fail);
}

static void perform(struct weir_job *job, const struct weir_step *step)
{
    switch (step->kind) {
    case WEIR_STEP_START:
    case WEIR_STEP_CONTINUE:
        perform_start(job, step);
        return;
    case WEIR_STEP_CANCEL:
        perform_cancel(job, step);
        return;
    case WEIR_STEP_ASK:
        /* Keys and teams do not exist here yet: whoever may use the gateway may use every group. */
        weir_call_on_answer(job->call, step->u.ask.id, WEIR_ANSWER_YES, weir_job_now(job));
        return;
    case WEIR_STEP_COMMIT:
        perform_commit(job, step);
        return;
    case WEIR_STEP_DELIVER:
        perform_deliver(job, step);
        return;
    case WEIR_STEP_FAIL:
        perform_fail(job, step);
        return;
    case WEIR_STEP_NONE:
        return;
    }
}

static void observe(struct weir_job *job)
{
    struct weir_event event;

    while (weir_call_event(job->call, &event))
        weir_observe_event(job, &event);
}

static void arm(struct weir_job *job, uint64_t at_ns)
{
    if (job->over || at_ns >= job->timer_ns)
        return;
    job->timer_ns = at_ns;
    weir_loop_arm(job->worker->loop, &job->timer, at_ns);
}

static void fail_inside(struct weir_job *job)
{
    const struct weir_fail fail = {.failure = {WEIR_KIND_INTERNAL, 500, 0, WEIR_ORIGIN_ROUTER},
                                   .reason = WEIR_REASON_NOMEM,
                                   .group = job->asked.request.model,
                                   .committed = job->server != NULL};

    job->over = true;
    weir_deliver_failure(job, &fail);
}

static void drive(struct weir_job *job)
{
    struct weir_step step;

    while (!job->over) {
        if (weir_call_next(job->call, weir_job_now(job), &step) < 0) {
            fail_inside(job);
            break;
        }
        observe(job);
        if (step.kind == WEIR_STEP_NONE)
            break;
        perform(job, &step);
    }
    arm(job, weir_call_expiry(job->call));
}

/* After news that seldom call for a step. */
static void settle(struct weir_job *job)
{
    uint64_t at_ns = weir_call_expiry(job->call);

    if (at_ns <= weir_job_now(job))
        drive(job);
    else
        arm(job, at_ns);
}

void weir_driver_on_opened(struct weir_upcall *upcall)
{
    struct weir_job *job = upcall->job;

    weir_call_on_opened(job->call, upcall->number, weir_job_now(job));
    settle(job);
}

void weir_driver_on_chunk(struct weir_upcall *upcall, const struct weir_stream_chunk *chunk)
{
    struct weir_job *job = upcall->job;

    weir_call_on_chunk(job->call, upcall->number, chunk, weir_job_now(job));
    settle(job);
}

void weir_driver_on_paused(struct weir_upcall *upcall, bool paused)
{
    struct weir_job *job = upcall->job;

    weir_call_on_paused(job->call, upcall->number, paused, weir_job_now(job));
    arm(job, weir_call_expiry(job->call)); /* nothing is due at once */
}

/* What the provider counted, if it was the request and nothing else: a continuation's prompt holds the text
 * so far too. */
static void learn_prompt(const struct weir_upcall *upcall)
{
    struct weir_prompts *prompts = &upcall->job->setup->prompts;

    if (prompts->used && upcall->continued == NULL)
        weir_prompts_learn(prompts, upcall->deployment->group, &upcall->job->prompt,
                           upcall->usage.prompt_tokens);
}

void weir_driver_on_finished(struct weir_upcall *upcall)
{
    struct weir_job *job = upcall->job;
    const struct weir_outcome outcome = {upcall->content_filtered, upcall->usage.prompt_tokens,
                                         upcall->usage.completion_tokens};

    learn_prompt(upcall);
    weir_call_on_finished(job->call, upcall->number, &outcome, weir_job_now(job));
    drive(job);
}

void weir_driver_on_failed(struct weir_upcall *upcall, const struct weir_failure *failure)
{
    struct weir_job *job = upcall->job;

    weir_call_on_failed(job->call, upcall->number, failure, weir_job_now(job));
    drive(job);
}

void weir_driver_on_client_gone(struct weir_job *job)
{
    if (job->call == NULL || job->over)
        return;
    weir_call_on_client_gone(job->call, weir_job_now(job));
    drive(job);
}

void weir_driver_on_timer(struct weir_timer *timer)
{
    struct weir_job *job = WEIR_CONTAINER(timer, struct weir_job, timer);

    weir_job_enter(job);
    job->timer_ns = WEIR_TIME_NEVER;
    if (!job->over) {
        drive(job);
        weir_deliver_flush(job); /* what was held, when the window has ended */
    }
    weir_job_leave(job);
}

int weir_driver_qualify(struct weir_job *job)
{
    struct weir_request *request = &job->asked.request;
    const struct weir_provider *provider;

    if (!job->setup->has_patterns || weir_slice_find_char(request->model, '/') != WEIR_SLICE_NONE)
        return 0;
    provider = weir_provider_infer(request->model);
    if (provider != NULL) {
        const struct weir_slice parts[] = {provider->name, WEIR_SLICE("/"), request->model};

        request->qualified_model = weir_arena_join(&job->arena, parts, sizeof(parts) / sizeof(parts[0]));
        if (request->qualified_model.len == 0)
            return WEIR_ERR_NOMEM;
    }
    return 0;
}

/* `completion_model` and `embedding_model` are used whatever the request names. */
static void force_model(struct weir_job *job)
{
    const struct weir_settings *settings = &job->setup->config->settings;
    struct weir_slice forced =
        job->route == WEIR_ROUTE_EMBEDDINGS ? settings->embedding_model : settings->completion_model;

    if (forced.len > 0)
        job->asked.request.model = forced;
}

static int path_model(struct weir_job *job, const struct weir_path *path, struct weir_slice *ret_model,
                      struct weir_problem *ret_problem)
{
    struct weir_slice model;
    int r;

    *ret_model = WEIR_SLICE_EMPTY;
    if (path->name.len == 0)
        return 0;
    r = weir_http_unescape(path->name, &job->arena, &model);
    if (r > 0)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, WEIR_SLICE("model"),
                           WEIR_SLICE("the model's name in the path is not validly percent-encoded"));
    if (r < 0)
        return r;
    *ret_model = weir_arena_copy(&job->arena, model); /* the head goes when the client does */
    return ret_model->len == 0 ? WEIR_ERR_NOMEM : 0;
}

/* Whether a deployment is for the client, by what it calls itself. */
static bool matches(void *user, const weir_deployment *deployment)
{
    const struct weir_asked *asked = user;
    const struct weir_config_deployment *config = weir_deployment_user(deployment);

    return weir_tag_regex_found(config->tag_patterns, asked->user_agent);
}

static void measure_prompt(struct weir_job *job)
{
    const struct weir_prompts *prompts = &job->setup->prompts;

    if (!prompts->used)
        return;
    weir_prompt_read(job->asked.members, job->asked.member_count, &job->prompt);
    job->asked.request.prompt_tokens = weir_prompts_estimate(prompts, &job->asked.request, &job->prompt);
    job->access.prompt_estimate = job->asked.request.prompt_tokens;
}

/* Without memory for it the call goes on, and is not remembered. */
static void begin_story(struct weir_job *job)
{
    if (!job->setup->keeps_stories && !job->asked.explain && !job->trace.recorded)
        return;
    if (job->asked.explain)
        weir_so_far_explain(&job->so_far);
    job->draft = weir_draft_new(&job->arena, job->begun_ns);
    job->asked.request.note_candidates = job->draft == NULL ? 0 : WEIR_STORY_CANDIDATES_MAX;
}

void weir_driver_note_route(struct weir_job *job, const struct weir_path *path)
{
    static const struct weir_slice names[WEIR_ROUTES] = {
        [WEIR_ROUTE_CHAT] = WEIR_SLICE_INIT("chat"),
        [WEIR_ROUTE_COMPLETIONS] = WEIR_SLICE_INIT("completions"),
        [WEIR_ROUTE_EMBEDDINGS] = WEIR_SLICE_INIT("embeddings")};

    job->route = path->row->route;
    job->access.route = names[job->route];
}

static void note_access(struct weir_job *job)
{
    job->access.model = job->asked.request.model;
    job->access.stream = job->asked.request.stream;
    job->access.lar1_invalid = job->asked.bad_lar1;
}

int weir_driver_begin(struct weir_job *job, const struct weir_path *path, struct weir_problem *ret_problem)
{
    const struct weir_setup *setup = job->setup;
    struct weir_slice model;
    int r;

    weir_exchange_take_body(job->exchange, &job->body);
    r = path_model(job, path, &model, ret_problem);
    if (r == 0)
        r = weir_asked_read(&setup->rules, weir_exchange_head(job->exchange), weir_buf_slice(&job->body),
                            model, &job->arena, &job->asked, ret_problem);
    if (r == 0) {
        force_model(job);
        if (!weir_route_row(job->route)->streams)
            job->asked.request.stream = false;
        job->asked.request.route = WEIR_ROUTE_BIT(job->route);
        job->asked.request.may_continue = weir_continuable(job->route, &job->asked);
        job->asked.request.stateful = setup->hedges && weir_stateful(&job->asked);
        if (job->asked.user_agent.len > 0) {
            job->asked.request.matches = matches;
            job->asked.request.matches_user = &job->asked;
        }
        r = weir_driver_qualify(job);
        measure_prompt(job);
    }
    note_access(job);
    begin_story(job);
    if (r == 0)
        r = weir_call_begin(job->worker->gateway->router, setup->snapshot, &job->asked.request,
                            weir_arena_mem(&job->arena), weir_job_now(job), &job->call);
    if (r == 0) {
        drive(job);
        weir_keepalive_begin(job);
    }
    return r;
}
