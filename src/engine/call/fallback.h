/*
 * Which list a failure takes and which chain of it serves a frame (router-semantics 11.1 to 11.3; decisions
 * 14).
 */
#ifndef WEIR_ENGINE_FALLBACK_H
#define WEIR_ENGINE_FALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/call.h>
#include <weir/failure.h>
#include <weir/snapshot.h>

struct weir_frame;

/* The list that failures of the kind take when it is configured: their own, or the generic one. */
weir_list_kind weir_fallback_own_list(weir_kind kind);

/*
 * Whether the list says anything for the call: its request's, else the router's, else the process settings'.
 */
bool weir_fallback_is_configured(const weir_call *call, weir_list_kind list);

/* The most names under which a frame is known: as served, as written, its wildcard's pattern. */
enum { WEIR_FALLBACK_FRAME_NAMES = 3 };

/* Fills in the names and returns how many there are.  They live as long as the call. */
size_t weir_fallback_frame_names(const struct weir_frame *frame, struct weir_slice *ret_names);

/*
 * Finds the chain that a failure of the kind takes from the frame: the served group's entry, then the asked
 * group's, then "*".  Returns false when there is none; a chain without targets is one.
 */
bool weir_fallback_chain(const weir_call *call, const struct weir_frame *frame, weir_kind kind,
                         struct weir_chain *ret_chain);

/* The same, from the content policy list alone: false when that list is not configured. */
bool weir_fallback_has_content_policy(const weir_call *call, const struct weir_frame *frame);

/* The first target of the generic list's "*" entry; NULL: none (router-semantics 3, step 8). */
const struct weir_target *weir_fallback_star(const weir_call *call);

#endif
