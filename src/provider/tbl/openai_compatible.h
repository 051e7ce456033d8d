/* clang-format off */ /* one row a line */
/*
 * Providers that are called here: OpenAI, Azure, everything that speaks OpenAI's protocol, and the built-in `sim`.
 *
 * X(prefix, name in messages, address, variables of the key, variables of the address, dialect, families, quirks, form of a prefill)
 *
 * The form of a prefill: see weir_prefill_form in provider/provider.h.
 * VARS(a, b) names up to four environment variables, asked in order.  A provider without an address needs `api_base`.
 */
X("openai", "OpenAI", "https://api.openai.com/v1", VARS("OPENAI_API_KEY"), VARS("OPENAI_BASE_URL", "OPENAI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("text-completion-openai", "Text-completion-openai", "https://api.openai.com/v1", VARS("OPENAI_API_KEY"), VARS("OPENAI_BASE_URL", "OPENAI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("custom_openai", "Custom_openai", "", VARS("OPENAI_API_KEY"), VARS("OPENAI_BASE_URL", "OPENAI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("openai_like", "Openai_like", "", VARS("OPENAI_LIKE_API_KEY"), VARS("OPENAI_LIKE_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("azure", "Azure", "", VARS("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"), VARS("AZURE_API_BASE"), AZURE, WEIR_FAMILY_AZURE, 0, PLAIN)
X("hosted_vllm", "Hosted_vllm", "", VARS("HOSTED_VLLM_API_KEY"), VARS("HOSTED_VLLM_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, CONTINUE_FINAL)
X("vllm", "Vllm", "", VARS("VLLM_API_KEY", "HOSTED_VLLM_API_KEY"), VARS("VLLM_API_BASE", "HOSTED_VLLM_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, CONTINUE_FINAL)
X("ollama", "Ollama", "http://localhost:11434/v1", VARS("OLLAMA_API_KEY"), VARS("OLLAMA_API_BASE"), OPENAI, WEIR_FAMILY_OLLAMA, WEIR_QUIRK_ADD_V1, PLAIN)
X("ollama_chat", "Ollama_chat", "http://localhost:11434/v1", VARS("OLLAMA_API_KEY"), VARS("OLLAMA_API_BASE"), OPENAI, WEIR_FAMILY_OLLAMA, WEIR_QUIRK_ADD_V1, PLAIN)
X("lm_studio", "Lm_studio", "http://localhost:1234/v1", VARS("LM_STUDIO_API_KEY"), VARS("LM_STUDIO_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("llamafile", "Llamafile", "http://127.0.0.1:8080/v1", VARS("LLAMAFILE_API_KEY"), VARS("LLAMAFILE_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("groq", "Groq", "https://api.groq.com/openai/v1", VARS("GROQ_API_KEY"), VARS("GROQ_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI | WEIR_FAMILY_GROQ, 0, PLAIN)
X("together_ai", "Together_ai", "https://api.together.xyz/v1", VARS("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN"), VARS("TOGETHER_AI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("fireworks_ai", "Fireworks_ai", "https://api.fireworks.ai/inference/v1", VARS("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"), VARS("FIREWORKS_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, WEIR_QUIRK_FIREWORKS_MODELS, PLAIN)
X("openrouter", "Openrouter", "https://openrouter.ai/api/v1", VARS("OPENROUTER_API_KEY", "OR_API_KEY"), VARS("OPENROUTER_API_BASE"), OPENAI, WEIR_FAMILY_OPENROUTER, 0, TRIMMED)
X("deepseek", "Deepseek", "https://api.deepseek.com/beta", VARS("DEEPSEEK_API_KEY"), VARS("DEEPSEEK_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PREFIX)
X("mistral", "Mistral", "https://api.mistral.ai/v1", VARS("MISTRAL_API_KEY"), VARS("MISTRAL_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, WEIR_QUIRK_NO_STREAM_OPTIONS, PREFIX)
X("xai", "Xai", "https://api.x.ai/v1", VARS("XAI_API_KEY"), VARS("XAI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("perplexity", "Perplexity", "https://api.perplexity.ai", VARS("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"), VARS("PERPLEXITY_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, WEIR_QUIRK_NO_STREAM_OPTIONS, PLAIN)
X("deepinfra", "Deepinfra", "https://api.deepinfra.com/v1/openai", VARS("DEEPINFRA_API_KEY"), VARS("DEEPINFRA_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("cerebras", "Cerebras", "https://api.cerebras.ai/v1", VARS("CEREBRAS_API_KEY"), VARS("CEREBRAS_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("sambanova", "Sambanova", "https://api.sambanova.ai/v1", VARS("SAMBANOVA_API_KEY"), VARS("SAMBANOVA_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("nvidia_nim", "Nvidia_nim", "https://integrate.api.nvidia.com/v1", VARS("NVIDIA_NIM_API_KEY"), VARS("NVIDIA_NIM_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("novita", "Novita", "https://api.novita.ai/v3/openai", VARS("NOVITA_API_KEY"), VARS("NOVITA_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("moonshot", "Moonshot", "https://api.moonshot.ai/v1", VARS("MOONSHOT_API_KEY"), VARS("MOONSHOT_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("zai", "Zai", "https://api.z.ai/api/paas/v4", VARS("ZAI_API_KEY"), VARS("ZAI_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("dashscope", "Dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", VARS("DASHSCOPE_API_KEY"), VARS("DASHSCOPE_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("github", "Github", "https://models.inference.ai.azure.com", VARS("GITHUB_API_KEY"), VARS("GITHUB_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, PLAIN)
X("databricks", "Databricks", "", VARS("DATABRICKS_API_KEY"), VARS("DATABRICKS_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI_LIKE, 0, TRIMMED)
X("litellm_proxy", "Litellm_proxy", "", VARS("LITELLM_PROXY_API_KEY"), VARS("LITELLM_PROXY_API_BASE"), OPENAI, WEIR_FAMILY_OPENAI, 0, TRIMMED)
X("sim", "Sim", "", VARS(""), VARS(""), SIM, WEIR_FAMILY_OPENAI, 0, PLAIN)
