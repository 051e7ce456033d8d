/* clang-format off */ /* one row a line */
/*
 * The filters that look at one candidate at a time, in their order (router-semantics 4): X(FILTER, what drops
 * a candidate).
 *
 * Of the others, `blocked` is settled when the snapshot is built (a blocked deployment is in no tier), and
 * `order` is the sequence in which filter.c goes through the tiers.
 */
X(ACCESS, weir_filter_shut)                 /* 1: it is reserved for others at this hour */
X(ROUTE, weir_filter_no_route)              /* 2: it serves other kinds of call, and another one of the name serves this */
X(WEB_SEARCH, weir_filter_no_web_search)    /* 2: it cannot search the web, and another one of the name can */
X(HEALTH, weir_filter_unhealthy)            /* 3: its newest probe has failed, and another one's of the name has not */
X(COOLDOWN, weir_filter_cooling)            /* 4: it is cooling down */
X(RAMP, weir_filter_held_back)              /* 4: it has cooled down lately, and is offered to a part of the picks */
X(PREFILL, weir_filter_no_prefill)          /* 7: a continuation needs one that takes the text so far (14.4) */
X(CONTEXT, weir_filter_too_long)            /* 8: the prompt is too long for it */
X(RPM, weir_filter_no_requests_left)        /* 8: its requests of the minute are used up */
X(REGION, weir_filter_out_of_region)        /* 8: it is not where the request may go */
X(PARAMETERS, weir_filter_lacks_parameters) /* 8: it does not take a parameter that is used */
X(TAGS, weir_filter_out_of_pool)            /* 9: the request's tags leave others */
X(EXCLUSION, weir_filter_excluded)          /* 12: weighted failover goes only where nothing failed yet, and a
                                               continuation nowhere twice */
X(SKIP, weir_filter_failed)                 /* 13: a retry avoids what failed before, while there is another */
