/* clang-format off */ /* one row a line */
/*
 * The fields of `retry_policy` and `allowed_fails_policy`; source: router-semantics.md sections 10 and 16.2.
 *
 * X(FIELD, key in a retry policy or NULL, key in an allowed-fails policy or NULL)
 */
X(AUTHENTICATION, "AuthenticationErrorRetries", "AuthenticationErrorAllowedFails")
X(TIMEOUT, "TimeoutErrorRetries", "TimeoutErrorAllowedFails")
X(RATE_LIMIT, "RateLimitErrorRetries", "RateLimitErrorAllowedFails")
X(CONTENT_POLICY_VIOLATION, "ContentPolicyViolationErrorRetries", "ContentPolicyViolationErrorAllowedFails")
X(BAD_REQUEST, "BadRequestErrorRetries", "BadRequestErrorAllowedFails")
X(NOT_FOUND, "NotFoundErrorRetries", "NotFoundErrorAllowedFails")
X(INTERNAL_SERVER, "InternalServerErrorRetries", "InternalServerErrorAllowedFails")
X(SERVICE_UNAVAILABLE, "ServiceUnavailableErrorRetries", "ServiceUnavailableErrorAllowedFails")
X(BAD_GATEWAY, NULL, "BadGatewayErrorAllowedFails")
X(DEFAULT, "DefaultRetries", NULL)
