/* Members that say nothing are left out; all times are turned into the wall clock's by one difference. */
#include "gateway/endpoint/deployment_state.h"

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/story/event_json.h"
#include "provider/endpoint.h"

enum { WINDOW_S = 60 };

/* From 0 to 1. */
static void put_share(struct weir_json_writer *writer, struct weir_slice key, double share)
{
    weir_json_put_key(writer, key);
    weir_json_put_fixed(writer, (uint64_t)(share * 10000 + 0.5), 4);
}

static void open_member(struct weir_json_writer *writer, struct weir_slice key, char bracket)
{
    weir_json_put_key(writer, key);
    weir_json_open(writer, bracket);
}

/* The mean of no samples is 0; one by tokens may be some microseconds. */
static void put_mean(struct weir_json_writer *writer, struct weir_slice key, double seconds)
{
    if (!(seconds > 0))
        return;
    weir_json_put_key(writer, key);
    weir_json_put_fixed(writer, weir_time_from_s(seconds) / WEIR_NS_PER_US, 6);
}

/* A time of the monotonic clock, past or to come. */
static void put_time(struct weir_json_writer *writer, struct weir_slice key, uint64_t at_ns,
                     const struct weir_deployment_state *state)
{
    weir_event_json_time(writer, key, state->wall_ns + (at_ns - state->now_ns));
}

static void put_kind(struct weir_json_writer *writer, weir_kind kind, int status)
{
    weir_event_json_text(writer, WEIR_SLICE("kind"), weir_kind_row(kind)->name);
    if (status > 0)
        weir_json_put_u64_member(writer, WEIR_SLICE("status"), (uint64_t)status);
}

static void put_cooldown(struct weir_json_writer *writer, const struct weir_deployment_state *state,
                         const struct weir_live_view *view)
{
    if (view->cooldown_until_ns <= state->now_ns)
        return;
    open_member(writer, WEIR_SLICE("cooldown"), '{');
    put_time(writer, WEIR_SLICE("until"), view->cooldown_until_ns, state);
    weir_event_json_s(writer, WEIR_SLICE("remaining_s"), view->cooldown_until_ns - state->now_ns);
    put_time(writer, WEIR_SLICE("set_at"), view->cooldown_set_ns, state);
    weir_event_json_s(writer, WEIR_SLICE("length_s"), view->cooldown_length_ns);
    if (view->cooldown_rule != WEIR_COOLDOWN_BY_HAND)
        put_kind(writer, view->cooldown_kind, view->cooldown_status);
    if (view->cooldown_rule < WEIR_COOLDOWN_RULES)
        weir_event_json_text(writer, WEIR_SLICE("rule"), weir_cooldown_rule_name(view->cooldown_rule));
    weir_event_json_text(writer, WEIR_SLICE("by"),
                         (struct weir_slice){view->cooldown_by.text, view->cooldown_by.len});
    weir_json_put_bool_member(writer, WEIR_SLICE("elsewhere"), view->cooldown_elsewhere);
    weir_json_put_u64_member(writer, WEIR_SLICE("number"), view->cooldowns);
    weir_json_close(writer, '}');
}

static void put_window(struct weir_json_writer *writer, const struct weir_live_view *view)
{
    uint64_t all = (uint64_t)view->successes + view->failures;

    open_member(writer, WEIR_SLICE("window"), '{');
    weir_json_put_u64_member(writer, WEIR_SLICE("seconds"), WINDOW_S);
    weir_json_put_u64_member(writer, WEIR_SLICE("successes"), view->successes);
    weir_json_put_u64_member(writer, WEIR_SLICE("failures"), view->failures);
    if (all > 0)
        put_share(writer, WEIR_SLICE("failure_share"), (double)view->failures / (double)all);
    weir_json_close(writer, '}');
}

static void put_fails(struct weir_json_writer *writer, const struct weir_deployment_state *state)
{
    struct weir_fails_view fails[WEIR_FAILS_VIEWS_MAX];
    size_t count = weir_router_fails(state->router, state->snapshot, state->deployment, state->now_ns, fails);

    if (count == 0)
        return;
    open_member(writer, WEIR_SLICE("allowed_fails"), '[');
    for (size_t i = 0; i < count; i++) {
        weir_json_open(writer, '{');
        weir_event_json_text(writer, WEIR_SLICE("rule"), weir_cooldown_rule_name(fails[i].rule));
        weir_event_json_text(writer, WEIR_SLICE("field"), weir_policy_field_key(fails[i].field, false));
        weir_json_put_u64_member(writer, WEIR_SLICE("count"), fails[i].count);
        weir_json_put_u64_member(writer, WEIR_SLICE("limit"), fails[i].limit);
        if (fails[i].end_ns > state->now_ns)
            weir_event_json_s(writer, WEIR_SLICE("ends_in_s"), fails[i].end_ns - state->now_ns);
        weir_json_close(writer, '}');
    }
    weir_json_close(writer, ']');
}

static void put_limit(struct weir_json_writer *writer, struct weir_slice key, uint64_t limit)
{
    if (limit != WEIR_UNSET_NS)
        weir_json_put_u64_member(writer, key, limit);
}

static void put_usage(struct weir_json_writer *writer, const struct weir_deployment_state *state,
                      const struct weir_minute_usage *usage)
{
    const struct weir_minute_limits *limits = weir_deployment_minute_limits(state->deployment);

    open_member(writer, WEIR_SLICE("usage"), '{');
    weir_json_put_u64_member(writer, WEIR_SLICE("requests"), usage->requests);
    weir_json_put_u64_member(writer, WEIR_SLICE("tokens"), usage->tokens);
    put_limit(writer, WEIR_SLICE("rpm"), limits->requests);
    put_limit(writer, WEIR_SLICE("tpm"), limits->tokens);
    weir_json_close(writer, '}');
}

static void put_last_failure(struct weir_json_writer *writer, const struct weir_deployment_state *state,
                             const struct weir_last_failure *last)
{
    if (!last->known)
        return;
    open_member(writer, WEIR_SLICE("last_failure"), '{');
    put_kind(writer, last->kind, last->status);
    put_time(writer, WEIR_SLICE("time"), last->at_ns, state);
    weir_json_close(writer, '}');
}

static void put_health(struct weir_json_writer *writer, const struct weir_deployment_state *state,
                       const struct weir_health *health)
{
    if (!health->known)
        return;
    open_member(writer, WEIR_SLICE("health"), '{');
    weir_json_put_bool_member(writer, WEIR_SLICE("healthy"), health->healthy);
    if (!health->healthy)
        put_kind(writer, health->kind, health->status);
    put_time(writer, WEIR_SLICE("time"), health->probed_ns, state);
    weir_json_put_bool_member(writer, WEIR_SLICE("elsewhere"), health->elsewhere);
    weir_json_close(writer, '}');
}

static void put_identity(struct weir_json_writer *writer, const struct weir_deployment_state *state)
{
    const struct weir_config_deployment *config = weir_deployment_user(state->deployment);

    weir_event_json_text(writer, WEIR_SLICE("id"), weir_deployment_id(state->deployment));
    weir_event_json_text(writer, WEIR_SLICE("model"), weir_deployment_model(state->deployment));
    weir_event_json_text(writer, WEIR_SLICE("provider"), config->endpoint->provider->name);
    weir_event_json_text(writer, WEIR_SLICE("api_base"), config->endpoint->base);
    weir_event_json_order(writer, WEIR_SLICE("order"), state->order);
    weir_json_put_bool_member(writer, WEIR_SLICE("eligible"), state->why.len == 0);
    weir_event_json_text(writer, WEIR_SLICE("why"), state->why);
    put_share(writer, WEIR_SLICE("odds"), state->odds);
}

uint32_t weir_deployment_state_json(struct weir_json_writer *writer,
                                    const struct weir_deployment_state *state)
{
    struct weir_live_view view;

    weir_router_view(state->router, state->deployment, state->now_ns, &view);
    weir_json_open(writer, '{');
    put_identity(writer, state);
    put_cooldown(writer, state, &view);
    put_window(writer, &view);
    put_fails(writer, state);
    weir_json_put_u64_member(writer, WEIR_SLICE("in_flight"), view.running);
    weir_json_put_u64_member(writer, WEIR_SLICE("in_flight_elsewhere"), view.running_elsewhere);
    put_usage(writer, state, &view.minute);
    put_mean(writer, WEIR_SLICE("latency_s"), view.latency_s);
    put_mean(writer, WEIR_SLICE("ttft_s"), view.ttft_s);
    put_last_failure(writer, state, &view.last_failure);
    put_health(writer, state, &view.health);
    weir_json_close(writer, '}');
    return view.running;
}
