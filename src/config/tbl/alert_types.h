/* clang-format off */ /* one row a line */
/*
 * The names of alert_types, which are LiteLLM's.  X(TYPE, name, supported, what it is about)
 *
 * At most 32: a list of them has a bit for each.
 */
X(EXCEPTIONS, "llm_exceptions", true, "calls that failed")
X(TOO_SLOW, "llm_too_slow", true, "answers that took too long")
X(HANGING, "llm_requests_hanging", true, "calls that have no end after that time")
X(COOLDOWN, "cooldown_deployment", true, "deployments that cool down")
X(OUTAGE, "outage_alerts", true, "groups of which every deployment cools down")
X(FALLBACKS, "fallback_reports", true, "many fallbacks of a group")
X(REGION_OUTAGE, "region_outage_alerts", false, "outages of a provider's region")
X(BUDGET, "budget_alerts", false, "budgets")
X(SPEND, "spend_reports", false, "reports")
X(TRACKING, "failed_tracking_spend", false, "costs in the database")
X(DATABASE, "db_exceptions", false, "the database")
X(DAILY, "daily_reports", false, "reports")
X(NEW_MODEL, "new_model_added", false, "configuration from a database")
X(DEPRECATION, "model_deprecation_warnings", false, "the age of models")
X(KEY_CREATED, "new_virtual_key_created", false, "keys of the gateway")
X(KEY_UPDATED, "virtual_key_updated", false, "keys of the gateway")
X(KEY_DELETED, "virtual_key_deleted", false, "keys of the gateway")
X(TEAM_CREATED, "new_team_created", false, "teams")
X(TEAM_UPDATED, "team_updated", false, "teams")
X(TEAM_DELETED, "team_deleted", false, "teams")
X(USER_CREATED, "new_internal_user_created", false, "users")
X(USER_UPDATED, "internal_user_updated", false, "users")
X(USER_DELETED, "internal_user_deleted", false, "users")
