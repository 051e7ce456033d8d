/* clang-format off */ /* one row a line */
/*
 * The fields of struct weir_resilience, each of which is found by itself: X(member, whether a level says it).
 * In the last column `it` stands for the member.
 */
X(retry_budget, it.said)
X(hedge, it.after_ns != WEIR_UNSET_NS)
X(all_cooling_wait_ns, it != WEIR_UNSET_NS)
X(cooldown_growth, it.factor >= 0)
X(cooldown_ramp_ns, it != WEIR_UNSET_NS)
