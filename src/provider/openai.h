/* The dialect of OpenAI and of all that is compatible with it. */
#ifndef WEIR_PROVIDER_OPENAI_H
#define WEIR_PROVIDER_OPENAI_H

#include "provider/dialect.h"

extern const struct weir_dialect weir_dialect_openai;

/* "Authorization: Bearer KEY"; see struct weir_dialect. */
int weir_openai_credential(const struct weir_endpoint *endpoint, struct weir_arena *arena,
                           struct weir_header *ret_header);

#endif
