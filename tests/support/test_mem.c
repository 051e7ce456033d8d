/*
 * Each block has its size and its owner in front of it; what is freed is overwritten, and then really freed.
 */
#include "test_mem.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
    alignas(max_align_t) const struct test_mem *owner;
    size_t size;
};

static void die(const char *what, size_t size)
{
    fprintf(stderr, "test_mem: %s (%zu bytes)\n", what, size);
    abort();
}

static bool refuses(struct test_mem *test)
{
    test->allocations++;
    if (test->fail_from == 0 || test->allocations < test->fail_from)
        return false;
    test->failed = true;
    return true;
}

static void *take(struct test_mem *test, size_t size)
{
    struct head *head = malloc(sizeof(*head) + size);

    if (head == NULL)
        die("the machine is out of memory", size);
    head->owner = test;
    head->size = size;
    memset(head + 1, 0xa5, size);
    test->live_blocks++;
    test->live_bytes += size;
    if (test->live_bytes > test->peak_bytes)
        test->peak_bytes = test->live_bytes;
    return head + 1;
}

static void give_back(struct test_mem *test, void *ptr, size_t size)
{
    struct head *head = (struct head *)ptr - 1;

    if (head->owner != test)
        die("a block comes back that was not given out here", size);
    if (head->size != size)
        die("a block comes back with another size", size);
    head->owner = NULL;
    memset(ptr, 0x5a, size);
    test->live_blocks--;
    test->live_bytes -= size;
    free(head);
}

static void *test_alloc(void *user, size_t size)
{
    if (size == 0)
        die("an empty block was asked for", size);
    return refuses(user) ? NULL : take(user, size);
}

/* Always moves, so that a pointer kept over a growth is noticed. */
static void *test_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    void *fresh;

    if (new_size == 0)
        die("a block was shrunk to nothing", old_size);
    if (refuses(user))
        return NULL;
    fresh = take(user, new_size);
    if (ptr != NULL) {
        memcpy(fresh, ptr, old_size < new_size ? old_size : new_size);
        give_back(user, ptr, old_size);
    }
    return fresh;
}

static void test_free(void *user, void *ptr, size_t size)
{
    if (ptr != NULL)
        give_back(user, ptr, size);
}

void test_mem_init(struct test_mem *test, size_t fail_from)
{
    *test = (struct test_mem){.mem = {test, test_alloc, test_resize, test_free}, .fail_from = fail_from};
}

void test_mem_assert_empty(const struct test_mem *test)
{
    if (test->live_blocks != 0 || test->live_bytes != 0)
        die("not all memory was given back", test->live_bytes);
}
