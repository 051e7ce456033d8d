/*
 * Tabs: libyaml lets them stand between tokens and inside plain text, PyYAML refuses both.
 *
 * Synchronous, no state.
 */
#ifndef WEIR_CONFIG_YAML_TABS_H
#define WEIR_CONFIG_YAML_TABS_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/diag.h"

/*
 * Refuses a text with a tab that is not in quotes, in a block of text or in a comment: WEIR_YAML_REFUSED with
 * one diagnostic of severity FATAL, 0, or WEIR_ERR_NOMEM.  A text that is not YAML up to its first such tab
 * passes: weir_yaml_read() says more of it.
 */
WEIR_MUST_USE int weir_yaml_check_tabs(struct weir_slice text, struct weir_slice file,
                                       struct weir_diags *diags);

#endif
