/*
 * The commit window of a stream (beyond.md 2): content is held until it ends, and until then a break is
 * recovered as if the attempt had failed up front.
 */
#include "engine_kit.h"

#include <stdio.h>

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("beyond 2", beyond_2_so_many_deltas_end_the_window) \
    X("beyond 2", beyond_2_deltas_of_one_chunk_are_counted_each) \
    X("beyond 2", beyond_2_chunks_without_content_do_not_count) \
    X("beyond 2", beyond_2_so_many_seconds_after_the_first_delta_end_the_window) \
    X("beyond 2", beyond_2_whichever_comes_first_ends_the_window) \
    X("beyond 2", beyond_2_all_holds_until_the_answer_is_complete) \
    X("beyond 2", beyond_2_all_ends_with_the_finish_reason) \
    X("beyond 2", beyond_2_a_full_buffer_ends_the_window) \
    X("beyond 2", beyond_2_a_window_of_no_tokens_is_none) \
    X("beyond 2", beyond_2_a_window_of_one_token_ends_with_the_first) \
    X("beyond 2", beyond_2_an_answer_shorter_than_its_window_is_delivered) \
    X("beyond 2", beyond_2_the_finish_reason_ends_every_window) \
    X("beyond 2", beyond_2_a_break_at_each_place_inside_the_window_is_recovered) \
    X("beyond 2", beyond_2_a_break_at_each_place_behind_the_window_is_told) \
    X("beyond 2", beyond_2_with_all_a_break_at_each_place_is_recovered) \
    X("beyond 2", beyond_2_a_break_inside_the_seconds_is_recovered) \
    X("beyond 2", beyond_2_inside_the_window_every_kind_goes_where_it_would_have_gone_up_front) \
    X("beyond 2", beyond_2_a_break_of_everything_inside_windows_is_a_plain_error) \
    X("beyond 2", beyond_2_a_recovered_stream_says_so) \
    X("beyond 2", beyond_2_a_break_inside_the_window_is_one_failure) \
    X("beyond 2", beyond_2_silence_inside_the_window_is_recovered) \
    X("beyond 2", beyond_2_the_next_attempt_has_a_window_of_its_own) \
    X("beyond 2", beyond_2_a_caller_who_leaves_inside_the_window_has_got_nothing) \
    X("beyond 2", beyond_2_a_plain_call_has_no_window) \
    X("beyond 2", beyond_2_the_start_says_whether_content_is_held) \
    X("beyond 2", beyond_2_the_nearest_level_that_speaks_of_a_window_holds) \
    X("beyond 2", beyond_2_a_group_has_a_window_of_its_own) \
    X("beyond 2", beyond_2_the_expiry_is_the_end_of_the_window)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

#define AT(s) (KIT_EPOCH_NS + weir_time_from_s(s))

/* A stream that is committed at exactly that time, in seconds, and then hangs. */
static void expect_commit_at(const char *hold, const char *answer, double seconds)
{
    char config[256];
    struct kit_call *call;

    snprintf(config, sizeof(config), "d g hold=%s : %s\n", hold, answer);
    KIT(kit, config);
    call = kit_begin(kit, "g stream");
    kit_run_until(call, AT(seconds) - 1);
    assert_string_equal(call->story, "d");
    kit_run_until(call, AT(seconds));
    assert_string_equal(call->story, "d*");
}

static void beyond_2_so_many_deltas_end_the_window(void **state)
{
    (void)state;
    expect_commit_at("3", "3xtext+1,hang", 3);
    expect_commit_at("20", "open,chunk,40xtext+0.1,hang", 2);
}

static void beyond_2_deltas_of_one_chunk_are_counted_each(void **state)
{
    (void)state;
    expect_commit_at("3", "text+1,text&text+1,hang", 2);
    expect_commit_at("3", "text&text&text&text+1,hang", 1);
    expect_commit_at("3", "tool+1,text+1,content+1,hang", 3);
}

static void beyond_2_chunks_without_content_do_not_count(void **state)
{
    (void)state;
    expect_commit_at("2", "chunk+1,chunk+1,text+1,chunk+1,text+1,hang", 5);
}

static void beyond_2_so_many_seconds_after_the_first_delta_end_the_window(void **state)
{
    (void)state;
    expect_commit_at("/2", "open+1,chunk+1,text+1,20xtext+0.1,hang", 5);
    expect_commit_at("/2.5", "text+1,hang", 3.5);
}

static void beyond_2_whichever_comes_first_ends_the_window(void **state)
{
    (void)state;
    expect_commit_at("3/2", "text+1,text+0.9,text+0.9,hang", 2.8);
    expect_commit_at("3/2", "text+1,text+1,hang", 3);
}

static void beyond_2_all_holds_until_the_answer_is_complete(void **state)
{
    (void)state;
    KIT(kit, "d g hold=all : 50xtext+1,ok\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(50) - 1);
    assert_string_equal(call->story, "d");
    kit_run(call);
    assert_string_equal(call->story, "d*:ok");
    assert_int_equal(kit->now_ns, AT(50));
}

static void beyond_2_all_ends_with_the_finish_reason(void **state)
{
    (void)state;
    expect_commit_at("all", "50xtext+1,finish+1,hang", 51);
    expect_commit_at("all", "text+1,text&finish+1,hang", 2);
}

static void beyond_2_a_full_buffer_ends_the_window(void **state)
{
    (void)state;
    expect_commit_at("all", "5xtext+1,text&full+1,hang", 6);
    expect_commit_at("9/9", "text+1,chunk&full+1,hang", 2);
}

static void beyond_2_a_window_of_no_tokens_is_none(void **state)
{
    (void)state;
    expect_commit_at("0", "chunk+1,text+1,hang", 2);
}

static void beyond_2_a_window_of_one_token_ends_with_the_first(void **state)
{
    (void)state;
    expect_commit_at("1", "chunk+1,text+1,hang", 2);
}

static void beyond_2_an_answer_shorter_than_its_window_is_delivered(void **state)
{
    (void)state;
    KIT(kit, "d g hold=5/60 : 3xtext+1,ok chunk+1,ok\n");
    expect(kit, "g stream", "d*:ok");
    assert_int_equal(kit->now_ns, AT(3));
    expect(kit, "g stream", "d:ok");
}

static void beyond_2_the_finish_reason_ends_every_window(void **state)
{
    static const char *const holds[] = {"all", "9", "/9", "9/9"};
    (void)state;

    for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
        expect_commit_at(holds[i], "text+1,text+1,finish+1,hang", 3);
}

/* Plays a stream that breaks after so many deltas, with a whole one waiting on the same deployment. */
static void expect_broken_after(unsigned deltas, const char *hold, const char *story)
{
    char config[256];

    snprintf(config, sizeof(config),
             "d g hold=%s : open,chunk,%uxtext,connection 10xtext,finish,ok; router retries=1 jitter=0\n",
             hold, deltas);
    KIT(kit, config);
    expect(kit, "g stream", story);
}

static void beyond_2_a_break_at_each_place_inside_the_window_is_recovered(void **state)
{
    (void)state;
    for (unsigned deltas = 1; deltas < 8; deltas++)
        expect_broken_after(deltas, "8", "d:500 d*:ok");
}

static void beyond_2_a_break_at_each_place_behind_the_window_is_told(void **state)
{
    (void)state;
    for (unsigned deltas = 8; deltas < 12; deltas++)
        expect_broken_after(deltas, "8", "d*:500 fail*:500");
}

static void beyond_2_with_all_a_break_at_each_place_is_recovered(void **state)
{
    (void)state;
    for (unsigned deltas = 1; deltas < 12; deltas++)
        expect_broken_after(deltas, "all", "d:500 d*:ok");
}

static void beyond_2_a_break_inside_the_seconds_is_recovered(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 hold=/2 : text+1,text+1,500+0.9 text+1,text+1,500+1.1; d2 g w=0 : text,ok\n"
             "router no_cooldowns\n");
    expect(kit, "g stream", "d1:500 d2*:ok");
    expect(kit, "g stream", "d1*:500 fail*:500");
}

static void beyond_2_inside_the_window_every_kind_goes_where_it_would_have_gone_up_front(void **state)
{
    (void)state;
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        const struct weir_kind_row *row = weir_kind_row((weir_kind)kind);
        char config[256];
        const struct kit_call *up_front;
        const struct kit_call *broken;

        snprintf(config, sizeof(config),
                 "a A w=1 order=1 : %.*s text,text,%.*s; a2 A order=2; b B; l L; p P\n"
                 "router retries=0 no_cooldowns hold=3; fallbacks A: B; context A: L; content A: P\n",
                 (int)row->name.len, row->name.ptr, (int)row->name.len, row->name.ptr);
        KIT(kit, config);
        up_front = kit_call(kit, "A stream");
        broken = kit_call(kit, "A stream");
        assert_string_equal(up_front->story, broken->story);
    }
}

static void beyond_2_a_break_of_everything_inside_windows_is_a_plain_error(void **state)
{
    (void)state;
    KIT(kit, "a A : text,503; b B : text,text,500; router retries=0 hold=all; fallbacks A: B\n");
    const struct kit_call *call = expect_call(kit, "A stream", "a:503 b:500 fail:503");

    assert_false(call->fail.committed);
    assert_int_equal(call->fail.attempt, 1);
}

static void beyond_2_a_recovered_stream_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : text,text,500; d2 g w=0 : 4xtext,ok; router hold=3\n");
    expect_events(expect_call(kit, "g stream", "d1:500 d2*:ok"),
                  "StreamBroken,StreamRecovered,StreamContinued,AttemptFailed,Succeeded",
                  "StreamBroken d1 500, AttemptFailed d1 500 retry, StreamRecovered, Succeeded");
}

static void beyond_2_a_break_inside_the_window_is_one_failure(void **state)
{
    (void)state;
    KIT(kit, "d g : text,500; router retries=0 hold=all\n");
    expect(kit, "g stream", "d:500 fail:500");
    assert_int_equal(kit_view(kit, "d").failures, 1);
    assert_int_equal(kit_view(kit, "d").successes, 0);
}

static void beyond_2_silence_inside_the_window_is_recovered(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 idle=2 : text+1,text+1,hang; d2 g w=0 : 4xtext,ok; router hold=all\n");
    expect(kit, "g stream", "d1:cancel d2*:ok");
    assert_int_equal(kit->now_ns, AT(4));
}

static void beyond_2_the_next_attempt_has_a_window_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "d g : text,text,500 text,text,500 3xtext,500; router hold=3 jitter=0\n");
    expect(kit, "g stream", "d:500 d:500 d*:500 fail*:500");
}

static void beyond_2_a_caller_who_leaves_inside_the_window_has_got_nothing(void **state)
{
    (void)state;
    KIT(kit, "d g hold=all : text,text,hang\n");
    const struct kit_call *call = expect_call(kit, "g stream gone=1", "d:cancel fail:499");

    assert_false(call->fail.committed);
    assert_int_equal(kit_view(kit, "d").failures + kit_view(kit, "d").successes, 0);
}

static void beyond_2_a_plain_call_has_no_window(void **state)
{
    (void)state;
    KIT(kit, "d g hold=all : open,content,500\n");
    expect(kit, "g", "d*:500 fail*:500");
}

static void beyond_2_the_start_says_whether_content_is_held(void **state)
{
    static const struct {
        const char *hold;
        const char *request;
        bool holds;
    } rows[] = {
        {"", "g stream", false},         {"hold=0", "g stream", false},  {"hold=5", "g stream", true},
        {"hold=/5", "g stream", true},   {"hold=all", "g stream", true}, {"hold=all", "g", false},
        {"", "g stream hold=all", true},
    };
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(config, sizeof(config), "d g %s\n", rows[i].hold);
        KIT(kit, config);
        assert_int_equal(kit_call(kit, rows[i].request)->attempts[1].start.holds, rows[i].holds);
    }
}

static void beyond_2_the_nearest_level_that_speaks_of_a_window_holds(void **state)
{
    /* of the target, the request, the deployment, its group and the router */
    static const char *const rows[][5] = {
        {"@hold=3", " hold=1", " hold=1", " hold=1", " hold=1"},
        {"", " hold=3", " hold=1", " hold=1", " hold=1"},
        {"", "", " hold=3", " hold=1", " hold=1"},
        {"", "", "", " hold=3", " hold=1"},
        {"", "", "", "", " hold=3"},
        {"", "", " hold=all", " hold=0", ""},
    };
    char config[256];
    char request[64];
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(config, sizeof(config),
                 "a A : 400; d g%s : text,text,502 3xtext,ok; group g%s\n"
                 "router retries=1 jitter=0%s; fallbacks A: g%s\n",
                 rows[i][2], rows[i][3], rows[i][4], rows[i][0]);
        snprintf(request, sizeof(request), "A stream%s", rows[i][1]);
        KIT(kit, config);
        expect(kit, request, "a:400 d:502 d*:ok");
    }
}

static void beyond_2_a_group_has_a_window_of_its_own(void **state)
{
    (void)state;
    KIT(kit, "a A : text,502 text,ok; b B : text,502; group A hold=all; group B hold=0\n"
             "router retries=1 jitter=0 hold=all\n");
    expect(kit, "A stream", "a:502 a*:ok");
    expect(kit, "B stream", "b*:502 fail*:502");
}

static void beyond_2_the_expiry_is_the_end_of_the_window(void **state)
{
    (void)state;
    KIT(kit, "d g hold=9/2 idle=5 : text+1,text+1,hang\n");
    struct kit_call *call = kit_begin(kit, "g stream");

    kit_run_until(call, AT(1));
    assert_int_equal(weir_call_expiry(call->call), AT(3));
    kit_run_until(call, AT(2));
    assert_int_equal(weir_call_expiry(call->call), AT(3));
    kit_run_until(call, AT(3));
    assert_string_equal(call->story, "d*");
    assert_int_equal(weir_call_expiry(call->call), AT(7));
}

KIT_TESTS_MAIN(TESTS)
