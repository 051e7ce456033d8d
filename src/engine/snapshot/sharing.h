/*
 * What of each deployment other processes are told, and which groups probes are about (router-semantics 17,
 * 22).
 */
#ifndef WEIR_ENGINE_SHARING_H
#define WEIR_ENGINE_SHARING_H

#include "engine/snapshot/snapshot.h"

/* Once the sets have their members and strategies. */
void weir_sharing_build(weir_snapshot *snapshot);

#endif
