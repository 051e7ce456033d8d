#include "unit.h"

#include <string.h>

#include "provider/fields.h"

static void the_table_is_sorted_so_that_each_row_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_field_count(); i++) {
        const struct weir_field *row = weir_field_at(i), *next = weir_field_at(i + 1);

        assert_ptr_equal(weir_field_find(row->name), row);
        assert_int_equal(row->field_class == WEIR_FIELD_PLACE, row->place != WEIR_PLACE_NONE);
        if (next == NULL)
            break;
        assert_true(
            row->name.len < next->name.len ||
            (row->name.len == next->name.len && memcmp(row->name.ptr, next->name.ptr, row->name.len) < 0));
    }
}

static void a_field_without_a_row_passes(void **state)
{
    (void)state;
    assert_null(weir_field_find(WEIR_SLICE("temperature")));
    assert_null(weir_field_find(WEIR_SLICE("")));
    assert_null(weir_field_find(WEIR_SLICE("Model")));
    assert_null(weir_field_find(WEIR_SLICE("a_name_that_is_longer_than_each_one_in_the_table")));
}

static void escapes_count_as_what_they_spell(void **state)
{
    struct weir_json_item item = {.key = WEIR_SLICE_INIT("api\\u005fkey"), .key_escaped = true};
    const struct weir_field *field = weir_field_of(&item);

    (void)state;
    assert_non_null(field);
    if (field != NULL)
        assert_int_equal(field->place, WEIR_PLACE_KEY);
    item.key = WEIR_SLICE("\\u0078");
    assert_null(weir_field_of(&item));
}

static void where_and_with_which_key_has_its_places(void **state)
{
    (void)state;
    assert_int_equal(weir_field_find(WEIR_SLICE("api_base"))->place, WEIR_PLACE_BASE);
    assert_int_equal(weir_field_find(WEIR_SLICE("base_url"))->place, WEIR_PLACE_BASE);
    assert_int_equal(weir_field_find(WEIR_SLICE("extra_headers"))->place, WEIR_PLACE_HEADERS);
    assert_int_equal(weir_field_find(WEIR_SLICE("custom_llm_provider"))->place, WEIR_PLACE_PROVIDER);
    assert_int_equal(weir_field_find(WEIR_SLICE("aws_secret_access_key"))->place, WEIR_PLACE_CREDENTIAL);
    assert_int_equal(weir_field_find(WEIR_SLICE("mock_timeout"))->field_class, WEIR_FIELD_MOCK);
    assert_int_equal(weir_field_find(WEIR_SLICE("mock_response"))->field_class, WEIR_FIELD_ROUTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_sorted_so_that_each_row_is_found),
        cmocka_unit_test(a_field_without_a_row_passes),
        cmocka_unit_test(escapes_count_as_what_they_spell),
        cmocka_unit_test(where_and_with_which_key_has_its_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
