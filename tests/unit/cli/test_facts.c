/* Members of answers, times and durations. */

#include "unit.h"

#include "base/slice.h"
#include "cli/facts.h"
#include "kit.h"

static void what_is_missing_or_of_another_type_is_none(void **state)
{
    yyjson_doc *doc = kit_json("{'text':'a','number':2.5,'flag':true,'null':null,'list':[1]}");
    yyjson_val *root = yyjson_doc_get_root(doc);

    (void)state;
    assert_true(weir_slice_eq(weir_fact_text(root, "text"), WEIR_SLICE("a")));
    assert_int_equal(weir_fact_text(root, "number").len, 0);
    assert_int_equal(weir_fact_text(root, "none").len, 0);
    assert_int_equal(weir_fact_text(NULL, "text").len, 0);
    assert_true(weir_fact_number(root, "number", 7) == 2.5);
    assert_true(weir_fact_number(root, "text", 7) == 7);
    assert_true(weir_fact_number(root, "null", 7) == 7);
    assert_int_equal(weir_fact_count(root, "number"), 2);
    assert_int_equal(weir_fact_count(root, "list"), 0);
    assert_true(weir_fact_true(root, "flag"));
    assert_false(weir_fact_true(root, "text"));
    yyjson_doc_free(doc);
}

static void a_count_is_never_negative_or_beyond_its_type(void **state)
{
    yyjson_doc *doc = kit_json("{'low':-5,'high':1e300}");

    (void)state;
    assert_int_equal(weir_fact_count(yyjson_doc_get_root(doc), "low"), 0);
    assert_int_equal(weir_fact_count(yyjson_doc_get_root(doc), "high"), 0);
    yyjson_doc_free(doc);
}

static void expect_duration(double seconds, const char *expected)
{
    char text[WEIR_DURATION_MAX];
    struct weir_slice said = weir_duration_text(seconds, text);

    assert_int_equal(said.len, strlen(expected));
    assert_memory_equal(said.ptr, expected, said.len);
}

static void a_duration_has_the_unit_that_people_use(void **state)
{
    (void)state;
    expect_duration(0, "0 ms");
    expect_duration(-3, "0 ms");
    expect_duration(0.0314, "31 ms");
    expect_duration(0.9994, "999 ms");
    expect_duration(0.9996, "1 s");
    expect_duration(1.234, "1.23 s");
    expect_duration(45, "45 s");
    expect_duration(59.97, "1 min");
    expect_duration(65, "1 min 5 s");
    expect_duration(3600, "1 h 0 min");
    expect_duration(90000, "1 d 1 h");
    expect_duration(1e300, "115740 d 17 h");
}

static void expect_time(const char *text, double seconds)
{
    assert_true(weir_time_of(weir_slice_str(text)) == seconds);
}

static void a_time_is_read(void **state)
{
    (void)state;
    expect_time("1970-01-01T00:00:00.000Z", 0);
    expect_time("2024-02-29T12:34:56.500Z", 1709210096.5);
    expect_time("2026-11-30T09:12:03Z", 1796029923);
    expect_time("2000-03-01T00:00:00Z", 951868800);
}

static void what_is_no_time_is_none(void **state)
{
    (void)state;
    expect_time("", 0);
    expect_time("2024-02-29 12:34", 0);
    expect_time("2024-13-29T12:34:56.500Z", 0);
    expect_time("yesterday, or so, at noonZ", 0);
    assert_int_equal(weir_clock_of(WEIR_SLICE("soon")).len, 4);
    assert_memory_equal(weir_clock_of(WEIR_SLICE("2024-02-29T12:34:56.500Z")).ptr, "12:34:56", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_or_of_another_type_is_none),
        cmocka_unit_test(a_count_is_never_negative_or_beyond_its_type),
        cmocka_unit_test(a_duration_has_the_unit_that_people_use),
        cmocka_unit_test(a_time_is_read),
        cmocka_unit_test(what_is_no_time_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
