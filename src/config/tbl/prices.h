/* clang-format off */ /* one row a line */
/*
 * Prices of a deployment's own, in dollars for a token.
 *
 * PRICE(key, member, what it does)
 *
 * The rows become members of struct weir_deployment_settings twice: for litellm_params and for model_info.
 */
PRICE(input_cost_per_token, input_cost, "Price of a token of the prompt; not set: that of the model. 0 is no price to cost-based-routing.")
PRICE(output_cost_per_token, output_cost, "Price of a token of the answer; likewise.")
PRICE(cache_read_input_token_cost, cache_read_cost, "Price of a token of the prompt that came from the provider's cache; not set: as any of the prompt.")
PRICE(cache_creation_input_token_cost, cache_write_cost, "Price of one that was written to it; likewise.")
PRICE(output_cost_per_reasoning_token, reasoning_cost, "Price of a token of reasoning; not set: as any of the answer.")
#undef PRICE
