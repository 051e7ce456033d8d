/* clang-format off */ /* one row a line */
/*
 * What is known of a model, one number each.
 *
 * X(FIGURE, key in LiteLLM's model map, what it is)
 *
 * Prices are dollars for a token; of what is yes or no the number is 1 or 0.  A figure without a key is not read by
 * one: the LONG_ ones stand under the key of the figure of that name with "_above_200k_tokens" or the like behind it.
 */
X(CONTEXT, "max_input_tokens", "most tokens of a prompt")
X(INPUT, "input_cost_per_token", "price of a token of the prompt")
X(OUTPUT, "output_cost_per_token", "price of a token of the answer")
X(CACHE_READ, "cache_read_input_token_cost", "price of a token of the prompt that the provider had in its cache")
X(CACHE_WRITE, "cache_creation_input_token_cost", "price of a token of the prompt that it put there")
X(REASONING, "output_cost_per_reasoning_token", "price of a token of reasoning")
X(LONG_FROM, "", "prompts that are longer have prices of their own")
X(LONG_INPUT, "", "such a price")
X(LONG_OUTPUT, "", "such a price")
X(LONG_CACHE_READ, "", "such a price")
X(LONG_CACHE_WRITE, "", "such a price")
X(PREFILL, "supports_assistant_prefill", "goes on with an answer that was begun")
X(WEB_SEARCH, "supports_web_search", "has a tool for searching the web")
