/* The tables of metrics themselves. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "gateway/metrics/label_text.h"
#include "gateway/metrics/registry.h"
#include "gateway/metrics/table.h"

static bool is_name(struct weir_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!weir_char_is_alnum(name.ptr[i]) && name.ptr[i] != '_')
            return false;
    return name.len > 0 && !weir_char_is_digit(name.ptr[0]);
}

static void every_metric_has_a_name_of_its_own_and_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_metric_count(); i++) {
        const struct weir_metric *metric = weir_metric_at(i);

        assert_true(is_name(metric->name));
        assert_true(metric->prose.len > 0);
        assert_int_equal(weir_slice_find_char(metric->prose, '\n'), WEIR_SLICE_NONE);
        assert_int_equal(weir_slice_find_char(metric->prose, '\\'), WEIR_SLICE_NONE);
        for (size_t k = 0; k < i; k++)
            assert_false(weir_slice_eq(metric->name, weir_metric_at(k)->name));
    }
}

static void counters_end_as_prometheus_wants_them_and_nothing_else_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_metric_count(); i++) {
        const struct weir_metric *metric = weir_metric_at(i);

        assert_int_equal(weir_slice_ends(metric->name, WEIR_SLICE("_total")),
                         metric->type == WEIR_METRIC_COUNTER);
    }
}

static void no_metric_has_a_label_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_metric_count(); i++) {
        const uint8_t *labels = weir_metric_at(i)->labels;

        for (size_t k = 0; labels[k] != WEIR_LABELS; k++)
            for (size_t j = 0; j < k; j++)
                assert_int_not_equal(labels[j], labels[k]);
    }
}

static void every_label_is_used_and_told(void **state)
{
    bool used[WEIR_LABELS] = {false};

    (void)state;
    for (size_t i = 0; i < weir_metric_count(); i++)
        for (const uint8_t *label = weir_metric_at(i)->labels; *label != WEIR_LABELS; label++)
            used[*label] = true;
    for (size_t i = 0; i < WEIR_LABELS; i++) {
        assert_true(used[i]);
        assert_true(is_name(weir_label_name((weir_label)i)));
        assert_true(weir_label_prose((weir_label)i).len > 0);
    }
}

/* Each cell of a set belongs to one of its metrics, and to no other. */
static void the_cells_of_a_set_are_shared_out(void **state)
{
    (void)state;
    for (size_t set = 0; set < WEIR_SETS; set++) {
        size_t next = 0;

        for (size_t i = 0; i < weir_metric_count(); i++) {
            const struct weir_metric *metric = weir_metric_at(i);

            if (metric->of != WEIR_METRIC_OF_SET || metric->set != (weir_label_set)set)
                continue;
            assert_int_equal(metric->offset, next);
            next += metric->type == WEIR_METRIC_HISTOGRAM ? (size_t)WEIR_HISTOGRAM_CELLS : 1;
        }
        assert_int_equal(weir_set_cells((weir_label_set)set), next);
        assert_true(next > 0);
    }
}

static void a_bound_belongs_to_the_bucket_below_it(void **state)
{
    (void)state;
    assert_int_equal(weir_bucket_of(0), 0);
    for (size_t i = 0; i < WEIR_BUCKETS_BOUNDED; i++) {
        assert_true(i == 0 || weir_bucket_bounds_ns[i] > weir_bucket_bounds_ns[i - 1]);
        assert_int_equal(weir_bucket_of(weir_bucket_bounds_ns[i]), i);
        assert_int_equal(weir_bucket_of(weir_bucket_bounds_ns[i] + 1), i + 1);
    }
    assert_int_equal(weir_bucket_of(UINT64_MAX), WEIR_BUCKETS_BOUNDED);
    assert_slice_is(weir_bucket_text(0), "0.005");
    assert_slice_is(weir_bucket_text(WEIR_BUCKETS_BOUNDED), "+Inf");
}

/* ---- labels as text ---- */

static void expect_text(struct weir_slice value, const char *expected)
{
    const uint8_t labels[] = {WEIR_LABEL_group, WEIR_LABEL_kind, WEIR_LABELS};
    struct weir_label_values values = {0};
    struct weir_buf buf;

    weir_buf_init(&buf, weir_mem_libc(), WEIR_LABEL_TEXT_MAX);
    values.of[WEIR_LABEL_group] = value;
    assert_int_equal(weir_label_text(labels, &values, &buf), 0);
    assert_slice_is(weir_buf_slice(&buf), expected);
    weir_buf_deinit(&buf);
}

static void values_are_escaped(void **state)
{
    (void)state;
    expect_text(WEIR_SLICE("gpt-4o"), "group=\"gpt-4o\",kind=\"\"");
    expect_text(WEIR_SLICE("a\"b\\c\nd"), "group=\"a\\\"b\\\\c\\nd\",kind=\"\"");
    expect_text(WEIR_SLICE("m\xc3\xb6 {x=\"y\"}"), "group=\"m\xc3\xb6 {x=\\\"y\\\"}\",kind=\"\"");
    expect_text(WEIR_SLICE_EMPTY, "group=\"\",kind=\"\"");
}

static void what_is_no_utf8_spoils_only_itself(void **state)
{
    (void)state;
    expect_text(WEIR_SLICE("a\xff\xc3z"), "group=\"a\?\?z\",kind=\"\"");
    expect_text(WEIR_SLICE("a\xc3"), "group=\"a\?\",kind=\"\"");
}

static void a_long_value_is_cut_between_characters(void **state)
{
    char value[WEIR_LABEL_VALUE_MAX + 10], expected[WEIR_LABEL_VALUE_MAX + 64];

    (void)state;
    memset(value, 'x', sizeof(value));
    memcpy(value + WEIR_LABEL_VALUE_MAX - 1, "\xc3\xb6", 2);
    (void)snprintf(expected, sizeof(expected), "group=\"%.*s\",kind=\"\"", WEIR_LABEL_VALUE_MAX - 1, value);
    expect_text((struct weir_slice){value, sizeof(value)}, expected);
}

/* The longest there can be fits where it is made. */
static void all_labels_of_a_set_fit(void **state)
{
    struct weir_label_values values;
    char value[WEIR_LABEL_VALUE_MAX];

    (void)state;
    memset(value, '"', sizeof(value));
    for (size_t i = 0; i < WEIR_LABELS; i++)
        values.of[i] = (struct weir_slice){value, sizeof(value)};
    for (size_t i = 0; i < weir_metric_count(); i++) {
        struct weir_buf buf;

        weir_buf_init(&buf, weir_mem_libc(), WEIR_LABEL_TEXT_MAX);
        assert_int_equal(weir_label_text(weir_metric_at(i)->labels, &values, &buf), 0);
        weir_buf_deinit(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_has_a_name_of_its_own_and_says_what_it_is),
        cmocka_unit_test(counters_end_as_prometheus_wants_them_and_nothing_else_does),
        cmocka_unit_test(no_metric_has_a_label_twice),
        cmocka_unit_test(every_label_is_used_and_told),
        cmocka_unit_test(the_cells_of_a_set_are_shared_out),
        cmocka_unit_test(a_bound_belongs_to_the_bucket_below_it),
        cmocka_unit_test(values_are_escaped),
        cmocka_unit_test(what_is_no_utf8_spoils_only_itself),
        cmocka_unit_test(a_long_value_is_cut_between_characters),
        cmocka_unit_test(all_labels_of_a_set_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
