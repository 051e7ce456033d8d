#include "unit.h"

#include "gateway/budget.h"
#include "test_mem.h"

static void memory_beyond_the_maximum_is_refused(void **state)
{
    struct weir_budget budget;
    struct test_mem mem;
    const struct weir_mem *counted;
    void *first;
    void *second;

    (void)state;
    test_mem_init(&mem, 0);
    weir_budget_init(&budget, &mem.mem, 100);
    counted = weir_budget_mem(&budget);
    first = counted->alloc(counted->user, 60);
    assert_non_null(first);
    assert_null(counted->alloc(counted->user, 41));
    second = counted->alloc(counted->user, 40);
    assert_non_null(second);
    assert_int_equal(weir_budget_used(&budget), 100);
    counted->free(counted->user, first, 60);
    counted->free(counted->user, second, 40);
    counted->free(counted->user, NULL, 7);
    assert_int_equal(weir_budget_used(&budget), 0);
    weir_budget_deinit(&budget);
    test_mem_assert_empty(&mem);
}

static void growing_and_shrinking_are_counted(void **state)
{
    struct weir_budget budget;
    struct test_mem mem;
    const struct weir_mem *counted;
    void *ptr;

    (void)state;
    test_mem_init(&mem, 0);
    weir_budget_init(&budget, &mem.mem, 100);
    counted = weir_budget_mem(&budget);
    ptr = counted->resize(counted->user, NULL, 0, 50);
    assert_non_null(ptr);
    assert_null(counted->resize(counted->user, ptr, 50, 101));
    assert_int_equal(weir_budget_used(&budget), 50);
    ptr = counted->resize(counted->user, ptr, 50, 100);
    assert_non_null(ptr);
    ptr = counted->resize(counted->user, ptr, 100, 10);
    assert_int_equal(weir_budget_used(&budget), 10);
    counted->free(counted->user, ptr, 10);
    weir_budget_deinit(&budget);
    test_mem_assert_empty(&mem);
}

static void a_claim_without_memory_behind_it_is_given_back(void **state)
{
    struct weir_budget budget;
    struct test_mem mem;
    const struct weir_mem *counted;

    (void)state;
    test_mem_init(&mem, 1);
    weir_budget_init(&budget, &mem.mem, 100);
    counted = weir_budget_mem(&budget);
    assert_null(counted->alloc(counted->user, 10));
    assert_null(counted->resize(counted->user, NULL, 0, 10));
    assert_int_equal(weir_budget_used(&budget), 0);
    weir_budget_deinit(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_beyond_the_maximum_is_refused),
        cmocka_unit_test(growing_and_shrinking_are_counted),
        cmocka_unit_test(a_claim_without_memory_behind_it_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
