/*
 * `model_info.access_windows`: hours at which a deployment is reserved for some teams (router-semantics 3).
 */
#ifndef WEIR_CONFIG_ACCESS_WINDOWS_H
#define WEIR_CONFIG_ACCESS_WINDOWS_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/snapshot.h>

#include "config/entry.h"
#include "config/loader.h"

/* 0, WEIR_ENTRY_SKIPPED with an error (a reservation that is not understood opens nothing to everybody), or
 * negative. */
WEIR_MUST_USE int weir_access_windows_read(struct weir_loader *loader, const struct weir_config_entry *entry,
                                           const struct weir_access_window **ret_windows, size_t *ret_count);

#endif
