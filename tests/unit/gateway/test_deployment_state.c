/* One deployment as it is shown, in virtual time. */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>
#include <weir/shared.h>

#include "base/time.h"
#include "config/config.h"
#include "config/diag.h"
#include "gateway/endpoint/deployment_state.h"

/* 2024-02-29T12:34:56.789Z */
#define WALL_NS (UINT64_C(1709210096789) * WEIR_NS_PER_MS)
#define NOW_NS  (UINT64_C(5000) * WEIR_NS_PER_S)

static struct weir_config *config;
static weir_router *router;

static const char *no_variable(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static int begin(void **state)
{
    static const char text[] = "router_settings: {allowed_fails: 2, cooldown_time: 40}\n"
                               "model_list:\n"
                               "- {model_name: g, litellm_params: {model: openai/m, api_base: 'http://h/v1', "
                               "api_key: planted, rpm: 7}, model_info: {id: d1}}\n";
    const struct weir_config_env env = {.get = no_variable};
    struct weir_diags diags;

    (void)state;
    weir_diags_init(&diags, weir_mem_libc());
    assert_int_equal(
        weir_config_load_text(weir_slice_str(text), "c.yaml", &env, weir_mem_libc(), &diags, &config), 0);
    weir_diags_deinit(&diags);
    assert_int_equal(weir_router_new(weir_mem_libc(), 1, &router), 0);
    assert_int_equal(weir_router_adopt(router, config->snapshot), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_config_free(config);
    weir_router_free(router);
    return 0;
}

static void expect(const char *why, const char *json)
{
    const struct weir_deployment_state state = {.router = router,
                                                .snapshot = config->snapshot,
                                                .deployment = weir_snapshot_deployment(config->snapshot, 0),
                                                .why = weir_slice_str(why),
                                                .order = WEIR_UNSET_ORDER,
                                                .odds = why[0] == '\0' ? 0.3333333 : 0,
                                                .now_ns = NOW_NS,
                                                .wall_ns = WALL_NS};
    struct weir_json_writer writer;
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 4096);
    weir_json_writer_init(&writer, &buf);
    assert_int_equal(weir_deployment_state_json(&writer, &state), 0);
    assert_int_equal(weir_json_writer_end(&writer), 0);
    assert_slice_is(weir_buf_slice(&buf), json);
    weir_buf_deinit(&buf);
}

#define HEAD  "{\"id\":\"d1\",\"model\":\"openai/m\",\"provider\":\"openai\",\"api_base\":\"http://h/v1\","
#define FLOWN "\"in_flight\":0,\"in_flight_elsewhere\":0,\"usage\":{\"requests\":0,\"tokens\":0,\"rpm\":7}"

static void one_that_nothing_is_known_of_says_no_more_than_that(void **state)
{
    (void)state;
    expect("", HEAD "\"eligible\":true,\"odds\":0.3333,"
                    "\"window\":{\"seconds\":60,\"successes\":0,\"failures\":0}," FLOWN "}");
}

static void a_cooldown_by_hand_has_an_end_and_an_author(void **state)
{
    const weir_deployment *deployment = weir_snapshot_deployment(config->snapshot, 0);

    (void)state;
    assert_int_equal(weir_router_cool(router, deployment, 30 * WEIR_NS_PER_S, WEIR_SLICE("anna"),
                                      NOW_NS - 10 * WEIR_NS_PER_S),
                     0);
    expect("cooling_down",
           HEAD "\"eligible\":false,\"why\":\"cooling_down\",\"odds\":0.0000,"
                "\"cooldown\":{\"until\":\"2024-02-29T12:35:16.789Z\",\"remaining_s\":20,\"set_at\":\"2024-"
                "02-29T12:34:46.789Z\","
                "\"length_s\":30,\"rule\":\"by_hand\",\"by\":\"anna\",\"elsewhere\":false,\"number\":0},"
                "\"window\":{\"seconds\":60,\"successes\":0,\"failures\":0}," FLOWN "}");
}

static void a_failed_probe_is_its_health(void **state)
{
    const weir_deployment *deployment = weir_snapshot_deployment(config->snapshot, 0);
    const struct weir_failure failure = {
        .kind = WEIR_KIND_TIMEOUT, .status = 408, .origin = WEIR_ORIGIN_PROVIDER};

    (void)state;
    weir_router_probe(router, config->snapshot, deployment, &failure, NOW_NS - 2 * WEIR_NS_PER_S);
    expect("", HEAD "\"eligible\":true,\"odds\":0.3333,"
                    "\"window\":{\"seconds\":60,\"successes\":0,\"failures\":0}," FLOWN
                    ",\"health\":{\"healthy\":false,\"kind\":\"timeout\",\"status\":408,"
                    "\"time\":\"2024-02-29T12:34:54.789Z\",\"elsewhere\":false}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_nothing_is_known_of_says_no_more_than_that, begin, end),
        cmocka_unit_test_setup_teardown(a_cooldown_by_hand_has_an_end_and_an_author, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_probe_is_its_health, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
