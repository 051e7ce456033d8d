/* The engine explains; here it is put into JSON, and into a sentence for who reads no more than that. */
#include "gateway/endpoint/explain.h"

#include <weir/explain.h>

#include "base/slice.h"
#include "base/text.h"
#include "gateway/answer/reply.h"
#include "gateway/driver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/request/parameter.h"
#include "gateway/setup.h"
#include "gateway/story/event_json.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { PAGE_MAX = 12 * 1024 * 1024, CANDIDATES_MAX = 1000, SENTENCE_MAX = 4096 };

/* 0, WEIR_REFUSED or negative. */
static int read_model(struct weir_job *job, struct weir_slice *ret_model, struct weir_problem *ret_problem)
{
    const struct weir_slice name = WEIR_SLICE("model");
    int r = weir_parameter(job, name, ret_model, ret_problem);

    if (r == WEIR_PARAMETER_ABSENT || (r == 0 && ret_model->len == 0))
        return WEIR_REFUSE(ret_problem, &job->arena, 400, name,
                           WEIR_SLICE("say which model: /weir/explain?model=NAME"));
    return r;
}

/* ---- parts of the answer ---- */

static void put_resolution(struct weir_json_writer *writer, const struct weir_explanation *explanation)
{
    weir_json_put_key(writer, WEIR_SLICE("resolution"));
    weir_json_open(writer, '{');
    weir_event_json_text(writer, WEIR_SLICE("how"), weir_resolution_name(explanation->how));
    if (explanation->how != WEIR_BY_UNKNOWN)
        weir_event_json_text(writer, WEIR_SLICE("group"), explanation->group);
    weir_event_json_text(writer, WEIR_SLICE("pattern"), explanation->pattern);
    weir_json_close(writer, '}');
}

static void put_candidate(struct weir_json_writer *writer, const struct weir_explained *candidate,
                          const struct weir_event_place *place)
{
    weir_json_open(writer, '{');
    weir_event_json_text(writer, WEIR_SLICE("deployment"), weir_deployment_id(candidate->deployment));
    weir_event_json_text(writer, WEIR_SLICE("model"), weir_deployment_model(candidate->deployment));
    weir_event_json_order(writer, WEIR_SLICE("order"), candidate->order);
    weir_event_json_text(writer, WEIR_SLICE("fate"), weir_fate_name(candidate->fate));
    weir_json_put_key(writer, WEIR_SLICE("odds"));
    weir_json_put_fixed(writer, (uint64_t)(candidate->odds * 10000 + 0.5), 4);
    if (candidate->until_ns > 0)
        weir_event_json_time(writer, WEIR_SLICE("until"),
                             place->wall_ns + (candidate->until_ns - place->at_ns));
    weir_json_close(writer, '}');
}

static void put_candidates(struct weir_json_writer *writer, const struct weir_explanation *explanation,
                           const struct weir_event_place *place)
{
    weir_json_put_key(writer, WEIR_SLICE("candidates"));
    weir_json_open(writer, '[');
    for (uint32_t i = 0; i < explanation->count; i++)
        put_candidate(writer, &explanation->candidates[i], place);
    weir_json_close(writer, ']');
    weir_json_put_u64_member(writer, WEIR_SLICE("omitted"), explanation->omitted);
}

static void put_retries(struct weir_json_writer *writer, const struct weir_explanation *explanation)
{
    weir_json_put_key(writer, WEIR_SLICE("retries"));
    weir_json_open(writer, '{');
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++)
        if (explanation->retries[kind] > 0) {
            weir_json_put_u64_member(writer, weir_kind_row((weir_kind)kind)->name,
                                     explanation->retries[kind]);
        }
    weir_json_close(writer, '}');
}

/* A list of its own for a kind of failure may be there and empty; where there is none the generic one holds.
 */
static void put_chains(struct weir_json_writer *writer, const struct weir_explanation *explanation)
{
    static const struct weir_slice names[WEIR_LIST_KINDS] = {
        [WEIR_LIST_GENERIC] = WEIR_SLICE_INIT("fallbacks"),
        [WEIR_LIST_CONTEXT_WINDOW] = WEIR_SLICE_INIT("context_window_fallbacks"),
        [WEIR_LIST_CONTENT_POLICY] = WEIR_SLICE_INIT("content_policy_fallbacks")};

    weir_json_put_key(writer, WEIR_SLICE("chains"));
    weir_json_open(writer, '{');
    for (int list = 0; list < WEIR_LIST_KINDS; list++) {
        const struct weir_explained_chain *chain = &explanation->chains[list];

        if (list != WEIR_LIST_GENERIC && !chain->is_own)
            continue;
        weir_json_put_key(writer, names[list]);
        weir_json_open(writer, '[');
        for (size_t i = 0; i < chain->count; i++)
            weir_json_put_string(writer, chain->targets[i].model);
        weir_json_close(writer, ']');
    }
    weir_json_close(writer, '}');
    weir_json_put_u64_member(writer, WEIR_SLICE("max_fallbacks"), explanation->max_fallbacks);
}

/* ---- the sentence ---- */

/* Who is certain to be chosen; NULL: nobody is. */
static const weir_deployment *certain(const struct weir_explanation *explanation)
{
    if (explanation->eligible == 1)
        for (uint32_t i = 0; i < explanation->count; i++)
            if (explanation->candidates[i].odds > 0)
                return explanation->candidates[i].deployment;
    return NULL;
}

static int say_nobody(struct weir_buf *buf, const struct weir_explanation *explanation)
{
    const struct weir_explained_chain *chain = &explanation->chains[WEIR_LIST_GENERIC];

    if (explanation->max_fallbacks == 0 || chain->count == 0)
        return WEIR_BUF_APPEND(
            buf, WEIR_SLICE("Nobody may be chosen now, and there is no fallback: it would fail."));
    return WEIR_BUF_APPEND(buf, WEIR_SLICE("Nobody may be chosen now: it would go on to "),
                           chain->targets[0].model, WEIR_SLICE("."));
}

static int say(struct weir_buf *buf, const struct weir_explanation *explanation)
{
    char eligible[WEIR_TEXT_U64_MAX], all[WEIR_TEXT_U64_MAX];
    const weir_deployment *only = certain(explanation);

    if (explanation->how == WEIR_BY_UNKNOWN)
        return weir_buf_append(
            buf, WEIR_SLICE("Nothing is called so: it would be refused. GET /v1/models has the names."));
    if (explanation->eligible == 0)
        return say_nobody(buf, explanation);
    if (only != NULL)
        return WEIR_BUF_APPEND(buf, WEIR_SLICE("It would be served by "), weir_deployment_id(only),
                               WEIR_SLICE("."));
    return WEIR_BUF_APPEND(buf, WEIR_SLICE("It would be served by one of "),
                           weir_text_u64(explanation->eligible, eligible), WEIR_SLICE(" of "),
                           weir_text_u64((uint64_t)explanation->count + explanation->omitted, all),
                           WEIR_SLICE(" deployments, as "), explanation->strategy, WEIR_SLICE(" chooses."));
}

static void put_sentence(struct weir_job *job, struct weir_json_writer *writer,
                         const struct weir_explanation *explanation)
{
    struct weir_buf sentence;

    weir_buf_init(&sentence, weir_arena_mem(&job->arena), SENTENCE_MAX);
    if (say(&sentence, explanation) == 0) /* a name that is longer than that is told above */
        weir_event_json_text(writer, WEIR_SLICE("sentence"), weir_buf_slice(&sentence));
}

/* ---- the page ---- */

static void write_page(struct weir_job *job, struct weir_slice model,
                       const struct weir_explanation *explanation)
{
    const struct weir_event_place place = {.wall_ns = weir_loop_wall_ns(job->worker->loop),
                                           .at_ns = weir_job_now(job)};
    struct weir_json_writer writer;
    struct weir_buf body;

    weir_buf_init(&body, weir_arena_mem(&job->arena), PAGE_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_event_json_text(&writer, WEIR_SLICE("asked"), model);
    weir_event_json_time(&writer, WEIR_SLICE("now"), place.wall_ns);
    put_resolution(&writer, explanation);
    weir_event_json_text(&writer, WEIR_SLICE("strategy"), explanation->strategy);
    put_candidates(&writer, explanation, &place);
    put_retries(&writer, explanation);
    put_chains(&writer, explanation);
    put_sentence(job, &writer, explanation);
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

void weir_explain_page(struct weir_job *job)
{
    const struct weir_gateway *gateway = job->worker->gateway;
    struct weir_request *request = &job->asked.request;
    struct weir_explanation explanation;
    struct weir_problem problem;
    struct weir_slice model;
    int r = read_model(job, &model, &problem);

    if (r == 0) {
        weir_request_init(request);
        request->model = model;
        request->note_candidates = CANDIDATES_MAX;
        request->prompt_tokens = weir_prompts_least(&job->setup->prompts);
        r = weir_driver_qualify(job);
    }
    if (r == 0)
        r = weir_router_explain(gateway->router, job->setup->snapshot, request, gateway->mem,
                                weir_job_now(job), &explanation);
    if (r != 0) {
        weir_reply_refusal(job, r, &problem);
        return;
    }
    write_page(job, model, &explanation);
    weir_explanation_deinit(&explanation, gateway->mem);
}
