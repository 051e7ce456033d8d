/* traceparent and tracestate: what is one, what is none, and that a written one is read back. */
#include "unit.h"

#include <string.h>

#include "base/rand.h"
#include "wire/trace_context.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

static int parse(const char *text, struct weir_trace_context *ret_context)
{
    return weir_traceparent_parse(weir_slice_str(text), ret_context);
}

static void test_the_example_of_the_recommendation(void **state)
{
    struct weir_trace_context context;
    char id[WEIR_TRACE_ID_LEN];

    (void)state;
    assert_int_equal(parse("00-" TRACE "-" SPAN "-01", &context), 0);
    assert_true(context.trace_high == UINT64_C(0x4bf92f3577b34da6));
    assert_true(context.trace_low == UINT64_C(0xa3ce929d0e0e4736));
    assert_true(context.span == UINT64_C(0x00f067aa0ba902b7));
    assert_int_equal(context.flags, WEIR_TRACE_SAMPLED);
    assert_slice_is(weir_trace_id_write(&context, id), TRACE);
}

static void test_what_is_no_traceparent(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-" TRACE "-" SPAN "-0",       /* too short */
        "00-" TRACE "-" SPAN "-011",     /* too long */
        "00-" TRACE "-" SPAN "-01-",     /* version 00 has nothing more */
        "00-" TRACE "-" SPAN "-01-what", /* likewise */
        "ff-" TRACE "-" SPAN "-01",      /* the version that is none */
        "0x-" TRACE "-" SPAN "-01",      /* no digits */
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00-" TRACE "-" SPAN "-0A",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00_" TRACE "-" SPAN "-01",
        "00-" TRACE "_" SPAN "-01",
        "00-" TRACE "-" SPAN "_01",
        " 00-" TRACE "-" SPAN "-01",
        "cc-" TRACE "-" SPAN "-01what", /* a later version goes on behind another '-' */
    };
    struct weir_trace_context context;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (parse(bad[i], &context) != WEIR_TRACE_BAD)
            fail_msg("\"%s\" was taken", bad[i]);
}

static void test_an_id_may_have_many_zeros_but_not_only_zeros(void **state)
{
    struct weir_trace_context context;

    (void)state;
    assert_int_equal(parse("00-00000000000000000000000000000001-0000000000000001-00", &context), 0);
    assert_int_equal(parse("00-10000000000000000000000000000000-1000000000000000-00", &context), 0);
}

static void test_a_later_version_is_read_as_far_as_it_is_known(void **state)
{
    struct weir_trace_context context;

    (void)state;
    assert_int_equal(parse("cc-" TRACE "-" SPAN "-01", &context), 0);
    assert_int_equal(parse("cc-" TRACE "-" SPAN "-01-what-the-future-brings", &context), 0);
    assert_int_equal(context.flags, WEIR_TRACE_SAMPLED);
}

static void test_flags_that_nobody_knows_are_dropped(void **state)
{
    struct weir_trace_context context;
    char room[WEIR_TRACEPARENT_LEN];

    (void)state;
    assert_int_equal(parse("00-" TRACE "-" SPAN "-ff", &context), 0);
    assert_slice_is(weir_traceparent_write(&context, room), "00-" TRACE "-" SPAN "-03");
    assert_int_equal(parse("00-" TRACE "-" SPAN "-fc", &context), 0);
    assert_slice_is(weir_traceparent_write(&context, room), "00-" TRACE "-" SPAN "-00");
}

static void test_any_context_is_read_back_as_written(void **state)
{
    struct weir_rand rand;

    (void)state;
    weir_rand_init(&rand, 7);
    for (int i = 0; i < 10000; i++) {
        struct weir_trace_context context = {.trace_high = weir_rand_u64(&rand) >> weir_rand_below(&rand, 64),
                                             .trace_low =
                                                 weir_rand_u64(&rand) >> weir_rand_below(&rand, 64) | 1,
                                             .span = weir_rand_u64(&rand) >> weir_rand_below(&rand, 64) | 1,
                                             .flags = (uint8_t)weir_rand_below(&rand, 4)};
        struct weir_trace_context back;
        char room[WEIR_TRACEPARENT_LEN];

        assert_int_equal(weir_traceparent_parse(weir_traceparent_write(&context, room), &back), 0);
        assert_true(back.trace_high == context.trace_high && back.trace_low == context.trace_low);
        assert_true(back.span == context.span && back.flags == context.flags);
    }
}

/* Whatever byte of a good one becomes another: it is no other context unless it was a digit of one. */
static void test_a_changed_byte_is_seen(void **state)
{
    static const char good[] = "00-" TRACE "-" SPAN "-01";
    struct weir_trace_context context;

    (void)state;
    for (size_t at = 0; at < WEIR_TRACEPARENT_LEN; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            char text[WEIR_TRACEPARENT_LEN];
            bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
            bool dash = good[at] == '-';
            int r;

            memcpy(text, good, sizeof(text));
            text[at] = (char)byte;
            r = weir_traceparent_parse((struct weir_slice){text, sizeof(text)}, &context);
            assert_int_equal(r == 0, dash ? byte == '-' : digit && memcmp(text, "ff", 2) != 0);
        }
}

static void test_a_tracestate_is_carried_when_it_is_printable_and_short_enough(void **state)
{
    static char text[WEIR_TRACESTATE_MAX + 1];

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_true(weir_tracestate_ok(WEIR_SLICE_EMPTY));
    assert_true(weir_tracestate_ok(WEIR_SLICE("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE,\t a@b=c~")));
    assert_true(weir_tracestate_ok((struct weir_slice){text, WEIR_TRACESTATE_MAX}));
    assert_false(weir_tracestate_ok((struct weir_slice){text, sizeof(text)}));
    assert_false(weir_tracestate_ok(WEIR_SLICE("a=b\r\nevil: yes")));
    assert_false(weir_tracestate_ok(WEIR_SLICE("a=\xc3\xa4")));
    assert_false(weir_tracestate_ok(WEIR_SLICE("a=\x7f")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_example_of_the_recommendation),
        cmocka_unit_test(test_what_is_no_traceparent),
        cmocka_unit_test(test_an_id_may_have_many_zeros_but_not_only_zeros),
        cmocka_unit_test(test_a_later_version_is_read_as_far_as_it_is_known),
        cmocka_unit_test(test_flags_that_nobody_knows_are_dropped),
        cmocka_unit_test(test_any_context_is_read_back_as_written),
        cmocka_unit_test(test_a_changed_byte_is_seen),
        cmocka_unit_test(test_a_tracestate_is_carried_when_it_is_printable_and_short_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
