/*
 * The least speed of a stream (beyond.md 1, min_stream_rate).  The window is measured in sixteenths, so a
 * stream that has become too slow may live that much longer, and one that is fast enough never dies.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("beyond 1", beyond_1_a_stream_of_one_token_ends_after_grace_and_window) \
    X("beyond 1", beyond_1_window_and_grace_are_ten_seconds_where_not_said) \
    X("beyond 1", beyond_1_a_stream_of_exactly_the_rate_lives) \
    X("beyond 1", beyond_1_a_stream_just_below_the_rate_ends) \
    X("beyond 1", beyond_1_the_grace_is_as_long_as_it_says) \
    X("beyond 1", beyond_1_a_stream_that_becomes_slow_ends_a_window_later_at_most) \
    X("beyond 1", beyond_1_a_burst_is_worth_its_window) \
    X("beyond 1", beyond_1_a_delta_is_a_token_whatever_its_length) \
    X("beyond 1", beyond_1_several_deltas_of_a_chunk_are_as_many_tokens) \
    X("beyond 1", beyond_1_chunks_without_content_are_no_tokens) \
    X("beyond 1", beyond_1_tool_calls_are_tokens) \
    X("beyond 1", beyond_1_nothing_is_measured_before_the_first_content) \
    X("beyond 1", beyond_1_nothing_is_measured_after_the_finish) \
    X("beyond 1", beyond_1_a_plain_call_has_no_rate) \
    X("beyond 1", beyond_1_speed_counts_anew_after_a_pause) \
    X("beyond 1", beyond_1_a_slow_stream_inside_its_commit_window_is_retried) \
    X("beyond 1", beyond_1_a_slow_stream_is_a_timeout_and_is_counted) \
    X("beyond 1", beyond_1_the_callers_own_rate_counts_against_nobody)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

/* Plays a stream until it is broken off, and compares the time; both in seconds. */
static void expect_slow(const char *limit, const char *answer, double soonest, double latest)
{
    char config[256];
    double end;

    snprintf(config, sizeof(config), "d g %s : %s; router retries=0\n", limit, answer);
    KIT(kit, config);
    expect(kit, "g stream", "d*:cancel fail*:408");
    end = weir_time_to_s(kit->now_ns - KIT_EPOCH_NS);
    if (end < soonest || end > latest)
        kit_die(kit, "'%s' with '%s' ends after %g s, expected %g to %g", answer, limit, end, soonest,
                latest);
}

static void expect_fast(const char *limit, const char *answer)
{
    char config[256];

    snprintf(config, sizeof(config), "d g %s : %s; router retries=0\n", limit, answer);
    KIT(kit, config);
    expect(kit, "g stream", "d*:ok");
}

static void beyond_1_a_stream_of_one_token_ends_after_grace_and_window(void **state)
{
    (void)state;
    expect_slow("rate=1/16/16", "text+3,hang", 19, 20);
    expect_slow("rate=0.5/4/30", "text,hang", 30, 30.25);
}

static void beyond_1_window_and_grace_are_ten_seconds_where_not_said(void **state)
{
    (void)state;
    expect_slow("rate=1", "text,hang", 10, 10.625);
    expect_slow("rate=1/4", "text,hang", 10, 10.25);
    expect_slow("rate=1/0", "text,hang", 10, 10.625);
}

static void beyond_1_a_stream_of_exactly_the_rate_lives(void **state)
{
    (void)state;
    expect_fast("rate=1/16/16", "text,400xtext+1,ok");
    expect_fast("rate=10/10/10", "4000xtext+0.1,ok");
    expect_fast("rate=0.5/10/10", "text+0.3,200xtext+2,ok");
}

static void beyond_1_a_stream_just_below_the_rate_ends(void **state)
{
    (void)state;
    expect_slow("rate=1/16/16", "400xtext+1.15,ok", 16, 20);
    expect_slow("rate=10/10/10", "4000xtext+0.11,ok", 10, 12);
}

static void beyond_1_the_grace_is_as_long_as_it_says(void **state)
{
    (void)state;
    expect_fast("rate=1/2/60", "text,text+59,ok");
    expect_slow("rate=1/2/60", "text,text+30,hang", 60, 60.125);
}

static void beyond_1_a_stream_that_becomes_slow_ends_a_window_later_at_most(void **state)
{
    (void)state;
    /* 32 tokens a window: half of them are gone after half a window of silence */
    expect_slow("rate=1/16/16", "60xtext+0.5,hang", 30 + 7, 30 + 9.5);
    expect_slow("rate=1/16/16", "40xtext+1,hang", 40, 42);
}

static void beyond_1_a_burst_is_worth_its_window(void **state)
{
    (void)state;
    expect_fast("rate=1/16/16", "text,16xtext+0.8,16xtext,text+15,15xtext,ok+15");
    expect_slow("rate=1/16/16", "text,16xtext+1,16xtext,hang", 16 + 15, 16 + 18);
}

static void beyond_1_a_delta_is_a_token_whatever_its_length(void **state)
{
    (void)state;
    expect_slow("rate=1/16/16", "text,100xtext:4000+3,ok", 16, 17);
    expect_fast("rate=1/16/16", "100xcontent+0.9,ok");
}

static void beyond_1_several_deltas_of_a_chunk_are_as_many_tokens(void **state)
{
    (void)state;
    expect_fast("rate=3/16/16", "100xtext&text&text+1,ok");
    expect_slow("rate=3/16/16", "100xtext&text+1,ok", 16, 17.1);
}

static void beyond_1_chunks_without_content_are_no_tokens(void **state)
{
    (void)state;
    expect_slow("rate=1/16/16", "text,400xchunk+0.1,ok", 16, 17);
}

static void beyond_1_tool_calls_are_tokens(void **state)
{
    (void)state;
    expect_fast("rate=1/16/16", "100xtool+0.9,ok");
}

static void beyond_1_nothing_is_measured_before_the_first_content(void **state)
{
    (void)state;
    expect_fast("rate=1/16/16", "open,chunk,chunk+500,text+500,ok");
}

static void beyond_1_nothing_is_measured_after_the_finish(void **state)
{
    (void)state;
    expect_fast("rate=10/1/1", "10xtext+0.1,finish,ok+4");
}

static void beyond_1_a_plain_call_has_no_rate(void **state)
{
    (void)state;
    KIT(kit, "d g rate=10/1/1 : open,content,ok+500\n");
    expect(kit, "g", "d*:ok");
}

static void beyond_1_speed_counts_anew_after_a_pause(void **state)
{
    (void)state;
    expect_fast("rate=1/16/16", "text,pause+15.9,resume+1000,ok+15.9");
    expect_slow("rate=1/16/16", "text,pause+15,resume+1000,hang", 1015 + 16, 1015 + 17);
    expect_slow("rate=1/16/16", "40xtext+0.5,pause,resume+1000,hang", 1020 + 16, 1020 + 17);
}

static void beyond_1_a_slow_stream_inside_its_commit_window_is_retried(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : text,hang; d2 g w=0 : 3xtext,ok; router retries=1 hold=all rate=1/16/16\n");
    expect(kit, "g stream", "d1:cancel d2*:ok");
}

static void beyond_1_a_slow_stream_is_a_timeout_and_is_counted(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : text,hang; router rate=2/4/4\n");
    const struct kit_call *call = expect_call(kit, "g stream caller", "d*:cancel fail*:408");

    assert_int_equal(call->fail.reason, WEIR_REASON_TIMEOUT);
    assert_int_equal(call->fail.failure.kind, WEIR_KIND_TIMEOUT);
    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_int_equal(kit_view(kit, "d").failures, 1);
    assert_true(kit_cooling(kit, "d") > 0);
}

static void beyond_1_the_callers_own_rate_counts_against_nobody(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : text,hang\n");
    const struct kit_call *call = expect_call(kit, "g stream caller rate=2/4/4", "d*:cancel fail*:408");

    assert_int_equal(call->fail.failure.origin, WEIR_ORIGIN_CALLER_LIMIT);
    assert_int_equal(kit_view(kit, "d").failures, 0);
    assert_true(kit_cooling(kit, "d") <= 0);
}

KIT_TESTS_MAIN(TESTS)
