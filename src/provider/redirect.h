/*
 * Calls that go elsewhere than their deployment's entry says: a fallback target of the configuration may name
 * another address or key for its hop, and so may a caller where that is allowed (decisions 19).
 */
#ifndef WEIR_PROVIDER_REDIRECT_H
#define WEIR_PROVIDER_REDIRECT_H

#include <weir/attr.h>

#include "base/arena.h"
#include "provider/dialect.h"

/*
 * The endpoint to use: build->endpoint itself when nothing is said, else a prepared copy in the arena. Fields
 * that may not be said are ignored here; refusing them is the gateway's part.  A caller who names an address
 * without a key gets none of the deployment's secrets sent there. 0, WEIR_BUILD_BAD_PLACE or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_redirect(const struct weir_build *build, const struct weir_params *overrides,
                                struct weir_arena *arena, const struct weir_endpoint **ret_endpoint);

#endif
