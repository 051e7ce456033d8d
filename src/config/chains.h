/*
 * What leads from one group to another: fallback chains, aliases, and retry policies of single groups (RS 10,
 * 11.2; decisions 14); and the names that answers report (RS 3.10).
 */
#ifndef WEIR_CONFIG_CHAINS_H
#define WEIR_CONFIG_CHAINS_H

#include <stddef.h>

#include <weir/attr.h>

#include "config/loader.h"

/* Puts all of them into the builder.  A chain of a wrong shape is fatal. */
WEIR_MUST_USE int weir_chains_read(struct weir_loader *loader);

/* With the snapshot built: warns of names in them that stand for nothing. */
void weir_chains_check(struct weir_loader *loader);

#endif
