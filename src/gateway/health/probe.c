/*
 * A probe is over when it is told: everything that it holds is given back before done is called, but for the
 * arena with the verdict, which goes right after.
 */
#include "gateway/health/probe.h"

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/attempt/mishap.h"
#include "gateway/attempt/sim.h"
#include "gateway/attempt/upstream.h"
#include "gateway/health/probe_request.h"
#include "gateway/setup.h"
#include "provider/sim.h"
#include "wire/http1_read.h"

enum { ANSWER_MAX = 1024 * 1024, EXCERPT_MAX = 64 * 1024, BLOCK_BYTES = 4096, ARENA_MAX = 1024 * 1024 };

static void stop(struct weir_probe *probe)
{
    probe->active = false;
    weir_loop_cancel(probe->spec.loop, &probe->timer);
    if (weir_fetch_active(&probe->fetch))
        weir_fetch_cancel(&probe->fetch);
}

static void tell(struct weir_probe *probe, weir_probe_end end, const struct weir_verdict *verdict)
{
    struct weir_arena arena = probe->arena;
    struct weir_buf body = probe->body; /* the verdict's words may be parts of it */

    stop(probe);
    probe->arena = (struct weir_arena){0};
    probe->body = (struct weir_buf){0};
    probe->spec.done(probe, end, verdict);
    weir_buf_deinit(&body);
    weir_arena_deinit(&arena);
}

static void fail(struct weir_probe *probe, weir_mishap mishap, int status, struct weir_slice text)
{
    const struct weir_endpoint *endpoint = probe->deployment->endpoint;
    const struct weir_mishap_report report = {.provider = endpoint->provider,
                                              .mishap = mishap,
                                              .status = status,
                                              .head = probe->head,
                                              .body = weir_slice_sub(text, 0, EXCERPT_MAX),
                                              .secret = endpoint->api_key,
                                              .wall_now_s = (int64_t)weir_loop_wall_s(probe->spec.loop)};
    struct weir_verdict verdict;

    if (weir_classify(&report, &probe->arena, &verdict) == 0)
        tell(probe, WEIR_PROBE_FAILED, &verdict);
    else
        tell(probe, WEIR_PROBE_UNKNOWN, NULL);
}

static bool is_success(const struct weir_probe *probe)
{
    return probe->head->status >= 200 && probe->head->status < 300;
}

/* ---- over the network ---- */

static void on_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct weir_probe *probe = fetch->user;

    probe->head = head;
}

static void on_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct weir_probe *probe = fetch->user;
    size_t room = ANSWER_MAX - weir_buf_len(&probe->body);

    if (bytes.len > room)
        fail(probe, WEIR_MISHAP_TOO_LARGE, (int)probe->head->status, WEIR_SLICE_EMPTY);
    else if (weir_buf_append(&probe->body, bytes) < 0)
        tell(probe, WEIR_PROBE_UNKNOWN, NULL);
}

static void on_done(struct weir_fetch *fetch)
{
    struct weir_probe *probe = fetch->user;
    struct weir_slice body = weir_buf_slice(&probe->body);
    struct weir_plain_answer answer;
    int status = (int)probe->head->status;
    int r;

    if (!is_success(probe)) {
        fail(probe, WEIR_MISHAP_ANSWER, status, body);
        return;
    }
    r = weir_read_answer(probe->deployment->endpoint, probe->deployment->probe.route, body, &answer);
    if (r == 0)
        tell(probe, WEIR_PROBE_ANSWERED, NULL);
    else
        fail(probe, weir_mishap_of_answer(r), status, body);
}

static void on_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct weir_probe *probe = fetch->user;
    weir_mishap mishap;

    if (weir_mishap_of_fetch(failure->kind, &mishap))
        fail(probe, mishap, probe->head == NULL ? 0 : (int)probe->head->status, WEIR_SLICE_EMPTY);
    else
        tell(probe, WEIR_PROBE_UNKNOWN, NULL);
}

static const struct weir_fetch_events events = {
    .on_head = on_head, .on_body = on_body, .on_done = on_done, .on_error = on_error};

/* False: it cannot be asked. */
static bool ask(struct weir_probe *probe)
{
    struct weir_setup *setup = probe->spec.setup;
    struct weir_upstream *upstream = weir_upstream_of(probe->deployment->endpoint);

    if (weir_probe_build(setup->config, probe->deployment, &probe->arena, &probe->built) != 0 ||
        weir_upstreams_request(&setup->upstreams, upstream, &probe->built, &probe->request) != 0)
        return false;
    probe->fetch = (struct weir_fetch){.events = &events, .user = probe};
    weir_client_start(probe->spec.client, &probe->fetch, &probe->request);
    return true;
}

/* ---- inside ---- */

/* When it ends. */
static uint64_t simulate(struct weir_probe *probe)
{
    const struct weir_endpoint *endpoint = probe->deployment->endpoint;
    uint64_t limit_ns = probe->deployment->probe.timeout_ns;
    uint64_t delay_ns = endpoint->sim == NULL ? 0 : endpoint->sim->first_token_delay_ns;

    probe->fails = weir_sim_fails(endpoint, weir_upstream_of(endpoint), &probe->arena, &probe->kind);
    probe->late = delay_ns > limit_ns;
    return probe->late ? limit_ns : delay_ns;
}

static void end_inside(struct weir_probe *probe)
{
    if (!probe->simulated)
        tell(probe, WEIR_PROBE_UNKNOWN, NULL);
    else if (probe->late)
        fail(probe, WEIR_MISHAP_TIMED_OUT, 0, WEIR_SLICE_EMPTY);
    else if (!probe->fails)
        tell(probe, WEIR_PROBE_ANSWERED, NULL);
    else if (probe->kind == WEIR_KIND_CONNECTION)
        fail(probe, WEIR_MISHAP_CONNECT, 0, WEIR_SLICE_EMPTY);
    else
        fail(probe, WEIR_MISHAP_ANSWER, weir_kind_row(probe->kind)->status, weir_sim_error(probe->kind));
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_probe *probe = WEIR_CONTAINER(timer, struct weir_probe, timer);

    if (weir_fetch_active(&probe->fetch))
        fail(probe, WEIR_MISHAP_TIMED_OUT, 0, WEIR_SLICE_EMPTY);
    else
        end_inside(probe);
}

static bool is_inside(const struct weir_endpoint *endpoint)
{
    return endpoint->sim != NULL || endpoint->mock_response.len > 0;
}

void weir_probe_start(struct weir_probe *probe, const struct weir_probe_spec *spec)
{
    const struct weir_mem *mem = weir_loop_mem(spec->loop);
    uint64_t limit_ns;

    *probe = (struct weir_probe){
        .spec = *spec, .deployment = weir_deployment_user(spec->deployment), .active = true};
    weir_timer_init(&probe->timer, on_timer);
    weir_arena_init(&probe->arena, mem, BLOCK_BYTES, ARENA_MAX);
    weir_buf_init(&probe->body, spec->mem, ANSWER_MAX);
    probe->simulated = is_inside(probe->deployment->endpoint);
    if (probe->simulated)
        limit_ns = simulate(probe);
    else
        limit_ns = ask(probe) ? probe->deployment->probe.timeout_ns : 0;
    weir_loop_arm(spec->loop, &probe->timer, weir_time_add(weir_loop_now(spec->loop), limit_ns));
}

void weir_probe_cancel(struct weir_probe *probe)
{
    if (!probe->active)
        return;
    stop(probe);
    weir_buf_deinit(&probe->body);
    weir_arena_deinit(&probe->arena);
}
