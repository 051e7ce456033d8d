/*
 * The clocks of places, by their names in the time zone database of the system.
 */
#ifndef WEIR_CONFIG_ZONE_H
#define WEIR_CONFIG_ZONE_H

#include <weir/attr.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/arena.h"

/* No zone has the name, or its file cannot be made use of. */
#define WEIR_ZONE_UNKNOWN 1

/*
 * "UTC", or a name such as "Europe/Berlin", with its changes up to the year 2100.  What it points to lives as
 * long as the arena.  0, WEIR_ZONE_UNKNOWN with *ret_why, or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_zone_read(struct weir_slice name, struct weir_arena *arena, struct weir_zone *ret_zone,
                                 struct weir_slice *ret_why);

/* The same of the bytes of a TZif file (RFC 9636). */
WEIR_MUST_USE int weir_zone_parse(struct weir_slice file, struct weir_arena *arena,
                                  struct weir_zone *ret_zone);

#endif
