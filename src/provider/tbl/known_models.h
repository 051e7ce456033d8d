/* clang-format off */ /* one row a line */
/*
 * Common models: the length of their context in tokens, and what a million tokens costs in dollars.
 *
 * X(provider, model, SOURCE, context, input, output, cached input, written to the cache,
 *   prompts longer than so many tokens cost: FROM, input, output, cached input, written to the cache)
 *
 * NO      not told
 * SOURCE  the page that the figures come from
 *
 * A model stands for its dated editions too (weir_model_is), so an edition with prices of its own comes first.
 * The figures are those of November 2026, as the public data set genai-prices 0.2.3 has them from these pages.
 * Who pays others says so in the deployment or gives a model map.
 */
#define OPENAI "https://platform.openai.com/docs/pricing"
#define DEEPSEEK "https://api-docs.deepseek.com/quick_start/pricing"
#define MISTRAL "https://mistral.ai/pricing/api"
#define GROQ "https://console.groq.com/docs/models"
#define XAI "https://docs.x.ai/docs/models"
#define MOONSHOT "https://platform.kimi.ai/docs/pricing/chat.md"
#define CEREBRAS "https://www.cerebras.ai/pricing"
#define ZAI "https://docs.z.ai/guides/overview/pricing"
X("openai", "gpt-4o-2024-05-13", OPENAI, 128000, 5, 15, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-3.5-turbo", OPENAI, 16385, 0.5, 1.5, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4", OPENAI, 8192, 30, 60, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4-turbo", OPENAI, 128000, 10, 30, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4.1", OPENAI, 1000000, 2, 8, 0.5, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4.1-mini", OPENAI, 1000000, 0.4, 1.6, 0.1, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4.1-nano", OPENAI, 1000000, 0.1, 0.4, 0.025, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4o", OPENAI, 128000, 2.5, 10, 1.25, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-4o-mini", OPENAI, 128000, 0.15, 0.6, 0.075, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5", OPENAI, 400000, 1.25, 10, 0.125, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5-mini", OPENAI, 400000, 0.25, 2, 0.025, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5-nano", OPENAI, 400000, 0.05, 0.4, 0.005, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5-pro", OPENAI, 400000, 15, 120, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.1", OPENAI, 400000, 1.25, 10, 0.125, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.2", OPENAI, 400000, 1.75, 14, 0.175, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.2-pro", OPENAI, 400000, 21, 168, NO, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.4", OPENAI, 1050000, 2.5, 15, 0.25, NO, 272000, 5, 22.5, 0.5, NO)
X("openai", "gpt-5.4-mini", OPENAI, 400000, 0.75, 4.5, 0.075, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.4-nano", OPENAI, 400000, 0.2, 1.25, 0.02, NO, NO, NO, NO, NO, NO)
X("openai", "gpt-5.4-pro", OPENAI, 1050000, 30, 180, NO, NO, 272000, 60, 270, NO, NO)
X("openai", "gpt-5.5", OPENAI, 1000000, 5, 30, 0.5, NO, 272000, 10, 45, 1, NO)
X("openai", "gpt-5.5-pro", OPENAI, 1000000, 30, 180, NO, NO, 272000, 60, 270, NO, NO)
X("openai", "gpt-5.6-luna", OPENAI, 1050000, 0.2, 1.2, 0.02, 0.25, 272000, 0.4, 1.8, 0.04, 0.5)
X("openai", "gpt-5.6-sol", OPENAI, 1050000, 4, 20, 0.4, 5, 272000, 8, 30, 0.8, 10)
X("openai", "gpt-5.6-terra", OPENAI, 1050000, 2, 12, 0.2, 2.5, 272000, 4, 18, 0.4, 5)
X("openai", "gpt-6-astra", OPENAI, 1050000, 10, 50, 1, 12.5, 272000, 20, 75, 2, 25)
X("openai", "gpt-6-luna", OPENAI, 1050000, 0.1, 0.5, 0.01, 0.125, 272000, 0.2, 0.75, 0.02, 0.25)
X("openai", "gpt-6-sol", OPENAI, 1050000, 2, 10, 0.2, 2.5, 272000, 4, 15, 0.4, 5)
X("openai", "gpt-6.1-sol", OPENAI, 1050000, 2, 10, 0.1, 2.5, 272000, 4, 15, 0.2, 5)
X("openai", "gpt-6.1-terra", OPENAI, 1050000, 1, 5, 0.05, 1.25, 272000, 2, 7.5, 0.1, 2.5)
X("openai", "o1", OPENAI, 200000, 15, 60, 7.5, NO, NO, NO, NO, NO, NO)
X("openai", "o1-mini", OPENAI, 128000, 1.1, 4.4, 0.55, NO, NO, NO, NO, NO, NO)
X("openai", "o1-pro", OPENAI, 200000, 150, 600, NO, NO, NO, NO, NO, NO, NO)
X("openai", "o3", OPENAI, 200000, 2, 8, 0.5, NO, NO, NO, NO, NO, NO)
X("openai", "o3-mini", OPENAI, 200000, 1.1, 4.4, 0.55, NO, NO, NO, NO, NO, NO)
X("openai", "o3-pro", OPENAI, 200000, 20, 80, NO, NO, NO, NO, NO, NO, NO)
X("openai", "o4-mini", OPENAI, 200000, 1.1, 4.4, 0.275, NO, NO, NO, NO, NO, NO)
X("openai", "text-embedding-3-large", OPENAI, 8192, 0.13, NO, NO, NO, NO, NO, NO, NO, NO)
X("openai", "text-embedding-3-small", OPENAI, 8192, 0.02, NO, NO, NO, NO, NO, NO, NO, NO)
X("openai", "text-embedding-ada-002", OPENAI, 8192, 0.1, NO, NO, NO, NO, NO, NO, NO, NO)
X("deepseek", "deepseek-v4-flash", DEEPSEEK, 1000000, 0.3, 1.2, 0.006, NO, NO, NO, NO, NO, NO)
X("deepseek", "deepseek-v4-pro", DEEPSEEK, 1000000, 1.32, 3.96, 0.044, NO, NO, NO, NO, NO, NO)
X("mistral", "codestral-2508", MISTRAL, 256000, 0.3, 0.9, 0.03, NO, NO, NO, NO, NO, NO)
X("mistral", "devstral-2512", MISTRAL, 262144, 0.4, 2, 0.04, NO, NO, NO, NO, NO, NO)
X("mistral", "ministral-14b-2512", MISTRAL, 262144, 0.2, 0.2, 0.02, NO, NO, NO, NO, NO, NO)
X("mistral", "ministral-3b-2512", MISTRAL, 131072, 0.1, 0.1, 0.01, NO, NO, NO, NO, NO, NO)
X("mistral", "ministral-8b-2512", MISTRAL, 262144, 0.15, 0.15, 0.015, NO, NO, NO, NO, NO, NO)
X("mistral", "mistral-embed", MISTRAL, 8192, 0.1, NO, NO, NO, NO, NO, NO, NO, NO)
X("mistral", "mistral-large-2512", MISTRAL, 262144, 0.5, 1.5, 0.05, NO, NO, NO, NO, NO, NO)
X("mistral", "mistral-large-4", MISTRAL, 1048576, 0.7, 2.1, 0.07, NO, NO, NO, NO, NO, NO)
X("mistral", "mistral-medium-3-5", MISTRAL, 262144, 1.5, 7.5, 0.15, NO, NO, NO, NO, NO, NO)
X("mistral", "mistral-small-2603", MISTRAL, 262144, 0.15, 0.6, 0.015, NO, NO, NO, NO, NO, NO)
X("groq", "llama-3.1-8b-instant", GROQ, NO, 0.05, 0.08, NO, NO, NO, NO, NO, NO, NO)
X("groq", "llama-3.3-70b-versatile", GROQ, NO, 0.59, 0.79, NO, NO, NO, NO, NO, NO, NO)
X("groq", "meta-llama/llama-4-maverick-17b-128e-instruct", GROQ, 131072, 0.2, 0.6, NO, NO, NO, NO, NO, NO, NO)
X("groq", "meta-llama/llama-4-scout-17b-16e-instruct", GROQ, NO, 0.11, 0.34, NO, NO, NO, NO, NO, NO, NO)
X("groq", "moonshotai/kimi-k2-instruct", GROQ, 131072, 1, 3, 0.5, NO, NO, NO, NO, NO, NO)
X("groq", "openai/gpt-oss-120b", GROQ, 131072, 0.15, 0.6, 0.075, NO, NO, NO, NO, NO, NO)
X("groq", "openai/gpt-oss-20b", GROQ, 131072, 0.075, 0.3, 0.0375, NO, NO, NO, NO, NO, NO)
X("groq", "qwen/qwen3-32b", GROQ, 131072, 0.29, 0.59, NO, NO, NO, NO, NO, NO, NO)
X("xai", "grok-3", XAI, 131072, 3, 15, 0.75, NO, NO, NO, NO, NO, NO)
X("xai", "grok-3-mini", XAI, 131072, 0.3, 0.5, 0.075, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4-0709", XAI, 256000, 3, 15, 0.75, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4-1-fast-non-reasoning", XAI, 2000000, 0.2, 0.5, 0.05, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4-1-fast-reasoning", XAI, 2000000, 0.2, 0.5, 0.05, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4-fast-non-reasoning", XAI, 2000000, 0.2, 0.5, 0.05, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4-fast-reasoning", XAI, 2000000, 0.2, 0.5, 0.05, NO, NO, NO, NO, NO, NO)
X("xai", "grok-4.3", XAI, 1000000, 1.25, 2.5, 0.2, NO, 200000, 2.5, 5, 0.4, NO)
X("xai", "grok-4.5", XAI, 500000, 2, 6, 0.3, NO, 200000, 4, 12, 0.6, NO)
X("xai", "grok-4.6", XAI, 500000, 2, 6, 0.5, NO, 200000, 4, 12, 1, NO)
X("xai", "grok-4.7", XAI, 500000, 2, 6, 0.5, NO, 200000, 4, 12, 1, NO)
X("xai", "grok-code-fast-1", XAI, 256000, 0.2, 1.5, 0.02, NO, NO, NO, NO, NO, NO)
X("moonshot", "kimi-k2.5", MOONSHOT, 262144, 0.6, 3, 0.1, NO, NO, NO, NO, NO, NO)
X("moonshot", "kimi-k2.6", MOONSHOT, 262144, 0.95, 4, 0.16, NO, NO, NO, NO, NO, NO)
X("moonshot", "kimi-k2.7-code", MOONSHOT, 262144, 0.95, 4, 0.19, NO, NO, NO, NO, NO, NO)
X("moonshot", "kimi-k3", MOONSHOT, 1048576, 3, 15, 0.3, 3, NO, NO, NO, NO, NO)
X("moonshot", "kimi-k3.1-pro", MOONSHOT, 1048576, 2, 10, 0.2, 2, NO, NO, NO, NO, NO)
X("cerebras", "gpt-oss-120b", CEREBRAS, 131072, 0.35, 0.75, NO, NO, NO, NO, NO, NO, NO)
X("cerebras", "llama-3.3-70b", CEREBRAS, 128000, 0.85, 1.2, NO, NO, NO, NO, NO, NO, NO)
X("cerebras", "llama3.1-8b", CEREBRAS, 32768, 0.1, 0.1, NO, NO, NO, NO, NO, NO, NO)
X("cerebras", "zai-glm-4.7", CEREBRAS, 131072, 2.25, 2.75, NO, NO, NO, NO, NO, NO, NO)
X("zai", "glm-4.5", ZAI, NO, 0.6, 2.2, 0.11, NO, NO, NO, NO, NO, NO)
X("zai", "glm-4.5-air", ZAI, NO, 0.2, 1.1, 0.03, NO, NO, NO, NO, NO, NO)
X("zai", "glm-4.6", ZAI, NO, 0.6, 2.2, 0.11, NO, NO, NO, NO, NO, NO)
X("zai", "glm-4.7", ZAI, NO, 0.6, 2.2, 0.11, NO, NO, NO, NO, NO, NO)
X("zai", "glm-5", ZAI, NO, 1, 3.2, 0.2, NO, NO, NO, NO, NO, NO)
X("zai", "glm-5.1", ZAI, NO, 1.4, 4.4, 0.26, NO, NO, NO, NO, NO, NO)
X("zai", "glm-5.2", ZAI, 1000000, 1.4, 4.4, 0.26, NO, NO, NO, NO, NO, NO)
X("zai", "glm-5.3", ZAI, 1000000, 1.4, 4.4, 0.26, NO, NO, NO, NO, NO, NO)
#undef OPENAI
#undef DEEPSEEK
#undef MISTRAL
#undef GROQ
#undef XAI
#undef MOONSHOT
#undef CEREBRAS
#undef ZAI
