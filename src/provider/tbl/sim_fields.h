/* clang-format off */ /* one row a line */
/*
 * X(key in litellm_params, type, member of struct weir_sim, prose)
 *
 * Types: TEXT; NUMBER (at least 0); RATIO (0 to 1); SECONDS (to nanoseconds); COUNT (whole, at least 0); KIND (a kind's
 * name, as in weir/tbl/failure_kinds.h, and sets `fails`).
 */
X("sim_text", TEXT, text, "what is answered; a sentence that names the model when absent")
X("sim_tokens_per_second", NUMBER, tokens_per_second, "speed of a stream; 0: everything at once")
X("sim_first_token_delay", SECONDS, first_token_delay_ns, "wait before the first token, or before a plain answer")
X("sim_error", KIND, error, "kind of failure to answer with: rate_limit, internal, timeout, ...")
X("sim_error_ratio", RATIO, error_ratio, "share of calls that fail, spread evenly; 1 when only sim_error is set")
X("sim_retry_after", SECONDS, retry_after_ns, "Retry-After told with a failure")
X("sim_break_after", COUNT, break_after_tokens, "break a stream after so many tokens")
