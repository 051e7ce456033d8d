/* clang-format off */ /* one row a line */
/*
 * The members of a request's body that the gateway reads itself.  X(name, reader): the reader is a function
 * of gateway/request/asked.c.
 */
X("model", read_model)
X("stream", read_stream)
X("num_retries", read_control)
X("timeout", read_control)
X("request_timeout", read_control)
X("stream_timeout", read_control)
X("fallbacks", read_fallbacks)
X("context_window_fallbacks", read_context_window)
X("content_policy_fallbacks", read_content_policy)
X("model_group_retry_policy", read_policies)
X("disable_fallbacks", read_disable_fallbacks)
X("specific_deployment", read_specific_deployment)
X("include_fallback_errors", read_include_errors)
X("mock_testing_fallbacks", read_mock)
X("mock_testing_context_fallbacks", read_mock)
X("mock_testing_context_window_fallbacks", read_mock)
X("mock_testing_content_policy_fallbacks", read_mock)
X("mock_testing_rate_limit_error", read_mock)
X("mock_timeout", read_mock)
X("mock_delay", read_mock)
X("keepalive_seconds", read_keepalive)
X("weir", read_control)
