/* Server-sent events (WHATWG HTML 9.2.6), and what a relay needs beyond them. */
#include "unit.h"

#include <stdlib.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "chunks.h"
#include "test_mem.h"
#include "wire/sse.h"

static void put(struct weir_buf *out, struct weir_slice text)
{
    if (weir_buf_append(out, text) != 0)
        abort();
}

static void put_field(struct weir_buf *out, const char *mark, struct weir_slice text)
{
    put(out, weir_slice_str(mark));
    put(out, text);
}

/* "name|id|data|other;" with "-" for data that is not there. Events that say nothing are left out. */
static void put_event(struct weir_buf *out, const struct weir_sse_event *event)
{
    if (!event->has_data && event->name.len + event->id.len + event->other.len == 0)
        return;
    put_field(out, "", event->name);
    put_field(out, "|", event->id);
    put_field(out, "|", event->has_data ? event->data : WEIR_SLICE("-"));
    put_field(out, "|", event->other);
    put_field(out, ";", WEIR_SLICE_EMPTY);
}

/* What the splitter tells; *raw gets the raw slices, joined. */
static void split(struct weir_slice input, struct weir_rand *rand, size_t max_bytes, struct weir_buf *told,
                  struct weir_buf *raw)
{
    struct weir_sse_event event;
    struct weir_slice piece;
    struct weir_sse sse;
    struct chunks chunks;
    int r = 0;

    weir_sse_init(&sse, weir_mem_libc(), 1 << 20);
    chunks_init(&chunks, input, rand, max_bytes);
    while (chunks_next(&chunks, &piece))
        while ((r = weir_sse_next(&sse, &piece, &event)) == WEIR_SSE_EVENT) {
            put_event(told, &event);
            put(raw, event.raw);
        }
    chunks_deinit(&chunks);
    assert_int_equal(r, 0);
    while ((r = weir_sse_finish(&sse, &event)) == WEIR_SSE_EVENT) {
        put_event(told, &event);
        put(raw, event.raw);
    }
    assert_int_equal(r, 0);
    weir_sse_deinit(&sse);
}

static struct weir_slice without_mark(struct weir_slice input)
{
    return weir_slice_starts(input, WEIR_SLICE("\xef\xbb\xbf")) ? weir_slice_sub(input, 3, input.len) : input;
}

static void check(struct weir_slice input, struct weir_rand *rand, size_t max_bytes, const char *expected)
{
    struct weir_buf told, raw;

    weir_buf_init(&told, weir_mem_libc(), 1 << 20);
    weir_buf_init(&raw, weir_mem_libc(), 1 << 20);
    split(input, rand, max_bytes, &told, &raw);
    assert_slice_is(weir_buf_slice(&told), expected);
    assert_true(weir_slice_eq(weir_buf_slice(&raw), without_mark(input)));
    weir_buf_deinit(&told);
    weir_buf_deinit(&raw);
}

static void tells(const char *input, const char *expected)
{
    check(weir_slice_str(input), NULL, 1 << 20, expected);
    check(weir_slice_str(input), NULL, 1, expected);
}

static void events_are_split_at_empty_lines(void **state)
{
    (void)state;
    tells("data: a\n\ndata: b\n\n", "||a|;||b|;");
    tells("event: x\nid: 7\ndata: a\n\n", "x|7|a|;");
}

static void one_blank_after_the_colon_is_dropped(void **state)
{
    (void)state;
    tells("data:a\n\ndata:  b \n\ndata\n\ndata:\n\n", "||a|;|| b |;|||;|||;");
}

static void several_data_lines_are_joined_by_lf(void **state)
{
    (void)state;
    tells("data: a\ndata: b\r\ndata:\ndata: c\n\n", "||a\nb\n\nc|;");
    tells("data:\ndata:\n\n", "||\n|;");
}

static void lf_cr_lf_and_cr_end_a_line(void **state)
{
    (void)state;
    tells("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n", "||a|;||b|;||c|;||d|;");
    tells("data: a\rdata: b\r\r\n", "||a\nb|;");
}

/* Whether the last event of the stream tells that. */
static bool tells_lone_cr(const char *text, size_t step)
{
    struct weir_slice piece;
    struct weir_sse_event event = {.lone_cr = false};
    struct weir_sse sse;
    struct chunks chunks;

    weir_sse_init(&sse, weir_mem_libc(), 1000);
    chunks_init(&chunks, weir_slice_str(text), NULL, step);
    while (chunks_next(&chunks, &piece))
        while (weir_sse_next(&sse, &piece, &event) == WEIR_SSE_EVENT)
            continue;
    chunks_deinit(&chunks);
    weir_sse_deinit(&sse);
    return event.lone_cr;
}

static void a_cr_that_has_no_lf_is_told(void **state)
{
    (void)state;
    for (size_t step = 1; step < 20; step++) {
        assert_true(tells_lone_cr("data: a\r\r", step));
        assert_true(tells_lone_cr("data: a\rdata: b\r\n\r\n", step));
        assert_true(tells_lone_cr("data: a\r\rdata: b\n\n", step));
        assert_false(tells_lone_cr("data: a\r\n\r\n", step));
        assert_false(tells_lone_cr("\r\n\r\ndata: a\r\n\n", step));
        assert_false(tells_lone_cr("data: a\n\n", step));
    }
}

static void comments_and_retry_are_passed_on_and_say_nothing(void **state)
{
    (void)state;
    tells(": ping\n\nretry: 5\n\n\n\n: x\ndata: a\n\n", "||a|;");
}

static void a_byte_order_mark_may_stand_at_the_start_only(void **state)
{
    (void)state;
    tells("\xef\xbb\xbf"
          "data: a\n\n",
          "||a|;");
    tells("data: a\n\n\xef\xbb\xbf"
          "data: b\n\n",
          "||a|;||-|\xef\xbb\xbf"
          "data: b;");
}

static void the_last_event_needs_no_empty_line(void **state)
{
    (void)state;
    tells("data: a\n\ndata: b", "||a|;||b|;");
    tells("data: a\n\ndata: b\n", "||a|;||b|;");
    tells("data: a\n\ndata: b\r\n", "||a|;||b|;");
}

static void lines_that_are_no_fields_are_shown(void **state)
{
    (void)state;
    tells("{\"error\": {\"code\": 1}}", "||-|{\"error\": {\"code\": 1}};");
    tells("error: {\"code\":1}\n\n", "||-|error: {\"code\":1};");
    tells("{\n \"error\": 1\n}\n", "||-|{\n \"error\": 1\n};");
    tells("data: a\nwhat\n\n", "||a|what;");
    tells(" data: a\n\n", "||-| data: a;");
}

static void an_event_in_one_piece_is_not_copied(void **state)
{
    struct weir_slice input = WEIR_SLICE("data: abc\n\nrest");
    const char *start = input.ptr;
    struct weir_sse_event event;
    struct weir_sse sse;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 0);
    weir_sse_init(&sse, &mem.mem, 100);
    assert_int_equal(weir_sse_next(&sse, &input, &event), WEIR_SSE_EVENT);
    assert_ptr_equal(event.raw.ptr, start);
    assert_ptr_equal(event.data.ptr, start + 6);
    assert_slice_is(input, "rest");
    assert_int_equal(mem.allocations, 0);
    weir_sse_deinit(&sse);
}

/* A relay of any length settles on the memory of its largest event. */
static void a_long_stream_in_pieces_allocates_no_more_after_its_first_events(void **state)
{
    struct weir_sse_event event;
    struct weir_sse sse;
    struct test_mem mem;
    size_t after_first = 0;

    (void)state;
    test_mem_init(&mem, 0);
    weir_sse_init(&sse, &mem.mem, 1 << 20);
    for (int i = 0; i < 1000; i++) {
        struct weir_slice front = WEIR_SLICE("data: {\"a\":"), back = WEIR_SLICE("1}\ndata: x\n\n");

        assert_int_equal(weir_sse_next(&sse, &front, &event), 0);
        assert_int_equal(weir_sse_next(&sse, &back, &event), WEIR_SSE_EVENT);
        assert_slice_is(event.data, "{\"a\":1}\nx");
        if (i == 0)
            after_first = mem.allocations;
    }
    assert_int_equal(mem.allocations, after_first);
    weir_sse_deinit(&sse);
    test_mem_assert_empty(&mem);
}

static int first_result(struct weir_slice input, size_t step, size_t max_event_bytes)
{
    struct weir_sse_event event;
    struct weir_slice piece;
    struct weir_sse sse;
    struct chunks chunks;
    int r = 0;

    weir_sse_init(&sse, weir_mem_libc(), max_event_bytes);
    chunks_init(&chunks, input, NULL, step);
    while (r == 0 && chunks_next(&chunks, &piece))
        r = weir_sse_next(&sse, &piece, &event);
    chunks_deinit(&chunks);
    weir_sse_deinit(&sse);
    return r;
}

static void an_event_over_the_limit_is_refused_however_it_comes(void **state)
{
    struct weir_slice input = WEIR_SLICE("data: 0123\n\n");

    (void)state;
    for (size_t step = 1; step <= input.len; step++) {
        assert_int_equal(first_result(input, step, input.len), WEIR_SSE_EVENT);
        assert_int_equal(first_result(input, step, input.len - 1), WEIR_SSE_TOO_LONG);
    }
}

static void running_out_of_memory_is_reported(void **state)
{
    struct test_mem mem = {.failed = true};

    (void)state;
    for (size_t n = 1; mem.failed; n++) {
        struct weir_slice front = WEIR_SLICE("data: a\nda"), back = WEIR_SLICE("ta: b\n\n");
        struct weir_sse_event event;
        struct weir_sse sse;
        int r;

        test_mem_init(&mem, n);
        weir_sse_init(&sse, &mem.mem, 1000);
        r = weir_sse_next(&sse, &front, &event);
        if (r == 0)
            r = weir_sse_next(&sse, &back, &event);
        assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : WEIR_SSE_EVENT);
        weir_sse_deinit(&sse);
        test_mem_assert_empty(&mem);
    }
}

static void streams_read_the_same_wherever_they_are_cut(void **state)
{
    static const struct weir_slice input = WEIR_SLICE_INIT(
        "\xef\xbb\xbf: hi\r\n\r\nevent: a\r\ndata: 1\r\ndata: 2\r\n\r\n\r\n\r\n\rdata: 3\r\rid: 4\n\n"
        "data\ndata: {\"x\": \"y\"}\n\n{\"bare\": 1}\r\r\n\ndata: [DONE]\r\n\r\nevent: last\rdata: z");
    static const char expected[] =
        "a||1\n2|;||3|;|4|-|;||\n{\"x\": \"y\"}|;||-|{\"bare\": 1};||[DONE]|;last||z|;";
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 3);
    check(input, NULL, 1 << 20, expected);
    for (size_t i = 0; i < 5000; i++)
        check(input, &rand, 1 + i % 40, expected);
}

static void json_is_written_in_one_line(void **state)
{
    const struct weir_slice parts[] = {WEIR_SLICE("{\n\"a\":"), WEIR_SLICE("\"\\n\""), WEIR_SLICE("\r\n}")};
    struct test_mem mem;
    struct weir_buf out;

    (void)state;
    test_mem_init(&mem, 0);
    weir_buf_init(&out, &mem.mem, 64);
    assert_int_equal(weir_buf_append(&out, WEIR_SLICE(": x\n\n")), 0);
    assert_int_equal(weir_sse_write_json(&out, parts, 3), 0);
    assert_slice_is(weir_buf_slice(&out), ": x\n\ndata: { \"a\":\"\\n\"  }\n\n");
    assert_int_equal(weir_sse_write_json(&out, parts, 3), 0);
    assert_int_equal(weir_sse_write_json(&out, parts, 3), WEIR_ERR_LIMIT);
    weir_buf_deinit(&out);
    test_mem_assert_empty(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_split_at_empty_lines),
        cmocka_unit_test(one_blank_after_the_colon_is_dropped),
        cmocka_unit_test(several_data_lines_are_joined_by_lf),
        cmocka_unit_test(lf_cr_lf_and_cr_end_a_line),
        cmocka_unit_test(a_cr_that_has_no_lf_is_told),
        cmocka_unit_test(comments_and_retry_are_passed_on_and_say_nothing),
        cmocka_unit_test(a_byte_order_mark_may_stand_at_the_start_only),
        cmocka_unit_test(the_last_event_needs_no_empty_line),
        cmocka_unit_test(lines_that_are_no_fields_are_shown),
        cmocka_unit_test(an_event_in_one_piece_is_not_copied),
        cmocka_unit_test(a_long_stream_in_pieces_allocates_no_more_after_its_first_events),
        cmocka_unit_test(an_event_over_the_limit_is_refused_however_it_comes),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(streams_read_the_same_wherever_they_are_cut),
        cmocka_unit_test(json_is_written_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
