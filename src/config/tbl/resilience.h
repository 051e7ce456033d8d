/* clang-format off */ /* one row a line */
/*
 * How the load of failure is shared: in weir_settings for all groups, in weir_settings.groups for one of them.  The
 * tables of the two are made from these rows.  Source: beyond.md 4.
 *
 * SHARE(key, member, TYPE, unit, min, max, what it does)
 * CALL_SHARE(...)     the same, of a key that is a matter of single calls: a request may bring its own
 * BUDGET_FIELD(key, member, TYPE, unit, min, max, default, what it does)   a key of a value of type BUDGET
 * HEDGE_FIELD(...), GROWTH_FIELD(...)                                      likewise
 *
 * member   of struct weir_resilience, struct weir_retry_budget, struct weir_hedge, struct weir_cooldown_growth
 * TYPE     BUDGET struct weir_retry_budget; HEDGE struct weir_hedge; GROWTH struct weir_cooldown_growth; else as
 *          in settings.h
 */
#ifndef SHARE
#define SHARE(key, member, type, unit, min, max, prose)
#endif
#ifndef CALL_SHARE
#define CALL_SHARE(key, member, type, unit, min, max, prose) SHARE(key, member, type, unit, min, max, prose)
#endif
#ifndef BUDGET_FIELD
#define BUDGET_FIELD(key, member, type, unit, min, max, dflt, prose)
#endif
#ifndef HEDGE_FIELD
#define HEDGE_FIELD(key, member, type, unit, min, max, dflt, prose)
#endif
#ifndef GROWTH_FIELD
#define GROWTH_FIELD(key, member, type, unit, min, max, dflt, prose)
#endif

SHARE(retry_budget, retry_budget, BUDGET, "", 0, 0, "Retries and second attempts that the calls of a group may make in ten seconds; what is over goes straight to the fallbacks. 0: as many as they will.")
CALL_SHARE(hedge, hedge, HEDGE, "", 0, 0, "When an attempt has given nothing for so long (no content, or of a plain call no response head), start a second one on another deployment of the group; the first to answer wins. 0: never.")
CALL_SHARE(all_cooling_wait, all_cooling_wait_ns, SECONDS, "s", 0, 86400, "When every deployment of the asked group cools down and no fallback is left, wait for the first of them if it is back within so long. 0: fail at once.")
SHARE(cooldown_growth, cooldown_growth, GROWTH, "", 0, 0, "Let each cooldown in a row, without a success between, last longer than the one before it. 0: no.")
SHARE(cooldown_ramp, cooldown_ramp_ns, SECONDS, "s", 0, 86400, "For so long after a cooldown offer the deployment to a part of the picks, from a tenth up to all. 0: to all at once.")

BUDGET_FIELD(ratio, ratio, NUMBER, "", 0, 1000, "", "So many for each request of the last ten seconds.")
BUDGET_FIELD(min_per_s, min_per_s, NUMBER, "", 0, 1000000, "0", "And so many a second beside.")

HEDGE_FIELD(after, after_ns, SECONDS, "s", 0, 86400, "", "How long an attempt may give nothing; 0: never.")
HEDGE_FIELD(max, max, U32, "", 0, 100, "1", "Most attempts beside one, each so long after the one before it.")

GROWTH_FIELD(factor, factor, NUMBER, "", 1, 1000, "", "How many times as long as the one before it.")
GROWTH_FIELD(max, max_ns, SECONDS, "s", 0, 2592000, "300", "The length to which cooldowns grow.")

#undef SHARE
#undef CALL_SHARE
#undef BUDGET_FIELD
#undef HEDGE_FIELD
#undef GROWTH_FIELD
