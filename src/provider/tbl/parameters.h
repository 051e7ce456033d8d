/* clang-format off */ /* one row a line */
/*
 * Parameters of requests that some models do not take.  Their place in this list is their bit.
 *
 * X(name, RULE)    the rule tells a value that asks nothing of the model; null never does
 *
 * ASKS     every value asks
 * UNLESS_1, UNLESS_0, UNLESS_FALSE   any but that value
 * UNLESS_EMPTY                       a list or object with something in it
 * UNLESS_NONE                        any but "none"
 * SCHEMA                             {"type": "json_schema"}: every model that takes the parameter can do less
 */
X("temperature", UNLESS_1)
X("top_p", UNLESS_1)
X("n", UNLESS_1)
X("presence_penalty", UNLESS_0)
X("frequency_penalty", UNLESS_0)
X("logit_bias", UNLESS_EMPTY)
X("logprobs", UNLESS_FALSE)
X("top_logprobs", UNLESS_0)
X("stop", ASKS)
X("seed", ASKS)
X("user", ASKS)
X("max_tokens", ASKS)
X("max_completion_tokens", ASKS)
X("tools", UNLESS_EMPTY)
X("tool_choice", UNLESS_NONE)
X("parallel_tool_calls", ASKS)
X("functions", UNLESS_EMPTY)
X("function_call", UNLESS_NONE)
X("response_format", SCHEMA)
X("reasoning_effort", UNLESS_NONE)
X("thinking", ASKS)
X("verbosity", ASKS)
X("modalities", ASKS)
X("audio", ASKS)
X("prediction", ASKS)
X("service_tier", ASKS)
X("store", UNLESS_FALSE)
X("web_search_options", ASKS)
X("stream_options", ASKS)
X("suffix", ASKS)
X("echo", UNLESS_FALSE)
X("best_of", UNLESS_1)
X("dimensions", ASKS)
X("encoding_format", ASKS)
