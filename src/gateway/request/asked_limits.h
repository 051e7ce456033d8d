/*
 * What a request says of its own limits: members of the body, of a target in its lists and of `weir`, and
 * fields of the head (router-semantics 2.7, beyond.md, decisions 21).
 *
 * Whatever is said here is the caller's own limit and says nothing about a deployment (RS 15.4).  The limits
 * that `weir` may hold are the rows of config/tbl/limits.h; what else it may hold, of
 * config/tbl/resilience.h.
 */
#ifndef WEIR_GATEWAY_ASKED_LIMITS_H
#define WEIR_GATEWAY_ASKED_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "gateway/problem.h"
#include "gateway/request/asked.h"
#include "wire/json_scan.h"

/* A member of a request or of a target that sets limits or the count of retries, `weir` too.  0 with
 * *ret_known false for any other member, WEIR_REFUSED or negative. */
WEIR_MUST_USE int weir_asked_control(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                                     struct weir_arena *arena, struct weir_controls *controls,
                                     bool *ret_known, struct weir_problem *ret_problem);

/* The member `keepalive_seconds`; null leaves *keepalive_ns as it is.  0, WEIR_REFUSED or negative. */
WEIR_MUST_USE int weir_asked_keepalive(const struct weir_json_item *item, struct weir_arena *arena,
                                       uint64_t *keepalive_ns, struct weir_problem *ret_problem);

/* A field of the head; one that means nothing here changes nothing.  0, WEIR_REFUSED or negative. */
WEIR_MUST_USE int weir_asked_field(const struct weir_http1_field *field, struct weir_arena *arena,
                                   struct weir_asked *asked, struct weir_problem *ret_problem);

#endif
