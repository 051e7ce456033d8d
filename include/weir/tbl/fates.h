/* clang-format off */ /* one row a line */
/*
 * What becomes of a candidate in a pick, one row each: X(FATE, name, what is said of the deployment).  Source:
 * router-semantics.md 4.  Those from ACCESS to SKIP are the filters in their order, under the same names as in
 * engine/tbl/filters.h.
 */
X(CHOSEN, "chosen", "was chosen")
X(ELIGIBLE, "eligible", "may be chosen")
X(NOT_CHOSEN, "not_chosen", "was passed over: the strategy took another one")
X(NO_ROOM, "no_room", "has no room left in its limits of the minute")
X(EARLIER_ORDER, "earlier_order", "is of an earlier order than the one that is tried")
X(LATER_ORDER, "later_order", "is of a later order than the one that is tried")
X(BLOCKED, "blocked", "is paused by an administrator")
X(ACCESS, "reserved", "is reserved for others at this hour")
X(ROUTE, "other_route", "does not serve this kind of call")
X(WEB_SEARCH, "no_web_search", "cannot search the web")
X(HEALTH, "unhealthy", "did not answer its newest probe")
X(COOLDOWN, "cooling_down", "is cooling down")
X(RAMP, "held_back", "came out of a cooldown lately and is offered to a part of the picks")
X(PREFILL, "no_prefill", "cannot carry on the text of another one")
X(CONTEXT, "prompt_too_long", "does not take a prompt of that length")
X(RPM, "no_requests_left", "has used up its requests of the minute")
X(REGION, "out_of_region", "is not in the region that is allowed")
X(PARAMETERS, "lacks_parameters", "does not take a parameter that is used")
X(TAGS, "out_of_tags", "is not among those that the tags leave")
X(EXCLUSION, "excluded", "was tried already, or runs")
X(SKIP, "failed_before", "failed in this call before")
X(NO_SLOT, "no_slot", "has all its parallel slots in use, and would refuse")
X(LIMIT_SPENT, "limit_spent", "has used up an enforced limit of the minute, and would refuse")
