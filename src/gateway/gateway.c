/*
 * Things are made in the order in which they need each other and taken down in the reverse; a gateway that
 * was made half is taken down by the same function.
 */
#include "gateway/gateway.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include <weir/error.h>
#include <weir/shared.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"

/* Threads beside the workers that follow the setup. */
enum { OTHER_SEATS = 2 };

/* Who counts beside the workers: the background thread, and whoever tells what happens outside of calls. */
enum { OTHER_COUNTERS = 2 };

static struct weir_slice variable(void *config, const char *name)
{
    struct weir_slice value;

    return weir_config_variable(config, name, &value) ? value : WEIR_SLICE_EMPTY;
}

static int make_proxies(struct weir_config *config, const struct weir_mem *mem,
                        struct weir_proxies *ret_proxies, char text[WEIR_GATEWAY_TEXT_MAX])
{
    int r = weir_proxies_init_variables(ret_proxies, mem, variable, config);

    if (r > 0)
        (void)snprintf(text, WEIR_GATEWAY_TEXT_MAX,
                       "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is not http://[user:password@]host[:port], or "
                       "NO_PROXY has too "
                       "many entries");
    return r > 0 ? WEIR_GATEWAY_REFUSED : r;
}

int weir_gateway_same_proxies(const struct weir_gateway *gateway, struct weir_config *config, bool *ret_same,
                              char text[WEIR_GATEWAY_TEXT_MAX])
{
    WEIR_CLEANUP(weir_proxies_deinit) struct weir_proxies proxies = {0};
    int r = make_proxies(config, gateway->mem, &proxies, text);

    if (r == 0)
        *ret_same = weir_proxies_eq(&gateway->proxies, &proxies);
    return r;
}

static int make_resolver(struct weir_gateway *gateway)
{
    struct weir_resolver_config resolver = {.ttl_ns = gateway->setup->config->settings.dns_ttl_ns};

    return weir_resolver_new(gateway->mem, &resolver, &gateway->resolver);
}

static int make_log(struct weir_gateway *gateway, char text[WEIR_GATEWAY_TEXT_MAX])
{
    const struct weir_settings *settings = &gateway->setup->config->settings;
    const struct weir_log_spec specs[WEIR_LOGS] = {
        [WEIR_LOG_ACCESS] = {settings->access_log, settings->access_log_format},
        [WEIR_LOG_EVENTS] = {settings->event_log, WEIR_LOG_JSON}};
    char reason[WEIR_LOG_TEXT_MAX];
    int r = weir_log_new(gateway->mem, specs, gateway->workers + 1, reason, &gateway->log);

    if (r > 0)
        (void)snprintf(text, WEIR_GATEWAY_TEXT_MAX, "%s", reason);
    return r > 0 ? WEIR_GATEWAY_REFUSED : r;
}

/* Limits of what outlives the setup. */
static void apply_settings(struct weir_gateway *gateway)
{
    const struct weir_settings *settings = &gateway->setup->config->settings;

    weir_metrics_set_max(&gateway->metrics, settings->metrics_max_series);
    weir_budget_set_max(&gateway->budget, (size_t)settings->memory_budget_bytes);
    atomic_store_explicit(&gateway->connections.max_connections, settings->max_connections * gateway->workers,
                          memory_order_relaxed);
    weir_span_calls_open(&gateway->span_calls,
                         gateway->setup->config->otlp.on ? gateway->setup->config->otlp.queue_bytes : 0);
    /* Without memory for another size the ring stays as it is. */
    (void)!weir_stories_resize(&gateway->stories, settings->trace_calls, (size_t)settings->trace_max_bytes);
    if (gateway->resolver != NULL)
        weir_resolver_set_ttl(gateway->resolver, settings->dns_ttl_ns);
}

/* What there was keeps its setup, and the calls that come get theirs: no reason to refuse one. */
static void follow(struct weir_gateway *gateway)
{
    char text[WEIR_BACKGROUND_TEXT_MAX];
    int r = weir_background_follow(&gateway->background, text);

    if (r > 0)
        (void)fprintf(stderr, "weir: %s\n", text);
    else if (r < 0)
        (void)fprintf(stderr, "weir: the background thread cannot start: %.*s\n", (int)weir_error_text(r).len,
                      weir_error_text(r).ptr);
}

int weir_gateway_adopt(struct weir_gateway *gateway, struct weir_config *config,
                       char text[WEIR_GATEWAY_TEXT_MAX])
{
    const struct weir_setup_plan plan = {.mem = gateway->mem,
                                         .config = config,
                                         .before = gateway->setup,
                                         .trust = &gateway->trust,
                                         .graves = &gateway->graves,
                                         .seats = gateway->seats_max};
    struct weir_setup *setup;
    int r;

    weir_trust_begin(&gateway->trust);
    r = weir_setup_new(&plan, text, &setup);

    if (r > 0)
        return WEIR_GATEWAY_REFUSED;
    if (r < 0)
        return r;
    r = weir_router_adopt(gateway->router, setup->snapshot);
    if (r < 0) {
        weir_setup_unref(setup);
        return r;
    }
    weir_trust_end(&gateway->trust);
    weir_setup_unref(gateway->setup);
    gateway->setup = setup;
    apply_settings(gateway);
    for (struct weir_seat *seat = gateway->seats; seat != NULL; seat = seat->next)
        weir_seat_offer(seat, setup);
    follow(gateway);
    return 0;
}

void weir_gateway_join(struct weir_gateway *gateway, struct weir_seat *ret_seat, weir_loop *loop,
                       weir_seat_changed_fn *changed)
{
    assert(gateway->seats_taken < gateway->seats_max);
    weir_seat_init(ret_seat, loop, gateway->seats_taken++, gateway->setup, changed);
    ret_seat->next = gateway->seats;
    gateway->seats = ret_seat;
}

void weir_gateway_leave(struct weir_gateway *gateway, struct weir_seat *seat)
{
    struct weir_seat **at = &gateway->seats;

    while (*at != seat)
        at = &(*at)->next;
    *at = seat->next;
    weir_seat_deinit(seat);
}

/* Whether it shares is settled before it knows any deployment. */
static int make_router(struct weir_gateway *gateway, const struct weir_config *config, uint64_t seed)
{
    int r = weir_router_new(gateway->mem, seed, &gateway->router);

    gateway->shares = config->redis.on;
    if (r == 0 && gateway->shares)
        r = weir_router_share(gateway->router, weir_background_notify, &gateway->background);
    return r;
}

static uint64_t wall_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
}

int weir_gateway_init(struct weir_gateway *ret_gateway, struct weir_config *config, size_t workers,
                      uint64_t seed, weir_loop *home, const struct weir_mem *mem,
                      char text[WEIR_GATEWAY_TEXT_MAX])
{
    int r;

    *ret_gateway = (struct weir_gateway){
        .mem = mem, .workers = workers, .seats_max = workers + OTHER_SEATS, .started_wall_ns = wall_now_ns()};
    atomic_init(&ret_gateway->draining, false);
    atomic_init(&ret_gateway->redis_up, false);
    weir_budget_init(&ret_gateway->budget, mem, 0);
    weir_metrics_init(&ret_gateway->metrics, mem, workers + OTHER_COUNTERS);
    weir_admission_init(&ret_gateway->admission, config->settings.max_in_flight, config->settings.max_queued);
    weir_alerts_init(&ret_gateway->alerts, mem);
    weir_board_init(&ret_gateway->board);
    weir_feed_init(&ret_gateway->feed, mem);
    (void)pthread_mutex_init(&ret_gateway->router_events, NULL);
    weir_graves_init(&ret_gateway->graves, home);
    weir_trust_init(&ret_gateway->trust, mem);
    weir_stories_init(&ret_gateway->stories, ret_gateway->started_wall_ns, mem);
    weir_span_calls_init(&ret_gateway->span_calls, mem);
    r = make_router(ret_gateway, config, seed);
    if (r < 0)
        weir_config_free(config);
    else
        r = weir_gateway_adopt(ret_gateway, config, text);
    if (r == 0)
        r = make_proxies(config, mem, &ret_gateway->proxies, text);
    if (r == 0)
        r = make_resolver(ret_gateway);
    if (r == 0)
        r = make_log(ret_gateway, text);
    return r;
}

void weir_gateway_deinit(struct weir_gateway *gateway)
{
    weir_span_calls_deinit(&gateway->span_calls); /* which have references to setups */
    weir_log_free(gateway->log);
    if (gateway->resolver != NULL)
        weir_resolver_free(gateway->resolver);
    weir_proxies_deinit(&gateway->proxies);
    weir_setup_unref(gateway->setup);
    weir_graves_deinit(&gateway->graves);
    weir_trust_deinit(&gateway->trust);
    weir_router_free(gateway->router); /* which outlives its snapshots */
    if (gateway->mem != NULL) {
        weir_admission_deinit(&gateway->admission);
        weir_board_deinit(&gateway->board);
        weir_stories_deinit(&gateway->stories);
        weir_feed_deinit(&gateway->feed);
        (void)pthread_mutex_destroy(&gateway->router_events);
        weir_alerts_deinit(&gateway->alerts);
        weir_metrics_deinit(&gateway->metrics);
        weir_budget_deinit(&gateway->budget);
    }
    *gateway = (struct weir_gateway){0};
}
