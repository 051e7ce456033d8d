/*
 * Hedging and retry budgets written down a second time (beyond.md 4): when a second attempt may start beside
 * another, who wins, what it costs, and whether the budget has that much.
 *
 * The model follows calls by their events.
 */
#ifndef TEST_SIM_RACE_MODEL_H
#define TEST_SIM_RACE_MODEL_H

#include "engine_kit.h"

#define RACE_TIMES_MAX 1024

/* The attempts of a call that began beside one another. */
struct race {
    uint32_t first;   /* the number of the first of them; 0: none began yet */
    uint64_t last_ns; /* when the latest began */
};

/* What a group's calls have asked for, and what retries and hedges they have made, by their times. */
struct race_budget {
    uint64_t requests_ns[RACE_TIMES_MAX];
    uint64_t spent_ns[RACE_TIMES_MAX];
    size_t request_count;
    size_t spent_count;
};

struct race_budgets {
    struct race_budget of[KIT_DEPLOYMENTS_MAX]; /* by the place of the group's first deployment */
};

/* What holds for the deployment's group: its own, else the router's. */
struct weir_resilience race_resilience(const struct kit_config *config,
                                       const struct kit_deployment *deployment);

/* An attempt began: the first of a race, or one that joins it. */
void race_started(struct race *race, struct race_budgets *budgets, const struct kit_call *call,
                  const struct weir_event *event);

/* Whether an attempt that begins now joins a race. */
bool race_joins(const struct kit_call *call);

/* A second attempt is about to start beside the first. */
void race_hedged(const struct race *race, struct race_budgets *budgets, const struct kit_call *call,
                 const struct weir_event *event);

void race_lost(const struct race *race, const struct kit_call *call, const struct weir_event *event);

/* Whether another attempt of the race may still answer, or its failure is still to be told. */
bool race_goes_on(const struct race *race, const struct kit_call *call, uint32_t but);

/* Whether the attempt was stopped because another one had answered. */
bool race_was_lost(const struct kit_call *call, uint32_t attempt);

/* A retry for the failure of the deployment is paid for; false: there is nothing left for it. */
bool race_pay(struct race_budgets *budgets, const struct kit_call *call,
              const struct kit_deployment *deployment);

/* The budget refuses what the event says. */
void race_refused(struct race_budgets *budgets, const struct kit_call *call, const struct weir_event *event);

#endif
