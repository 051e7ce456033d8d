/*
 * Whether a request refers to what a provider has stored, files or earlier answers: such a request is never
 * sent to two deployments at once (beyond.md 4).
 */
#ifndef WEIR_GATEWAY_STATEFUL_H
#define WEIR_GATEWAY_STATEFUL_H

#include <stdbool.h>

#include "gateway/request/asked.h"

bool weir_stateful(const struct weir_asked *asked);

#endif
