/*
 * Telling of a pick: what became of each candidate.
 */
#ifndef WEIR_ENGINE_NOTE_H
#define WEIR_ENGINE_NOTE_H

#include <stdint.h>

#include <weir/candidate.h>
#include <weir/snapshot.h>

#include "engine/pick/filter.h"

/*
 * Notes the first candidates of a pick that has just been made, in the order of the configuration, and the
 * chosen one (NULL: nobody was) in the place of the last where it is not among them.  max is not 0.  Returns
 * how many were noted.  Time grows with max alone.
 */
uint32_t weir_note_pick(const struct weir_pick *pick, const struct weir_trail *trail,
                        const weir_deployment *chosen, uint32_t max, struct weir_candidate *ret_candidates);

/* What became of one deployment that the pick's name stands for. */
weir_fate weir_note_fate(const struct weir_pick *pick, const struct weir_trail *trail,
                         const weir_deployment *chosen, const weir_deployment *deployment);

#endif
