/*
 * What must hold of every call, whatever happens to it, as the models of this folder know it:
 *   - a pick is of the group, not blocked, not cooling while another is left, of the right tier, not one that
 *     failed in this call while another is left, and has weight where another has;
 *   - retries happen exactly when and as often as sections 8 and 10 say, and wait as long as 9 says, never
 *     past the deadline;
 *   - orders and siblings are used up before a call leaves the group; hops stay under their maximum, each
 *     is to the target whose turn it is, and none is left when the call fails;
 *   - counts and cooldowns are what sections 15 and 16 make of the same failures: equal facts and origin,
 *     equal decision;
 *   - attempts are broken off exactly when they are due, and content goes out when its window is over;
 *   - a stream that broke after content goes on once on each deployment, where its sources lead;
 *   - a second attempt starts beside a slow one when it is due, on another deployment, and what loses is
 * entered nowhere; retries and second attempts spend no more than the budget of their group;
 *   - the error told is that of the first group's first loop, or else of the first break after content.
 */
#ifndef TEST_SIM_RULES_H
#define TEST_SIM_RULES_H

#include "clock_model.h"
#include "engine_kit.h"
#include "model.h"
#include "race_model.h"
#include "walk_model.h"

/* Calls that may run at once. */
#define RULES_CALLS_MAX 4
/* Attempts of one call that may. */
#define RULES_ATTEMPTS_MAX 4

/* What a failure should lead to next, as the model has it. */
struct expectation {
    bool cooldown;
    weir_cooldown_rule rule;
    uint64_t until_ns;
};

struct rules {
    struct model model;
    struct expectation next;
    struct walk walks[RULES_CALLS_MAX]; /* by the place of a call among those that run at once */
    struct race races[RULES_CALLS_MAX];
    struct clock clocks[RULES_CALLS_MAX][RULES_ATTEMPTS_MAX]; /* by the number of an attempt */
    struct race_budgets budgets;
};

/* Checks all calls of the kit from now on; the kit dies with an offence.  The rules begin as zeros. */
void rules_watch(struct rules *rules, struct kit *kit);
/* Of a call that is over; of what the router remembers. */
void rules_check_end(const struct kit_call *call);
void rules_check_live(const struct kit *kit);

#endif
