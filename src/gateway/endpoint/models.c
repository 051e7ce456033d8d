/*
 * Lists are made for each request: they are asked for seldom and follow the snapshot.  A name that a pattern
 * serves is a model too, when it is asked for by itself.
 */
#include "gateway/endpoint/models.h"

#include <weir/snapshot.h>

#include "base/slice.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/http_field.h"
#include "wire/json_write.h"

enum { LIST_MAX = 12 * 1024 * 1024, CREATED_S = 1677610602 };

/* `created` has no meaning here; clients want a number, and LiteLLM gives this one. */
static void put_model(struct weir_json_writer *writer, struct weir_slice name)
{
    weir_json_open(writer, '{');
    weir_json_put_key(writer, WEIR_SLICE("id"));
    weir_json_put_string(writer, name);
    weir_json_put_key(writer, WEIR_SLICE("object"));
    weir_json_put_string(writer, WEIR_SLICE("model"));
    weir_json_put_key(writer, WEIR_SLICE("created"));
    weir_json_put_u64(writer, CREATED_S);
    weir_json_put_key(writer, WEIR_SLICE("owned_by"));
    weir_json_put_string(writer, WEIR_SLICE("openai"));
    weir_json_close(writer, '}');
}

static void put_models(struct weir_json_writer *writer, const weir_snapshot *snapshot)
{
    for (size_t i = 0; i < weir_snapshot_group_count(snapshot); i++)
        put_model(writer, weir_snapshot_group_name(snapshot, i));
    for (size_t i = 0; i < weir_snapshot_alias_count(snapshot); i++) {
        bool hidden;
        struct weir_slice alias = weir_snapshot_alias_name(snapshot, i, &hidden);

        if (!hidden && !weir_snapshot_has_group(snapshot, alias))
            put_model(writer, alias);
    }
}

void weir_models_list(struct weir_job *job)
{
    struct weir_json_writer writer;
    struct weir_buf body;

    weir_buf_init(&body, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("data"));
    weir_json_open(&writer, '[');
    put_models(&writer, job->setup->snapshot);
    weir_json_close(&writer, ']');
    weir_json_put_key(&writer, WEIR_SLICE("object"));
    weir_json_put_string(&writer, WEIR_SLICE("list"));
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

void weir_models_one(struct weir_job *job, struct weir_slice name)
{
    struct weir_json_writer writer;
    struct weir_problem problem;
    struct weir_slice model;
    struct weir_buf body;

    if (weir_http_unescape(name, &job->arena, &model) != 0) {
        weir_reply_status(job, 400, WEIR_SLICE("the model's name is not validly percent-encoded"));
        return;
    }
    if (!weir_snapshot_knows(job->setup->snapshot, model)) {
        if (WEIR_REFUSE(&problem, &job->arena, 404, WEIR_SLICE("model"), WEIR_SLICE("The model '"), model,
                        WEIR_SLICE("' does not exist")) == WEIR_REFUSED)
            weir_reply_problem(job, &problem);
        else
            weir_reply_status(job, 404, WEIR_SLICE("The model does not exist"));
        return;
    }
    weir_buf_init(&body, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &body);
    put_model(&writer, model);
    weir_reply_written(job, &writer, &body);
}

void weir_models_info(struct weir_job *job)
{
    const struct weir_config *config = job->setup->config;
    struct weir_json_writer writer;
    struct weir_buf body;

    weir_buf_init(&body, weir_arena_mem(&job->arena), LIST_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("data"));
    weir_json_open(&writer, '[');
    for (size_t i = 0; i < config->deployment_count; i++)
        weir_json_put_raw(&writer, config->deployments[i]->info);
    weir_json_close(&writer, ']');
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}
