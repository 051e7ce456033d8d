/* clang-format off */ /* one row a line */
/*
 * Which way a Fallback event went, one row each: X(HOP, name, what it says).  Source: router-semantics.md 11, 13.
 */
X(GROUP, "group", "to another group, by a list of fallbacks")
X(ORDER, "order", "to a later order of the group")
X(SIBLING, "sibling", "to the ones of the group that have not failed yet, by weighted failover")
