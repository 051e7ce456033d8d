/*
 * What tests ask of a call's past, and of the deployments at this time.  Sets of deployments are bits by
 * their places in the configuration.
 */
#ifndef TEST_SIM_LOOK_BACK_H
#define TEST_SIM_LOOK_BACK_H

#include "engine_kit.h"

/* The place of the first event of the loop that is running: the one after the last hop of any sort. */
size_t look_back_loop_start(const struct kit_call *call);
size_t look_back_count(const struct kit_call *call, size_t start, weir_event_kind kind);
/* The last hop of any sort, and the last AttemptFailed; NULL: none yet. */
const struct weir_event *look_back_hop(const struct kit_call *call);
const struct weir_event *look_back_failure(const struct kit_call *call);
const struct kit_deployment *look_back_deployment(const struct kit_call *call,
                                                  const struct weir_event *event);

uint64_t look_back_bit(const struct kit_call *call, const struct kit_deployment *deployment);
/* The deployments of earlier attempts, which have failed or, in a race, run; not of those that lost one. */
uint64_t look_back_failed(const struct kit_call *call, uint32_t attempt);
/* Those of the set that are not blocked and, unless even_cooling, do not cool down. */
uint64_t look_back_usable(const struct kit_call *call, uint64_t set, bool even_cooling);
uint64_t look_back_of_order(const struct kit_call *call, uint64_t set, int32_t order);
int32_t look_back_lowest_order(const struct kit_call *call, uint64_t set);

#endif
