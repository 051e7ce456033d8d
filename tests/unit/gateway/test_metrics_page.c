/* The page, what is looked up for it, and what finds no room in it. */
#include "metrics_kit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/attempt/upstream.h"
#include "gateway/metrics/exposition.h"
#include "wire/http1_read.h"

static struct metrics_kit kit;

static int begin(void **state)
{
    (void)state;
    metrics_begin(&kit, "");
    return 0;
}

static int end(void **state)
{
    (void)state;
    metrics_end(&kit);
    return 0;
}

static void happens(weir_event_kind kind)
{
    metrics_event(&kit,
                  (struct weir_event){
                      .kind = kind, .attempt = 1, .group = WEIR_SLICE("g"), .deployment = WEIR_SLICE("d1")});
}

static void ends_well(void)
{
    kit.job.access.status = 200;
    kit.job.access.group = WEIR_SLICE("g");
    kit.job.access.deployment = WEIR_SLICE("d1");
    kit.job.access.duration_ns = 3 * WEIR_NS_PER_S;
    weir_count_end(&kit.job);
}

#define PLACE                                                                                                \
    "litellm_model_name=\"gpt-4o\",model_id=\"d1\",api_base=\"http://a.example/v1\",api_provider=\"openai\""

/* ---- bounds and reloads ---- */

static void what_finds_no_room_is_counted_as_dropped(void **state)
{
    (void)state;
    weir_metrics_set_max(&kit.gateway.metrics, 0);
    happens(WEIR_EVENT_ATTEMPT_STARTED); /* the event, and two sets */
    happens(WEIR_EVENT_ATTEMPT_STARTED); /* and again, from the cache */
    metrics_assert_none(&kit, "weir_attempts_total{");
    assert_metric(&kit, "weir_metrics_dropped_series_total", "6");
    assert_metric(&kit, "weir_metrics_series", "0");
}

static void what_had_room_goes_on_when_there_is_none(void **state)
{
    (void)state;
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    weir_metrics_set_max(&kit.gateway.metrics, 1);
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    assert_metric(&kit, "weir_attempts_total{group=\"g\",deployment=\"d1\"}", "2");
    assert_metric(&kit, "weir_metrics_dropped_series_total", "0");
}

static void a_reload_keeps_the_counts(void **state)
{
    (void)state;
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    metrics_reload(&kit, "weir_settings: {metrics_max_series: 500}");
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    assert_metric(&kit, "weir_attempts_total{group=\"g\",deployment=\"d1\"}", "2");
    assert_int_equal(atomic_load(&kit.gateway.metrics.max_rows), 500);
}

/* ---- readings ---- */

static struct weir_upstream *upstream_of_d1(void)
{
    return &kit.gateway.setup->upstreams.list[0];
}

static void a_deployment_is_in_partial_outage_from_a_failure_to_a_success(void **state)
{
    (void)state;
    assert_metric(&kit, "litellm_deployment_state{" PLACE "}", "0");
    happens(WEIR_EVENT_ATTEMPT_FAILED);
    assert_metric(&kit, "litellm_deployment_state{" PLACE "}", "1");
    happens(WEIR_EVENT_SUCCEEDED);
    assert_metric(&kit, "litellm_deployment_state{" PLACE "}", "0");
}

static void what_was_seen_of_a_deployment_is_known_after_a_reload(void **state)
{
    (void)state;
    happens(WEIR_EVENT_ATTEMPT_FAILED);
    atomic_store(&upstream_of_d1()->remaining[WEIR_REMAINING_TOKENS], 5);
    metrics_reload(&kit, "");
    assert_metric(&kit, "litellm_deployment_state{" PLACE "}", "1");
    assert_metric(&kit,
                  "litellm_remaining_tokens_metric{model_group=\"g\"," PLACE
                  ",hashed_api_key=\"\",api_key_alias=\"\"}",
                  "5");
    metrics_assert_none(&kit, "litellm_remaining_requests_metric{");
}

static void limits_are_told_where_there_are_some(void **state)
{
    (void)state;
    assert_metric(&kit, "litellm_deployment_rpm_limit{model_group=\"g\"," PLACE "}", "60");
    metrics_assert_none(&kit, "litellm_deployment_tpm_limit{");
    metrics_assert_none(&kit, "litellm_deployment_rpm_limit{model_group=\"h\"");
}

static void what_is_left_of_limits_is_the_newest_answers(void **state)
{
    struct weir_http1_field fields[] = {
        {.name = WEIR_SLICE_INIT("X-RateLimit-Remaining-Requests"), .value = WEIR_SLICE_INIT("59")},
        {.name = WEIR_SLICE_INIT("x-ratelimit-remaining-tokens"), .value = WEIR_SLICE_INIT("1000")},
        {.name = WEIR_SLICE_INIT("x-ratelimit-limit-requests"), .value = WEIR_SLICE_INIT("60")}};
    struct weir_http1_head head = {.fields = fields, .field_count = 3};

    (void)state;
    metrics_assert_none(&kit, "litellm_remaining_requests_metric{");
    weir_count_remaining(upstream_of_d1(), &head);
    fields[0].value = WEIR_SLICE("58");
    fields[1].value = WEIR_SLICE("a few");
    weir_count_remaining(upstream_of_d1(), &head);
    assert_metric(&kit,
                  "litellm_remaining_requests_metric{model_group=\"g\"," PLACE
                  ",hashed_api_key=\"\",api_key_alias=\"\"}",
                  "58");
    assert_metric(&kit,
                  "litellm_remaining_tokens_metric{model_group=\"g\"," PLACE
                  ",hashed_api_key=\"\",api_key_alias=\"\"}",
                  "1000");
}

/* ---- the page ---- */

static void a_page_in_pieces_is_the_page(void **state)
{
    static const bool eligible[3] = {true, true, true};
    struct weir_exposition page = {
        .metrics = &kit.gateway.metrics,
        .eligible = eligible,
        .source = {.gateway = &kit.gateway, .setup = kit.gateway.setup, .now_ns = 1}};
    struct weir_buf whole, piece;
    const char *text;
    int r = WEIR_EXPOSITION_MORE;

    (void)state;
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    ends_well();
    weir_buf_init(&whole, weir_mem_libc(), (size_t)16 * 1024 * 1024);
    weir_buf_init(&piece, weir_mem_libc(), 16384);
    while (r == WEIR_EXPOSITION_MORE) {
        weir_buf_clear(&piece);
        r = weir_exposition_write(&page, 1, &piece);
        assert_int_equal(weir_buf_append(&whole, weir_buf_slice(&piece)), 0);
    }
    assert_int_equal(r, 0);
    assert_int_equal(weir_buf_append(&whole, (struct weir_slice){"", 1}), 0);
    text = metrics_page(&kit);
    /* Up to what the processor did meanwhile. */
    assert_memory_equal(whole.ptr, text, (size_t)(strstr(text, "process_cpu_seconds_total ") - text));
    weir_buf_deinit(&whole);
    weir_buf_deinit(&piece);
}

static void buckets_rise_to_the_count(void **state)
{
    char line[128];

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        kit.job.access.duration_ns = i * WEIR_NS_PER_S; /* 0, 1, 2 s */
        kit.job.access.status = 200;
        weir_count_end(&kit.job);
    }
    kit.job.access.duration_ns = 601 * WEIR_NS_PER_S;
    weir_count_end(&kit.job);
#define BUCKET(le)                                                                                           \
    "weir_request_duration_seconds_bucket{group=\"\",route=\"chat\",stream=\"false\",le=\"" le "\"}"
    assert_metric(&kit, BUCKET("0.005"), "1");
    assert_metric(&kit, BUCKET("0.5"), "1");
    assert_metric(&kit, BUCKET("1.0"), "2");
    assert_metric(&kit, BUCKET("2.0"), "3");
    assert_metric(&kit, BUCKET("600.0"), "3");
    assert_metric(&kit, BUCKET("+Inf"), "4");
    (void)snprintf(line, sizeof(line),
                   "weir_request_duration_seconds_count{group=\"\",route=\"chat\",stream=\"false\"}");
    assert_metric(&kit, line, "4");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_finds_no_room_is_counted_as_dropped),
        TEST(what_had_room_goes_on_when_there_is_none),
        TEST(a_reload_keeps_the_counts),
        TEST(a_deployment_is_in_partial_outage_from_a_failure_to_a_success),
        TEST(what_was_seen_of_a_deployment_is_known_after_a_reload),
        TEST(limits_are_told_where_there_are_some),
        TEST(what_is_left_of_limits_is_the_newest_answers),
        TEST(a_page_in_pieces_is_the_page),
        TEST(buckets_rise_to_the_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
