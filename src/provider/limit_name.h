/*
 * By which name a model knows the limit on the length of its chat answers.  Pure.
 */
#ifndef WEIR_PROVIDER_LIMIT_NAME_H
#define WEIR_PROVIDER_LIMIT_NAME_H

#include <weir/slice.h>

#include "provider/provider.h"

/* "max_tokens", or "max_completion_tokens" for models that are known to take only that; model may have its
 * provider in front.  Lives for ever. */
struct weir_slice weir_limit_name_of(const struct weir_provider *provider, struct weir_slice model);

#endif
