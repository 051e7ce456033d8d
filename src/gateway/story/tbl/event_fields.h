/* clang-format off */ /* one row a line */
/*
 * What the events of a call carry beside their time, attempt, group and deployment, one row each: X(EVENT, fields).
 * How a story keeps an event and how JSON shows it both follow from these rows; an event without a row has no more.
 *
 * A field is TYPE(member of struct weir_event's u, name in JSON):
 *
 * U32, U64    a number
 * MS, S       nanoseconds, shown as milliseconds or as seconds
 * TIME        a time of the monotonic clock, shown as the wall clock's
 * FLAG        a bool
 * TEXT        a slice
 * ORDER       an int32_t; WEIR_UNSET_ORDER is none
 * FAILURE     struct weir_failure
 * STREAM      struct weir_stream_facts; left out when nothing was seen
 * HOP, REFUSED, RULE, PURPOSE    the names of weir_hop_kind, weir_refused, weir_cooldown_rule, weir_pick_purpose
 * CANDIDATES  of PICKED: the candidates, with how many were left out
 */
X(PICKED, PURPOSE(picked.purpose, "for") TEXT(picked.strategy, "strategy") CANDIDATES(picked.candidates, "candidates"))
X(ATTEMPT_FAILED, FAILURE(attempt_failed.failure, "failure") FLAG(attempt_failed.will_retry, "will_retry") MS(attempt_failed.wait_ns, "wait_ms") MS(attempt_failed.duration_ns, "duration_ms"))
X(ATTEMPT_REFUSED, FAILURE(attempt_failed.failure, "failure") FLAG(attempt_failed.will_retry, "will_retry") MS(attempt_failed.wait_ns, "wait_ms"))
X(RETRY, U32(retry.number, "number") U32(retry.max, "max") MS(retry.waited_ns, "waited_ms"))
X(FALLBACK, HOP(fallback.kind, "hop") TEXT(fallback.source, "source") TEXT(fallback.target, "target") ORDER(fallback.order, "order") U32(fallback.depth, "depth") U32(fallback.level, "level") FAILURE(fallback.cause, "cause"))
X(RETRY_REFUSED, REFUSED(retry_refused.what, "what") U64(retry_refused.requests, "requests") U64(retry_refused.spent, "spent"))
X(HEDGED, MS(hedged.waited_ns, "waited_ms"))
X(HEDGE_LOST, U32(hedge_lost.winner, "winner"))
X(COOLING_WAIT, MS(cooling_wait.wait_ns, "wait_ms"))
X(COOLDOWN_SET, FAILURE(cooldown_set.failure, "failure") RULE(cooldown_set.rule, "rule") S(cooldown_set.length_ns, "length_s") TIME(cooldown_set.until_ns, "until") FLAG(cooldown_set.capped, "capped") U32(cooldown_set.number, "number"))
X(STREAM_BROKEN, FAILURE(stream_broken.failure, "failure") STREAM(stream_broken.stream, "stream") FLAG(stream_broken.committed, "committed"))
X(STREAM_CONTINUED, U32(stream_continued.broken, "broken") U64(stream_continued.text_bytes, "text_bytes"))
X(SUCCEEDED, U64(succeeded.prompt_tokens, "prompt_tokens") U64(succeeded.completion_tokens, "completion_tokens") MS(succeeded.duration_ns, "duration_ms") STREAM(succeeded.stream, "stream"))
X(FAILED, FAILURE(failed.failure, "failure"))
