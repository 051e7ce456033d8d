/* clang-format off */ /* one row a line */
/*
 * What may be set for one group in weir_settings.groups: the limits, how the load of failure is shared, and some
 * more of weir_settings.
 *
 * GROUP(key, member, TYPE, unit, min, max, default, what it does)
 *
 * member   of struct weir_group_settings; the others as in settings.h
 */
#ifndef GROUP
#define GROUP(key, member, type, unit, min, max, dflt, prose)
#endif

#define LIMIT(key, member, type, unit, min, max, prose, router) GROUP(key, member, type, unit, min, max, "", prose)
#include "config/tbl/limits.h"
GROUP(continuation_targets, continue_to, SOURCES, "", 0, 0, "", "As in weir_settings, and before it.")
GROUP(empty_answer, empty_answer, EMPTY, "", 0, 0, "", "As in weir_settings, and before it.")
#define SHARE(key, member, type, unit, min, max, prose) GROUP(key, member, type, unit, min, max, "", prose)
#include "config/tbl/resilience.h"

#undef GROUP
