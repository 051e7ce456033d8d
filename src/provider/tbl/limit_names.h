/* clang-format off */ /* one row a line */
/*
 * Models that refuse max_tokens and know the limit as max_completion_tokens: X(provider, model).
 *
 * How a pattern fits a model: provider/model_name.h.  By https://platform.openai.com/docs/guides/reasoning.
 */
X("openai", "o1*")
X("openai", "o3*")
X("openai", "o4*")
X("openai", "gpt-5*")
X("azure", "o1*")
X("azure", "o3*")
X("azure", "o4*")
X("azure", "gpt-5*")
