/*
 * The count is taken before the memory is, so that threads together never exceed the maximum; a claim that
 * goes too far, or finds no memory, is given back.  Invariant: used is the sum of the blocks that are out,
 * plus claims under way.
 */
#include "gateway/budget.h"

#include <assert.h>
#include <stdbool.h>

static bool claim(struct weir_budget *budget, size_t bytes)
{
    size_t before = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    size_t max = atomic_load_explicit(&budget->max, memory_order_relaxed);

    if (before <= max && bytes <= max - before)
        return true;
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    return false;
}

static void give_back(struct weir_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

static void *budget_alloc(void *user, size_t size)
{
    struct weir_budget *budget = user;
    void *ptr;

    if (!claim(budget, size))
        return NULL;
    ptr = budget->mem->alloc(budget->mem->user, size);
    if (ptr == NULL)
        give_back(budget, size);
    return ptr;
}

static void *budget_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    struct weir_budget *budget = user;
    size_t more = new_size > old_size ? new_size - old_size : 0;
    void *moved;

    if (!claim(budget, more))
        return NULL;
    moved = budget->mem->resize(budget->mem->user, ptr, old_size, new_size);
    if (moved == NULL)
        give_back(budget, more);
    else if (new_size < old_size)
        give_back(budget, old_size - new_size);
    return moved;
}

static void budget_free(void *user, void *ptr, size_t size)
{
    struct weir_budget *budget = user;

    if (ptr == NULL)
        return;
    budget->mem->free(budget->mem->user, ptr, size);
    give_back(budget, size);
}

void weir_budget_init(struct weir_budget *budget, const struct weir_mem *mem, size_t max_bytes)
{
    budget->mem = mem;
    atomic_init(&budget->max, max_bytes);
    atomic_init(&budget->used, 0);
    budget->as_mem = (struct weir_mem){budget, budget_alloc, budget_resize, budget_free};
}

void weir_budget_set_max(struct weir_budget *budget, size_t max_bytes)
{
    atomic_store_explicit(&budget->max, max_bytes, memory_order_relaxed);
}

void weir_budget_deinit(struct weir_budget *budget)
{
    assert(weir_budget_used(budget) == 0);
    (void)budget;
}

const struct weir_mem *weir_budget_mem(const struct weir_budget *budget)
{
    return &budget->as_mem;
}

size_t weir_budget_used(const struct weir_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}
