/* clang-format off */ /* one row a line */
/*
 * Modes of models (`model_info.mode`) that there is a route for: X(mode, ROUTE).
 */
X("chat", CHAT)
X("completion", COMPLETIONS)
X("embedding", EMBEDDINGS)
