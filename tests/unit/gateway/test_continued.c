/* The chunks of an answer that is carried on, as its caller gets them; and what is remembered of it. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "gateway/continuation/continued.h"
#include "provider/openai_read.h"
#include "test_mem.h"
#include "wire/json_read.h"

enum { OUT_MAX = 4096 };

#define NAMES                                                                                                \
    "\"id\":\"a1\",\"object\":\"chat.completion.chunk\",\"created\":11,\"model\":\"A\",\"system_"            \
    "fingerprint\":\"fp\""

struct kit {
    struct test_mem mem;
    struct weir_arena arena;
    struct weir_so_far so_far;
    struct weir_continued *continued;
    char out[OUT_MAX];
    size_t out_len;
    size_t text_bytes; /* told to the engine */
    bool lost;
    int result;
};

static struct kit kit;

static void read_event(const char *raw, struct weir_sse_event *ret_event, struct weir_chunk *ret_chunk)
{
    struct weir_slice text = weir_slice_str(raw);
    struct weir_slice prefix = WEIR_SLICE("data: ");

    *ret_event = (struct weir_sse_event){.raw = text};
    if (weir_slice_starts(text, prefix)) {
        ret_event->has_data = true;
        ret_event->data = weir_slice_sub(text, prefix.len, text.len - 2);
    }
    weir_openai_read_chunk(WEIR_ROUTE_CHAT, ret_event, ret_chunk);
}

/* The first stream gives this text in one chunk. */
static void first_says(const char *chunk)
{
    struct weir_sse_event event;
    struct weir_chunk facts;

    read_event(chunk, &event, &facts);
    weir_so_far_note_names(&kit.so_far, event.data, WEIR_SLICE("\"A\""), &kit.arena);
    weir_so_far_add_encoded(&kit.so_far, weir_json_inside(&facts.text));
    kit.so_far.deltas++;
    if (facts.usage.told)
        weir_so_far_note_usage(&kit.so_far, event.data, &facts.usage, (struct weir_cost){false, 0});
}

static void begin_after(const char *chunk)
{
    test_mem_init(&kit.mem, 0);
    weir_arena_init(&kit.arena, weir_mem_libc(), 8192, 1 << 20);
    weir_so_far_init(&kit.so_far, &kit.mem.mem);
    weir_so_far_begin(&kit.so_far, 1, true);
    first_says(chunk);
    weir_so_far_carry_on(&kit.so_far, 2);
    kit.continued = weir_continued_new(&kit.so_far, &kit.mem.mem, 65536, &kit.arena);
    assert_non_null(kit.continued);
    kit.out_len = kit.text_bytes = 0;
    kit.lost = false;
    kit.result = 0;
}

static void begin(const char *text)
{
    char chunk[OUT_MAX];

    (void)snprintf(chunk, sizeof(chunk),
                   "data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", text);
    begin_after(chunk);
}

static void end(void)
{
    weir_continued_deinit(kit.continued);
    weir_so_far_deinit(&kit.so_far);
    weir_arena_deinit(&kit.arena);
    test_mem_assert_empty(&kit.mem);
}

/* The one that carries on sends this event. */
static void feed(const char *raw)
{
    struct weir_slice bytes = WEIR_SLICE_EMPTY;
    struct weir_sse_event event;
    struct weir_chunk facts;
    size_t text_bytes = 0;
    int r = 0;

    read_event(raw, &event, &facts);
    if (event.has_data && facts.chunk_class != WEIR_CHUNK_DONE) {
        r = weir_continued_take(kit.continued, &facts, &text_bytes);
        kit.lost |= r == WEIR_SO_FAR_LOST;
    }
    if (r >= 0)
        r = weir_continued_write(kit.continued, &event, &facts, &bytes);
    if (r < 0) {
        kit.result = r;
        return;
    }
    assert_true(kit.out_len + bytes.len < OUT_MAX);
    if (bytes.len > 0)
        memcpy(kit.out + kit.out_len, bytes.ptr, bytes.len);
    kit.out_len += bytes.len;
    kit.text_bytes += text_bytes;
}

static void assert_out(const char *expected)
{
    assert_slice_is(((struct weir_slice){kit.out, kit.out_len}), expected);
    assert_int_equal(kit.result, 0);
}

static void a_chunk_comes_under_the_first_streams_names(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {\"id\":\"b\", \"model\":\"m\" "
         ",\"object\":\"x\",\"created\":22,\"system_fingerprint\":null,\"v\":"
         "[1.0],\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":null}]}\n\n");
    assert_out(
        "data: {\"id\":\"a1\", \"model\":\"A\" ,\"object\":\"chat.completion.chunk\",\"created\":11,"
        "\"system_fingerprint\":\"fp\",\"v\":[1.0],\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},"
        "\"finish_reason\":null}]}\n\n");
    assert_int_equal(kit.text_bytes, 2);
    assert_slice_is(weir_buf_slice(&kit.so_far.text), "Hello");
    assert_int_equal(kit.so_far.deltas, 2);
    end();
}

static void names_that_are_missing_are_added_and_others_taken_out(void **state)
{
    (void)state;
    begin_after("data: {\"id\":\"a1\",\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n");
    feed("data: "
         "{\"system_fingerprint\":\"x\",\"choices\":[{\"delta\":{\"content\":\"lo\"}}],\"created\":5}\n\n");
    assert_out("data: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}],\"id\":\"a1\"}\n\n");
    end();
}

static void the_start_up_is_dropped_and_so_is_every_role(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n");
    feed("data: {\"prompt_filter_results\":[],\"choices\":[]}\n\n");
    assert_out("");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"lo\"}}]}\n\n");
    assert_out("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n");
    end();
}

static void an_empty_chunk_behind_content_passes(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n");
    kit.out_len = 0;
    feed("data: {" NAMES ",\"choices\":[],\"filter\":1}\n\n");
    assert_out("data: {" NAMES ",\"choices\":[],\"filter\":1}\n\n");
    end();
}

static void a_repeat_is_dropped_with_its_chunks(void **state)
{
    (void)state;
    begin("The quick brown fox \\\"jumps\\\"");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"The quick brown\"}}]}\n\n");
    assert_out("");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\" fox \\\"jumps\\\" \\u00fcber\"}}]}\n\n");
    assert_out("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\" \xc3\xbc"
               "ber\"}}]}\n\n");
    assert_int_equal(kit.text_bytes, 6);
    assert_slice_is(weir_buf_slice(&kit.so_far.text), "The quick brown fox \"jumps\" \xc3\xbc"
                                                      "ber");
    end();
}

static void text_passes_as_written_once_the_seam_is_open(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n");
    kit.out_len = 0;
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\" w\\u006frld\\/\"}}]}\n\n");
    assert_out("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\" w\\u006frld\\/\"}}]}\n\n");
    assert_slice_is(weir_buf_slice(&kit.so_far.text), "Hello world/");
    end();
}

static void text_that_waits_comes_ahead_of_the_end(void **state)
{
    static const char *const ends[] = {
        "data: {" NAMES ",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "data: [DONE]\n\n"};
    char expected[OUT_MAX];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin("see how they run, see how they go");
        feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"see how\"}}]}\n\n");
        assert_out("");
        feed(ends[i]);
        (void)snprintf(expected, sizeof(expected),
                       "data: {" NAMES ",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"see how\"},"
                       "\"finish_reason\":null}]}\n\n%s",
                       ends[i]);
        assert_out(expected);
        assert_slice_is(weir_buf_slice(&kit.so_far.text), "see how they run, see how they gosee how");
        end();
    }
}

static void text_that_waits_goes_with_a_last_chunk_that_has_text(void **state)
{
    (void)state;
    begin("see how they run, see how they go");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"see \"}}]}\n\n");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"how\"},\"finish_reason\":\"stop\"}]}\n\n");
    assert_out("data: {" NAMES
               ",\"choices\":[{\"delta\":{\"content\":\"see how\"},\"finish_reason\":\"stop\"}]}\n\n");
    end();
}

static void usage_is_added_up(void **state)
{
    (void)state;
    begin_after("data: {" NAMES
                ",\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":5,"
                "\"completion_tokens\":1}}\n\n");
    feed("data: {" NAMES ",\"choices\":[],\"usage\":{\"prompt_tokens\":6,\"completion_tokens\":2}}\n\n");
    assert_out("data: {" NAMES
               ",\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\n");
    assert_int_equal(kit.so_far.before.prompt_tokens, 5);
    assert_int_equal(kit.so_far.before.completion_tokens, 1);
    end();
}

static void what_is_told_of_text_is_its_length_without_escapes(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"\\u006co\"}}]}\n\n");
    assert_int_equal(kit.text_bytes, 2);
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"\\n\\u00e4\"}}]}\n\n");
    assert_int_equal(kit.text_bytes, 5);
    assert_slice_is(weir_buf_slice(&kit.so_far.text), "Hello\n\xc3\xa4");
    end();
}

static void half_a_character_passes_and_is_the_last_to_be_carried_on(void **state)
{
    (void)state;
    begin("see how they run, see how they go");
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"see how\"}}]}\n\n");
    assert_false(kit.lost);
    feed("data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n");
    assert_out("data: {" NAMES
               ",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"see how\"},\"finish_reason\":"
               "null}]}\n\ndata: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n");
    assert_true(kit.lost);
    assert_false(kit.so_far.keeps);
    end();
}

static void more_text_than_is_kept_passes_and_is_the_last_to_be_carried_on(void **state)
{
    static char chunk[70000];
    int len;

    (void)state;
    begin("x");
    len = snprintf(chunk, sizeof(chunk), "data: {\"choices\":[{\"delta\":{\"content\":\"");
    memset(chunk + len, 'y', 60000);
    (void)snprintf(chunk + len + 60000, 100, "\"}}]}\n\n");
    for (int i = 0; i < 5; i++) {
        struct weir_slice bytes = WEIR_SLICE_EMPTY;
        struct weir_sse_event event;
        struct weir_chunk facts;
        size_t text_bytes = 0;

        read_event(chunk, &event, &facts);
        assert_int_equal(weir_continued_take(kit.continued, &facts, &text_bytes),
                         i < 4 ? 0 : WEIR_SO_FAR_LOST);
        assert_int_equal(text_bytes, 60000);
        assert_int_equal(weir_continued_write(kit.continued, &event, &facts, &bytes), 0);
        assert_true(bytes.len > 60000);
    }
    end();
}

static void data_in_several_lines_becomes_one(void **state)
{
    (void)state;
    begin("Hel");
    feed("data: {" NAMES ",\n\"choices\":[{\"delta\":\n{\"content\":\"lo\\n\"}}]}\n\n");
    assert_out("data: {" NAMES ", \"choices\":[{\"delta\": {\"content\":\"lo\\n\"}}]}\n\n");
    end();
}

static void comments_and_the_marker_pass_as_they_are(void **state)
{
    (void)state;
    begin("Hel");
    feed(": ping\n\n");
    feed("data: [DONE]\n\n");
    assert_out(": ping\n\ndata: [DONE]\n\n");
    end();
}

static void other_content_passes_with_its_text_joined(void **state)
{
    (void)state;
    begin("The quick brown fox jumps");
    feed("data: {" NAMES
         ",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"}]}}]}\n\n");
    feed("data: {" NAMES
         ",\"choices\":[{\"delta\":{\"content\":\"brown fox jumps!\",\"reasoning\":\"r\"}}]}\n\n");
    assert_out("data: {" NAMES ",\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c\"}]}}]}\n\n"
               "data: {" NAMES ",\"choices\":[{\"delta\":{\"content\":\"!\",\"reasoning\":\"r\"}}]}\n\n");
    end();
}

static void without_memory_the_attempt_fails_and_nothing_is_lost(void **state)
{
    bool failed = true;

    (void)state;
    for (size_t n = 1; failed; n++) {
        assert_true(n < 100);
        begin("The quick brown fox jumps");
        kit.mem.fail_from = kit.mem.allocations + n;
        feed("data: {" NAMES
             ",\"choices\":[{\"delta\":{\"content\":\"brown fox jumps over the lazy dog and more "
             "and more and more and more and more and more and more and more and more and more and more and "
             "more and more and more and more and more and more and more and more and more and "
             "more\"}}]}\n\n");
        failed = kit.mem.failed;
        assert_true(kit.result == 0 || kit.result == WEIR_ERR_NOMEM);
        assert_true(failed || kit.result == 0);
        end();
    }
}

static void a_new_answer_forgets_the_old_one(void **state)
{
    (void)state;
    begin("Hel");
    weir_so_far_begin(&kit.so_far, 1, true);
    assert_int_equal(weir_buf_len(&kit.so_far.text), 0);
    assert_int_equal(kit.so_far.deltas, 0);
    assert_int_equal(weir_buf_len(&kit.so_far.used), 0);
    weir_so_far_begin(&kit.so_far, 1, false);
    assert_false(weir_so_far_reserve(&kit.so_far, 1));
    end();
}

static void usage_that_is_told_again_and_again_counts_once(void **state)
{
    (void)state;
    begin("Hel");
    for (int i = 1; i < 4; i++) {
        const struct weir_usage counts = {.told = true, .completion_tokens = (uint64_t)i};
        char data[64];

        (void)snprintf(data, sizeof(data), "{\"usage\":{\"completion_tokens\":%d}}", i);
        weir_so_far_note_usage(&kit.so_far, weir_slice_str(data), &counts, (struct weir_cost){false, 0});
    }
    weir_so_far_carry_on(&kit.so_far, 2);
    weir_so_far_carry_on(&kit.so_far, 2);
    assert_int_equal(kit.so_far.before.completion_tokens, 3);
    assert_slice_is(weir_buf_slice(&kit.so_far.used), "{\"completion_tokens\":3}");
    end();
}

static void who_asks_gets_the_parts_of_the_sum(void **state)
{
    (void)state;
    test_mem_init(&kit.mem, 0);
    weir_arena_init(&kit.arena, weir_mem_libc(), 8192, 1 << 20);
    weir_so_far_init(&kit.so_far, &kit.mem.mem);
    weir_so_far_explain(&kit.so_far);
    weir_so_far_begin(&kit.so_far, 1, true);
    weir_so_far_note_speaker(&kit.so_far, WEIR_SLICE("first \""));
    first_says(
        "data: "
        "{\"id\":\"a\",\"choices\":[{\"delta\":{\"content\":\"Hel\"}}],\"usage\":{\"total_tokens\":3}}\n\n");
    weir_so_far_carry_on(&kit.so_far, 2);
    weir_so_far_note_speaker(&kit.so_far, WEIR_SLICE("second"));
    weir_so_far_carry_on(&kit.so_far, 3); /* the second has told nothing */
    weir_so_far_note_speaker(&kit.so_far, WEIR_SLICE("third"));
    kit.continued = weir_continued_new(&kit.so_far, &kit.mem.mem, 65536, &kit.arena);
    kit.out_len = 0;
    feed("data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"total_tokens\":4}}\n\n");
    assert_out("data: {\"id\":\"a\",\"choices\":[],\"usage\":{\"total_tokens\":7},\"weir\":{\"attempts\":["
               "{\"attempt\":1,\"deployment\":\"first \\\"\",\"usage\":{\"total_tokens\":3}},"
               "{\"attempt\":2,\"deployment\":\"second\",\"usage\":null},"
               "{\"attempt\":3,\"deployment\":\"third\",\"usage\":{\"total_tokens\":4}}]}}\n\n");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_gets_the_parts_of_the_sum),
        cmocka_unit_test(a_chunk_comes_under_the_first_streams_names),
        cmocka_unit_test(names_that_are_missing_are_added_and_others_taken_out),
        cmocka_unit_test(the_start_up_is_dropped_and_so_is_every_role),
        cmocka_unit_test(an_empty_chunk_behind_content_passes),
        cmocka_unit_test(a_repeat_is_dropped_with_its_chunks),
        cmocka_unit_test(text_passes_as_written_once_the_seam_is_open),
        cmocka_unit_test(text_that_waits_comes_ahead_of_the_end),
        cmocka_unit_test(text_that_waits_goes_with_a_last_chunk_that_has_text),
        cmocka_unit_test(usage_is_added_up),
        cmocka_unit_test(what_is_told_of_text_is_its_length_without_escapes),
        cmocka_unit_test(half_a_character_passes_and_is_the_last_to_be_carried_on),
        cmocka_unit_test(more_text_than_is_kept_passes_and_is_the_last_to_be_carried_on),
        cmocka_unit_test(data_in_several_lines_becomes_one),
        cmocka_unit_test(comments_and_the_marker_pass_as_they_are),
        cmocka_unit_test(other_content_passes_with_its_text_joined),
        cmocka_unit_test(without_memory_the_attempt_fails_and_nothing_is_lost),
        cmocka_unit_test(a_new_answer_forgets_the_old_one),
        cmocka_unit_test(usage_that_is_told_again_and_again_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
