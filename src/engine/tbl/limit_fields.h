/* clang-format off */ /* one row a line */
/*
 * The fields of struct weir_limits, each of which is found by itself: X(FIELD, member, whether a level says it).
 * In the last column `it` stands for the member.
 */
X(TIMEOUT, timeout_ns, it != WEIR_UNSET_NS)
X(STREAM_TIMEOUT, stream_timeout_ns, it != WEIR_UNSET_NS)
X(TTFT, ttft_timeout_ns, it != WEIR_UNSET_NS)
X(IDLE, stream_idle_timeout_ns, it != WEIR_UNSET_NS)
X(CALL_DEADLINE, call_deadline_ns, it != WEIR_UNSET_NS)
X(RATE, min_stream_rate, it.tokens_per_s >= 0)
X(HOLD, stream_hold, it.said)
