/*
 * Invariants: targets are deployments of the setup that was followed last, which is the seat's.  Each
 * probing counts in the rota, under its target's number or, when that was removed meanwhile, as a stranger.
 */
#include "gateway/health/prober.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include <weir/error.h>
#include <weir/shared.h>

#include "base/container.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/background/sharing.h"
#include "gateway/gateway.h"
#include "gateway/health/probe.h"
#include "state/keys.h"

#define NO_TARGET    SIZE_MAX
#define DUTY_TICK_NS (WEIR_NS_PER_S / 2)

struct weir_probing {
    struct weir_probing *next;
    struct weir_probing *prev;
    struct weir_prober *prober;
    struct weir_setup *setup; /* held from the seat */
    size_t target;            /* NO_TARGET: it is no target any more */
    struct weir_probe probe;
};

static void free_probing(struct weir_probing *probing)
{
    struct weir_prober *prober = probing->prober;
    const struct weir_mem *mem = prober->gateway->mem;

    if (probing->prev != NULL)
        probing->prev->next = probing->next;
    else
        prober->under_way = probing->next;
    if (probing->next != NULL)
        probing->next->prev = probing->prev;
    weir_seat_release(prober->seat, probing->setup);
    mem->free(mem->user, probing, sizeof(*probing));
}

static void go_on(struct weir_prober *prober);

/* A line where a check says another thing than the one before it. */
static void tell_change(const weir_deployment *deployment, const struct weir_health *before,
                        const struct weir_health *after)
{
    struct weir_slice id = weir_deployment_id(deployment), group = weir_deployment_group(deployment);
    struct weir_slice kind = weir_kind_row(after->kind)->class_name;

    if (!after->known || after->healthy == (!before->known || before->healthy))
        return;
    if (after->healthy)
        (void)fprintf(stderr, "weir: deployment %.*s of %.*s answers again\n", (int)id.len, id.ptr,
                      (int)group.len, group.ptr);
    else
        (void)fprintf(stderr, "weir: deployment %.*s of %.*s fails its health check: %.*s (%d)\n",
                      (int)id.len, id.ptr, (int)group.len, group.ptr, (int)kind.len, kind.ptr, after->status);
}

static void tell_router(const struct weir_probing *probing, const struct weir_failure *failure)
{
    const weir_deployment *deployment = probing->probe.spec.deployment;
    weir_router *router = probing->prober->gateway->router;
    uint64_t now_ns = weir_loop_now(probing->prober->loop);
    struct weir_live_view before;
    struct weir_live_view after;

    weir_router_view(router, deployment, now_ns, &before);
    weir_router_probe(router, probing->setup->snapshot, deployment, failure, now_ns);
    weir_router_view(router, deployment, now_ns, &after);
    tell_change(deployment, &before.health, &after.health);
}

static void on_done(struct weir_probe *probe, weir_probe_end end, const struct weir_verdict *verdict)
{
    struct weir_probing *probing = WEIR_CONTAINER(probe, struct weir_probing, probe);
    struct weir_prober *prober = probing->prober;

    if (end != WEIR_PROBE_UNKNOWN)
        tell_router(probing, end == WEIR_PROBE_FAILED ? &verdict->failure : NULL);
    if (probing->target == NO_TARGET)
        weir_rota_end_stranger(&prober->rota);
    else
        weir_rota_end(&prober->rota, probing->target);
    free_probing(probing);
    go_on(prober);
}

static void start(struct weir_prober *prober, size_t target)
{
    const struct weir_mem *mem = prober->gateway->mem;
    struct weir_probing *probing = mem->alloc(mem->user, sizeof(*probing));
    struct weir_probe_spec spec = {.loop = prober->loop,
                                   .client = prober->client,
                                   .mem = weir_budget_mem(&prober->gateway->budget),
                                   .deployment = prober->targets[target],
                                   .done = on_done};

    if (probing == NULL) { /* next time, perhaps */
        weir_rota_end(&prober->rota, target);
        return;
    }
    probing->next = prober->under_way;
    probing->prev = NULL;
    if (probing->next != NULL)
        probing->next->prev = probing;
    prober->under_way = probing;
    probing->prober = prober;
    probing->setup = weir_seat_hold(prober->seat);
    probing->target = target;
    spec.setup = probing->setup;
    weir_probe_start(&probing->probe, &spec);
}

/* This process asks. */
static bool is_on(const struct weir_prober *prober)
{
    return prober->duty.state == WEIR_DUTY_NONE || weir_duty_is_here(&prober->duty);
}

static void go_on(struct weir_prober *prober)
{
    uint64_t now_ns = weir_loop_now(prober->loop);
    size_t target;

    if (!is_on(prober)) {
        weir_loop_cancel(prober->loop, &prober->timer);
        return;
    }
    while (weir_rota_next(&prober->rota, now_ns, &target))
        start(prober, target);
    weir_loop_arm(prober->loop, &prober->timer, weir_rota_due(&prober->rota));
}

static void on_timer(struct weir_timer *timer)
{
    go_on(WEIR_CONTAINER(timer, struct weir_prober, timer));
}

/* ---- who is asked ---- */

static const struct weir_config_probe *probe_of(const weir_deployment *deployment)
{
    const struct weir_config_deployment *user = weir_deployment_user(deployment);

    return &user->probe;
}

static size_t count_targets(const weir_snapshot *snapshot)
{
    size_t count = 0;

    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++)
        if (probe_of(weir_snapshot_deployment(snapshot, i))->by_itself)
            count++;
    return count;
}

static void fill_targets(const weir_snapshot *snapshot, const weir_deployment **targets)
{
    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);

        if (probe_of(deployment)->by_itself)
            *targets++ = deployment;
    }
}

/* The targets of a setup by their ids: values point into the list of targets. */
struct roll {
    struct weir_rota rota;
    const weir_deployment **targets;
    struct weir_map places;
};

static int fill_roll(const struct weir_prober *prober, struct roll *roll, size_t count)
{
    const struct weir_setup *setup = prober->seat->setup;
    const struct weir_settings *settings = &setup->config->settings;
    const struct weir_mem *mem = prober->gateway->mem;
    int r;

    weir_map_init(&roll->places, mem, count + 1);
    roll->targets = NULL;
    r = weir_rota_init(&roll->rota, mem, count, settings->health_interval_ns, settings->health_concurrency);
    if (r == 0)
        roll->targets = mem->alloc(mem->user, (count + 1) * sizeof(const weir_deployment *));
    if (roll->targets == NULL)
        return WEIR_ERR_NOMEM;
    if (count > 0)
        fill_targets(setup->snapshot, roll->targets);
    for (size_t i = 0; i < count && r >= 0; i++)
        r = weir_map_add(&roll->places, weir_deployment_id(roll->targets[i]), (void *)&roll->targets[i]);
    return r < 0 ? r : 0;
}

static void free_targets(struct weir_prober *prober, struct weir_rota *rota, const weir_deployment **targets)
{
    const struct weir_mem *mem = prober->gateway->mem;

    if (targets != NULL)
        mem->free(mem->user, (void *)targets, (rota->count + 1) * sizeof(const weir_deployment *));
    weir_rota_deinit(rota);
}

/* Without memory for it nobody is a target until there is another setup. */
static void make_roll(struct weir_prober *prober, struct roll *ret_roll)
{
    const struct weir_setup *setup = prober->seat->setup;
    size_t count = setup->config->settings.health_checks ? count_targets(setup->snapshot) : 0;

    if (fill_roll(prober, ret_roll, count) == 0)
        return;
    weir_map_deinit(&ret_roll->places);
    free_targets(prober, &ret_roll->rota, ret_roll->targets);
    ret_roll->targets = NULL;
    weir_map_init(&ret_roll->places, prober->gateway->mem, 1);
}

/* The number of a deployment of another setup in this one. */
static size_t number_in(const struct roll *roll, const weir_deployment *deployment)
{
    const weir_deployment **at = weir_map_get(&roll->places, weir_deployment_id(deployment));

    return at == NULL ? NO_TARGET : (size_t)(at - roll->targets);
}

/* When a deployment is due by what another process has found; 0: nothing is known. */
static uint64_t due_by_others(const struct weir_prober *prober, const weir_deployment *deployment,
                              uint64_t interval_ns)
{
    struct weir_live_view view;

    if (prober->duty.state == WEIR_DUTY_NONE)
        return 0;
    weir_router_view(prober->gateway->router, deployment, weir_loop_now(prober->loop), &view);
    return view.health.known ? weir_time_add(view.health.probed_ns, interval_ns) : 0;
}

/* Who stays is due when it was due, and is being asked if it was. */
static void carry_over(struct weir_prober *prober, struct roll *roll)
{
    uint64_t now_ns = weir_loop_now(prober->loop);

    for (size_t i = 0; i < roll->rota.count; i++)
        weir_rota_expect(&roll->rota, i, due_by_others(prober, roll->targets[i], roll->rota.interval_ns),
                         now_ns);
    for (size_t i = 0; i < prober->rota.count; i++) {
        struct weir_rota_turn turn = weir_rota_turn_at(&prober->rota, i);
        size_t number = number_in(roll, prober->targets[turn.target]);

        if (number != NO_TARGET && turn.due_ns > roll->rota.turns[number].due_ns)
            weir_rota_expect(&roll->rota, number, turn.due_ns, now_ns);
    }
    for (struct weir_probing *p = prober->under_way; p != NULL; p = p->next) {
        p->target = number_in(roll, p->probe.spec.deployment);
        if (p->target == NO_TARGET)
            weir_rota_add_stranger(&roll->rota);
        else
            weir_rota_resume(&roll->rota, p->target);
    }
}

static void renew_rota(struct weir_prober *prober)
{
    struct roll roll;

    make_roll(prober, &roll);
    carry_over(prober, &roll);
    weir_map_deinit(&roll.places);
    weir_rota_begin(&roll.rota);
    free_targets(prober, &prober->rota, prober->targets);
    prober->rota = roll.rota;
    prober->targets = roll.targets;
    go_on(prober);
}

/* ---- whose duty it is ---- */

static void tell_duty(const struct weir_duty *duty)
{
    static const char *const lines[] = {
        [WEIR_DUTY_MINE] = "health checks are made by this process",
        [WEIR_DUTY_OTHERS] = "health checks are made by",
        [WEIR_DUTY_ALONE] = "health checks are made by this process too, since Redis is away"};
    bool named = duty->state == WEIR_DUTY_OTHERS;

    if (lines[duty->state] != NULL)
        (void)fprintf(stderr, "weir: %s%s%.*s\n", lines[duty->state], named ? " " : "",
                      named ? (int)duty->owner_len : 0, duty->owner);
}

static void on_duty_changed(void *user)
{
    struct weir_prober *prober = user;

    weir_board_write(&prober->gateway->board, &prober->duty);
    tell_duty(&prober->duty);
    renew_rota(prober);
}

static int send_for_duty(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink)
{
    const struct weir_prober *prober = user;

    return weir_sharing_send(prober->sharing, args, count, sink);
}

static uint64_t now_for_duty(void *user)
{
    const struct weir_prober *prober = user;

    return weir_loop_now(prober->loop);
}

static void on_duty_timer(struct weir_timer *timer)
{
    struct weir_prober *prober = WEIR_CONTAINER(timer, struct weir_prober, duty_timer);

    weir_loop_arm(prober->loop, timer, weir_time_add(weir_loop_now(prober->loop), DUTY_TICK_NS));
    weir_duty_tick(&prober->duty);
}

/* Processes on machines of one name may have one number too. */
static struct weir_slice duty_name(char name[WEIR_DUTY_NAME_MAX])
{
    char process[WEIR_SHARING_NAME_MAX];
    struct weir_slice before = weir_sharing_name(process);
    uint32_t own = 0;

    (void)!getrandom(&own, sizeof(own), 0);
    (void)snprintf(name, WEIR_DUTY_NAME_MAX, "%.*s:%08" PRIx32, (int)before.len, before.ptr, own);
    return weir_slice_str(name);
}

static void begin_duty(struct weir_prober *prober)
{
    const struct weir_duty_host host = {
        .user = prober, .send = send_for_duty, .now_ns = now_for_duty, .changed = on_duty_changed};
    struct weir_slice name_space = prober->seat->setup->config->redis.name_space;
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf key;
    char name[WEIR_DUTY_NAME_MAX];

    weir_buf_init(&key, prober->gateway->mem, WEIR_DUTY_KEY_MAX);
    if (weir_key_write(&key, name_space, WEIR_KEY_HEALTH_LOCK, &(struct weir_key_parts){{NULL, 0}}) < 0)
        return;
    weir_duty_begin(&prober->duty, &host, weir_buf_slice(&key), duty_name(name));
    weir_loop_arm(prober->loop, &prober->duty_timer, weir_loop_now(prober->loop));
}

static void end_duty(struct weir_prober *prober)
{
    weir_loop_cancel(prober->loop, &prober->duty_timer);
    weir_duty_end(&prober->duty);
}

static void follow_duty(struct weir_prober *prober)
{
    const struct weir_settings *settings = &prober->seat->setup->config->settings;
    bool wanted = settings->health_checks && settings->health_shared && prober->sharing != NULL;

    if (wanted == (prober->duty.state != WEIR_DUTY_NONE))
        return;
    if (wanted)
        begin_duty(prober);
    else
        end_duty(prober);
    weir_board_write(&prober->gateway->board, &prober->duty);
}

/* ---- its life ---- */

static struct weir_client_config client_config(const struct weir_prober *prober)
{
    const struct weir_settings *settings = &prober->seat->setup->config->settings;

    return (struct weir_client_config){.resolver = prober->gateway->resolver,
                                       .proxies = &prober->gateway->proxies,
                                       .max_connections = (size_t)settings->health_concurrency * 2,
                                       .max_idle_per_upstream = 1,
                                       .max_head_bytes = (size_t)settings->max_head_bytes,
                                       .max_headers = settings->max_header_count,
                                       .idle_timeout_ns = settings->upstream_idle_timeout_ns};
}

void weir_prober_follow(struct weir_prober *prober)
{
    const struct weir_client_config config = client_config(prober);

    weir_client_configure(prober->client, &config);
    follow_duty(prober);
    renew_rota(prober);
}

void weir_prober_share(struct weir_prober *prober, struct weir_sharing *sharing)
{
    prober->sharing = sharing;
}

int weir_prober_init(struct weir_prober *ret_prober, struct weir_gateway *gateway, struct weir_seat *seat)
{
    struct weir_client_config config;

    *ret_prober = (struct weir_prober){.gateway = gateway, .loop = seat->loop, .seat = seat};
    weir_timer_init(&ret_prober->timer, on_timer);
    weir_timer_init(&ret_prober->duty_timer, on_duty_timer);
    config = client_config(ret_prober);
    return weir_client_new(seat->loop, &config, &ret_prober->client);
}

void weir_prober_deinit(struct weir_prober *prober)
{
    if (prober->gateway == NULL)
        return;
    end_duty(prober);
    while (prober->under_way != NULL) {
        weir_probe_cancel(&prober->under_way->probe);
        free_probing(prober->under_way);
    }
    weir_loop_cancel(prober->loop, &prober->timer);
    free_targets(prober, &prober->rota, prober->targets);
    weir_client_close(prober->client);
    *prober = (struct weir_prober){0};
}
