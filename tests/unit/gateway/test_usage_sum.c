/* The usage of an answer that several attempts gave. */
#include "unit.h"

#include <stdio.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "gateway/continuation/usage_sum.h"

static void assert_sum(const char *earlier, const char *last, const char *expected)
{
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), 1 << 16);
    assert_int_equal(weir_usage_sum(weir_slice_str(earlier), weir_slice_str(last), &buf), 0);
    assert_slice_is(weir_buf_slice(&buf), expected);
    weir_buf_deinit(&buf);
}

static void counts_are_added_up(void **state)
{
    (void)state;
    assert_sum("{\"prompt_tokens\":10,\"completion_tokens\":4,\"total_tokens\":14}",
               "{ \"completion_tokens\": 3, \"prompt_tokens\" :14,\"total_tokens\":17}",
               "{ \"completion_tokens\": 7, \"prompt_tokens\" :24,\"total_tokens\":31}");
}

static void details_are_added_up(void **state)
{
    (void)state;
    assert_sum(
        "{\"prompt_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":5,\"audio\":1}}",
        "{\"prompt_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":7,\"x\":\"y\"}}",
        "{\"prompt_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":12,\"x\":\"y\",\"audio\":1}}");
}

static void what_only_one_told_counts_alone(void **state)
{
    (void)state;
    assert_sum("", "{\"prompt_tokens\":2}", "{\"prompt_tokens\":2}");
    assert_sum("{}", "{\"prompt_tokens\":2}", "{\"prompt_tokens\":2}");
    assert_sum("{\"prompt_tokens\":2}", "{}", "{\"prompt_tokens\":2}");
    assert_sum("{\"prompt_cache_hit_tokens\":2,\"a_details\":{\"b\":1},\"speed\":4}",
               "{\"prompt_tokens\":1,\"a_details\":null}",
               "{\"prompt_tokens\":1,\"a_details\":{\"b\":1},\"prompt_cache_hit_tokens\":2}");
}

static void other_members_are_the_last_ones(void **state)
{
    (void)state;
    assert_sum("{\"prompt_tokens\":1.5,\"speed\":2,\"a_details\":{\"b\":{\"c\":1}}}",
               "{\"prompt_tokens\":1,\"speed\":3,\"a_details\":{\"b\":{\"c\":1}}}",
               "{\"prompt_tokens\":1,\"speed\":3,\"a_details\":{\"b\":{\"c\":1}}}");
    assert_sum("{\"prompt_tokens\":18446744073709551615}", "{\"prompt_tokens\":1}", "{\"prompt_tokens\":1}");
}

static void one_with_too_many_members_stays_as_it_is(void **state)
{
    char text[4096] = "{";
    size_t len = 1;

    (void)state;
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\"n%d_tokens\":1", i == 0 ? "" : ",", i);
    (void)snprintf(text + len, sizeof(text) - len, "}");
    assert_sum(text, text, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_added_up),
        cmocka_unit_test(details_are_added_up),
        cmocka_unit_test(what_only_one_told_counts_alone),
        cmocka_unit_test(other_members_are_the_last_ones),
        cmocka_unit_test(one_with_too_many_members_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
