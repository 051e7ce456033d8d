#include "unit.h"

#include "gateway/request/auth.h"
#include "wire/http1_read.h"

static bool allowed(const char *name, const char *value, const char *key)
{
    const struct weir_http1_field fields[] = {{WEIR_SLICE("host"), WEIR_SLICE("h")},
                                              {weir_slice_str(name), weir_slice_str(value)}};
    const struct weir_http1_head head = {.fields = fields, .field_count = 2};

    return weir_auth_allows(&head, weir_slice_str(key));
}

static void without_a_key_everyone_may_in(void **state)
{
    (void)state;
    assert_true(allowed("x", "y", ""));
}

static void the_key_may_come_in_three_fields(void **state)
{
    (void)state;
    assert_true(allowed("Authorization", "Bearer sk-1", "sk-1"));
    assert_true(allowed("authorization", "bearer   sk-1", "sk-1"));
    assert_true(allowed("X-Api-Key", "sk-1", "sk-1"));
    assert_true(allowed("api-key", "sk-1", "sk-1"));
}

static void everything_else_is_refused(void **state)
{
    static const char *const values[] = {"",       "sk-1",     "Basic sk-1",   "Bearer",     "Bearer ",
                                         "Bearer", "Bearer x", "Bearer sk-11", "Bearer sk-", "Bearersk-1"};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        assert_false(allowed("authorization", values[i], "sk-1"));
    assert_false(allowed("x-api-key", "", "sk-1"));
    assert_false(allowed("x-api-key", "Bearer sk-1", "sk-1"));
    assert_false(allowed("cookie", "sk-1", "sk-1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_key_everyone_may_in),
        cmocka_unit_test(the_key_may_come_in_three_fields),
        cmocka_unit_test(everything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
