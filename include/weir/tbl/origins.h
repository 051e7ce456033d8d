/* clang-format off */ /* one row a line */
/*
 * Where a failure comes from, one row each: X(ORIGIN, name, what it says).  Source: decisions.md 4.
 */
X(PROVIDER, "provider", "the upstream or the way to it; counts")
X(CALLER_LIMIT, "caller_limit", "the caller's own time limit ran out; never counts")
X(RESOURCE_LOOKUP, "resource_lookup", "a look-up of something stored upstream, named by the caller; never counts")
X(ROUTER, "router", "weir itself refused; never counts")
X(GUARDRAIL, "guardrail", "a guardrail intervened; never counts")
X(CLIENT_GONE, "client_gone", "the caller left; never counts")
