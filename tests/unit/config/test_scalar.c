/* Plain scalars of YAML 1.1, as PyYAML's safe_load resolves them. */
#include <math.h>

#include "config/yaml/scalar.h"
#include "unit.h"

static const struct {
    const char *text;
    enum weir_scalar_kind kind;
    double number; /* of a boolean 0 or 1 */
} cases[] = {
    {"", WEIR_SCALAR_NULL, 0},
    {"~", WEIR_SCALAR_NULL, 0},
    {"null", WEIR_SCALAR_NULL, 0},
    {"Null", WEIR_SCALAR_NULL, 0},
    {"NULL", WEIR_SCALAR_NULL, 0},
    {"nUll", WEIR_SCALAR_TEXT, 0},
    {"yes", WEIR_SCALAR_BOOL, 1},
    {"On", WEIR_SCALAR_BOOL, 1},
    {"TRUE", WEIR_SCALAR_BOOL, 1},
    {"no", WEIR_SCALAR_BOOL, 0},
    {"OFF", WEIR_SCALAR_BOOL, 0},
    {"False", WEIR_SCALAR_BOOL, 0},
    {"y", WEIR_SCALAR_TEXT, 0},
    {"oN", WEIR_SCALAR_TEXT, 0},
    {"0", WEIR_SCALAR_INT, 0},
    {"17", WEIR_SCALAR_INT, 17},
    {"-17", WEIR_SCALAR_INT, -17},
    {"+17", WEIR_SCALAR_INT, 17},
    {"1_000", WEIR_SCALAR_INT, 1000},
    {"_1", WEIR_SCALAR_TEXT, 0},
    {"010", WEIR_SCALAR_INT, 8},
    {"08", WEIR_SCALAR_TEXT, 0},
    {"0x1F", WEIR_SCALAR_INT, 31},
    {"0b101", WEIR_SCALAR_INT, 5},
    {"0o17", WEIR_SCALAR_TEXT, 0},
    {"1:30", WEIR_SCALAR_INT, 90},
    {"1:30:15", WEIR_SCALAR_INT, 5415},
    {"1:60", WEIR_SCALAR_TEXT, 0},
    {"0:30", WEIR_SCALAR_TEXT, 0},
    {"1:", WEIR_SCALAR_TEXT, 0},
    {"1.5", WEIR_SCALAR_FLOAT, 1.5},
    {"1.", WEIR_SCALAR_FLOAT, 1},
    {".5", WEIR_SCALAR_FLOAT, 0.5},
    {"-.5", WEIR_SCALAR_TEXT, 0},
    {"-0.25", WEIR_SCALAR_FLOAT, -0.25},
    {"1e6", WEIR_SCALAR_TEXT, 0},
    {"1.0e6", WEIR_SCALAR_TEXT, 0},
    {"1.0e+6", WEIR_SCALAR_FLOAT, 1e6},
    {"3e-06", WEIR_SCALAR_TEXT, 0},
    {"3.0e-06", WEIR_SCALAR_FLOAT, 3e-6},
    {"1:30.5", WEIR_SCALAR_FLOAT, 90.5},
    {"-.inf", WEIR_SCALAR_FLOAT, -(double)INFINITY},
    {"-.nan", WEIR_SCALAR_TEXT, 0},
    {".", WEIR_SCALAR_TEXT, 0},
    {"..", WEIR_SCALAR_TEXT, 0},
    {"+", WEIR_SCALAR_TEXT, 0},
    {"-", WEIR_SCALAR_TEXT, 0},
    {"1.2.3", WEIR_SCALAR_TEXT, 0},
    {"2024-10-21", WEIR_SCALAR_TEXT, 0},
    {"0x10000000000000000", WEIR_SCALAR_FLOAT, 18446744073709551616.0},
    {"os.environ/NAME", WEIR_SCALAR_TEXT, 0},
};

static void test_each_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct weir_scalar scalar = weir_scalar_resolve(weir_slice_str(cases[i].text));
        double number = scalar.kind == WEIR_SCALAR_BOOL ? (double)scalar.boolean : scalar.number;

        if (scalar.kind == cases[i].kind && !(number < cases[i].number) && !(number > cases[i].number))
            continue;
        fail_msg("`%s` is kind %d, %g", cases[i].text, (int)scalar.kind, number);
    }
}

static void test_not_a_number(void **state)
{
    struct weir_scalar scalar = weir_scalar_resolve(WEIR_SLICE(".nan"));

    (void)state;
    assert_int_equal(scalar.kind, WEIR_SCALAR_FLOAT);
    assert_true(isnan(scalar.number));
}

static void test_dates_are_marked(void **state)
{
    static const char *const dates[] = {"2024-10-21",
                                        "2024-1-2T3:04:05Z",
                                        "2024-10-21 01:02:03",
                                        "2024-10-21t01:02:03.5",
                                        "2024-10-21  1:02:03 +1",
                                        "2024-10-21T01:02:03.-01:30"};
    static const char *const texts[] = {
        "2024-1-2", "2024-10-21x", "2024-10-21T",          "2024-10-21T01:02",
        "24-10-21", "2024-10",     "2024-10-21T01:02:03 ", "2024-10-21T01:02:03+1:3"};

    (void)state;
    for (size_t i = 0; i < sizeof(dates) / sizeof(*dates); i++)
        if (!weir_scalar_resolve(weir_slice_str(dates[i])).date)
            fail_msg("%s", dates[i]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (weir_scalar_resolve(weir_slice_str(texts[i])).date)
            fail_msg("%s", texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_form),
                                       cmocka_unit_test(test_dates_are_marked),
                                       cmocka_unit_test(test_not_a_number)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
