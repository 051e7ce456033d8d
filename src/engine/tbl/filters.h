/* clang-format off */ /* one row a line */
/*
 * The filters that look at one candidate at a time, in their order (router-semantics 4): X(FILTER, what drops
 * a candidate).
 *
 * Of the others, `blocked` is settled when the snapshot is built (a blocked deployment is in no tier), and
 * `order` is the sequence in which filter.c goes through the tiers.
 */
X(PREFILL, weir_filter_no_prefill)  /* 14.4: a continuation needs one that takes the text so far */
X(COOLDOWN, weir_filter_cooling)    /* 4: it is cooling down */
X(EXCLUSION, weir_filter_excluded)  /* 12: weighted failover goes only where nothing failed yet, and a continuation
                                       nowhere twice */
X(SKIP, weir_filter_failed)         /* 13: a retry avoids what failed before, while there is another */
