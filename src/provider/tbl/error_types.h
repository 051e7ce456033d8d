/* clang-format off */ /* one row a line */
/*
 * `error.type` that callers see, by the status they see (router-semantics 25, error-classification.md 1).  A 422 shows the
 * upstream's own.  Others: 4xx as 400, 5xx as 500.
 *
 * X(status, type)
 */
X(401, "authentication_error")
X(403, "permission_error")
X(429, "throttling_error")
X(400, "invalid_request_error")
X(500, "internal_server_error")
