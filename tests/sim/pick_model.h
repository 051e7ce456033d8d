/*
 * Picks written down a second time: which fate each candidate must have had, by what the pages say and what
 * has happened in the call (router-semantics 4, 12, 13; beyond.md 7).
 */
#ifndef TEST_SIM_PICK_MODEL_H
#define TEST_SIM_PICK_MODEL_H

#include "engine_kit.h"

/* Of any configuration: the candidates of a Picked event are those that the name stands for, the chosen one
 * is the only one that was chosen, and what is said of facts that do not change is true. */
void pick_check(const struct kit_call *call, const struct weir_event *event);

/* Of configurations without limits, tags and ramps: each fate is the one that the rules give. */
void pick_check_fates(const struct kit_call *call, const struct weir_event *event);

/* The event of an attempt that began, or was refused, comes after a pick of its deployment. */
void pick_check_attempt(const struct kit_call *call, const struct weir_event *event);

#endif
