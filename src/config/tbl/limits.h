/* clang-format off */ /* one row a line */
/*
 * The limits on time and on streams that can be set at every level: for a deployment, a group, the router, the
 * target of a chain, and a request.  The tables of those levels are made from these rows.  Sources:
 * router-semantics.md 2.2, 2.4 and 25; beyond.md 1 and 2.
 *
 * LIMIT(key, member, TYPE, unit, min, max, what it does, what more there is to say of the router's)
 * WEIR_LIMIT(...)     the same, of a key that LiteLLM does not know: the router's stands in weir_settings
 * RATE_FIELD(key, member, TYPE, unit, min, max, default, what it does)   a key of a limit of type RATE
 * HOLD_FIELD(...)                                                        likewise
 *
 * member   of struct weir_limits, struct weir_stream_rate, struct weir_stream_hold
 * TYPE     SECONDS uint64_t, nanoseconds; RATE struct weir_stream_rate; HOLD struct weir_stream_hold; else as in
 *          settings.h
 */
#ifndef LIMIT
#define LIMIT(key, member, type, unit, min, max, prose, router)
#endif
#ifndef WEIR_LIMIT
#define WEIR_LIMIT(key, member, type, unit, min, max, prose, router) LIMIT(key, member, type, unit, min, max, prose, router)
#endif
#ifndef RATE_FIELD
#define RATE_FIELD(key, member, type, unit, min, max, dflt, prose)
#endif
#ifndef HOLD_FIELD
#define HOLD_FIELD(key, member, type, unit, min, max, dflt, prose)
#endif

LIMIT(timeout, timeout_ns, SECONDS, "s", 0.001, 2592000, "Limit of one attempt.", " Not set: litellm_settings.request_timeout.")
LIMIT(stream_timeout, stream_timeout_ns, SECONDS, "s", 0.001, 2592000, "Limit until the first chunk of a streamed attempt.", " Not set: timeout.")
LIMIT(ttft_timeout, ttft_timeout_ns, SECONDS, "s", 0, 2592000, "Limit until the first content of a streamed attempt, until the response head of a plain one; 0: none.", "")
LIMIT(stream_idle_timeout, stream_idle_timeout_ns, SECONDS, "s", 0, 2592000, "Longest silence between two contents of a stream, once it has begun; 0: none.", "")
WEIR_LIMIT(call_deadline, call_deadline_ns, SECONDS, "s", 0, 2592000, "Limit of the whole call with all its attempts, waits and hops; 0: none.", "")
WEIR_LIMIT(min_stream_rate, min_stream_rate, RATE, "", 0, 0, "Least speed of a stream: one that, grace seconds after its first content, brought fewer tokens than that in the last window seconds is broken off as timed out.", "")
WEIR_LIMIT(stream_hold, stream_hold, HOLD, "", 0, 0, "Hold content back until so many tokens have come, or so long after the first of them, or until the answer is complete; a break before then is recovered unseen.", "")

RATE_FIELD(tokens_per_s, tokens_per_s, NUMBER, "", 0, 1000000, "", "Tokens a second; 0: no limit. A content delta counts as one token.")
RATE_FIELD(window, window_ns, SECONDS, "s", 0.01, 86400, "10", "How far back the speed is looked at.")
RATE_FIELD(grace, grace_ns, SECONDS, "s", 0, 86400, "10", "How long after the first content nothing is judged.")

HOLD_FIELD(tokens, tokens, U32, "", 0, 1000000000, "", "The window ends with so many content deltas; 0: no window.")
HOLD_FIELD(seconds, window_ns, SECONDS, "s", 0, 86400, "", "The window ends so long after the first content; 0: no window.")

#undef LIMIT
#undef WEIR_LIMIT
#undef RATE_FIELD
#undef HOLD_FIELD
