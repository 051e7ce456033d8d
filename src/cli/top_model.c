/* Sizes are counted first, so that one block holds all rows of a kind; JSON's members are looked up once. */
#include "cli/top_model.h"

#include <stdlib.h>

#include <weir/error.h>

#include "cli/facts.h"

/* Rows of a kind; an answer that is not weir's may have many that say nothing. */
enum { ROWS_MAX = 200 * 1000 };

static void read_cooldown(struct weir_top_deployment *row, yyjson_val *cooldown)
{
    row->cooling = yyjson_is_obj(cooldown);
    row->cooldown_left_s = weir_fact_number(cooldown, "remaining_s", -1);
    row->cooldown_length_s = weir_fact_number(cooldown, "length_s", -1);
    row->cooldown_kind = weir_fact_text(cooldown, "kind");
    row->cooldown_rule = weir_fact_text(cooldown, "rule");
    row->cooldown_by = weir_fact_text(cooldown, "by");
}

static void read_counts(struct weir_top_deployment *row, yyjson_val *value)
{
    yyjson_val *usage = yyjson_obj_get(value, "usage"), *window = yyjson_obj_get(value, "window");

    row->in_flight = weir_fact_count(value, "in_flight") + weir_fact_count(value, "in_flight_elsewhere");
    row->requests = weir_fact_count(usage, "requests");
    row->tokens = weir_fact_count(usage, "tokens");
    row->rpm = weir_fact_count(usage, "rpm");
    row->tpm = weir_fact_count(usage, "tpm");
    row->successes = weir_fact_count(window, "successes");
    row->failures = weir_fact_count(window, "failures");
    row->failure_share = row->successes + row->failures == 0
                             ? -1
                             : (double)row->failures / (double)(row->successes + row->failures);
}

static void read_deployment(struct weir_top_model *model, struct weir_slice group, yyjson_val *value)
{
    struct weir_top_deployment *row = &model->deployments[model->deployment_count++];
    yyjson_val *last = yyjson_obj_get(value, "last_failure");
    double failed_at = weir_time_of(weir_fact_text(last, "time"));

    *row = (struct weir_top_deployment){
        .group = group,
        .id = weir_fact_text(value, "id"),
        .model = weir_fact_text(value, "model"),
        .provider = weir_fact_text(value, "provider"),
        .api_base = weir_fact_text(value, "api_base"),
        .order = weir_fact_number(value, "order", -1),
        .eligible = weir_fact_true(value, "eligible"),
        .odds = weir_fact_number(value, "odds", -1),
        .why = weir_fact_text(value, "why"),
        .latency_s = weir_fact_number(value, "latency_s", -1),
        .ttft_s = weir_fact_number(value, "ttft_s", -1),
        .last_kind = weir_fact_text(last, "kind"),
        .last_status = weir_fact_count(last, "status"),
        .last_ago_s = failed_at > 0 ? weir_time_of(model->now) - failed_at : -1,
    };
    read_cooldown(row, yyjson_obj_get(value, "cooldown"));
    read_counts(row, value);
    model->eligible += row->eligible;
    model->cooling += row->cooling;
}

static void sum_up(struct weir_top_group *group, const struct weir_top_deployment *row)
{
    group->count++;
    group->eligible += row->eligible;
    group->cooling += row->cooling;
    if (row->cooling && (group->back_in_s < 0 || row->cooldown_left_s < group->back_in_s))
        group->back_in_s = row->cooldown_left_s;
    group->in_flight += row->in_flight;
    group->requests += row->requests;
    group->tokens += row->tokens;
    group->successes += row->successes;
    group->failures += row->failures;
}

static void read_group(struct weir_top_model *model, yyjson_val *value)
{
    struct weir_top_group *group = &model->groups[model->group_count++];
    yyjson_val *deployment;
    size_t i, max;

    *group = (struct weir_top_group){.name = weir_fact_text(value, "group"),
                                     .strategy = weir_fact_text(value, "strategy"),
                                     .first = model->deployment_count,
                                     .back_in_s = -1};
    yyjson_arr_foreach(yyjson_obj_get(value, "deployments"), i, max, deployment)
    {
        if (model->deployment_count == ROWS_MAX)
            break;
        read_deployment(model, group->name, deployment);
        sum_up(group, &model->deployments[model->deployment_count - 1]);
    }
    group->failure_share = group->successes + group->failures == 0
                               ? -1
                               : (double)group->failures / (double)(group->successes + group->failures);
}

static void read_failover(struct weir_top_model *model, yyjson_val *value)
{
    model->failovers[model->failover_count++] = (struct weir_top_failover){
        .time = weir_fact_text(value, "time"),
        .call_id = weir_fact_text(value, "call_id"),
        .model = weir_fact_text(value, "model"),
        .deployment = weir_fact_text(value, "deployment"),
        .recovery = weir_fact_text(value, "recovery"),
        .state = weir_fact_text(value, "state"),
        .kind = weir_fact_text(value, "kind"),
        .status = weir_fact_count(value, "status"),
        .attempts = weir_fact_count(value, "attempts"),
        .retries = weir_fact_count(value, "retries"),
        .fallbacks = weir_fact_count(value, "fallbacks"),
        .duration_ms = weir_fact_number(value, "duration_ms", -1),
    };
}

static size_t at_most(size_t rows)
{
    return rows < ROWS_MAX ? rows : ROWS_MAX;
}

static int make_rows(struct weir_top_model *model, yyjson_val *groups, yyjson_val *calls)
{
    size_t group_max = at_most(yyjson_arr_size(groups)), call_max = at_most(yyjson_arr_size(calls));
    size_t deployment_max = 0, most, i, max;
    yyjson_val *group;

    yyjson_arr_foreach(groups, i, max, group) deployment_max +=
        yyjson_arr_size(yyjson_obj_get(group, "deployments"));
    deployment_max = at_most(deployment_max);
    most = deployment_max > group_max ? deployment_max : group_max;
    most = call_max > most ? call_max : most;
    model->groups = calloc(group_max + 1, sizeof(*model->groups));
    model->deployments = calloc(deployment_max + 1, sizeof(*model->deployments));
    model->failovers = calloc(call_max + 1, sizeof(*model->failovers));
    model->order = calloc(most + 1, sizeof(*model->order));
    return model->groups == NULL || model->deployments == NULL || model->failovers == NULL ||
                   model->order == NULL
               ? WEIR_ERR_NOMEM
               : 0;
}

static int fill(struct weir_top_model *model)
{
    yyjson_val *root = yyjson_doc_get_root(model->state);
    yyjson_val *groups = yyjson_obj_get(root, "groups");
    yyjson_val *calls = yyjson_obj_get(yyjson_doc_get_root(model->calls), "calls");
    yyjson_val *value;
    size_t i, max;

    model->now = weir_fact_text(root, "now");
    model->since = weir_fact_text(root, "since");
    model->version = weir_fact_text(root, "version");
    model->uptime_s = weir_fact_number(root, "uptime_s", 0);
    model->in_flight = weir_fact_count(root, "in_flight");
    if (make_rows(model, groups, calls) < 0)
        return WEIR_ERR_NOMEM;
    yyjson_arr_foreach(groups, i, max, value) if (i < ROWS_MAX) read_group(model, value);
    yyjson_arr_foreach(calls, i, max, value) if (i < ROWS_MAX) read_failover(model, value);
    return 0;
}

int weir_top_model_new(yyjson_doc *state, yyjson_doc *calls, struct weir_top_model **ret_model)
{
    struct weir_top_model *model = calloc(1, sizeof(*model));
    int r;

    if (model == NULL) {
        yyjson_doc_free(state);
        yyjson_doc_free(calls);
        return WEIR_ERR_NOMEM;
    }
    model->state = state;
    model->calls = calls;
    r = fill(model);
    if (r < 0)
        weir_top_model_free(model);
    else
        *ret_model = model;
    return r;
}

void weir_top_model_free(struct weir_top_model *model)
{
    if (model == NULL)
        return;
    yyjson_doc_free(model->state);
    yyjson_doc_free(model->calls);
    free(model->groups);
    free(model->deployments);
    free(model->failovers);
    free(model->order);
    free(model);
}
