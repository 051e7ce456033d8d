/* clang-format off */ /* one row a line */
/* The names of optional_pre_call_checks.  X(CHECK, name, supported, what it is about) */
X(ENFORCE_LIMITS, "enforce_model_rate_limits", true, "limits of a minute")
X(BUDGETS, "router_budget_limiting", false, "budgets")
X(PROMPT_CACHING, "prompt_caching", false, "affinity")
X(RESPONSES, "responses_api_deployment_check", false, "affinity")
X(ENCRYPTED_CONTENT, "encrypted_content_affinity", false, "affinity")
X(DEPLOYMENT_AFFINITY, "deployment_affinity", false, "affinity")
X(SESSION_AFFINITY, "session_affinity", false, "affinity")
X(CLIENT_HEADERS, "forward_client_headers_by_model_group", false, "passing the client's headers on")
