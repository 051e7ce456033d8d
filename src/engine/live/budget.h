/*
 * The retry budget of a group: retries and hedges in proportion to its requests, so that a provider in
 * trouble is not asked more than it can bear (beyond 4).
 *
 * Both are counted over a sliding window of ten seconds.  A budget is the router's, by the name of the group,
 * and survives reloads.  Any thread, at once; no lock.
 */
#ifndef WEIR_ENGINE_BUDGET_H
#define WEIR_ENGINE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/snapshot.h>

enum { WEIR_BUDGET_BUCKETS = 10 };

/* Begins as zeros. */
struct weir_budget {
    _Atomic uint64_t buckets[WEIR_BUDGET_BUCKETS]; /* number of the second, requests, retries and hedges */
};

/* Counts a request. */
void weir_budget_count(struct weir_budget *budget, uint64_t now_ns);

/*
 * Counts a retry or a hedge, if the limit leaves room for one; else returns false.  Threads that ask at the
 * same moment at the border may each be let through.
 */
bool weir_budget_spend(struct weir_budget *budget, const struct weir_retry_budget *limit, uint64_t now_ns);

/* What was spent at this time was not used after all. */
void weir_budget_give_back(struct weir_budget *budget, uint64_t now_ns);

/* What was counted in the ten seconds up to now. */
struct weir_budget_use {
    uint64_t requests;
    uint64_t spent;
};

struct weir_budget_use weir_budget_use(const struct weir_budget *budget, uint64_t now_ns);

#endif
