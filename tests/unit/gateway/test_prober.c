/* Background health checks on a loop, of deployments inside weir: what the router learns, over reloads, and
 * without memory (RS 17). */
#include "unit.h"

#include <weir/mem_libc.h>
#include <weir/router.h>

#include "base/container.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/gateway.h"
#include "gateway/health/prober.h"
#include "test_mem.h"

#define HEAD                                                                                                 \
    "weir_settings: {access_log: 'off'}\n"                                                                   \
    "general_settings: {background_health_checks: true, health_check_interval: 60}\n"                        \
    "model_list:\n"
#define GOOD(id) "- {model_name: g, litellm_params: {model: sim/m}, model_info: {id: " id "}}\n"
#define SLOW(id)                                                                                             \
    "- {model_name: g, litellm_params: {model: sim/m, sim_first_token_delay: 30}, model_info: {id: " id "}}" \
    "\n"
#define LATE(id)                                                                                             \
    "- {model_name: g, litellm_params: {model: sim/m, sim_first_token_delay: 30}, model_info: {id: " id      \
    ", health_check_timeout: 0.1}}\n"
#define BAD(id)                                                                                              \
    "- {model_name: g, litellm_params: {model: sim/m, sim_error: rate_limit}, model_info: {id: " id "}}\n"

static struct weir_gateway gateway;
static struct weir_seat seat;
static struct weir_prober prober;
static struct test_mem mem;
static weir_loop *loop;

static const char *no_variable(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static struct weir_config *config_of(const char *text)
{
    const struct weir_config_env env = {no_variable, NULL};
    struct weir_config *config;
    struct weir_diags diags;

    weir_diags_init(&diags, weir_mem_libc());
    assert_int_equal(
        weir_config_load_text(weir_slice_str(text), "c.yaml", &env, weir_mem_libc(), &diags, &config), 0);
    weir_diags_deinit(&diags);
    return config;
}

static void on_changed(struct weir_seat *changed)
{
    (void)changed;
    weir_prober_follow(&prober);
}

static void begin(const char *text)
{
    char why[WEIR_GATEWAY_TEXT_MAX];

    assert_int_equal(weir_loop_new(weir_mem_libc(), &loop), 0);
    assert_int_equal(weir_gateway_init(&gateway, config_of(text), 1, 7, NULL, weir_mem_libc(), why), 0);
    weir_gateway_join(&gateway, &seat, loop, on_changed);
    assert_int_equal(weir_prober_init(&prober, &gateway, &seat), 0);
}

static int end(void **state)
{
    (void)state;
    weir_prober_deinit(&prober);
    weir_loop_free(loop);
    weir_gateway_leave(&gateway, &seat);
    weir_gateway_deinit(&gateway);
    return 0;
}

static void on_stop(struct weir_timer *timer)
{
    (void)timer;
    weir_loop_stop(loop);
}

/* Until nobody is asked, or for half a second. */
static void run(void)
{
    struct weir_timer stop;

    weir_timer_init(&stop, on_stop);
    weir_loop_arm(loop, &stop, weir_loop_now(loop) + WEIR_NS_PER_S / 2);
    weir_loop_run(loop);
}

static struct weir_health health_of(const char *id)
{
    const weir_snapshot *snapshot = seat.setup->snapshot;
    struct weir_live_view view = {0};

    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);

        if (weir_slice_eq(weir_deployment_id(deployment), weir_slice_str(id)))
            weir_router_view(gateway.router, deployment, weir_loop_now(loop), &view);
    }
    return view.health;
}

static void adopt(const char *text)
{
    char why[WEIR_GATEWAY_TEXT_MAX];

    assert_int_equal(weir_gateway_adopt(&gateway, config_of(text), why), 0);
    run();
}

static void test_the_router_learns_who_answers(void **state)
{
    (void)state;
    begin(HEAD GOOD("d1") BAD("d2") SLOW("d3") LATE("d4"));
    weir_prober_follow(&prober);
    run();
    assert_true(health_of("d1").known && health_of("d1").healthy);
    assert_true(health_of("d2").known && !health_of("d2").healthy);
    assert_int_equal(health_of("d2").kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(health_of("d2").status, 429);
    assert_false(health_of("d3").known);
    assert_true(health_of("d4").known && !health_of("d4").healthy);
    assert_int_equal(health_of("d4").kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(prober.rota.busy, 1);
}

static void test_a_reload_follows_who_is_there(void **state)
{
    uint64_t probed_ns;

    (void)state;
    begin(HEAD GOOD("d1") SLOW("d3"));
    weir_prober_follow(&prober);
    run();
    probed_ns = health_of("d1").probed_ns;
    adopt(HEAD GOOD("d1") GOOD("d2") SLOW("d3"));
    assert_true(health_of("d2").known);
    assert_true(health_of("d1").probed_ns == probed_ns);
    assert_int_equal(prober.rota.busy, 1);
    adopt(HEAD GOOD("d2")); /* the slow one goes while it is asked */
    assert_int_equal(prober.rota.count, 1);
    assert_int_equal(prober.rota.busy, 1);
    adopt("weir_settings: {access_log: 'off'}\nmodel_list:\n" GOOD("d2"));
    assert_int_equal(prober.rota.count, 0);
}

/* Nobody is asked then, nothing is lost, and the next setup finds all as it was. */
static void test_without_memory(void **state)
{
    const struct weir_mem *usual;

    (void)state;
    begin(HEAD GOOD("d1") SLOW("d2"));
    usual = gateway.mem;
    for (size_t n = 1;; n++) {
        test_mem_init(&mem, n);
        weir_prober_deinit(&prober);
        assert_int_equal(weir_prober_init(&prober, &gateway, &seat), 0);
        gateway.mem = &mem.mem;
        weir_prober_follow(&prober);
        weir_prober_follow(&prober);
        weir_prober_deinit(&prober);
        gateway.mem = usual;
        test_mem_assert_empty(&mem);
        if (!mem.failed)
            break;
        assert_in_range(n, 1, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_the_router_learns_who_answers, end),
        cmocka_unit_test_teardown(test_a_reload_follows_who_is_there, end),
        cmocka_unit_test_teardown(test_without_memory, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
