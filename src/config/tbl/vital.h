/* clang-format off */ /* one row a line */
/*
 * Where a missing environment variable is more than an absent value (decisions 22).
 *
 * X(path, what it refuses: START the whole file, ENTRY the entry of model_list)
 *
 * A path is that of the value; [] stands for any item of a list.
 */
X("general_settings.master_key", START)
X("router_settings.redis_url", START)
X("router_settings.redis_host", START)
X("router_settings.redis_port", START)
X("router_settings.redis_password", START)
X("litellm_settings.cache_params.url", START)
X("litellm_settings.cache_params.redis_url", START)
X("litellm_settings.cache_params.host", START)
X("litellm_settings.cache_params.port", START)
X("litellm_settings.cache_params.password", START)
X("litellm_settings.cache_params.sentinel_password", START)
X("model_list[].model_name", ENTRY)
X("model_list[].litellm_params.model", ENTRY)
