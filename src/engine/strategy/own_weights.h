/*
 * The first source of simple-shuffle's weights: those that a request brings itself (router-semantics 6.1).
 */
#ifndef WEIR_ENGINE_STRATEGY_OWN_WEIGHTS_H
#define WEIR_ENGINE_STRATEGY_OWN_WEIGHTS_H

#include "engine/strategy/strategy.h"

/* A candidate at random by the request's weights for the group; WEIR_PICK_NONE when no candidate has one. */
weir_strategy_pick weir_pick_by_own_weights;

/* Its odds; false when no candidate has a weight. */
bool weir_odds_by_own_weights(const struct weir_candidates *c, double *odds);

#endif
