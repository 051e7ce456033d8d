/*
 * An allocator for tests: it counts, fails when told to, and dies when a block comes back with another size
 * than it was given out with, twice, or to the wrong allocator.
 *
 * A sweep over every point where memory can run out:
 *
 *     for (size_t n = 1; ; n++) {
 *         test_mem_init(&mem, n);            the n-th allocation fails, and all after it
 *         ... the code under test; it must report, and give everything back ...
 *         test_mem_assert_empty(&mem);
 *         if (!mem.failed) break;            it needed fewer than n
 *     }
 */
#ifndef TEST_MEM_H
#define TEST_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/mem.h>

struct test_mem {
    struct weir_mem mem; /* give &test.mem to the code under test */
    size_t fail_from;    /* the number, from 1, of the first allocation that fails; 0: none does */
    size_t allocations;  /* asked for, with growing ones */
    size_t live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
    bool failed;
};

/* The object must stay where it is. */
void test_mem_init(struct test_mem *test, size_t fail_from);

/* Dies unless every block has come back. */
void test_mem_assert_empty(const struct test_mem *test);

#endif
