/* clang-format off */ /* one row a line */
/*
 * Models that are known to carry on with an answer that was begun for them (router-semantics 14.4); no other does unless
 * its deployment's `model_info.supports_assistant_prefill` says so.
 *
 * X(provider, or "" for any, model, form where the provider has none of its own)
 *
 * How a pattern fits a model: provider/model_name.h.
 */
X("", "claude-2*", TRIMMED)
X("", "claude-instant*", TRIMMED)
X("", "claude-3*", TRIMMED)
X("", "claude-opus-4", TRIMMED)
X("", "claude-opus-4-0*", TRIMMED)
X("", "claude-opus-4-1*", TRIMMED)
X("", "claude-opus-4-20250514*", TRIMMED)
X("", "claude-opus-4-5*", TRIMMED)
X("", "claude-sonnet-4", TRIMMED)
X("", "claude-sonnet-4-0*", TRIMMED)
X("", "claude-sonnet-4-20250514*", TRIMMED)
X("", "claude-sonnet-4-5*", TRIMMED)
X("", "claude-haiku-4-5*", TRIMMED)
X("", "claude-4-opus-20250514*", TRIMMED)
X("", "claude-4-sonnet-20250514*", TRIMMED)
X("mistral", "*", PLAIN)
X("deepseek", "*", PLAIN)
X("sim", "*", PLAIN)
