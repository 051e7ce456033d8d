/*
 * What observers learn of a stream: that it broke, and how it went (event.h, weir_stream_facts).
 */
#include "engine_kit.h"

#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("StreamBroken", a_stream_that_had_opened_and_breaks_says_so_first) \
    X("StreamBroken", a_stream_that_never_opened_says_nothing_of_it) \
    X("StreamBroken", a_plain_call_is_no_stream) \
    X("StreamBroken", a_break_tells_whether_content_had_gone_out) \
    X("StreamBroken", a_limit_that_passed_is_a_break) \
    X("StreamBroken", a_caller_who_leaves_breaks_the_stream_and_nobody_fails) \
    X("StreamBroken", a_deadline_breaks_the_stream_and_nobody_fails) \
    X("facts", times_are_those_since_the_attempt_began) \
    X("facts", chunks_and_deltas_are_counted) \
    X("facts", the_longest_silence_is_between_chunks_or_before_the_end) \
    X("facts", pauses_are_no_silence) \
    X("facts", what_comes_in_a_pause_ends_no_silence) \
    X("facts", what_did_not_come_is_zero) \
    X("facts", what_came_at_once_is_not_zero) \
    X("facts", each_attempt_has_its_own) \
    X("facts", a_plain_call_has_none)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

static const struct weir_stream_facts *facts_of_success(const struct kit_call *call)
{
    return &kit_event(call, WEIR_EVENT_SUCCEEDED, 0)->u.succeeded.stream;
}

static const struct weir_stream_facts *facts_of_break(const struct kit_call *call, size_t n)
{
    return &kit_event(call, WEIR_EVENT_STREAM_BROKEN, n)->u.stream_broken.stream;
}

static void a_stream_that_had_opened_and_breaks_says_so_first(void **state)
{
    (void)state;
    KIT(kit, "d g fails=0 : open,500; router retries=0\n");
    expect_events(kit_call(kit, "g stream"), "StreamBroken,AttemptFailed,CooldownSet,Failed",
                  "StreamBroken d 500, AttemptFailed d 500 leave, CooldownSet d 500 deployment_fails 5, "
                  "Failed 500");
}

static void a_stream_that_never_opened_says_nothing_of_it(void **state)
{
    (void)state;
    KIT(kit, "d g : 500 connection; router retries=0\n");
    assert_int_equal(kit_event_count(kit_call(kit, "g stream"), WEIR_EVENT_STREAM_BROKEN), 0);
    assert_int_equal(kit_event_count(kit_call(kit, "g stream"), WEIR_EVENT_STREAM_BROKEN), 0);
}

static void a_plain_call_is_no_stream(void **state)
{
    (void)state;
    KIT(kit, "d g : open,content,500; router retries=0\n");
    assert_int_equal(kit_event_count(kit_call(kit, "g"), WEIR_EVENT_STREAM_BROKEN), 0);
}

static void a_break_tells_whether_content_had_gone_out(void **state)
{
    (void)state;
    KIT(kit, "d g : chunk,500 text,502; router retries=1 jitter=0\n");
    expect_events(kit_call(kit, "g stream"), "StreamBroken",
                  "StreamBroken d 500, StreamBroken d 502 committed");
}

static void a_limit_that_passed_is_a_break(void **state)
{
    (void)state;
    KIT(kit, "d g idle=2 : text,hang; router retries=0\n");
    const struct kit_call *call = kit_call(kit, "g stream");

    expect_events(call, "StreamBroken,AttemptFailed",
                  "StreamBroken d 408 committed, AttemptFailed d 408 leave");
    assert_int_equal(facts_of_break(call, 0)->longest_silence_ns, weir_time_from_s(2));
}

static void a_caller_who_leaves_breaks_the_stream_and_nobody_fails(void **state)
{
    (void)state;
    KIT(kit, "d g : text,hang\n");
    expect_events(kit_call(kit, "g stream gone=1"), "StreamBroken,AttemptFailed,Failed",
                  "StreamBroken d 499 committed, Failed 499");
}

static void a_deadline_breaks_the_stream_and_nobody_fails(void **state)
{
    (void)state;
    KIT(kit, "d g : chunk,hang; router deadline=3\n");
    expect_events(kit_call(kit, "g stream"), "StreamBroken,AttemptFailed,Failed",
                  "StreamBroken d 408, Failed 408");
}

static void times_are_those_since_the_attempt_began(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500+7; d2 g w=0 : open+1,chunk+1,text+1,text+1,ok\n");
    const struct weir_stream_facts *facts = facts_of_success(kit_call(kit, "g stream"));

    assert_int_equal(facts->first_chunk_ns, weir_time_from_s(2));
    assert_int_equal(facts->first_content_ns, weir_time_from_s(3));
}

static void chunks_and_deltas_are_counted(void **state)
{
    (void)state;
    KIT(kit, "d g : open,chunk,3xtext&text,tool,finish,chunk,ok\n");
    const struct weir_stream_facts *facts = facts_of_success(kit_call(kit, "g stream"));

    assert_int_equal(facts->chunks, 7);
    assert_int_equal(facts->deltas, 7);
}

static void the_longest_silence_is_between_chunks_or_before_the_end(void **state)
{
    (void)state;
    KIT(kit, "d g : open+9,chunk+9,chunk+3,text+2,ok+1 chunk,text+1,ok+2.5\n");
    assert_int_equal(facts_of_success(kit_call(kit, "g stream"))->longest_silence_ns, weir_time_from_s(3));
    assert_int_equal(facts_of_success(kit_call(kit, "g stream"))->longest_silence_ns, weir_time_from_s(2.5));
}

static void pauses_are_no_silence(void **state)
{
    (void)state;
    KIT(kit, "d g : text,pause+1,resume+60,text+1.5,pause+0.5,resume+60,ok+1 text,pause+3,resume+60,ok+1\n");
    assert_int_equal(facts_of_success(kit_call(kit, "g stream"))->longest_silence_ns, weir_time_from_s(1.5));
    assert_int_equal(facts_of_success(kit_call(kit, "g stream"))->longest_silence_ns, weir_time_from_s(3));
}

static void what_comes_in_a_pause_ends_no_silence(void **state)
{
    (void)state;
    KIT(kit, "d g : text,pause+1,text+50,resume+9,ok+0.5\n");
    assert_int_equal(facts_of_success(kit_call(kit, "g stream"))->longest_silence_ns, weir_time_from_s(1));
}

static void what_did_not_come_is_zero(void **state)
{
    (void)state;
    KIT(kit, "d g : open+1,500+1 chunk+1,500+1; router retries=0\n");
    const struct weir_stream_facts *facts = facts_of_break(kit_call(kit, "g stream"), 0);

    assert_int_equal(facts->first_chunk_ns, 0);
    assert_int_equal(facts->longest_silence_ns, 0);
    facts = facts_of_break(kit_call(kit, "g stream"), 0);
    assert_int_equal(facts->first_chunk_ns, weir_time_from_s(1));
    assert_int_equal(facts->first_content_ns, 0);
}

static void what_came_at_once_is_not_zero(void **state)
{
    (void)state;
    KIT(kit, "d g : text,ok\n");
    const struct weir_stream_facts *facts = facts_of_success(kit_call(kit, "g stream"));

    assert_true(facts->first_chunk_ns > 0 && facts->first_chunk_ns <= 1);
    assert_true(facts->first_content_ns > 0 && facts->first_content_ns <= 1);
}

static void each_attempt_has_its_own(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : chunk+4,500; d2 g w=0 : text+1,ok\n");
    const struct kit_call *call = kit_call(kit, "g stream");

    assert_int_equal(facts_of_break(call, 0)->first_chunk_ns, weir_time_from_s(4));
    assert_int_equal(facts_of_break(call, 0)->deltas, 0);
    assert_int_equal(facts_of_success(call)->first_chunk_ns, weir_time_from_s(1));
    assert_int_equal(facts_of_success(call)->chunks, 1);
}

static void a_plain_call_has_none(void **state)
{
    (void)state;
    KIT(kit, "d g : open+1,content+1,ok+1\n");
    const struct weir_stream_facts *facts = facts_of_success(kit_call(kit, "g"));

    assert_int_equal(facts->first_chunk_ns, 0);
    assert_int_equal(facts->first_content_ns, 0);
    assert_int_equal(facts->longest_silence_ns, 0);
    assert_int_equal(facts->chunks, 0);
    assert_int_equal(facts->deltas, 0);
}

KIT_TESTS_MAIN(TESTS)
