/* clang-format off */ /* one row a line */
/*
 * Every kind of failure, one row each: the only place where a kind's name, class, status and policy fields are written.
 * Source: error-classification.md section 1.
 *
 * X(KIND, name, class, status, type, retry field, its second choice, allowed-fails field, its second choice)
 *
 * name    as written in logs, events and metrics
 * class   the exception class that LiteLLM's users know; shown in error messages
 * status  the HTTP status when the failure brought none of its own
 * type    `error.type` in OpenAI's error body when the failure brought none of its own
 * fields  names of WEIR_POLICY_*: which field of a retry policy and of an allowed-fails policy speaks for the kind; the
 *         second choice is asked when the first is not set (the kind's parent)
 */
X(BAD_REQUEST, "bad_request", "BadRequestError", 400, "invalid_request_error", BAD_REQUEST, NONE, BAD_REQUEST, NONE)
X(UNSUPPORTED_PARAMS, "unsupported_params", "UnsupportedParamsError", 400, "invalid_request_error", BAD_REQUEST, NONE, BAD_REQUEST, NONE)
X(CONTEXT_WINDOW, "context_window", "ContextWindowExceededError", 400, "invalid_request_error", BAD_REQUEST, NONE, BAD_REQUEST, NONE)
X(CONTENT_POLICY, "content_policy", "ContentPolicyViolationError", 400, "invalid_request_error", CONTENT_POLICY_VIOLATION, BAD_REQUEST, CONTENT_POLICY_VIOLATION, BAD_REQUEST)
X(AUTH, "auth", "AuthenticationError", 401, "authentication_error", AUTHENTICATION, NONE, AUTHENTICATION, NONE)
X(PERMISSION, "permission", "PermissionDeniedError", 403, "permission_error", NONE, NONE, NONE, NONE)
X(NOT_FOUND, "not_found", "NotFoundError", 404, "invalid_request_error", NOT_FOUND, NONE, NOT_FOUND, NONE)
X(TIMEOUT, "timeout", "Timeout", 408, "invalid_request_error", TIMEOUT, NONE, TIMEOUT, NONE)
X(UNPROCESSABLE, "unprocessable", "BadRequestError", 422, "invalid_request_error", NONE, NONE, NONE, NONE)
X(RATE_LIMIT, "rate_limit", "RateLimitError", 429, "throttling_error", RATE_LIMIT, NONE, RATE_LIMIT, NONE)
X(INTERNAL, "internal", "InternalServerError", 500, "internal_server_error", INTERNAL_SERVER, NONE, INTERNAL_SERVER, NONE)
X(BAD_GATEWAY, "bad_gateway", "BadGatewayError", 502, "internal_server_error", INTERNAL_SERVER, NONE, BAD_GATEWAY, NONE)
X(SERVICE_UNAVAILABLE, "service_unavailable", "ServiceUnavailableError", 503, "internal_server_error", SERVICE_UNAVAILABLE, NONE, SERVICE_UNAVAILABLE, NONE)
X(CONNECTION, "connection", "InternalServerError", 500, "internal_server_error", INTERNAL_SERVER, NONE, INTERNAL_SERVER, NONE)
X(API_ERROR, "api_error", "APIError", 500, "internal_server_error", NONE, NONE, NONE, NONE)
X(GUARDRAIL, "guardrail", "GuardrailRaisedException", 400, "invalid_request_error", NONE, NONE, NONE, NONE)
