/* clang-format off */ /* one row a line */
/*
 * What weir tells of: X(KIND, name, TYPE of config/tbl/alert_types.h, level, whose it is, what happened)
 *
 * name   `alert` in JSON, and a label of metrics
 * level  Low, Medium, High: as LiteLLM has them
 */
X(COOLDOWN, "cooldown", COOLDOWN, "Medium", "deployment", "a deployment cools down")
X(OUTAGE, "outage", OUTAGE, "High", "group", "every deployment of a group cools down")
X(RECOVERED, "recovered", OUTAGE, "Low", "group", "a deployment of a group that was out is back")
X(STORM, "fallback_storm", FALLBACKS, "Medium", "group", "a group sends many calls to its fallbacks")
X(SLOW, "slow_answer", TOO_SLOW, "Low", "group", "an answer took longer than alerting_threshold")
X(HANGING, "hanging_call", HANGING, "Medium", "group", "a call is not over after alerting_threshold")
X(FAILED, "failed_call", EXCEPTIONS, "High", "group", "a call failed, by no fault of the caller")
