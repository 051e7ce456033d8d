/*
 * From the params of a deployment to the endpoint that the provider layer calls.
 */
#ifndef WEIR_CONFIG_ENDPOINTS_H
#define WEIR_CONFIG_ENDPOINTS_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/entry.h"

/*
 * Makes and prepares the endpoint of an entry whose settings have been read.  0, WEIR_ENTRY_SKIPPED or
 * WEIR_ENTRY_UNSERVED with an error (no provider, no dialect, no address, ...), or negative.
 */
WEIR_MUST_USE int weir_endpoints_make(struct weir_loader *loader, const struct weir_config_entry *entry,
                                      struct weir_endpoint **ret_endpoint);

/* What /v1/model/info says of the entry: JSON without secrets; variables stand there by name. */
struct weir_slice weir_endpoints_info(struct weir_loader *loader, const struct weir_config_entry *entry,
                                      const struct weir_endpoint *endpoint, struct weir_slice id);

#endif
