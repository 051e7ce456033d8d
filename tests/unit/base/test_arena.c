/* Built twice, with WEIR_POOLS 1 and 0: what callers see is the same. */
#include "unit.h"

#include <stdalign.h>
#include <string.h>

#include "base/arena.h"
#include "base/rand.h"
#include "test_mem.h"

static void what_is_allocated_is_aligned_and_apart(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;
    char *last[50];

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
    for (size_t i = 0; i < 50; i++) {
        last[i] = weir_arena_alloc(&arena, i);
        assert_non_null(last[i]);
        assert_int_equal((uintptr_t)last[i] % alignof(max_align_t), 0);
        memset(last[i], (int)i, i);
        assert_true(weir_arena_validate(&arena));
    }
    for (size_t i = 0; i < 50; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(last[i][k], i);
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

static void nothing_is_taken_before_the_first_allocation(void **state)
{
    struct weir_arena arena, zeroed = {0};
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
    assert_int_equal(mem.allocations, 0);
    weir_arena_deinit(&arena);
    weir_arena_deinit(&zeroed);
}

static void the_maximum_holds_and_failure_sticks_until_reset(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1024);
    assert_null(weir_arena_alloc(&arena, 2000));
    assert_true(weir_arena_failed(&arena));
    assert_non_null(weir_arena_alloc(&arena, 16));
    assert_true(weir_arena_failed(&arena));
    weir_arena_reset(&arena);
    assert_false(weir_arena_failed(&arena));
    while (weir_arena_alloc(&arena, 100) != NULL)
        assert_true(arena.total <= 1024);
    assert_true(weir_arena_failed(&arena));
    assert_true(weir_arena_validate(&arena));
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

static void sizes_that_overflow_fail(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, SIZE_MAX);
    assert_null(weir_arena_alloc(&arena, SIZE_MAX));
    assert_null(weir_arena_zalloc(&arena, SIZE_MAX / 2, 4));
    assert_true(weir_arena_failed(&arena));
    assert_int_equal(mem.allocations, 0);
    weir_arena_deinit(&arena);
}

static void zalloc_gives_zeros(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;
    char *at;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
    at = weir_arena_zalloc(&arena, 25, 4);
    assert_non_null(at);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(at[i], 0);
    weir_arena_deinit(&arena);
}

static void slices_are_copied_and_joined(void **state)
{
    const struct weir_slice parts[] = {WEIR_SLICE_INIT("ab"), {NULL, 0}, WEIR_SLICE_INIT("c")};
    struct weir_arena arena;
    struct test_mem mem;
    struct weir_slice copy;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1024);
    copy = weir_arena_copy(&arena, parts[0]);
    assert_slice_is(copy, "ab");
    assert_ptr_not_equal(copy.ptr, parts[0].ptr);
    assert_slice_is(weir_arena_join(&arena, parts, 3), "abc");
    assert_slice_is(weir_arena_copy(&arena, WEIR_SLICE_EMPTY), "");
    assert_slice_is(weir_arena_join(&arena, NULL, 0), "");
    assert_false(weir_arena_failed(&arena));
    assert_slice_is(weir_arena_copy(&arena, (struct weir_slice){parts[0].ptr, 4096}), "");
    assert_true(weir_arena_failed(&arena));
    weir_arena_deinit(&arena);
}

static void a_reset_arena_serves_again_from_what_it_kept(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;
    size_t after_first = 0;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 1024, 1 << 20);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 5; i++)
            assert_non_null(weir_arena_alloc(&arena, 100));
        if (round == 0)
            after_first = mem.allocations;
        weir_arena_reset(&arena);
        assert_true(weir_arena_validate(&arena));
    }
    if (WEIR_POOLS)
        assert_int_equal(mem.allocations, after_first);
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

/* A large object leaves the block that was being filled in use. */
static void a_large_object_does_not_waste_the_block_before_it(void **state)
{
    struct weir_arena arena;
    struct test_mem mem;
    size_t before;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 1024, 1 << 20);
    assert_non_null(weir_arena_alloc(&arena, 16));
    assert_non_null(weir_arena_alloc(&arena, 5000));
    before = mem.allocations;
    assert_non_null(weir_arena_alloc(&arena, 16));
    if (WEIR_POOLS)
        assert_int_equal(mem.allocations, before);
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

static void as_an_allocator_it_keeps_contents_when_growing(void **state)
{
    const struct weir_mem *as_mem;
    struct weir_arena arena;
    struct test_mem mem;
    char *at;

    (void)state;
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
    as_mem = weir_arena_mem(&arena);
    at = as_mem->resize(as_mem->user, NULL, 0, 4);
    assert_non_null(at);
    memcpy(at, "abcd", 4);
    at = as_mem->resize(as_mem->user, at, 4, 1000);
    assert_memory_equal(at, "abcd", 4);
    assert_ptr_equal(as_mem->resize(as_mem->user, at, 1000, 2), at);
    as_mem->free(as_mem->user, at, 2);
    assert_non_null(as_mem->alloc(as_mem->user, 8));
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

static void running_out_of_memory_fails_and_leaks_nothing(void **state)
{
    struct test_mem mem = {.failed = true};

    (void)state;
    for (size_t n = 1; mem.failed; n++) {
        struct weir_arena arena;

        test_mem_init(&mem, n);
        weir_arena_init(&arena, &mem.mem, 256, 1 << 20);
        for (size_t i = 0; i < 10; i++)
            (void)weir_arena_alloc(&arena, 100 * i);
        assert_int_equal(weir_arena_failed(&arena), mem.failed);
        assert_true(weir_arena_validate(&arena));
        weir_arena_deinit(&arena);
        test_mem_assert_empty(&mem);
    }
}

static void any_run_of_calls_keeps_the_invariant(void **state)
{
    struct weir_arena arena;
    struct weir_rand rand;
    struct test_mem mem;

    (void)state;
    weir_rand_init(&rand, 7);
    test_mem_init(&mem, 0);
    weir_arena_init(&arena, &mem.mem, 512, 1 << 16);
    for (int i = 0; i < 20000; i++) {
        (void)weir_arena_alloc(&arena, (size_t)weir_rand_below(&rand, 900));
        if (weir_rand_below(&rand, 100) == 0)
            weir_arena_reset(&arena);
        assert_true(weir_arena_validate(&arena));
        assert_int_equal(arena.total, mem.live_bytes);
    }
    weir_arena_deinit(&arena);
    test_mem_assert_empty(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allocated_is_aligned_and_apart),
        cmocka_unit_test(nothing_is_taken_before_the_first_allocation),
        cmocka_unit_test(the_maximum_holds_and_failure_sticks_until_reset),
        cmocka_unit_test(sizes_that_overflow_fail),
        cmocka_unit_test(zalloc_gives_zeros),
        cmocka_unit_test(slices_are_copied_and_joined),
        cmocka_unit_test(a_reset_arena_serves_again_from_what_it_kept),
        cmocka_unit_test(a_large_object_does_not_waste_the_block_before_it),
        cmocka_unit_test(as_an_allocator_it_keeps_contents_when_growing),
        cmocka_unit_test(running_out_of_memory_fails_and_leaks_nothing),
        cmocka_unit_test(any_run_of_calls_keeps_the_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
