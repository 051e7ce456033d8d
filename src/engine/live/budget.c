/*
 * A bucket is one word: whoever comes first in a new second finds the number of an old one and starts it over
 * (as the window of live.c does).  Counts stop at their maximum.
 */
#include "engine/live/budget.h"

#include "base/time.h"

enum { SECOND_BITS = 24, COUNT_BITS = 20 };

#define SECOND_MASK ((UINT64_C(1) << SECOND_BITS) - 1)
#define COUNT_MASK  ((UINT64_C(1) << COUNT_BITS) - 1)

/* ratio * requests may fall short of a whole number by a rounding. */
static const double rounding = 1e-9;

static uint64_t second_of(uint64_t now_ns)
{
    return now_ns / WEIR_NS_PER_S & SECOND_MASK;
}

static uint64_t pack(uint64_t second, uint64_t requests, uint64_t spent)
{
    return second << (2 * COUNT_BITS) | requests << COUNT_BITS | spent;
}

static uint64_t bucket_second(uint64_t bucket)
{
    return bucket >> (2 * COUNT_BITS);
}

static uint64_t bucket_requests(uint64_t bucket)
{
    return bucket >> COUNT_BITS & COUNT_MASK;
}

static uint64_t bucket_spent(uint64_t bucket)
{
    return bucket & COUNT_MASK;
}

static uint64_t at_most(uint64_t count)
{
    return count < COUNT_MASK ? count : COUNT_MASK;
}

/* Adds to the bucket of the present. */
static void add(struct weir_budget *budget, uint64_t requests, uint64_t spent, uint64_t now_ns)
{
    _Atomic uint64_t *bucket = &budget->buckets[now_ns / WEIR_NS_PER_S % WEIR_BUDGET_BUCKETS];
    uint64_t old = atomic_load_explicit(bucket, memory_order_relaxed), second = second_of(now_ns), next;

    do {
        next = pack(second, requests, spent);
        if (bucket_second(old) == second)
            next = pack(second, at_most(bucket_requests(old) + requests), at_most(bucket_spent(old) + spent));
    } while (!atomic_compare_exchange_weak_explicit(bucket, &old, next, memory_order_relaxed,
                                                    memory_order_relaxed));
}

void weir_budget_count(struct weir_budget *budget, uint64_t now_ns)
{
    add(budget, 1, 0, now_ns);
}

struct weir_budget_use weir_budget_use(const struct weir_budget *budget, uint64_t now_ns)
{
    struct weir_budget_use use = {0, 0};

    for (size_t i = 0; i < WEIR_BUDGET_BUCKETS; i++) {
        uint64_t bucket = atomic_load_explicit(&budget->buckets[i], memory_order_relaxed);

        if (((second_of(now_ns) - bucket_second(bucket)) & SECOND_MASK) >= WEIR_BUDGET_BUCKETS)
            continue;
        use.requests += bucket_requests(bucket);
        use.spent += bucket_spent(bucket);
    }
    return use;
}

bool weir_budget_spend(struct weir_budget *budget, const struct weir_retry_budget *limit, uint64_t now_ns)
{
    struct weir_budget_use use = weir_budget_use(budget, now_ns);
    double most = limit->ratio * (double)use.requests + limit->min_per_s * WEIR_BUDGET_BUCKETS;

    if ((double)use.spent + 1 > most + rounding)
        return false;
    add(budget, 0, 1, now_ns);
    return true;
}

void weir_budget_give_back(struct weir_budget *budget, uint64_t now_ns)
{
    _Atomic uint64_t *bucket = &budget->buckets[now_ns / WEIR_NS_PER_S % WEIR_BUDGET_BUCKETS];
    uint64_t old = atomic_load_explicit(bucket, memory_order_relaxed);

    do {
        if (bucket_second(old) != second_of(now_ns) || bucket_spent(old) == 0)
            return;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &old, old - 1, memory_order_relaxed,
                                                    memory_order_relaxed));
}
