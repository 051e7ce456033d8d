/* clang-format off */ /* one row a line */
/*
 * Names of providers in gen_ai.provider.name that are not LiteLLM's prefix: X(prefix, name).  Source: OpenTelemetry's
 * conventions for generative AI.
 */
X("azure", "azure.ai.openai")
X("azure_ai", "azure.ai.inference")
X("mistral", "mistral_ai")
X("xai", "x_ai")
X("text-completion-openai", "openai")
X("gemini", "gcp.gemini")
X("vertex_ai", "gcp.vertex_ai")
X("bedrock", "aws.bedrock")
X("watsonx", "ibm.watsonx.ai")
