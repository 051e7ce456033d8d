/* clang-format off */ /* one row a line */
/*
 * Parameters that models refuse, by what their makers' pages say.
 *
 * X(provider, model, names of tbl/parameters.h, page)
 *
 * How a model's pattern fits a name: provider/model_name.h.  Azure serves OpenAI's models, so its deployments are
 * looked up as OpenAI's.
 */
#define OPENAI_REASONING "temperature top_p presence_penalty frequency_penalty logprobs top_logprobs logit_bias"
#define OPENAI_REASONING_PAGE "https://platform.openai.com/docs/guides/reasoning"
X("openai", "o1*", OPENAI_REASONING " stop parallel_tool_calls", OPENAI_REASONING_PAGE)
X("openai", "o3*", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "o4-mini*", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-5", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-5-2025-08-07", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-5-mini*", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-5-nano*", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-5-pro*", OPENAI_REASONING " stop", OPENAI_REASONING_PAGE)
X("openai", "gpt-3-5-turbo*", "reasoning_effort verbosity", OPENAI_REASONING_PAGE)
X("openai", "gpt-4*", "reasoning_effort verbosity", OPENAI_REASONING_PAGE)
X("openai", "gpt-4o*", "reasoning_effort verbosity", OPENAI_REASONING_PAGE)
X("mistral", "*", "seed user logit_bias logprobs top_logprobs functions function_call", "https://docs.mistral.ai/api/endpoint/chat")
X("groq", "*", "logprobs top_logprobs logit_bias n", "https://console.groq.com/docs/openai")
X("xai", "grok-4*", "presence_penalty frequency_penalty stop", "https://docs.x.ai/docs/guides/reasoning")
X("xai", "grok-3-mini*", "presence_penalty frequency_penalty stop", "https://docs.x.ai/docs/guides/reasoning")
X("xai", "grok-code-fast*", "presence_penalty frequency_penalty stop", "https://docs.x.ai/docs/guides/reasoning")
X("deepseek", "deepseek-reasoner", "logprobs top_logprobs", "https://api-docs.deepseek.com/guides/reasoning_model")
#undef OPENAI_REASONING
#undef OPENAI_REASONING_PAGE
