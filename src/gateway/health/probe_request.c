/*
 * The shortest answer is wanted, so its length is bounded, by the name for that which the model knows.
 */
#include "gateway/health/probe_request.h"

#include <weir/error.h>

#include "config/config.h"
#include "provider/endpoint.h"
#include "provider/limit_name.h"
#include "wire/json_scan.h"
#include "wire/json_write.h"

enum { BODY_MAX = 64 * 1024, MEMBERS_MAX = 4, DEPTH_MAX = 8 };

static void put_limit(struct weir_json_writer *writer, const struct weir_config_deployment *deployment)
{
    const struct weir_config_probe *probe = &deployment->probe;
    struct weir_slice model = deployment->base_model.len > 0 ? deployment->base_model : probe->model;

    weir_json_put_key(writer, probe->route == WEIR_ROUTE_CHAT
                                  ? weir_limit_name_of(deployment->endpoint->provider, model)
                                  : WEIR_SLICE("max_tokens"));
    weir_json_put_u64(writer, probe->max_tokens);
}

static void put_messages(struct weir_json_writer *writer, struct weir_slice prompt)
{
    weir_json_put_key(writer, WEIR_SLICE("messages"));
    weir_json_open(writer, '[');
    weir_json_open(writer, '{');
    weir_json_put_key(writer, WEIR_SLICE("role"));
    weir_json_put_string(writer, WEIR_SLICE("user"));
    weir_json_put_key(writer, WEIR_SLICE("content"));
    weir_json_put_string(writer, prompt);
    weir_json_close(writer, '}');
    weir_json_close(writer, ']');
}

static void put_question(struct weir_json_writer *writer, weir_route route, struct weir_slice prompt)
{
    switch (route) {
    case WEIR_ROUTE_EMBEDDINGS:
        weir_json_put_key(writer, WEIR_SLICE("input"));
        weir_json_open(writer, '[');
        weir_json_put_string(writer, prompt);
        weir_json_close(writer, ']');
        return;
    case WEIR_ROUTE_COMPLETIONS:
        weir_json_put_key(writer, WEIR_SLICE("prompt"));
        weir_json_put_string(writer, prompt);
        return;
    case WEIR_ROUTE_CHAT:
    case WEIR_ROUTES:
        put_messages(writer, prompt);
        return;
    }
}

static int write_body(const struct weir_config_deployment *deployment, struct weir_slice prompt,
                      struct weir_buf *body)
{
    weir_route route = deployment->probe.route;
    struct weir_json_writer writer;

    weir_json_writer_init(&writer, body);
    weir_json_open(&writer, '{');
    put_question(&writer, route, prompt);
    if (route != WEIR_ROUTE_EMBEDDINGS)
        put_limit(&writer, deployment);
    weir_json_close(&writer, '}');
    return weir_json_writer_end(&writer);
}

static int list_members(struct weir_slice body, struct weir_json_item members[MEMBERS_MAX], size_t *ret_count)
{
    struct weir_json_cursor cursor;
    size_t count = 0;

    if (weir_json_enter(&cursor, body, DEPTH_MAX) != 0)
        return WEIR_ERR_INTERNAL;
    while (count < MEMBERS_MAX && weir_json_next(&cursor, &members[count]) == WEIR_JSON_ITEM)
        count++;
    *ret_count = count;
    return 0;
}

int weir_probe_build(const struct weir_config *config, const struct weir_config_deployment *deployment,
                     struct weir_arena *arena, struct weir_upstream_request *ret_request)
{
    const struct weir_config_probe *probe = &deployment->probe;
    struct weir_json_item *members = weir_arena_zalloc(arena, MEMBERS_MAX, sizeof(*members));
    struct weir_build build = {
        .endpoint = deployment->endpoint, .route = probe->route, .model = probe->model, .members = members};
    struct weir_model_facts room;
    struct weir_buf body;
    int r;

    if (members == NULL)
        return WEIR_ERR_NOMEM;
    weir_buf_init(&body, weir_arena_mem(arena), BODY_MAX);
    r = write_body(deployment, config->settings.health_prompt, &body);
    build.body = weir_buf_slice(&body);
    if (deployment->drop_params)
        build.dropped = weir_config_facts(config, deployment, probe->model, &room)->lacks;
    if (r == 0)
        r = list_members(build.body, members, &build.member_count);
    return r == 0 ? weir_build_request(&build, arena, ret_request) : r;
}
