/*
 * The body is {"seconds": 60, "by": "name"}.  Who says nothing of himself is told by his address, so that an
 * event always says by whom.
 */
#include "gateway/endpoint/cooldowns.h"

#include <weir/router.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/time.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/observe.h"
#include "gateway/setup.h"
#include "gateway/story/event_json.h"
#include "gateway/worker.h"
#include "wire/http_field.h"
#include "wire/json_read.h"
#include "wire/json_write.h"

enum { PAGE_MAX = 64 * 1024, BODY_DEPTH = 8 };

#define SECONDS_MAX (30.0 * 24 * 3600)

static const struct weir_slice seconds_key = WEIR_SLICE_INIT("seconds");
static const struct weir_slice by_key = WEIR_SLICE_INIT("by");

/* What is asked for. */
struct order {
    const weir_deployment *deployment;
    uint64_t length_ns; /* 0: not said */
    struct weir_slice by;
};

/* ---- what is asked ---- */

static int find(struct weir_job *job, struct weir_slice name, struct order *order,
                struct weir_problem *ret_problem)
{
    struct weir_slice id;
    int r = weir_http_unescape(name, &job->arena, &id);

    if (r > 0)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, WEIR_SLICE_EMPTY,
                           WEIR_SLICE("the deployment's id in the path is not validly percent-encoded"));
    if (r < 0)
        return r;
    order->deployment = weir_snapshot_find_deployment(job->setup->snapshot, id);
    if (order->deployment == NULL)
        return WEIR_REFUSE(ret_problem, &job->arena, 404, WEIR_SLICE_EMPTY,
                           WEIR_SLICE("there is no deployment with the id '"), id, WEIR_SLICE("'"));
    return 0;
}

static int read_seconds(struct weir_job *job, const struct weir_json_value *value, struct order *order,
                        struct weir_problem *ret_problem)
{
    double seconds;

    if (weir_json_number(value, &seconds) != 0 || !(seconds > 0 && seconds <= SECONDS_MAX) ||
        weir_time_from_s(seconds) == 0)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, seconds_key,
                           WEIR_SLICE("seconds must be a number, more than 0 and at most 2592000 (30 days)"));
    order->length_ns = weir_time_from_s(seconds);
    return 0;
}

static int read_by(struct weir_job *job, const struct weir_json_value *value, struct order *order,
                   struct weir_problem *ret_problem)
{
    int r = weir_json_string(value, &job->arena, &order->by);

    if (r < 0)
        return r;
    if (r > 0 || order->by.len > WEIR_PROCESS_NAME_BYTES)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, by_key,
                           WEIR_SLICE("by must be a text of at most 47 bytes"));
    return 0;
}

static int read_member(struct weir_job *job, const struct weir_json_item *item, struct order *order,
                       struct weir_problem *ret_problem)
{
    if (weir_json_key_is(item, seconds_key))
        return read_seconds(job, &item->value, order, ret_problem);
    if (weir_json_key_is(item, by_key))
        return read_by(job, &item->value, order, ret_problem);
    return WEIR_REFUSE(ret_problem, &job->arena, 400, WEIR_SLICE_EMPTY,
                       WEIR_SLICE("the body may hold seconds and by, and nothing else"));
}

static int read_body(struct weir_job *job, struct order *order, struct weir_problem *ret_problem)
{
    struct weir_slice body = weir_exchange_body(job->exchange);
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    int r = weir_json_enter(&cursor, body, BODY_DEPTH);

    while (r == 0 && (r = weir_json_next(&cursor, &item)) == WEIR_JSON_ITEM) {
        if (item.key.ptr == NULL)
            break;
        r = read_member(job, &item, order, ret_problem);
        if (r != 0)
            return r;
    }
    if (r != 0)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, WEIR_SLICE_EMPTY,
                           WEIR_SLICE("the body must be a JSON object"));
    return 0;
}

static int read_order(struct weir_job *job, struct weir_slice id, struct order *order,
                      struct weir_problem *ret_problem)
{
    int r = find(job, id, order, ret_problem);

    if (r == 0 && weir_exchange_body(job->exchange).len > 0)
        r = read_body(job, order, ret_problem);
    if (r == 0 && order->by.len == 0)
        order->by = job->access.peer;
    return r;
}

/* ---- doing it ---- */

static void begin_page(struct weir_job *job, const struct order *order, struct weir_buf *body,
                       struct weir_json_writer *writer)
{
    weir_buf_init(body, weir_arena_mem(&job->arena), PAGE_MAX);
    weir_json_writer_init(writer, body);
    weir_json_open(writer, '{');
    weir_json_put_key(writer, WEIR_SLICE("deployment"));
    weir_json_put_string(writer, weir_deployment_id(order->deployment));
}

static void end_page(struct weir_job *job, struct weir_buf *body, struct weir_json_writer *writer)
{
    weir_json_close(writer, '}');
    weir_reply_written(job, writer, body);
}

static void answer_set(struct weir_job *job, const struct order *order)
{
    uint64_t wall_ns = weir_loop_wall_ns(job->worker->loop);
    struct weir_json_writer writer;
    struct weir_buf body;

    begin_page(job, order, &body, &writer);
    weir_event_json_time(&writer, WEIR_SLICE("until"), weir_time_add(wall_ns, order->length_ns));
    weir_event_json_s(&writer, seconds_key, order->length_ns);
    weir_event_json_text(&writer, by_key, order->by);
    end_page(job, &body, &writer);
}

void weir_cooldowns_set(struct weir_job *job, struct weir_slice id)
{
    struct weir_gateway *gateway = job->worker->gateway;
    struct weir_problem problem;
    struct order order = {0};
    int r = read_order(job, id, &order, &problem);

    if (r == 0 && order.length_ns == 0)
        r = WEIR_REFUSE(&problem, &job->arena, 400, seconds_key,
                        WEIR_SLICE("the body must say for how many seconds"));
    if (r == 0)
        r = weir_router_cool(gateway->router, order.deployment, order.length_ns, order.by, weir_job_now(job));
    if (r != 0) {
        weir_reply_refusal(job, r, &problem);
        return;
    }
    weir_observe_router(gateway, job->setup, job->worker->loop);
    answer_set(job, &order);
}

void weir_cooldowns_lift(struct weir_job *job, struct weir_slice id)
{
    struct weir_gateway *gateway = job->worker->gateway;
    struct weir_json_writer writer;
    struct weir_problem problem;
    struct order order = {0};
    struct weir_buf body;
    bool lifted;
    int r = read_order(job, id, &order, &problem);

    if (r != 0) {
        weir_reply_refusal(job, r, &problem);
        return;
    }
    lifted = weir_router_lift(gateway->router, order.deployment, order.by, weir_job_now(job));
    weir_observe_router(gateway, job->setup, job->worker->loop);
    begin_page(job, &order, &body, &writer);
    weir_json_put_bool_member(&writer, WEIR_SLICE("lifted"), lifted);
    end_page(job, &body, &writer);
}
