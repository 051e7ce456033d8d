/* Requests in OpenAI's protocol, by splicing the caller's body; serves each dialect that is made of it. */
#ifndef WEIR_PROVIDER_OPENAI_BUILD_H
#define WEIR_PROVIDER_OPENAI_BUILD_H

#include "provider/dialect.h"

/* See weir_build_request. */
WEIR_MUST_USE int weir_openai_build(const struct weir_build *build, struct weir_arena *arena,
                                    struct weir_upstream_request *ret_request);

#endif
