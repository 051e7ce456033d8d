/* clang-format off: one row a line */
/*
 * X(KEY, its template): {name} stands for that member of struct weir_key_parts.
 */
X(COOLDOWN, "deployment:{id}:cooldown")
X(ALLOWED_FAILS, "deployment:{id}:allowed_fails")
X(ALLOWED_FAILS_OF, "deployment:{id}:allowed_fails:{suffix}")
X(ROUTER_USAGE, "global_router:{id}:{model}:{counter}:{minute}")
X(USAGE, "{id}:{model}:{counter}:{minute}")
X(GROUP_USAGE, "{group}:{counter}:{minute}")
X(GROUP_MAP, "{group}_map")
X(RUNNING, "{group}_request_count:{id}")
X(HEALTH, "litellm:health_check:deployment_health_state")
X(HEALTH_LOCK, "health_check_lock")
X(HEALTH_RESULTS, "health_check_results")
X(CHANNEL, "weir:cooldown")
