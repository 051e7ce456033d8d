/* clang-format off */ /* one row a line */
/*
 * Why a cooldown was set, one row each: X(RULE, name, what it says).  Source: router-semantics.md 15.5, 16.1;
 * beyond.md 7.
 */
X(DEPLOYMENT_POLICY, "deployment_policy", "the deployment's allowed_fails_policy")
X(DEPLOYMENT_FAILS, "deployment_fails", "the deployment's allowed_fails")
X(ROUTER_POLICY, "router_policy", "the router's allowed_fails_policy")
X(ROUTER_FAILS, "router_fails", "the router's explicit allowed_fails")
X(RATE_LIMITED, "rate_limited", "a 429 in a group with siblings")
X(ALL_FAILED, "all_failed", "nothing but failures, and many")
X(FAILURE_SHARE, "failure_share", "more than the allowed share failed")
X(NOT_RETRYABLE, "not_retryable", "a status that no retry can mend (401, 404)")
X(BY_HAND, "by_hand", "an administrator has set it")
