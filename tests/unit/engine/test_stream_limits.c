/*
 * What ends a stream that is too slow: the waits for the first chunk, for the first content and between
 * contents (decisions 17, beyond.md 1, router-semantics 2.2), where each may be set, and what a pause does.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 25", rs_25_target_beats_request_beats_deployment_beats_group_beats_router) \
    X("RS 25", rs_25_nobodys_stream_timeout_leaves_the_first_timeout) \
    X("RS 25", rs_25_a_groups_stream_timeout_beats_a_requests_timeout) \
    X("RS 25", rs_25_each_limit_is_found_by_itself) \
    X("RS 25", rs_25_a_deployment_takes_its_own_groups_limits_by_whatever_name_it_is_asked) \
    X("RS 25", rs_25_zero_at_a_nearer_level_is_no_limit) \
    X("RS 25", rs_25_the_start_tells_the_limit_of_its_group) \
    X("decisions 17", decision_17_ttft_bounds_the_wait_for_content) \
    X("decisions 17", decision_17_ttft_is_no_limit_after_the_first_content) \
    X("decisions 17", decision_17_content_at_the_ttft_limit_is_in_time) \
    X("decisions 17", decision_17_ttft_of_a_plain_call_ends_with_the_response_head) \
    X("decisions 17", decision_17_a_plain_call_without_a_head_runs_out_of_its_ttft) \
    X("decisions 17", decision_17_ttft_counts_from_each_attempts_own_start) \
    X("decisions 17", decision_17_idle_bounds_the_silence_between_contents) \
    X("decisions 17", decision_17_content_at_the_idle_limit_is_in_time) \
    X("decisions 17", decision_17_idle_begins_with_the_first_chunk) \
    X("decisions 17", decision_17_chunks_without_content_are_silence) \
    X("decisions 17", decision_17_tool_calls_are_no_silence) \
    X("decisions 17", decision_17_silence_before_the_finish_is_bounded) \
    X("decisions 17", decision_17_idle_does_not_bound_a_plain_call) \
    X("decisions 17", decision_17_the_sooner_of_two_limits_ends_the_stream) \
    X("decisions 17", decision_17_the_expiry_follows_every_content) \
    X("beyond 1", beyond_1_a_late_stream_is_retried_and_falls_back) \
    X("beyond 1", beyond_1_a_silent_stream_fails_after_content) \
    X("beyond 1", beyond_1_a_late_stream_is_a_timeout_and_is_counted) \
    X("beyond 1", beyond_1_the_callers_own_ttft_and_idle_count_against_nobody) \
    X("beyond 1", beyond_1_of_two_limits_at_once_the_one_that_counts_is_told) \
    X("beyond 1", beyond_1_of_two_limits_that_have_passed_the_first_is_told) \
    X("beyond 1", beyond_1_the_deployments_idle_counts_though_the_caller_set_a_ttft) \
    X("paused", a_paused_stream_is_not_silent) \
    X("paused", silence_counts_anew_from_the_end_of_a_pause) \
    X("paused", a_pause_inside_a_pause_changes_nothing) \
    X("paused", a_pause_that_ends_twice_ends_once) \
    X("paused", an_unknown_attempt_is_not_paused)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

/* ---- where a limit may stand ---- */

enum { LEVELS = 5 }; /* the hop's target, the request, the deployment, its group, the router */

enum { SAID_MAX = 64 };

/* A limit with its number, "" where it is not said; the forms with two numbers take the same one twice. */
static void say(char text[SAID_MAX], bool is_said, char before, const char *form, unsigned seconds)
{
    size_t len = 0;

    if (is_said)
        text[len++] = before;
    for (; is_said && *form != '\0' && len < SAID_MAX - 1; form++)
        text[len++] = *form == '#' ? (char)('0' + seconds) : *form;
    text[len] = '\0';
}

/* A stream on a hop whose limit is said at those levels, with one to five seconds from the nearest on. */
static struct kit *kit_of_levels(const char *form, unsigned levels, const char *answer)
{
    static const char before[LEVELS] = {'@', ' ', ' ', ' ', ' '};
    char said[LEVELS][SAID_MAX];
    char config[512];
    char request[128];
    struct kit *kit;

    for (unsigned i = 0; i < LEVELS; i++)
        say(said[i], (levels >> i & 1) != 0, before[i], form, i + 1);
    snprintf(config, sizeof(config),
             "a A : 500; d g%s : %s; group g%s; router retries=0%s; fallbacks A: g%s\n", said[2], answer,
             said[3], said[4], said[0]);
    snprintf(request, sizeof(request), "A stream%s", said[1]);
    kit = kit_new(1, config);
    (void)kit_begin(kit, request);
    return kit;
}

static double seconds_since_epoch(const struct kit *kit)
{
    return weir_time_to_s(kit->now_ns - KIT_EPOCH_NS);
}

static void rs_25_target_beats_request_beats_deployment_beats_group_beats_router(void **state)
{
    static const struct {
        const char *form;
        const char *answer;
        double latest; /* of the seconds that are said */
    } limits[] = {
        {"timeout=#", "hang", 1},         {"stream_timeout=#", "open,hang", 1},
        {"ttft=#", "open,chunk,hang", 1}, {"idle=#", "open,chunk,hang", 1},
        {"deadline=#", "text,hang", 1},   {"rate=1/#/#", "text,hang", 17.0 / 16},
    };
    (void)state;

    for (size_t limit = 0; limit < sizeof(limits) / sizeof(*limits); limit++) {
        for (unsigned levels = 1; levels < 1u << LEVELS; levels++) {
            WEIR_CLEANUP(kit_close)
            struct kit *kit = kit_of_levels(limits[limit].form, levels, limits[limit].answer);
            double expected = __builtin_ctz(levels) + 1;

            kit_run(kit->calls);
            if (seconds_since_epoch(kit) < expected ||
                seconds_since_epoch(kit) > expected * limits[limit].latest)
                kit_die(kit, "%s at levels %#x ends after %g s", limits[limit].form, levels,
                        seconds_since_epoch(kit));
        }
    }
}

static void rs_25_nobodys_stream_timeout_leaves_the_first_timeout(void **state)
{
    (void)state;
    KIT(kit, "d g : hang; group g timeout=2; router retries=0 timeout=3\n");
    expect(kit, "g stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2));
}

static void rs_25_a_groups_stream_timeout_beats_a_requests_timeout(void **state)
{
    (void)state;
    KIT(kit, "d g timeout=1 : hang; group g stream_timeout=4; router retries=0 timeout=3\n");
    expect(kit, "g stream timeout=2", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(4));
}

static void rs_25_each_limit_is_found_by_itself(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=3 : open,chunk,text+2.9,hang; group g idle=5; router retries=0 ttft=1 idle=1\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(7.9));
}

static void rs_25_a_deployment_takes_its_own_groups_limits_by_whatever_name_it_is_asked(void **state)
{
    (void)state;
    KIT(kit, "d g : chunk,hang; w w/* : chunk,hang; group g ttft=1; group w/* ttft=2; group alias ttft=9\n"
             "alias alias g; router retries=0\n");
    expect(kit, "d stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(1));
    expect(kit, "alias stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2));
    expect(kit, "w/x stream", "w:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(4));
}

static void rs_25_zero_at_a_nearer_level_is_no_limit(void **state)
{
    static const char *const forms[] = {"ttft=", "idle=", "deadline=", "rate="};
    char config[256];
    (void)state;

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        snprintf(config, sizeof(config),
                 "d g %s0 : open,chunk,text+500,hang; group g %s1; router retries=0 %s1\n", forms[i],
                 forms[i], forms[i]);
        KIT(kit, config);
        struct kit_call *call = kit_begin(kit, "g stream");

        kit_run_until(call, AT(5000));
        assert_string_equal(call->story, "d*");
    }
}

static void rs_25_the_start_tells_the_limit_of_its_group(void **state)
{
    (void)state;
    KIT(kit, "d g; group g stream_timeout=2 timeout=3\n");
    assert_int_equal(expect_call(kit, "g stream", "d:ok")->attempts[1].start.limit_ns, weir_time_from_s(2));
    assert_int_equal(expect_call(kit, "g", "d:ok")->attempts[1].start.limit_ns, weir_time_from_s(3));
}

/* ---- the first content ---- */

static void decision_17_ttft_bounds_the_wait_for_content(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : open+0.5,chunk+0.5,chunk+0.5,hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(2) - 1);
    assert_string_equal(call->story, "d");
    kit_run_until(call, AT(2));
    assert_string_equal(call->story, "d:cancel fail:408");
}

static void decision_17_ttft_is_no_limit_after_the_first_content(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : text+1.5,text+100,ok+100\n");
    expect(kit, "g stream", "d*:ok");
}

static void decision_17_content_at_the_ttft_limit_is_in_time(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : text+2,ok text+2.000000001,ok; router retries=0\n");
    expect(kit, "g stream", "d*:ok");
    expect(kit, "g stream", "d:cancel fail:408");
}

static void decision_17_ttft_of_a_plain_call_ends_with_the_response_head(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : open+2,ok+100\n");
    expect(kit, "g", "d:ok");
}

static void decision_17_a_plain_call_without_a_head_runs_out_of_its_ttft(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : ok+2.1; router retries=0\n");
    expect(kit, "g", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2));
}

static void decision_17_ttft_counts_from_each_attempts_own_start(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500+1.5; d2 g w=0 : text+1.5,ok; router retries=1 ttft=2\n");
    expect(kit, "g stream", "d1:500 d2*:ok");
}

/* ---- silence ---- */

static void decision_17_idle_bounds_the_silence_between_contents(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text+1,text+1.9,text+1.9,hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(6.8) - 1);
    assert_string_equal(call->story, "d*");
    kit_run_until(call, AT(6.8));
    assert_string_equal(call->story, "d*:cancel fail*:408");
}

static void decision_17_content_at_the_idle_limit_is_in_time(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,text+2,ok text,text+2.000000001,ok; router retries=0\n");
    expect(kit, "g stream", "d*:ok");
    expect(kit, "g stream", "d*:cancel fail*:408");
}

static void decision_17_idle_begins_with_the_first_chunk(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : open+5,chunk+5,text+2,ok open,chunk,text+2.1,ok; router retries=0\n");
    expect(kit, "g stream", "d*:ok");
    expect(kit, "g stream", "d:cancel fail:408");
}

static void decision_17_chunks_without_content_are_silence(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,chunk+0.9,chunk+0.9,chunk+0.9,text,ok; router retries=0\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(2));
}

static void decision_17_tool_calls_are_no_silence(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : 5xtool+1.9,ok\n");
    expect(kit, "g stream", "d*:ok");
}

static void decision_17_silence_before_the_finish_is_bounded(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,finish+2,ok text,finish+2.1,ok; router retries=0\n");
    expect(kit, "g stream", "d*:ok");
    expect(kit, "g stream", "d*:cancel fail*:408");
}

static void decision_17_idle_does_not_bound_a_plain_call(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : open,ok+100 open,content+100,ok+100\n");
    expect(kit, "g", "d:ok");
    expect(kit, "g", "d*:ok");
}

static void decision_17_the_sooner_of_two_limits_ends_the_stream(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=5 idle=2 : chunk,hang chunk+4,hang hang; router retries=0 stream_timeout=4.5\n");
    expect(kit, "g stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2));
    expect(kit, "g stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2 + 5));
    expect(kit, "g stream", "d:cancel fail:408");
    assert_int_equal(kit->now_ns, AT(2 + 5 + 4.5));
}

static void decision_17_the_expiry_follows_every_content(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 ttft=9 : open+1,chunk+1,4xtext+1,hang; router retries=0 timeout=4\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    assert_int_equal(weir_call_expiry(call->call), AT(4));
    kit_run_until(call, AT(1));
    assert_int_equal(weir_call_expiry(call->call), AT(4));
    for (int i = 2; i <= 6; i++) {
        kit_run_until(call, AT(i));
        assert_int_equal(weir_call_expiry(call->call), AT(i + 2));
    }
}

/* ---- what becomes of a late stream ---- */

static void beyond_1_a_late_stream_is_retried_and_falls_back(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 ttft=1 : chunk,hang; d2 g w=0 idle=1 : chunk,hang; b B : text,ok\n"
             "router retries=1; fallbacks g: B\n");
    expect(kit, "g stream", "d1:cancel d2:cancel b*:ok");
    assert_int_equal(kit->now_ns, AT(2));
}

static void beyond_1_a_silent_stream_fails_after_content(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 idle=1 : text,hang; d2 g w=0; b B; router retries=1; fallbacks g: B\n");
    expect(kit, "g stream", "d1*:cancel fail*:408");
}

static void beyond_1_a_late_stream_is_a_timeout_and_is_counted(void **state)
{
    static const char *const limits[] = {"ttft=1 : chunk,hang", "idle=1 : chunk,hang", "idle=1 : text,hang"};
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        snprintf(config, sizeof(config), "d g fails=0 %s; router retries=0\n", limits[i]);
        KIT(kit, config);
        const struct kit_call *call = kit_call(kit, "g stream caller");

        assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
        assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
        assert_int_equal(call->fail.failure.status, 408);
        assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_PROVIDER);
        assert_int_equal(call->fail.attempt, 1);
        assert_int_equal(kit_view(kit, "d").failures, 1);
        assert_true(kit_cooling(kit, "d") > 0);
    }
}

static void beyond_1_the_callers_own_ttft_and_idle_count_against_nobody(void **state)
{
    static const char *const requests[] = {"g stream ttft=1 caller", "g stream idle=1 caller"};
    (void)state;

    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        KIT(kit, "d g fails=0 : chunk,hang; router retries=0\n");
        const struct kit_call *call = expect_call(kit, requests[i], "d:cancel fail:408");

        assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_CALLER_LIMIT);
        assert_int_equal(kit_view(kit, "d").failures, 0);
        assert_true(kit_cooling(kit, "d") <= 0);
    }
    KIT(kit, "a A : 400; b B fails=0 : chunk,hang; router retries=0\n");
    expect(kit, "A stream fallbacks=B@ttft=1@caller", "a:400 b:cancel fail:400");
    assert_int_equal(kit_view(kit, "b").failures, 0);
    expect(kit, "A stream fallbacks=B@ttft=1", "a:400 b:cancel fail:400");
    assert_int_equal(kit_view(kit, "b").failures, 1);
}

static void beyond_1_of_two_limits_at_once_the_one_that_counts_is_told(void **state)
{
    (void)state;
    KIT(kit, "d g ttft=2 : chunk,hang; e h idle=2 : chunk,hang; router retries=0\n");
    expect(kit, "g stream idle=2 caller", "d:cancel fail:408");
    assert_int_equal(kit_view(kit, "d").failures, 1);
    expect(kit, "h stream ttft=2 caller", "e:cancel fail:408");
    assert_int_equal(kit_view(kit, "e").failures, 1);
}

static void beyond_1_of_two_limits_that_have_passed_the_first_is_told(void **state)
{
    (void)state;
    KIT(kit, "d g idle=3 : chunk,hang; e h ttft=2 : chunk,hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g stream ttft=2 caller");

    kit_run_until(call, AT(1));
    kit_advance(kit, 10);
    kit_run(call);
    assert_int_equal(kit_view(kit, "d").failures, 0);
    call = kit_begin(kit, "h stream idle=3 caller");
    kit_run_until(call, kit->now_ns);
    kit_advance(kit, 10);
    kit_run(call);
    assert_int_equal(kit_view(kit, "e").failures, 1);
}

static void beyond_1_the_deployments_idle_counts_though_the_caller_set_a_ttft(void **state)
{
    (void)state;
    KIT(kit, "d g idle=1 : chunk,hang; router retries=0\n");
    const struct kit_call *call = expect_call(kit, "g stream ttft=9 caller", "d:cancel fail:408");

    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_int_equal(kit_view(kit, "d").failures, 1);
}

/* ---- pauses ---- */

static void a_paused_stream_is_not_silent(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,pause+1.9,resume+1000,text+1.9,ok+1\n");
    expect(kit, "g stream", "d*:ok");
}

static void silence_counts_anew_from_the_end_of_a_pause(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,pause+1.9,resume+10,hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(13.9) - 1);
    assert_string_equal(call->story, "d*");
    kit_run_until(call, AT(13.9));
    assert_string_equal(call->story, "d*:cancel fail*:408");
}

static void a_pause_inside_a_pause_changes_nothing(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,pause,pause+5,text+5,resume+5,hang; router retries=0\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(17));
}

static void a_pause_that_ends_twice_ends_once(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,resume+1,resume+0.5,hang; router retries=0\n");
    expect(kit, "g stream", "d*:cancel fail*:408");
    assert_int_equal(kit->now_ns, AT(2));
}

static void an_unknown_attempt_is_not_paused(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,hang; router retries=0\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    weir_call_on_paused(call->call, 7, true, kit->now_ns);
    kit_run(call);
    assert_string_equal(call->story, "d*:cancel fail*:408");
    weir_call_on_paused(call->call, 1, true, kit->now_ns);
}

KIT_TESTS_MAIN(TESTS)
