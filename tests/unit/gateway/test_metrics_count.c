/* From events and ends of requests to the lines of the page. */
#include "metrics_kit.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

static struct metrics_kit kit;

static const struct weir_failure limited = {WEIR_KIND_RATE_LIMIT, 429, 0, WEIR_ORIGIN_PROVIDER};

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

static struct weir_event event_of(weir_event_kind kind)
{
    return (struct weir_event){
        .kind = kind, .attempt = 1, .group = WEIR_SLICE("g"), .deployment = WEIR_SLICE("d1")};
}

static void happens(weir_event_kind kind)
{
    metrics_event(&kit, event_of(kind));
}

static void fails(uint64_t duration_ns)
{
    struct weir_event event = event_of(WEIR_EVENT_ATTEMPT_FAILED);

    event.u.attempt_failed.failure = limited;
    event.u.attempt_failed.duration_ns = duration_ns;
    metrics_event(&kit, event);
}

static void hops(weir_hop_kind kind, const char *source, const char *target)
{
    struct weir_event event = event_of(WEIR_EVENT_FALLBACK);

    event.u.fallback.kind = kind;
    event.u.fallback.source = weir_slice_str(source);
    event.u.fallback.target = weir_slice_str(target);
    event.u.fallback.cause = limited;
    metrics_event(&kit, event);
}

static void ends_well(void)
{
    struct weir_access *access = &kit.job.access;

    access->status = 200;
    access->group = WEIR_SLICE("g");
    access->deployment = WEIR_SLICE("d1");
    access->duration_ns = 3 * WEIR_NS_PER_S;
    access->upstream_ns = 2 * WEIR_NS_PER_S;
    access->queued_ns = WEIR_NS_PER_S / 4;
    access->prompt_tokens = 12;
    access->completion_tokens = 100;
    access->cost = 1500000000;
    weir_count_end(&kit.job);
}

#define PLACE                                                                                                \
    "litellm_model_name=\"gpt-4o\",model_id=\"d1\",api_base=\"http://a.example/v1\",api_provider=\"openai\""
#define KEY "hashed_api_key=\"\",api_key_alias=\"\",team=\"\",team_alias=\"\""

/* ---- events ---- */

static void an_attempt_is_counted_when_it_begins_and_when_it_succeeds(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_SUCCEEDED);

    (void)state;
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    happens(WEIR_EVENT_ATTEMPT_STARTED);
    event.u.succeeded.stream.first_content_ns = WEIR_NS_PER_S / 5;
    metrics_event(&kit, event);
    assert_metric(&kit, "weir_attempts_total{group=\"g\",deployment=\"d1\"}", "2");
    assert_metric(&kit, "weir_attempt_successes_total{group=\"g\",deployment=\"d1\"}", "1");
    assert_metric(&kit, "weir_attempt_first_content_seconds_sum{group=\"g\",deployment=\"d1\"}", "0.2");
    assert_metric(&kit,
                  "litellm_deployment_total_requests_total{model_group=\"g\",requested_model=\"g\"," PLACE
                  "," KEY ",client_ip=\"\",user_agent=\"\"}",
                  "2");
    assert_metric(&kit,
                  "litellm_deployment_success_responses_total{model_group=\"g\",requested_model=\"g\"," PLACE
                  "," KEY ",client_ip=\"\",user_agent=\"\"}",
                  "1");
    assert_metric(&kit, "weir_events_total{event=\"AttemptStarted\"}", "2");
    assert_metric(&kit, "weir_events_total{event=\"Succeeded\"}", "1");
}

static void a_failed_attempt_has_a_kind_and_a_class(void **state)
{
    (void)state;
    fails(WEIR_NS_PER_S / 2);
    fails(WEIR_NS_PER_S);
    assert_metric(
        &kit, "weir_attempt_failures_total{group=\"g\",deployment=\"d1\",kind=\"rate_limit\",status=\"429\"}",
        "2");
    assert_metric(&kit,
                  "weir_attempt_failure_seconds_total{group=\"g\",deployment=\"d1\",kind=\"rate_limit\","
                  "status=\"429\"}",
                  "1.5");
    assert_metric(&kit,
                  "litellm_deployment_failure_responses_total{model_group=\"g\",requested_model=\"g\"," PLACE
                  "," KEY ",client_ip=\"\",user_agent=\"\",exception_status=\"429\",exception_class="
                  "\"Openai.RateLimitError\"}",
                  "2");
}

static void a_refused_attempt_is_no_attempt(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_ATTEMPT_REFUSED);

    (void)state;
    event.u.attempt_failed.failure = limited;
    metrics_event(&kit, event);
    assert_metric(&kit, "weir_attempts_refused_total{group=\"g\",deployment=\"d1\",kind=\"rate_limit\"}",
                  "1");
    metrics_assert_none(&kit, "weir_attempts_total{");
    metrics_assert_none(&kit, "weir_attempt_failures_total{");
}

static void loops_are_counted_by_group(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_RETRY);

    (void)state;
    event.u.retry.waited_ns = WEIR_NS_PER_S / 4;
    metrics_event(&kit, event);
    metrics_event(&kit, event);
    happens(WEIR_EVENT_COOLING_WAIT);
    happens(WEIR_EVENT_STREAM_RECOVERED);
    happens(WEIR_EVENT_STREAM_CONTINUED);
    assert_metric(&kit, "weir_retries_total{group=\"g\"}", "2");
    assert_metric(&kit, "weir_retry_wait_seconds_total{group=\"g\"}", "0.5");
    assert_metric(&kit, "weir_cooling_waits_total{group=\"g\"}", "1");
    assert_metric(&kit, "weir_streams_recovered_total{group=\"g\"}", "1");
    assert_metric(&kit, "weir_streams_continued_total{group=\"g\"}", "1");
}

static void hedges_and_budgets_are_counted(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_RETRY_REFUSED);

    (void)state;
    happens(WEIR_EVENT_HEDGED);
    happens(WEIR_EVENT_HEDGE_LOST);
    event.u.retry_refused.what = WEIR_REFUSED_HEDGE;
    metrics_event(&kit, event);
    event.u.retry_refused.what = WEIR_REFUSED_RETRY;
    metrics_event(&kit, event);
    metrics_event(&kit, event);
    assert_metric(&kit, "weir_hedges_total{group=\"g\",deployment=\"d1\"}", "1");
    assert_metric(&kit, "weir_hedges_lost_total{group=\"g\",deployment=\"d1\"}", "1");
    assert_metric(&kit, "weir_retry_budget_refusals_total{group=\"g\",what=\"hedge\"}", "1");
    assert_metric(&kit, "weir_retry_budget_refusals_total{group=\"g\",what=\"retry\"}", "2");
}

static void a_cooldown_has_its_rule(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_COOLDOWN_SET);

    (void)state;
    event.u.cooldown_set.failure = limited;
    event.u.cooldown_set.rule = WEIR_COOLDOWN_RATE_LIMITED;
    event.u.cooldown_set.length_ns = 20 * WEIR_NS_PER_S;
    metrics_event(&kit, event);
    assert_metric(
        &kit, "weir_cooldowns_total{group=\"g\",deployment=\"d1\",rule=\"rate_limited\",kind=\"rate_limit\"}",
        "1");
    assert_metric(&kit,
                  "weir_cooldown_seconds_total{group=\"g\",deployment=\"d1\",rule=\"rate_limited\",kind="
                  "\"rate_limit\"}",
                  "20");
    assert_metric(&kit, "litellm_deployment_cooled_down_total{" PLACE ",exception_status=\"429\"}", "1");
}

static void a_chunk_that_is_no_json_is_counted_once_where_its_stream_breaks(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_STREAM_BROKEN);

    (void)state;
    kit.job.counts.bad_chunk = 1;
    event.u.stream_broken.committed = true;
    metrics_event(&kit, event);
    fails(0);
    assert_metric(&kit, "weir_stream_bad_chunks_total{group=\"g\",deployment=\"d1\"}", "1");
    assert_metric(&kit, "weir_streams_broken_total{group=\"g\",deployment=\"d1\",committed=\"true\"}", "1");
    /* Another attempt's end is not that of the one with the chunk. */
    kit.job.counts.bad_chunk = 2;
    fails(0);
    assert_metric(&kit, "weir_stream_bad_chunks_total{group=\"g\",deployment=\"d1\"}", "1");
}

static void what_happens_beside_calls_is_counted_too(void **state)
{
    struct weir_router_event event = {.kind = WEIR_ROUTER_EVENT_COOLDOWN_SET,
                                      .deployment = WEIR_SLICE("d1"),
                                      .group = WEIR_SLICE("g"),
                                      .rule = WEIR_COOLDOWN_BY_HAND,
                                      .length_ns = 60 * WEIR_NS_PER_S};

    (void)state;
    weir_count_router(&kit.gateway.metrics, kit.gateway.setup, &event);
    event.rule = WEIR_COOLDOWN_DEPLOYMENT_FAILS;
    event.failure = WEIR_KIND_TIMEOUT;
    event.status = 408;
    weir_count_router(&kit.gateway.metrics, kit.gateway.setup, &event);
    event.kind = WEIR_ROUTER_EVENT_COOLDOWN_LEARNED;
    weir_count_router(&kit.gateway.metrics, kit.gateway.setup, &event);
    assert_metric(&kit, "weir_cooldowns_total{group=\"g\",deployment=\"d1\",rule=\"by_hand\",kind=\"\"}",
                  "1");
    assert_metric(
        &kit, "weir_cooldown_seconds_total{group=\"g\",deployment=\"d1\",rule=\"by_hand\",kind=\"\"}", "60");
    assert_metric(
        &kit,
        "weir_cooldowns_total{group=\"g\",deployment=\"d1\",rule=\"deployment_fails\",kind=\"timeout\"}",
        "1");
    assert_metric(&kit, "litellm_deployment_cooled_down_total{" PLACE ",exception_status=\"408\"}", "1");
    assert_metric(&kit, "weir_events_total{event=\"CooldownSet\"}", "2");
    assert_metric(&kit, "weir_events_total{event=\"CooldownLearned\"}", "1");
}

/* ---- hops ---- */

#define HOP(target, model)                                                                                   \
    "{requested_model=\"g\",fallback_model=\"" target "\"," KEY                                              \
    ",exception_status=\"429\",exception_class=\"Openai.RateLimitError\",model_id=\"" model "\"}"

static void a_hop_succeeds_when_its_call_does(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_SUCCEEDED);

    (void)state;
    hops(WEIR_HOP_GROUP, "g", "h");
    metrics_assert_none(&kit, "litellm_deployment_successful_fallbacks_total{");
    event.group = WEIR_SLICE("h");
    event.deployment = WEIR_SLICE("d2");
    metrics_event(&kit, event);
    assert_metric(&kit, "weir_fallbacks_total{source=\"g\",target=\"h\",hop=\"group\"}", "1");
    assert_metric(&kit, "litellm_deployment_successful_fallbacks_total" HOP("h", "d2"), "1");
    assert_metric(&kit, "litellm_deployment_failed_fallbacks_total" HOP("h", "d2"), "0");
}

static void a_hop_fails_with_the_next_one_or_with_its_call(void **state)
{
    struct weir_event event = event_of(WEIR_EVENT_FAILED);

    (void)state;
    kit.job.access.deployment = WEIR_SLICE("d1");
    hops(WEIR_HOP_GROUP, "g", "h");
    hops(WEIR_HOP_GROUP, "h", "w/x");
    event.deployment = WEIR_SLICE_EMPTY;
    metrics_event(&kit, event);
    metrics_event(&kit, event); /* no hop is under way any more */
    assert_metric(&kit, "litellm_deployment_failed_fallbacks_total" HOP("h", "d1"), "1");
    assert_metric(&kit, "litellm_deployment_failed_fallbacks_total" HOP("w/*", "d1"), "1");
}

static void orders_and_siblings_are_no_hops_to_another_group(void **state)
{
    (void)state;
    hops(WEIR_HOP_ORDER, "g", "g");
    hops(WEIR_HOP_SIBLING, "g", "g");
    happens(WEIR_EVENT_SUCCEEDED);
    assert_metric(&kit, "weir_fallbacks_total{source=\"g\",target=\"g\",hop=\"order\"}", "1");
    assert_metric(&kit, "weir_fallbacks_total{source=\"g\",target=\"g\",hop=\"sibling\"}", "1");
    metrics_assert_none(&kit, "litellm_deployment_successful_fallbacks_total{");
}

/* ---- ends ---- */

static void a_success_is_counted_with_its_times_tokens_and_cost(void **state)
{
    (void)state;
    kit.job.access.stream = true;
    kit.job.access.first_ns = WEIR_NS_PER_S;
    kit.job.counts.first_content_ns = WEIR_NS_PER_S / 2;
    ends_well();
    assert_metric(&kit, "litellm_self_latency_sum", "3");
#define LATENCY_LABELS                                                                                       \
    "{model_group=\"g\",end_user=\"\"," KEY ",requested_model=\"g\",user=\"\",model=\"gpt-4o\",model_id="    \
    "\"d1\",api_provider=\"openai\",service_tier=\"\",org_id=\"\",org_alias=\"\"}"
    assert_metric(&kit,
                  "weir_requests_total{requested_model=\"g\",group=\"g\",route=\"chat\",state="
                  "\"succeeded\",status=\"200\",kind=\"\"}",
                  "1");
    assert_metric(&kit, "weir_request_duration_seconds_sum{group=\"g\",route=\"chat\",stream=\"true\"}", "3");
    assert_metric(&kit, "weir_first_content_seconds_sum{group=\"g\",route=\"chat\",stream=\"true\"}", "1");
    assert_metric(&kit, "weir_queue_seconds_sum{group=\"g\",route=\"chat\",stream=\"true\"}", "0.25");
    assert_metric(&kit, "weir_overhead_seconds_sum{group=\"g\",route=\"chat\",stream=\"true\"}", "1");
    assert_metric(&kit, "weir_attempt_duration_seconds_sum{group=\"g\",deployment=\"d1\"}", "2");
    assert_metric(&kit, "weir_prompt_tokens_total{requested_model=\"g\",group=\"g\",deployment=\"d1\"}",
                  "12");
    assert_metric(&kit, "weir_cost_dollars_total{requested_model=\"g\",group=\"g\",deployment=\"d1\"}",
                  "0.0015");
    assert_metric(&kit, "litellm_request_total_latency_metric_sum" LATENCY_LABELS, "3");
    assert_metric(&kit, "litellm_llm_api_latency_metric_sum" LATENCY_LABELS, "2");
    assert_metric(&kit, "litellm_llm_api_time_to_first_token_metric_sum" LATENCY_LABELS, "0.5");
    assert_metric(&kit, "litellm_request_queue_time_seconds_sum" LATENCY_LABELS, "0.25");
    assert_metric(&kit,
                  "litellm_overhead_latency_metric_sum{model_group=\"g\"," PLACE
                  ",hashed_api_key=\"\",api_key_alias=\"\"}",
                  "1");
    assert_metric(&kit,
                  "litellm_deployment_latency_per_output_token_sum{model_group=\"g\"," PLACE "," KEY
                  ",org_id=\"\",org_alias=\"\"}",
                  "0.02");
    assert_metric(&kit,
                  "litellm_total_tokens_metric_total{end_user=\"\"," KEY
                  ",model=\"gpt-4o\",user=\"\",user_email=\"\",requested_model=\"g\",model_id=\"d1\",api_"
                  "provider=\"openai\",org_id=\"\",org_alias=\"\"}",
                  "112");
    assert_metric(&kit,
                  "litellm_proxy_total_requests_metric_total{end_user=\"\"," KEY
                  ",requested_model=\"g\",user=\"\",status_code=\"200\",user_email=\"\",route=\"/v1/chat/"
                  "completions\",client_ip=\"\",user_agent=\"\",model_id=\"d1\",api_provider=\"openai\",org_"
                  "id=\"\",org_alias=\"\"}",
                  "1");
    metrics_assert_none(&kit, "litellm_proxy_failed_requests_metric_total{");
}

static void a_failure_counts_no_latency_of_successes(void **state)
{
    (void)state;
    kit.job.access.status = 429;
    kit.job.access.kind = WEIR_SLICE("rate_limit");
    kit.job.access.group = WEIR_SLICE("g");
    kit.job.access.deployment = WEIR_SLICE("d1");
    weir_count_end(&kit.job);
    assert_metric(&kit,
                  "weir_requests_total{requested_model=\"g\",group=\"g\",route=\"chat\",state=\"failed\","
                  "status=\"429\",kind=\"rate_limit\"}",
                  "1");
    assert_metric(&kit,
                  "litellm_proxy_failed_requests_metric_total{end_user=\"\"," KEY
                  ",requested_model=\"g\",user=\"\",exception_status=\"429\",exception_class=\"Openai."
                  "RateLimitError\",user_email=\"\",route=\"/v1/chat/completions\",client_ip=\"\",user_agent="
                  "\"\",model_id=\"d1\",api_provider=\"openai\",org_id=\"\",org_alias=\"\"}",
                  "1");
    assert_metric(&kit, "weir_request_duration_seconds_count{group=\"g\",route=\"chat\",stream=\"false\"}",
                  "1");
    metrics_assert_none(&kit, "litellm_request_total_latency_metric_count{");
    metrics_assert_none(&kit, "litellm_self_latency_count");
    metrics_assert_none(&kit, "weir_prompt_tokens_total{");
}

#define FAILED_REQUESTS                                                                                      \
    "litellm_proxy_failed_requests_metric_total{end_user=\"\"," KEY                                          \
    ",requested_model=\"\",user=\"\",exception_status="

/* One whose client has left was not answered, with a failure least of all. */
static void every_request_is_in_one_state(void **state)
{
    static const struct {
        int status;
        const char *kind, *end, *state;
    } rows[] = {{200, "", "", "succeeded"},        {200, "internal", "cut", "failed"},
                {200, "", "gone", "client_gone"},  {499, "", "gone", "client_gone"},
                {499, "", "", "client_gone"},      {404, "", "", "failed"},
                {429, "rate_limit", "", "failed"}, {408, "", "late", "failed"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[256];

        metrics_job(&kit, "g");
        kit.job.access.model = WEIR_SLICE_EMPTY;
        kit.job.access.route = WEIR_SLICE_EMPTY;
        kit.job.access.status = (uint64_t)rows[i].status;
        kit.job.access.kind = weir_slice_str(rows[i].kind);
        kit.job.access.end = weir_slice_str(rows[i].end);
        weir_count_end(&kit.job);
        (void)snprintf(line, sizeof(line),
                       "weir_requests_total{requested_model=\"\",group=\"\",route=\"\",state=\"%s\",status="
                       "\"%d\",kind=\"%s\"}",
                       rows[i].state, rows[i].status, rows[i].kind);
        assert_string_not_equal(metrics_line(&kit, line), "0");
    }
    metrics_assert_none(&kit, FAILED_REQUESTS "\"499\"");
}

static void a_request_that_never_became_one_is_counted(void **state)
{
    const struct weir_access access = {.status = 400};

    (void)state;
    weir_count_headless(&kit.worker, &access);
    assert_metric(&kit,
                  "weir_requests_total{requested_model=\"\",group=\"\",route=\"\",state=\"failed\",status="
                  "\"400\",kind=\"\"}",
                  "1");
}

/* ---- names ---- */

static void what_callers_make_up_becomes_no_label(void **state)
{
    char name[16];

    (void)state;
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "w/new-%d", i);
        metrics_job(&kit, name);
        kit.job.access.status = 200;
        kit.job.access.group = weir_slice_str(name);
        kit.job.access.deployment = WEIR_SLICE("d3");
        weir_count_end(&kit.job);
        (void)snprintf(name, sizeof(name), "none-%d", i);
        metrics_job(&kit, name);
        kit.job.access.status = 400;
        kit.job.access.group = weir_slice_str(name);
        weir_count_end(&kit.job);
    }
    assert_metric(&kit,
                  "weir_requests_total{requested_model=\"w/*\",group=\"w/*\",route=\"chat\",state="
                  "\"succeeded\",status=\"200\",kind=\"\"}",
                  "20");
    assert_metric(&kit,
                  "weir_requests_total{requested_model=\"unknown\",group=\"unknown\",route=\"chat\",state="
                  "\"failed\",status=\"400\",kind=\"\"}",
                  "20");
}

static void more_names_than_a_thread_remembers_are_counted_right(void **state)
{
    char name[16];

    (void)state;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2 * WEIR_SERIES_SLOTS * WEIR_SERIES_WAYS; i++) {
            (void)snprintf(name, sizeof(name), "w/%d", i);
            metrics_job(&kit, name);
            happens(WEIR_EVENT_ATTEMPT_STARTED);
        }
    assert_metric(&kit, "weir_attempts_total{group=\"g\",deployment=\"d1\"}", "3072");
}

static const struct weir_series *hop_to(const char *target)
{
    const struct weir_series_key key = {.sets = WEIR_SET_BIT(HOPS),
                                        .setup = kit.worker.seat.setup,
                                        .group = WEIR_SLICE("g"),
                                        .other = weir_slice_str(target)};

    return weir_series_find(&kit.worker.series, &key);
}

static void names_that_are_alike_to_the_hash_do_not_drive_each_other_out(void **state)
{
    const struct weir_series *one = hop_to("h"), *other = hop_to("w/a");

    (void)state;
    assert_ptr_not_equal(one, other);
    for (int turn = 0; turn < 3; turn++) {
        assert_ptr_equal(hop_to("h"), one);
        assert_ptr_equal(hop_to("w/a"), other);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_attempt_is_counted_when_it_begins_and_when_it_succeeds),
        TEST(a_failed_attempt_has_a_kind_and_a_class),
        TEST(a_refused_attempt_is_no_attempt),
        TEST(loops_are_counted_by_group),
        TEST(hedges_and_budgets_are_counted),
        TEST(a_cooldown_has_its_rule),
        TEST(a_chunk_that_is_no_json_is_counted_once_where_its_stream_breaks),
        TEST(what_happens_beside_calls_is_counted_too),
        TEST(a_hop_succeeds_when_its_call_does),
        TEST(a_hop_fails_with_the_next_one_or_with_its_call),
        TEST(orders_and_siblings_are_no_hops_to_another_group),
        TEST(a_success_is_counted_with_its_times_tokens_and_cost),
        TEST(a_failure_counts_no_latency_of_successes),
        TEST(every_request_is_in_one_state),
        TEST(a_request_that_never_became_one_is_counted),
        TEST(what_callers_make_up_becomes_no_label),
        TEST(more_names_than_a_thread_remembers_are_counted_right),
        TEST(names_that_are_alike_to_the_hash_do_not_drive_each_other_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
