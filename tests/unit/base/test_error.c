#include "unit.h"

#include <string.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

static void every_code_is_negative_and_has_a_text_of_its_own(void **state)
{
    static const int codes[] = {
#define CODE(name, code, text) WEIR_ERR_##name,
        WEIR_ERROR_TABLE(CODE)
#undef CODE
    };
    enum { COUNT = sizeof(codes) / sizeof(*codes) };

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(codes[i] < 0);
        assert_true(weir_error_text(codes[i]).len > 0);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(codes[i], codes[k]);
            assert_false(weir_slice_eq(weir_error_text(codes[i]), weir_error_text(codes[k])));
        }
    }
}

static void other_codes_are_unknown(void **state)
{
    (void)state;
    assert_slice_is(weir_error_text(0), "unknown error");
    assert_slice_is(weir_error_text(-1000), "unknown error");
    assert_slice_is(weir_error_text(1), "unknown error");
}

static void the_c_librarys_allocator_keeps_contents_when_growing(void **state)
{
    const struct weir_mem *mem = weir_mem_libc();
    char *at = mem->alloc(mem->user, 4);

    (void)state;
    assert_non_null(at);
    memcpy(at, "abcd", 4);
    at = mem->resize(mem->user, at, 4, 4000);
    assert_non_null(at);
    assert_memory_equal(at, "abcd", 4);
    mem->free(mem->user, at, 4000);
    mem->free(mem->user, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_is_negative_and_has_a_text_of_its_own),
        cmocka_unit_test(other_codes_are_unknown),
        cmocka_unit_test(the_c_librarys_allocator_keeps_contents_when_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
