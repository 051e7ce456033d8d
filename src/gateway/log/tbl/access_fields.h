/* clang-format off */ /* one row a line */
/*
 * The fields of a line of the access log, in their order after `time`; the member's name is the field's.
 *
 * TEXT(member, prose)      left out when empty
 * COUNT(member, prose)     always there
 * MAYBE(member, prose)     left out when 0
 * NS(member, name, prose)  nanoseconds, written as milliseconds with three decimals; left out when 0
 * FLAG(member, prose)      left out when false
 * COST(member, prose)      picodollars, written as dollars; left out when 0
 */
WEIR_ACCESS_TEXT(call_id, "as in the header x-litellm-call-id")
WEIR_ACCESS_TEXT(trace_id, "of the trace that the call is a part of, by the request's traceparent or begun here")
WEIR_ACCESS_TEXT(peer, "the client's address")
WEIR_ACCESS_TEXT(route, "chat, completions, embeddings")
WEIR_ACCESS_TEXT(model, "the name that was asked for")
WEIR_ACCESS_TEXT(group, "the model group that answered, or failed")
WEIR_ACCESS_TEXT(deployment, "the id of the deployment that answered, or failed last")
WEIR_ACCESS_COUNT(status, "the HTTP status the client got, or would have got had it stayed; 499: its leaving ended the call")
WEIR_ACCESS_TEXT(kind, "the kind of the failure")
WEIR_ACCESS_TEXT(cause, "what kept the last call from an answer, where there was none: dns, refused, tls_unverified, ...")
WEIR_ACCESS_TEXT(end, "how the answer ended when not well: gone, late, cut")
WEIR_ACCESS_TEXT(finish, "the finish reason of the answer, as the provider gave it")
WEIR_ACCESS_TEXT(recovery, "the last way that was taken after a failure: retry, order, failover, fallback, continuation; hedge: a second attempt beside a slow one has answered")
WEIR_ACCESS_FLAG(stream, "a streamed answer was asked for")
WEIR_ACCESS_COUNT(attempts, "provider calls made")
WEIR_ACCESS_MAYBE(retries, "retries in the group that answered, or failed")
WEIR_ACCESS_MAYBE(fallbacks, "hops to other groups")
WEIR_ACCESS_NS(duration_ns, "duration_ms", "from the request's head until the answer was sent, or the client gone")
WEIR_ACCESS_NS(queued_ns, "queued_ms", "of it, waiting for a turn")
WEIR_ACCESS_NS(first_ns, "first_ms", "to the first content of a stream")
WEIR_ACCESS_NS(silence_ns, "silence_ms", "longest silence of the stream, without the client's pauses")
WEIR_ACCESS_NS(upstream_ns, "upstream_ms", "of the attempt that answered")
WEIR_ACCESS_MAYBE(prompt_tokens, "as the provider counted them")
WEIR_ACCESS_MAYBE(prompt_estimate, "what they were taken for before the call, where a limit looks at them")
WEIR_ACCESS_MAYBE(completion_tokens, "likewise")
WEIR_ACCESS_COST(cost, "dollars that the answer cost, where the prices of its model are known")
WEIR_ACCESS_FLAG(lar1_invalid, "metadata.lar1 was not valid, so that its defaults held")
WEIR_ACCESS_FLAG(tokens_counted, "completion_tokens were not told: pieces of content were counted")
WEIR_ACCESS_MAYBE(chunks, "of the stream, with those that held no content")
WEIR_ACCESS_MAYBE(held_bytes, "of the stream, that were held back until its content might go out")

#undef WEIR_ACCESS_TEXT
#undef WEIR_ACCESS_COUNT
#undef WEIR_ACCESS_MAYBE
#undef WEIR_ACCESS_NS
#undef WEIR_ACCESS_FLAG
#undef WEIR_ACCESS_COST
