/* clang-format off */ /* one row a line */
/*
 * X(ROUTE, suffix of the upstream path, object of an answer, object of a chunk, array of an answer, streams, knows
 *   stream_options)
 */
X(CHAT, "/chat/completions", "chat.completion", "chat.completion.chunk", "choices", true, true)
X(COMPLETIONS, "/completions", "text_completion", "text_completion", "choices", true, true)
X(EMBEDDINGS, "/embeddings", "list", "", "data", false, false)
