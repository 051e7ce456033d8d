/*
 * What came of a reload, in words: as JSON for who asked, as a line for the log of the process.
 */
#ifndef WEIR_GATEWAY_RELOAD_REPORT_H
#define WEIR_GATEWAY_RELOAD_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "config/changes.h"
#include "config/config.h"

/*
 * {"status":"ok", "deployments":{"total":3,"added":["d3"],"removed":[],"changed":[]},
 *  "settings":["router_settings.fallbacks"], "needs_restart":[], "warnings":["file:1:1: ..."]}
 */
WEIR_MUST_USE int weir_reload_report_json(const struct weir_config *config,
                                          const struct weir_config_changes *changes,
                                          const struct weir_diags *diags, struct weir_buf *ret_text);

/* "the configuration is refused, nothing is changed: file:3:1: router_settings: error: ...; ...". */
WEIR_MUST_USE int weir_reload_report_refusal(const struct weir_diags *diags, struct weir_buf *ret_text);

/* "1 deployment added, 2 removed; router_settings.fallbacks changed"; "nothing changed". */
void weir_reload_report_line(const struct weir_config_changes *changes, FILE *out);

#endif
