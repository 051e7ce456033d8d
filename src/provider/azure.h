/* Azure OpenAI: OpenAI's bodies under Azure's addresses and with its key header. */
#ifndef WEIR_PROVIDER_AZURE_H
#define WEIR_PROVIDER_AZURE_H

#include "provider/dialect.h"

extern const struct weir_dialect weir_dialect_azure;

/* `api_version` when nothing else names one. */
#define WEIR_AZURE_API_VERSION "2025-02-01-preview"

#endif
