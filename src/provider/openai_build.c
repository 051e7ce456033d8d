/*
 * A request body is changed in as few places as possible and never written anew: `model` and `stream` get
 * their values, what is the router's own goes, what a target or the deployment adds is put at the end.  The
 * rest are slices of what the caller sent, byte for byte.
 *
 * Each member of the body is edited at most once, so edits never overlap.  Who wins for one name is decided
 * by the order in which the sources are asked: extra_body, overrides, body, defaults.  An answer that is
 * carried on goes before all of them: what they say of its length and its messages is where it starts from.
 * What is dropped is dropped from overrides, body and defaults.
 */
#include "provider/openai_build.h"

#include <string.h>
#include <weir/error.h>

#include "base/slice.h"
#include "provider/fields.h"
#include "provider/openai_prefill.h"
#include "provider/parameter.h"
#include "provider/redirect.h"
#include "wire/json_read.h"
#include "wire/json_splice.h"

struct plan {
    const struct weir_build *build;
    const struct weir_endpoint *endpoint; /* where the call goes */
    struct weir_arena *arena;
    struct weir_params overrides;
    struct weir_params forced; /* of an answer that is carried on */
    struct weir_slice model;
    struct weir_slice model_json;
    struct weir_json_value root;
    struct weir_json_splice splice;
};

static bool is_stream(struct weir_slice name)
{
    return weir_slice_eq(name, WEIR_SLICE("stream"));
}

static const struct weir_param *find_param(const struct weir_params *params, struct weir_slice name)
{
    for (size_t i = 0; i < params->count; i++)
        if (weir_slice_eq(params->items[i].name, name))
            return &params->items[i];
    return NULL;
}

static const struct weir_param *find_param_of(const struct weir_params *params,
                                              const struct weir_json_item *member)
{
    for (size_t i = 0; i < params->count; i++)
        if (weir_json_key_is(member, params->items[i].name))
            return &params->items[i];
    return NULL;
}

static size_t count_members(const struct weir_build *build, struct weir_slice name)
{
    size_t count = 0;

    for (size_t i = 0; i < build->member_count; i++)
        count += weir_json_key_is(&build->members[i], name) ? 1 : 0;
    return count;
}

static const struct weir_json_item *find_member(const struct weir_build *build, struct weir_slice name)
{
    for (size_t i = 0; i < build->member_count; i++)
        if (weir_json_key_is(&build->members[i], name))
            return &build->members[i];
    return NULL;
}

/* A member of that name goes, whoever says it, extra_body apart. */
static bool is_dropped(const struct plan *plan, struct weir_slice name)
{
    return (plan->build->dropped & weir_parameter_bit(name)) != 0 ||
           weir_drops_member(&plan->endpoint->drops, name);
}

/* A name that overrides and defaults may set in the body. */
static bool may_set(const struct plan *plan, struct weir_slice name)
{
    const struct weir_field *field = weir_field_find(name);

    if (field != NULL)
        return field->field_class == WEIR_FIELD_METADATA && plan->endpoint->pass_metadata;
    if (plan->build->dropped + plan->endpoint->drops.count > 0 && is_dropped(plan, name))
        return false;
    return plan->build->stream || !weir_slice_eq(name, WEIR_SLICE("stream_options"));
}

/* What is to stand for a member instead of the caller's value, or NULL. */
static const struct weir_param *replacement(const struct plan *plan, const struct weir_json_item *member)
{
    const struct weir_param *param = find_param_of(&plan->forced, member);

    if (param != NULL)
        return param;
    param = find_param_of(&plan->endpoint->extra_params, member);
    if (param != NULL && !is_stream(param->name))
        return param;
    param = find_param_of(&plan->overrides, member);
    return param != NULL && may_set(plan, param->name) ? param : NULL;
}

static int edit_control(struct plan *plan, const struct weir_field *field,
                        const struct weir_json_item *member)
{
    bool streams = plan->build->stream;

    /* The first of several members holds. */
    if (find_member(plan->build, field->name) != member)
        return weir_json_splice_remove(&plan->splice, member);
    if (!is_stream(field->name))
        return weir_json_splice_replace(&plan->splice, &member->value, plan->model_json);
    if ((member->value.type == WEIR_JSON_TRUE) == streams)
        return 0;
    return weir_json_splice_replace(&plan->splice, &member->value,
                                    streams ? WEIR_SLICE("true") : WEIR_SLICE("false"));
}

static bool goes(const struct plan *plan, const struct weir_json_item *member)
{
    const struct weir_drops *drops = &plan->endpoint->drops;

    if (plan->build->dropped != 0 && (plan->build->dropped & weir_parameter_asked(member)) != 0)
        return true;
    for (size_t i = 0; i < drops->count; i++)
        if (weir_json_key_is(member, drops->paths[i]))
            return true;
    return false;
}

/* A member that is nobody's but the provider's: all of it, or without what is dropped. */
static int edit_passing(struct plan *plan, const struct weir_json_item *member)
{
    struct weir_slice text;
    int r;

    if (plan->build->dropped + plan->endpoint->drops.count == 0)
        return 0;
    if (goes(plan, member))
        return weir_json_splice_remove(&plan->splice, member);
    r = weir_drops_part(&plan->endpoint->drops, member, plan->arena, &text);
    return r == WEIR_DROP_PART ? weir_json_splice_replace(&plan->splice, &member->value, text) : r;
}

static int edit_member(struct plan *plan, const struct weir_json_item *member)
{
    const struct weir_field *field;
    const struct weir_param *param;

    if (plan->endpoint->extra_params.count + plan->overrides.count + plan->forced.count > 0) {
        param = replacement(plan, member);
        if (param != NULL)
            return weir_json_splice_replace(&plan->splice, &member->value, param->value);
    }
    field = weir_field_of(member);
    if (field == NULL)
        return edit_passing(plan, member);
    if (field->field_class == WEIR_FIELD_CONTROL)
        return edit_control(plan, field, member);
    if (field->field_class == WEIR_FIELD_METADATA && plan->endpoint->pass_metadata)
        return 0;
    return weir_json_splice_remove(&plan->splice, member);
}

static int edit_body(struct plan *plan)
{
    int r = 0;

    for (size_t i = 0; i < plan->build->member_count && r == 0; i++)
        r = edit_member(plan, &plan->build->members[i]);
    return r;
}

static int add_member(struct plan *plan, struct weir_slice text)
{
    return weir_json_splice_add(&plan->splice, &plan->root, text);
}

static int add_controls(struct plan *plan)
{
    const struct weir_build *build = plan->build;
    struct weir_slice model;
    int r = 0;

    if (find_member(build, WEIR_SLICE("model")) == NULL &&
        find_param(&plan->endpoint->extra_params, WEIR_SLICE("model")) == NULL) {
        model = weir_arena_join(plan->arena,
                                (struct weir_slice[]){WEIR_SLICE("\"model\":"), plan->model_json}, 2);
        r = weir_arena_failed(plan->arena) ? WEIR_ERR_NOMEM : add_member(plan, model);
    }
    if (r == 0 && build->stream && find_member(build, WEIR_SLICE("stream")) == NULL)
        r = add_member(plan, WEIR_SLICE("\"stream\":true"));
    return r;
}

enum { FORCED, EXTRA, OVERRIDES, DEFAULTS, SOURCES };

static const struct weir_params *source_of(const struct plan *plan, int source)
{
    const struct weir_params *const sources[SOURCES] = {
        [FORCED] = &plan->forced,
        [EXTRA] = &plan->endpoint->extra_params,
        [OVERRIDES] = &plan->overrides,
        [DEFAULTS] = &plan->endpoint->default_params,
    };

    return sources[source];
}

/* The body has the member, or a source that is asked earlier. */
static bool is_said(const struct plan *plan, int source, struct weir_slice name)
{
    while (source-- > 0)
        if (find_param(source_of(plan, source), name) != NULL)
            return true;
    return find_member(plan->build, name) != NULL;
}

static int add_params(struct plan *plan)
{
    int r = 0;

    for (int source = 0; source < SOURCES; source++) {
        const struct weir_params *params = source_of(plan, source);

        for (size_t i = 0; i < params->count && r == 0; i++) {
            struct weir_slice name = params->items[i].name;
            bool may = source < OVERRIDES ? !is_stream(name) : may_set(plan, name);

            if (may && !is_said(plan, source, name))
                r = add_member(plan, params->items[i].member);
        }
    }
    return r;
}

/* Asks for usage inside the caller's own stream_options. */
static int edit_stream_options(struct plan *plan, const struct weir_json_value *options)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;

    if (options->type != WEIR_JSON_OBJECT)
        return weir_json_splice_replace(&plan->splice, options, WEIR_SLICE("{\"include_usage\":true}"));
    if (weir_json_enter(&cursor, options->text, WEIR_JSON_DEPTH_MAX) != 0)
        return WEIR_ERR_MALFORMED;
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        if (weir_json_key_is(&item, WEIR_SLICE("include_usage")))
            return item.value.type == WEIR_JSON_TRUE
                       ? 0
                       : weir_json_splice_replace(&plan->splice, &item.value, WEIR_SLICE("true"));
    return weir_json_splice_add(&plan->splice, options, WEIR_SLICE("\"include_usage\":true"));
}

static int ask_for_usage(struct plan *plan)
{
    struct weir_slice name = WEIR_SLICE("stream_options");
    const struct weir_json_item *member;

    if (!plan->build->stream || !plan->build->stream_usage ||
        !weir_route_row(plan->build->route)->stream_usage ||
        (plan->endpoint->provider->quirks & WEIR_QUIRK_NO_STREAM_OPTIONS) != 0)
        return 0;
    if (find_param(&plan->endpoint->extra_params, name) != NULL || find_param(&plan->overrides, name) != NULL)
        return 0;
    member = find_member(plan->build, name);
    if (member != NULL)
        return edit_stream_options(plan, &member->value);
    if (find_param(&plan->endpoint->default_params, name) != NULL)
        return 0;
    return add_member(plan, WEIR_SLICE("\"stream_options\":{\"include_usage\":true}"));
}

/* ---- an answer that is carried on ---- */

/* The value of a name as it would be without the continuation; false: nobody says one.  *ret_in_body: it is
 * a part of the body. */
static bool effective(const struct plan *plan, struct weir_slice name, struct weir_slice *ret_value,
                      bool *ret_in_body)
{
    const struct weir_json_item *member = find_member(plan->build, name);
    const struct weir_param *param = find_param(&plan->endpoint->extra_params, name);

    *ret_in_body = false;
    if (param == NULL)
        param = find_param(&plan->overrides, name);
    if (param == NULL && member == NULL)
        param = find_param(&plan->endpoint->default_params, name);
    if (param == NULL && member == NULL)
        return false;
    *ret_in_body = param == NULL;
    *ret_value = param == NULL ? member->value.text : param->value;
    return true;
}

static int carry_on_messages(struct plan *plan, struct weir_prefill *prefill)
{
    struct weir_slice messages;
    bool in_body;
    int r;

    /* Of several it is the provider's choice which of them count. */
    if (count_members(plan->build, WEIR_SLICE("messages")) > 1 ||
        !effective(plan, WEIR_SLICE("messages"), &messages, &in_body))
        return WEIR_BUILD_NO_PREFILL;
    if (in_body) {
        r = weir_drops_part(&plan->endpoint->drops, find_member(plan->build, WEIR_SLICE("messages")),
                            plan->arena, &messages);
        if (r < 0)
            return r;
        in_body = r == 0;
    }
    return in_body ? weir_prefill_splice(prefill, messages, &plan->splice)
                   : weir_prefill_force_messages(prefill, messages);
}

static int carry_on(struct plan *plan)
{
    static const struct weir_slice limits[] = {WEIR_SLICE_INIT("max_tokens"),
                                               WEIR_SLICE_INIT("max_completion_tokens")};
    struct weir_prefill prefill;
    struct weir_slice value;
    bool in_body;
    int r;

    if (plan->build->prefill.len == 0)
        return 0;
    weir_prefill_init(&prefill, plan->build, plan->arena);
    r = carry_on_messages(plan, &prefill);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && r == 0; i++)
        if (effective(plan, limits[i], &value, &in_body))
            r = weir_prefill_force_limit(&prefill, limits[i], value);
    if (r == 0)
        r = weir_prefill_force_form(&prefill);
    plan->forced = prefill.forced;
    return r;
}

static int take_model(struct plan *plan)
{
    const struct weir_endpoint *endpoint = plan->endpoint;

    if (endpoint->name_json.len > 0 && weir_slice_eq(plan->build->model, endpoint->model)) {
        plan->model = endpoint->name;
        plan->model_json = endpoint->name_json;
        return 0;
    }
    return weir_endpoint_model(endpoint, plan->build->model, plan->arena, &plan->model, &plan->model_json);
}

static int take_target(const struct plan *plan, struct weir_slice *ret_target)
{
    const struct weir_endpoint *endpoint = plan->endpoint;
    weir_route route = plan->build->route;

    if (endpoint->target[route].len > 0 && plan->model.ptr == endpoint->name.ptr) {
        *ret_target = endpoint->target[route];
        return 0;
    }
    return weir_dialect_of(endpoint->provider->dialect)
        ->target(endpoint, route, plan->model, plan->arena, ret_target);
}

/* A connection takes a few parts at once; a body in more pieces is joined. */
static int give_parts(struct plan *plan, struct weir_upstream_request *request)
{
    const struct weir_json_splice *splice = &plan->splice;

    if (splice->part_count <= WEIR_UPSTREAM_PARTS) {
        memcpy(request->parts, splice->parts, splice->part_count * sizeof(splice->parts[0]));
        request->part_count = splice->part_count;
        return 0;
    }
    request->parts[0] = weir_arena_join(plan->arena, splice->parts, splice->part_count);
    request->part_count = 1;
    return weir_arena_failed(plan->arena) ? WEIR_ERR_NOMEM : 0;
}

static int edit(struct plan *plan)
{
    int r = carry_on(plan);

    if (r == 0)
        r = edit_body(plan);
    if (r == 0)
        r = add_controls(plan);
    if (r == 0)
        r = add_params(plan);
    if (r == 0)
        r = ask_for_usage(plan);
    return r == 0 ? weir_json_splice_finish(&plan->splice) : r;
}

static int start(struct plan *plan, const struct weir_build *build, struct weir_arena *arena)
{
    int r;

    plan->build = build;
    plan->arena = arena;
    plan->forced = (struct weir_params){NULL, 0};
    plan->root = (struct weir_json_value){weir_slice_trim(build->body), WEIR_JSON_OBJECT, false};
    weir_json_splice_init(&plan->splice, build->body);
    r = weir_endpoint_params(build->overrides, arena, &plan->overrides);
    if (r == 0)
        r = weir_redirect(build, &plan->overrides, arena, &plan->endpoint);
    else if (r > 0)
        r = WEIR_ERR_MALFORMED;
    return r == 0 ? take_model(plan) : r;
}

int weir_openai_build(const struct weir_build *build, struct weir_arena *arena,
                      struct weir_upstream_request *ret_request)
{
    struct weir_upstream_request request;
    struct plan plan;
    int r = start(&plan, build, arena);

    if (r == 0)
        r = edit(&plan);
    if (r == 0)
        r = take_target(&plan, &request.target);
    if (r == 0)
        r = give_parts(&plan, &request);
    if (r != 0)
        return r;
    request.used = plan.endpoint;
    request.secure = plan.endpoint->secure;
    request.redirected = plan.endpoint != build->endpoint;
    request.port = plan.endpoint->port;
    request.host = plan.endpoint->host;
    request.base = plan.endpoint->base;
    request.fields = plan.endpoint->fields[build->stream];
    *ret_request = request;
    return 0;
}
